package linux

import (
	"errors"
	"os"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/stage"
)

// Maker makes the namespaces and the view of a command where Garuda itself may not: by
// a program that may, and which then starts Garuda's binary as stage.InnerProgram.
type Maker interface {
	// Make says how that is done for a policy, which is made of the view.
	Make(view *sandbox.View, policy *stage.Policy) (*Made, error)
	// Close gives back what the maker keeps for all of them.
	Close() error
}

// Made is what a Maker says of one command.
type Made struct {
	// Launch is how the program is started: its path and arguments, the files that
	// come after stage.Control, and the one that is held aside.
	Launch proc.Launch
	// Message is what the inner stage is told.
	Message []byte
	// Said is what the program said when it ended before the inner stage ran; nil when
	// it said nothing.
	Said func() error
	// Release closes what has to stay open until the command runs.
	Release func()
}

// NewThrough makes an executor as New does, under the name of what makes namespaces
// for it.
func NewThrough(name string, opt Options, maker Maker) (*Executor, error) {
	return newExecutor(name, opt, maker)
}

// launchThrough starts the maker's program.
func (t *talk) launchThrough(control *os.File) *proc.Launch {
	l := t.made.Launch
	l.Env, l.Dir = []string{}, "/"
	l.Files = append([]*os.File{control}, l.Files...)
	l.Init, l.Ended, l.Attributes = t, t.end, t.group.Into
	return &l
}

// silence is the error of a stage that ended without a word.
func (t *talk) silence() error {
	if t.made != nil {
		if err := t.made.Said(); err != nil {
			return err
		}
	}
	return errors.New("the sandbox ended without a word before the command ran; the kernel may have no room for its processes or memory")
}

// release closes what a maker kept open for the beginning.
func (t *talk) release() {
	if t.made != nil && t.made.Release != nil {
		t.made.Release()
		t.made.Release = nil
	}
}
