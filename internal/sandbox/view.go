package sandbox

import "context"

// Viewer makes the view of one command. An executor asks for each, since what
// lies in a project changes between two; an error means that the command is not run.
type Viewer func(ctx context.Context, cmd *Command) (*View, error)

// View is everything that a confined command can see and change of the machine:
// the one description from which each backend makes its isolation. What no entry
// covers does not exist for the command.
type View struct {
	// Root is the project's folder, real and absolute. An entry covers it.
	Root string
	// Home is where the user's home lies; an entry puts the session's private
	// folder there.
	Home string
	// Entries are sorted by path, so that a folder comes before what lies in it.
	// The deepest entry that holds a path counts for it.
	Entries []Entry
	// Links are symbolic links that exist in the view: /bin to usr/bin.
	Links []Link
	// FullNetwork leaves the machine's network as it is; else there is none but
	// what a Passage serves.
	FullNetwork bool
	// UnixSockets are sockets that may be connected to; an entry covers each.
	UnixSockets []string
	// LocalhostPorts are ports of the machine's own loopback that may be reached.
	LocalhostPorts []int
	// Limits bound what the command may use.
	Limits Limits
}

// Entry is a file or folder of the view.
type Entry struct {
	// Path is where the command sees it: absolute and clean.
	Path string
	// Source is what it is on the machine, absolute and real; "" means Path.
	Source string
	Access Access
	// Missing says of a locked entry that nothing lies there: a placeholder keeps
	// it from being made, and is removed when the command has ended.
	Missing bool
	// Folder says what a missing entry would be, and Text what the placeholder of a
	// missing file holds, so that it changes nothing for who reads it meanwhile.
	Folder bool
	Text   string
	// Why is for people: "the project", "Go's module cache", "settings of git".
	Why string
}

// Host is what the entry is on the machine.
func (e *Entry) Host() string {
	if e.Source != "" {
		return e.Source
	}
	return e.Path
}

// Access is what a command may do with an entry and what lies in it.
type Access uint8

const (
	// ReadOnly is seen and not changed.
	ReadOnly Access = iota
	// Writable is seen and changed.
	Writable
	// Locked lies inside something writable and is not changed all the same: it
	// cannot be written, removed, made, nor moved away with a folder above it.
	Locked
	// Masked is there, and empty: neither read nor written.
	Masked
)

// String is the word that people read.
func (a Access) String() string {
	switch a {
	case ReadOnly:
		return "read"
	case Writable:
		return "write"
	case Locked:
		return "locked"
	case Masked:
		return "hidden"
	}
	return "unknown"
}

// Link is a symbolic link of the view.
type Link struct{ Path, Target string }

// Limits bound a command; 0 means no limit of our own.
type Limits struct {
	// Processes is how many may live at once, MemoryBytes what they may hold
	// together, FileBytes how large a file that they write may become.
	Processes   int
	MemoryBytes int64
	FileBytes   int64
}
