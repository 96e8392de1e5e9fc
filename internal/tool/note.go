package tool

import "context"

// Note tells the model of something that none of its calls is waiting for: a
// background command ended, a watched one printed a line.
type Note struct {
	// Kind is the subject in a word, as the conversation marks it: "background",
	// "monitor".
	Kind string
	// Text says in Garuda's words what happened. Quote is what a program printed,
	// which is shown as such; may be empty. Whatever either holds, it cannot end
	// the note early or begin another one.
	Text, Quote string
	// Brief is one line of it, for the person and for whoever waits in Next.
	Brief string
	// Stale, when set, is asked as the note is about to go to the model: true
	// leaves it out, because the model knows by now. It must not block.
	Stale func() bool
}

// Notes is the way into a session's conversation for what happens beside it. Its
// methods may be called from any goroutine, also when the session has ended.
type Notes interface {
	// Add puts a note before the model's next step, in the order of the calls.
	// While nothing runs it begins a turn where a chat is open; elsewhere it waits
	// for the next message.
	Add(n Note)
	// Next returns when a note was added that the model has not got yet, or when
	// the user sends a message after the call began, and says which in a few words.
	// Its error is the cause of ctx's end.
	Next(ctx context.Context) (what string, err error)
}
