// Package choose finds the sandbox that works on this machine: each kind that the
// system might have starts /bin/true through its whole stack, in order of
// preference, and the first that succeeds is taken.
//
// It never decides whether one is needed. What a project holds has no say: the
// trial confines nothing but itself, so that no project can talk Garuda out of a
// sandbox by making its own commands fail.
package choose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
)

// None is the backend of a machine without a sandbox.
const None = "none"

// State is what was found.
type State struct {
	// Backend is the executor's name, or None.
	Backend string
	// Sentence says it to people in one sentence: which backend isolates commands,
	// or why none does and how to mend that.
	Sentence string
	// Unknown is set where none was found and a trial did not tell whether there is
	// one: it took too long, or could not be made.
	Unknown bool
	// Failures are the backends that were tried before, in order.
	Failures []Failure
	// Weaknesses are what this backend does not hold although others do, a sentence
	// each.
	Weaknesses []string
	// AtStart is what of that everybody has to know who works in it; "" for nothing.
	AtStart string
}

// Better says, in a sentence each, why the backends that hold more were not taken, and
// how to mend that.
func (s State) Better() []string {
	var all []string
	for _, f := range s.Failures {
		text := "The sandbox " + f.Backend + " does not work here: " + f.Err.Error() + "."
		if f.Mend != "" {
			text += " To mend it: " + f.Mend + "."
		}
		all = append(all, text)
	}
	return all
}

// Notice is what the first screen says where a sandbox was found that is not the best;
// "" where it is.
func (s State) Notice() string {
	if s.Backend == None || len(s.Failures) == 0 {
		return ""
	}
	said := []string{s.Sentence, s.AtStart, s.Better()[0]}
	return strings.Join(slices.DeleteFunc(said, func(part string) bool { return part == "" }), " ")
}

// Failure is a backend that does not work here.
type Failure struct {
	Backend string
	Err     error
	// Mend says what to do about it; "" where nothing helps.
	Mend string
}

// kind is a backend that this system might have.
type kind struct {
	name string
	// means completes "commands run in …".
	means string
	// make makes its executor. An error says that it cannot be here.
	make func(wrapped.Options) (sandbox.Executor, error)
	// mend says what to do about its failure; "" when nothing helps. May be nil.
	mend func(error) string
	// weaknesses are those of State; asked for only when it works.
	weaknesses func() []string
	// atStart is what everybody has to know who works in it; "" for nothing. May be nil.
	atStart func() string
}

// state is what is said of a kind that works.
func (k *kind) state() State {
	s := State{Backend: k.name, Sentence: "Commands run in " + k.means + "."}
	if k.weaknesses != nil {
		s.Weaknesses = k.weaknesses()
	}
	if k.atStart != nil {
		s.AtStart = k.atStart()
	}
	return s
}

// Executor is the best isolating executor that works here, for one session, or nil
// when none does. Each trial takes some ten milliseconds where it works, and at most
// trialLimit; what was found holds for the process, so one search is enough.
func Executor(ctx context.Context, opt wrapped.Options) (sandbox.Executor, State) {
	return first(ctx, opt, kinds())
}

func first(ctx context.Context, opt wrapped.Options, kinds []kind) (sandbox.Executor, State) {
	s := State{Backend: None}
	for _, k := range kinds {
		err := try(ctx, opt, k)
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
			err = try(ctx, opt, k) // the machine may have been busy for a moment
		}
		if err == nil {
			var e sandbox.Executor
			if e, err = k.make(opt); err == nil {
				found := k.state()
				found.Failures = s.Failures
				return e, found
			}
		}
		f := Failure{Backend: k.name, Err: err}
		switch {
		case inconclusive(err):
			f.Mend = mendBusy // what is said of this machine's settings would mislead
		case k.mend != nil:
			f.Mend = k.mend(err)
		}
		s.Failures = append(s.Failures, f)
	}
	s.Sentence = without(s.Failures)
	for _, f := range s.Failures {
		if inconclusive(f.Err) {
			s.Unknown = true
			s.Sentence = "It could not be found out whether this machine has a sandbox, so no command runs: " + f.Err.Error() + "."
			break
		}
	}
	return nil, s
}

// mendBusy is for a trial that failed for what passes.
const mendBusy = "start Garuda again when the machine has more time, memory and room to spare"

// errNoTrial is in the error of a trial that could not be made.
var errNoTrial = errors.New("no trial was made")

// inconclusive tells whether a trial failed for what says nothing about the sandbox.
func inconclusive(err error) bool {
	for _, why := range []error{
		os.ErrDeadlineExceeded, errNoTrial, syscall.ENOMEM, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, context.Canceled,
	} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// without says that there is no sandbox, why, and what to do. The reason is the
// first failure's, since that is the backend that should work.
func without(failures []Failure) string {
	const none = "There is no sandbox on this machine, so commands would run as you"
	if len(failures) == 0 {
		return none + ": Garuda knows none for this system. On Windows, run it inside WSL to have one."
	}
	text := none + ": " + failures[0].Err.Error() + "."
	var seen []string
	for _, f := range failures {
		if f.Mend != "" && !slices.Contains(seen, f.Mend) {
			seen = append(seen, f.Mend)
		}
	}
	if len(seen) > 0 {
		text += " To mend it: " + strings.Join(seen, "; or ") + "."
	}
	return text
}

// trialLimit is how long a backend may take to run /bin/true before it counts as
// one that does not work.
const trialLimit = 5 * time.Second

// program is what is tried: the smallest there is.
const program = "/bin/true"

// trialDir is where the trial runs: a folder that every system has. One made for it
// would be left behind by a Garuda that is killed meanwhile.
const trialDir = "/usr"

// try runs one command through a backend, in a view of nothing but the system.
func try(ctx context.Context, opt wrapped.Options, k kind) (err error) {
	v, err := trialView()
	if err != nil {
		return fmt.Errorf("%w: describe what it sees: %w", errNoTrial, err)
	}
	opt.Network = nil
	opt.View = func(context.Context, *sandbox.Command) (*sandbox.View, error) { return v, nil }
	e, err := k.make(opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Shutdown(ctx)) }()
	res, err := e.Run(ctx, &sandbox.Command{
		Argv: []string{trialProgram()}, Dir: trialDir, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: trialLimit, Limit: 4 << 10,
	})
	switch {
	case err != nil:
		return err
	case res.TimedOut:
		return fmt.Errorf("%s did not end within %v in it: %w", program, trialLimit, os.ErrDeadlineExceeded)
	case res.Interrupted:
		return fmt.Errorf("it was not found out: %w", context.Cause(ctx))
	case res.ExitCode != 0:
		said := strings.TrimSpace(string(res.Stderr.Head))
		return fmt.Errorf("%s ended in it with %d%s%s", program, res.ExitCode, res.Signal, prefixed(": ", said))
	}
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// trialProgram is where program lies: /bin/true on Linux, /usr/bin/true on macOS.
func trialProgram() string {
	if _, err := os.Stat(program); err != nil {
		return "/usr" + program
	}
	return program
}

// trialView is the system's folders. Where /bin and its like are links, the view has
// them too.
func trialView() (*sandbox.View, error) {
	v := &sandbox.View{Root: trialDir, Home: trialDir}
	for _, p := range []string{"/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/sbin", "/usr"} {
		info, err := os.Lstat(p)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return nil, err
			}
			v.Links = append(v.Links, sandbox.Link{Path: p, Target: target})
		case info.IsDir():
			v.Entries = append(v.Entries, sandbox.Entry{Path: p, Access: sandbox.ReadOnly, Why: "the system"})
		}
	}
	return v, nil
}
