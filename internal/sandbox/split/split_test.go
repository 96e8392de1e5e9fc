package split_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/split"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake counts what it was given.
type fake struct {
	name      string
	isolation sandbox.Isolation
	ran       []string
	env       []string // of the last one
	ended     bool
}

func (f *fake) Name() string                 { return f.name }
func (f *fake) Isolation() sandbox.Isolation { return f.isolation }

func (f *fake) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	f.ran, f.env = append(f.ran, cmd.Argv[0]), cmd.Env
	return &sandbox.Result{}, nil
}

func (f *fake) Start(_ context.Context, cmd *sandbox.Command) (sandbox.Process, error) {
	f.ran, f.env = append(f.ran, cmd.Argv[0]), cmd.Env
	return nil, nil
}

func (f *fake) Shutdown(context.Context) error {
	f.ended = true
	return nil
}

func fakes() (inside, host *fake) {
	return &fake{name: "linux", isolation: sandbox.IsolationOS}, &fake{name: "host", isolation: sandbox.IsolationNone}
}

// Each command goes where it belongs, by both ways of starting one.
func TestCommandsAreSplit(t *testing.T) {
	in, host := fakes()
	e := split.New(split.Options{Host: host, Find: func(context.Context) (sandbox.Executor, error) { return in, nil }})
	for _, run := range []func(*sandbox.Command) error{
		func(c *sandbox.Command) error { _, err := e.Run(t.Context(), c); return err },
		func(c *sandbox.Command) error { _, err := e.Start(t.Context(), c); return err },
	} {
		in.ran, host.ran = nil, nil
		for _, c := range []*sandbox.Command{{Argv: []string{"a"}}, {Argv: []string{"b"}, Outside: true}} {
			if err := run(c); err != nil {
				t.Fatal(err)
			}
		}
		if len(in.ran) != 1 || in.ran[0] != "a" || len(host.ran) != 1 || host.ran[0] != "b" {
			t.Errorf("inside ran %v, the host %v", in.ran, host.ran)
		}
	}
	if e.Name() != "linux" || e.Isolation() != sandbox.IsolationOS {
		t.Errorf("%s, %s", e.Name(), e.Isolation())
	}
	for outside, want := range map[bool]string{false: "linux os", true: "host none"} {
		if name, isolation := sandbox.Where(e, outside); name+" "+string(isolation) != want {
			t.Errorf("outside %v: %s %s", outside, name, isolation)
		}
	}
	if err := e.Shutdown(t.Context()); err != nil || !in.ended || !host.ended {
		t.Errorf("not everything was ended: %v", err)
	}
}

// Without a sandbox commands run on the host, and the reason is kept; where one is
// required nothing runs, also what would leave it.
func TestWithoutASandbox(t *testing.T) {
	why := errors.New("no user namespaces")
	_, host := fakes()
	find := func(context.Context) (sandbox.Executor, error) { return nil, why }
	e := split.New(split.Options{Host: host, Find: find})
	if _, err := e.Run(t.Context(), &sandbox.Command{Argv: []string{"a"}}); err != nil || len(host.ran) != 1 {
		t.Errorf("%v, %v", err, host.ran)
	}
	if _, err := e.Inside(); !errors.Is(err, why) || e.Isolation() != sandbox.IsolationNone {
		t.Errorf("%v, %s", err, e.Isolation())
	}
	required := split.New(split.Options{Host: host, Find: find, Required: true})
	if _, err := required.Run(t.Context(), &sandbox.Command{Argv: []string{"a"}}); !errors.Is(err, split.ErrNoSandbox) || !errors.Is(err, why) {
		t.Error(err)
	}
	in, _ := fakes()
	required = split.New(split.Options{Host: host, Required: true, Find: func(context.Context) (sandbox.Executor, error) { return in, nil }})
	if _, err := required.Start(t.Context(), &sandbox.Command{Argv: []string{"a"}, Outside: true}); !errors.Is(err, split.ErrNoSandbox) {
		t.Error(err)
	}
	if len(host.ran) != 1 {
		t.Errorf("the host ran %v", host.ran)
	}
	none := split.New(split.Options{Host: host})
	if in, err := none.Inside(); in != nil || err != nil {
		t.Errorf("%v, %v", in, err)
	}
	none = split.New(split.Options{Host: host, Required: true})
	if _, err := none.Run(t.Context(), &sandbox.Command{Argv: []string{"a"}}); !errors.Is(err, split.ErrNoSandbox) {
		t.Error(err)
	}
}

// What could not be found out is not taken for a machine without a sandbox.
func TestNothingRunsWhereItIsNotKnown(t *testing.T) {
	why := fmt.Errorf("%w: the disk is full", sandbox.ErrUnknown)
	_, host := fakes()
	e := split.New(split.Options{Host: host, Find: func(context.Context) (sandbox.Executor, error) { return nil, why }})
	if _, err := e.Run(t.Context(), &sandbox.Command{Argv: []string{"a"}}); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := e.Start(t.Context(), &sandbox.Command{Argv: []string{"b"}}); !errors.Is(err, why) {
		t.Error(err)
	}
	if len(host.ran) > 0 || e.Isolation() != sandbox.IsolationOS {
		t.Errorf("the host ran %v; %s", host.ran, e.Isolation())
	}
	if _, err := e.Run(t.Context(), &sandbox.Command{Argv: []string{"c"}, Outside: true}); err != nil || len(host.ran) != 1 {
		t.Errorf("what was granted to leave it: %v", err)
	}
}

// The sandbox has places of its own, and a command outside it is not told of them.
func TestEnvironmentInside(t *testing.T) {
	in, host := fakes()
	e := split.New(split.Options{
		Host: host, Find: func(context.Context) (sandbox.Executor, error) { return in, nil },
		InsideEnv: func() []string { return []string{"TMPDIR=/tmp", "NEW=1"} },
	})
	env := []string{"TMPDIR=/home/x/tmp", "A=b"}
	for _, outside := range []bool{false, true} {
		if _, err := e.Run(t.Context(), &sandbox.Command{Argv: []string{"a"}, Env: env, Outside: outside}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(in.env, []string{"A=b", "TMPDIR=/tmp", "NEW=1"}) || !slices.Equal(host.env, []string{"TMPDIR=/home/x/tmp", "A=b"}) || env[0] != "TMPDIR=/home/x/tmp" {
		t.Errorf("inside %q, on the host %q", in.env, host.env)
	}
}

// Finding ends with the executor.
func TestShutdownEndsTheSearch(t *testing.T) {
	_, host := fakes()
	e := split.New(split.Options{Host: host, Find: func(ctx context.Context) (sandbox.Executor, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	e.Begin()
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Inside(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A sandbox is looked for once, when somebody begins it or asks, and not before. Who
// asks only after the end gets none, and runs nothing on the machine instead.
func TestASandboxIsLookedForWhenItIsAskedFor(t *testing.T) {
	_, host := fakes()
	searches := 0
	find := func(context.Context) (sandbox.Executor, error) {
		searches++
		in, _ := fakes()
		return in, nil
	}
	e := split.New(split.Options{Host: host, Find: find})
	if e.Outside() != sandbox.Executor(host) || searches != 0 {
		t.Errorf("%d searches before anybody asked", searches)
	}
	e.Begin()
	if e.Name() != "linux" || e.Isolation() != sandbox.IsolationOS || searches != 1 {
		t.Errorf("%s, %s, after %d searches", e.Name(), e.Isolation(), searches)
	}

	searches = 0
	unasked := split.New(split.Options{Host: host, Find: find})
	if err := unasked.Shutdown(t.Context()); err != nil || searches != 0 {
		t.Errorf("the end looked for a sandbox %d times: %v", searches, err)
	}
	if _, err := unasked.Run(t.Context(), &sandbox.Command{Argv: []string{"a"}}); !errors.Is(err, sandbox.ErrUnknown) || searches != 0 || len(host.ran) != 0 {
		t.Errorf("%v; %d searches, the host ran %v", err, searches, host.ran)
	}
}
