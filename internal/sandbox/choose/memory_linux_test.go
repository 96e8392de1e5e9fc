package choose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
)

// counted is a kind whose trials and commands are counted.
type counted struct {
	kind
	fake *fake
	runs int
}

func countedKind(name string) *counted {
	c := &counted{fake: &fake{name: name, ended: new(int)}}
	c.kind = kindOf(c.fake, "do something")
	c.make = func(opt wrapped.Options) (sandbox.Executor, error) {
		return &countedRuns{fake: &fake{name: name, ended: c.fake.ended, opt: opt}, of: c}, nil
	}
	return c
}

type countedRuns struct {
	*fake
	of *counted
}

func (r *countedRuns) Run(context.Context, *sandbox.Command) (*sandbox.Result, error) {
	r.of.runs++
	if r.of.fake.err != nil {
		return nil, r.of.fake.err
	}
	return &sandbox.Result{}, nil
}

func (r *countedRuns) Start(context.Context, *sandbox.Command) (sandbox.Process, error) {
	r.of.runs++
	return nil, r.of.fake.err
}

func fixed(facts string) func() (string, error) { return func() (string, error) { return facts, nil } }

func TestAGoodTrialIsRemembered(t *testing.T) {
	best, other := countedKind("best"), countedKind("other")
	m := &memory{file: filepath.Join(t.TempDir(), "sandbox.json"), facts: fixed("as they are")}
	for start, want := range []int{1, 1, 1} {
		e, state := remembered(t.Context(), wrapped.Options{}, []kind{best.kind, other.kind}, m)
		if e == nil || e.Name() != "best" || state.Sentence != "Commands run in the best sandbox." || len(state.Weaknesses) != 1 {
			t.Fatalf("start %d: %v, %+v", start, e, state)
		}
		if best.runs != want || other.runs != 0 {
			t.Errorf("start %d: %d trials, want %d", start, best.runs, want)
		}
	}
	info, err := os.Stat(m.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
}

// Whatever is not quite as it was means that a trial is made.
func TestATrialIsMade(t *testing.T) {
	good := `{"version":1,"backend":"best","facts":"f"}`
	for name, spoil := range map[string]func(t *testing.T, file string) error{
		"no file":            func(_ *testing.T, file string) error { return os.Remove(file) },
		"other facts":        rewrite(`{"version":1,"backend":"best","facts":"g"}`),
		"another backend":    rewrite(`{"version":1,"backend":"other","facts":"f"}`),
		"another version":    rewrite(`{"version":2,"backend":"best","facts":"f"}`),
		"garbage":            rewrite("\x00\xff{"),
		"nothing":            rewrite(""),
		"more than one":      rewrite(good + good),
		"a long file":        rewrite(good + strings.Repeat(" ", memoryLimit)),
		"writable by others": func(_ *testing.T, file string) error { return os.Chmod(file, 0o620) },
		"readable by others": func(_ *testing.T, file string) error { return os.Chmod(file, 0o604) },
		"a link": func(_ *testing.T, file string) error {
			return errors.Join(os.Rename(file, file+".real"), os.Symlink(file+".real", file))
		},
		"a FIFO":   func(_ *testing.T, file string) error { return errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600)) },
		"a folder": func(_ *testing.T, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		"another's file": func(t *testing.T, file string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			return os.Chown(file, 65534, 65534)
		},
	} {
		t.Run(name, func(t *testing.T) {
			best := countedKind("best")
			m := &memory{file: filepath.Join(t.TempDir(), "sandbox.json"), facts: fixed("f")}
			if err := os.WriteFile(m.file, []byte(good), 0o600); err != nil {
				t.Fatal(err)
			}
			if !m.holds("best", "f") {
				t.Fatal("the good file is not taken, so this test shows nothing")
			}
			if err := spoil(t, m.file); err != nil {
				t.Fatal(err)
			}
			var told []error
			opt := wrapped.Options{Report: func(err error) { told = append(told, err) }}
			if e, state := remembered(t.Context(), opt, []kind{best.kind}, m); e == nil || state.Backend != "best" || best.runs != 1 {
				t.Errorf("%d trials, %+v", best.runs, state)
			}
			if name == "a folder" {
				if len(told) == 0 {
					t.Error("that nothing could be remembered was not reported")
				}
			} else if len(told) > 0 || !m.holds("best", "f") {
				t.Errorf("it was not remembered anew: %v", told)
			}
		})
	}
}

func rewrite(text string) func(*testing.T, string) error {
	return func(_ *testing.T, file string) error { return os.WriteFile(file, []byte(text), 0o600) }
}

// Only the best is remembered: neither that it failed, nor that a lesser one worked,
// may keep a later start from a sandbox that works by then.
func TestALesserSandboxIsNotRemembered(t *testing.T) {
	best, other := countedKind("best"), countedKind("other")
	m := &memory{file: filepath.Join(t.TempDir(), "sandbox.json"), facts: fixed("f")}
	start := func() string {
		_, state := remembered(t.Context(), wrapped.Options{}, []kind{best.kind, other.kind}, m)
		return state.Backend
	}
	best.fake.err = errors.New("not today")
	if got := start(); got != "other" {
		t.Fatalf("got %s", got)
	}
	other.fake.err = best.fake.err
	if got := start(); got != None {
		t.Fatalf("got %s", got)
	}
	best.fake.err = nil
	if got := start(); got != "best" {
		t.Errorf("got %s although the best works", got)
	}
}

// What was remembered turns out wrong: no command runs, and all is said.
func TestARememberedSandboxThatFails(t *testing.T) {
	best, other := countedKind("best"), countedKind("other")
	m := &memory{file: filepath.Join(t.TempDir(), "sandbox.json"), facts: fixed("f")}
	if err := m.keep("best", "f"); err != nil {
		t.Fatal(err)
	}
	kinds := []kind{best.kind, other.kind}
	e, _ := remembered(t.Context(), wrapped.Options{}, kinds, m)
	broken := errors.New("step pivot: not permitted")
	best.fake.err = broken
	cmd := &sandbox.Command{Argv: []string{"/bin/true"}, Dir: "/"}
	for n := range 2 {
		_, err := e.Run(t.Context(), cmd)
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "does not now; to mend it: do something") {
			t.Errorf("command %d: %v", n, err)
		}
	}
	if _, err := e.Start(t.Context(), cmd); !errors.Is(err, broken) {
		t.Errorf("a program that is talked to: %v", err)
	}
	// Two commands, a start, and one trial for all of them.
	if best.runs != 4 || other.runs != 0 {
		t.Errorf("%d runs of the best, %d of the other", best.runs, other.runs)
	}
	if m.holds("best", "f") {
		t.Error("it is still remembered")
	}
	if _, state := remembered(t.Context(), wrapped.Options{}, kinds, m); state.Backend != "other" {
		t.Errorf("the next start: %+v", state)
	}
}

// A command that fails by itself costs at most one trial, and its error stays as it is.
func TestACommandsOwnTroubleIsNotTheSandboxs(t *testing.T) {
	for _, c := range []struct {
		err    error
		trials int
	}{{fmt.Errorf("x: %w", proc.ErrNotFound), 0}, {proc.ErrShutdown, 0}, {wrapped.ErrNoView, 0}, {errors.New("its folder has gone"), 1}} {
		best := countedKind("best")
		m := &memory{file: filepath.Join(t.TempDir(), "sandbox.json"), facts: fixed("f")}
		if err := m.keep("best", "f"); err != nil {
			t.Fatal(err)
		}
		e, _ := remembered(t.Context(), wrapped.Options{}, []kind{best.kind}, m)
		inner := e.(*trusted).Executor.(*countedRuns)
		inner.of = &counted{fake: &fake{err: c.err}}
		for range 2 {
			if _, err := e.Run(t.Context(), &sandbox.Command{}); err != c.err { //nolint:errorlint // the very same
				t.Errorf("got %v, want %v", err, c.err)
			}
		}
		if best.runs != c.trials {
			t.Errorf("%v: %d trials, want %d", c.err, best.runs, c.trials)
		}
	}
}

func TestNothingIsRememberedWithoutAFolderOrFacts(t *testing.T) {
	best := countedKind("best")
	dir := t.TempDir()
	told := 0
	opt := wrapped.Options{Report: func(error) { told++ }}
	for _, m := range []*memory{
		{file: ""},
		{file: filepath.Join(dir, "missing", "sandbox.json"), facts: fixed("f")},
		{file: filepath.Join(dir, "sandbox.json"), facts: func() (string, error) { return "", errNoFacts }},
	} {
		for range 2 {
			if e, _ := remembered(t.Context(), opt, []kind{best.kind}, m); e == nil {
				t.Fatal("no executor")
			}
		}
	}
	if best.runs != 6 || told != 0 {
		t.Errorf("%d trials, %d reports", best.runs, told)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	m := &memory{file: filepath.Join(dir, "sandbox.json"), facts: func() (string, error) { return "", errors.New("no /proc") }}
	if e, _ := remembered(t.Context(), opt, []kind{best.kind}, m); e == nil || told != 1 {
		t.Errorf("facts that cannot be read: %d reports", told)
	}
}

func TestCircumstancesAreTheSameTwice(t *testing.T) {
	a, err := circumstances()
	if err != nil {
		t.Fatal(err)
	}
	b, err := circumstances()
	if err != nil || a != b || len(a) != 64 {
		t.Errorf("%q, then %q, %v", a, b, err)
	}
}
