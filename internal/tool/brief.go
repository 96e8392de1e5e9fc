package tool

import "garuda/internal/core"

// Brief is what a session is about, from its records.
type Brief struct {
	// Goal is the first message of the user, Now the newest where that is another.
	Goal, Now string
	// Todos are the list that the model keeps, as it stands.
	Todos []core.Todo
	// Answers are the last words of each finished turn, Unfinished is true when the
	// newest turn was not finished.
	Answers    []string
	Unfinished bool
	// Files are what the session's tools changed, in the order of the last change,
	// root-relative where they lie in the root.
	Files []ChangedFile
}

// ChangedFile is a file and how many calls changed it.
type ChangedFile struct {
	Path    string
	Changes int
}

// Briefer knows what a session was about so far.
type Briefer interface{ Brief() *Brief }
