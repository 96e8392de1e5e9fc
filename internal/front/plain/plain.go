// Package plain is the line chat: prompts are read a line at a time, and what
// the session does is printed below, once, as it happens. It serves pipes, dumb
// terminals and GARUDA_PLAIN=1.
//
// It never moves the cursor for good (a status right of it is the one thing that
// is drawn anew, where Redraw allows it), never changes the terminal's mode, never
// reads a key that was not sent with Enter, and never runs a timer but while it
// waits for the model or for an answer to count.
// It decides no permission: it puts questions and passes the answers on.
package plain

import (
	"context"
	"io"
	"os"
	"time"

	"garuda/internal/audit"
	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/llm"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
)

// Options of a chat.
type Options struct {
	Host Host
	In   io.Reader
	// Out gets everything, so that the chat reads in order wherever it goes.
	Out io.Writer
	// Interrupts delivers the presses of Ctrl-C. To end the chat from outside,
	// end Run's context.
	Interrupts <-chan os.Signal
	// IsTerminal says that In is a terminal: it gets a prompt, its lines may
	// come while a turn runs, and its person is asked. Lines of anything else are
	// taken one after the other, and questions are denied.
	IsTerminal bool
	Color      bool
	// Redraw says that Out is a terminal that can do more than print lines: there
	// the seconds count while the chat waits for the model.
	Redraw bool
	// ShowThinking prints what the model thinks, until /thinking says otherwise.
	ShowThinking bool
	// FirstPrompt is sent before anything is read; may be empty.
	FirstPrompt string
	// Notices are printed below the banner, a line each.
	Notices []string
	// DropTyped forgets what was typed at the terminal but not sent yet; see
	// DropTyped. May be nil.
	DropTyped func()
	// Width is the terminal's width in columns; nil or a result of 0 means 80.
	Width func() int
	// Clock is the machine's when nil.
	Clock core.Clock
}

// Host is the program around the chat: it opens, lists and changes sessions.
// Its methods are called one at a time; a context ends when the person presses
// Ctrl-C, and the method must then return soon.
type Host interface {
	Undoer
	Banner() Banner
	// Current is the open session, never nil. After New, Resume, Fork and SwitchModel
	// it may be another one; the one before is then closed. Where they fail the
	// open session stays as it was.
	Current() *engine.Session
	// Mode is the open session's permission mode.
	Mode() string
	// New opens a new session. Notes that waited for the next message are dropped.
	New(ctx context.Context) error
	// Sessions are the newest first, at most 20.
	Sessions(ctx context.Context) ([]SessionInfo, error)
	// Find is the session with this id, unique beginning of an id, or title.
	Find(ctx context.Context, ref string) (SessionInfo, error)
	// Resume opens the session with this id, and gives what the person should
	// know about how that went, a line each.
	Resume(ctx context.Context, id string) (notices []string, err error)
	// Fork goes on in a copy of the open session, up to this step, counted from 1, or
	// of all with 0, and gives what the person should know, a line each.
	Fork(ctx context.Context, step int) (notices []string, err error)
	// Export writes the open session into a new file below the project's root. The
	// error is fs.ErrExist where there is one of this name.
	Export(ctx context.Context, name string) error
	Rename(ctx context.Context, id, title string) error
	// Delete is never called for the open session.
	Delete(ctx context.Context, id string) error
	// Audit opens the folder's audit log for reading; the chat closes it.
	Audit() (*audit.Reader, error)
	// Permissions are the rules in force, the session's answers last.
	Permissions() []lines.Rule
	// Explain says what would be decided about a call of this tool now. The error is
	// for one that would fail before it is decided.
	Explain(ctx context.Context, name, input string) (*tool.Decision, error)
	// Tools are the open session's tools with their states, sorted by name.
	Tools() []toolset.Row
	// Models are those that could be used.
	Models(ctx context.Context) ([]*llm.Info, error)
	// SwitchModel goes on with another model, and gives what the person should
	// know of it, a line each.
	SwitchModel(ctx context.Context, spec string) (notices []string, err error)
	// Memory is what is remembered of the project, the oldest first.
	Memory(ctx context.Context) ([]Fact, error)
	// TrustMemory notes that the person said yes to these facts; loaded is false
	// where the open session goes on without them.
	TrustMemory(ctx context.Context, facts []Fact) (loaded bool, err error)
	// IsAlias reports whether the word stands for a model without being its id.
	IsAlias(word string) bool
}

// Banner is what the first lines say, beside the model.
type Banner struct {
	Name, Version string
	// Sandbox is the sandbox's state in words.
	Sandbox string
	Folder  string
}

// SessionInfo is a session in the list.
type SessionInfo struct {
	ID string
	// Time is shown in the time zone that it carries.
	Time time.Time
	// Title is empty where nobody gave one; FirstPrompt then stands for it.
	Title, FirstPrompt string
	Turns              int
	Model              string
	Cost               core.Cost
	// AtLeast is true where a provider did not say what a request cost.
	AtLeast bool
}

// Exit codes of a chat.
const (
	exitDone        = 0
	exitError       = 1
	exitInterrupted = 130
)

// Run holds the chat until the person leaves or the input ends, closes the
// session, and returns the exit code. The goroutine that reads In outlives Run
// until its read returns: a read from a terminal cannot be called off.
func Run(ctx context.Context, o Options) (exit int, err error) {
	c := newChat(ctx, o)
	defer c.release()
	c.banner()
	if o.FirstPrompt != "" {
		c.queue = append(c.queue, o.FirstPrompt)
	}
	exit, err = c.loop(ctx)
	return c.leave(exit, err)
}
