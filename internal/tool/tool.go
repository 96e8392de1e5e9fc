// Package tool is the border between the engine and the tools: what a tool
// declares, what a call would do, what a decision about it is, and the pipeline
// that every call of every agent goes through.
//
// It never decides a permission (package policy does, behind Decider), never
// asks a person (a surface does, behind Asker), and runs nothing itself.
package tool

import (
	"context"
	"encoding/json"

	"garuda/internal/core"
)

// Class is how the decision table treats a tool.
type Class string

const (
	ClassRead    Class = "read"
	ClassSession Class = "session"
	ClassPath    Class = "path"
	ClassCommand Class = "command"
	ClassURL     Class = "url"
	ClassInput   Class = "input"
)

// Spec is what a tool says of itself, once.
type Spec struct {
	Name, Description string
	Class             Class
	// Set is the tool set that switches it on: core, edit, git, web … Empty is a
	// tool of the session itself (ask, recall …), which is on where it has a use.
	Set string
	// Schema is the JSON Schema of the input: an object, canonical names only.
	Schema json.RawMessage
	// Exact inputs are checked against the schema and otherwise left as they came:
	// no other names, no conversions, no complaint about a field that it allows.
	Exact bool
	// MaxResult is how many characters a result may have, of which what is over loses
	// its middle; 0 means 100,000. A session with a token budget keeps room for that
	// much before the call runs, so a tool that starts agents says how little it needs.
	MaxResult int
}

// Bytes is what the tool costs in each request, JSON around it aside.
func (s *Spec) Bytes() int { return len(s.Name) + len(s.Description) + len(s.Schema) }

// Tool is one capability offered to the model. Its methods may be called from
// several goroutines at once.
type Tool interface {
	Spec() *Spec
	// Plan says what the call would do, changing nothing. The input has passed
	// the schema, with the names of other agents already made canonical. An
	// error is for the model: what failed and what to do instead.
	Plan(ctx context.Context, env *Env, input json.RawMessage) (*Plan, error)
	// Run does what the plan says. It is called at most once, with a grant for
	// this very call. An error means the call failed; a non-nil output beside it
	// is what the model sees of it, else the error's text.
	Run(ctx context.Context, call *Call) (*Output, error)
}

// Plan is what a call would do.
type Plan struct {
	// Class is how the decision treats this call, where that is another way than
	// the tool's own.
	Class Class
	// Target is what rules and approvals name: a root-relative path, a command, a URL.
	Target string
	// Label is the call in a few words for a person, where the target alone says
	// too little: /pattern/ in folder. Empty means the target.
	Label string
	// Preview is what an approval shows in full: the command, or a unified diff.
	Preview string
	// Hunks is how many hunks of Preview may be approved one by one; 0 where the
	// change is whole or nothing. The tool then keeps to Grant.ApprovedHunks.
	Hunks   int
	Effects Effects
	// ReadOnly calls change nothing; Parallel ones may also run beside others;
	// Alone ones are read-only but never share a batch.
	ReadOnly, Parallel, Alone bool
	// Each calls are asked for one by one: no answer to one covers the next.
	Each bool
	// Destructive calls delete or overwrite what undo may not cover.
	Destructive bool
	// RunsCommands marks calls whose record names executor and isolation.
	RunsCommands bool
	// Input is the decoded input, for Run.
	Input any
}

// Effects is what a call would touch, for the decision. Paths are absolute, as
// the tool resolved them (not yet followed through links).
type Effects struct {
	Reads, Writes []string
	// Real says where a path of Reads or Writes leads, when that is through
	// links. The tool opens exactly that place and follows no link on the way, so
	// a decision that checks both spellings holds for the file that is used.
	Real map[string]string
	// Commands are texts for bash; OutsideSandbox asks to run them without isolation,
	// Background to let them go on when the call has ended.
	Commands       []string
	OutsideSandbox bool
	Background     bool
	// Hosts are who would be connected to, URLs the whole addresses that would be asked
	// for: what stands in them leaves this machine.
	Hosts, URLs []string
	Changes     []Change
}

// Change is one file's whole change.
type Change struct {
	Path string
	// Old is nil for a new file, New for a deleted one.
	Old, New *string
	MovedTo  string
}

// Output is what a call that ran gives back.
type Output struct {
	// Text is for the model; Blocks are images and documents that follow it.
	Text   string
	Blocks []core.Block
	// IsError marks a result the model should treat as a failure.
	IsError bool
	// Summary is the result in a few words for a person ("300 lines"); may be empty.
	Summary string
	// Executor and Isolation are set by tools that ran a command.
	Executor, Isolation string
	// Diff is a unified diff of what was written, for a person; may be empty.
	Diff string
	// Todos is the whole list of steps, where the call has set it; not nil then.
	Todos []core.Todo
	// Load names deferred tools that the session is to add to its list; tool_search
	// sets it.
	Load []string
	// Answer is the turn's answer as the user asked for it; structured_output sets it.
	Answer json.RawMessage
}

// Call is one run of a tool.
type Call struct {
	ID    string
	Env   *Env
	Plan  *Plan
	Grant *Grant
	// Progress shows a line to the person while the call runs; never nil.
	Progress func(text string)
	// Emit shows output as it arrives (stdout false, stderr true); never nil. The
	// bytes are only valid during the call.
	Emit func(stderr bool, chunk []byte)
	// Check asks the one decision function about an effect that only showed
	// while the call ran; it returns the denial's text as an error. A person is
	// shown the preview, or the target where there is none.
	Check func(ctx context.Context, effects Effects, target, preview string) error
}
