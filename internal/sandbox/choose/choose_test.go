package choose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
)

// fake is an executor that answers every command alike.
type fake struct {
	sandbox.Executor
	name  string
	res   sandbox.Result
	err   error
	ended *int
	saw   *sandbox.View
	tried *sandbox.Command
	opt   wrapped.Options
}

func (f *fake) Name() string { return f.name }
func (f *fake) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	f.saw, _ = f.opt.View(ctx, cmd)
	f.tried = cmd
	if f.err != nil {
		return nil, f.err
	}
	return &f.res, nil
}
func (f *fake) Shutdown(context.Context) error {
	*f.ended++
	return nil
}

func kindOf(f *fake, mend string) kind {
	return kind{
		name: f.name, means: "the " + f.name + " sandbox",
		make:       func(opt wrapped.Options) (sandbox.Executor, error) { f.opt = opt; return f, nil },
		mend:       func(error) string { return mend },
		weaknesses: func() []string { return []string{f.name + " is weak"} },
	}
}

func TestTheFirstThatWorksIsTaken(t *testing.T) {
	ended := 0
	broken := errors.New("user namespaces are refused")
	a := &fake{name: "a", err: broken, ended: &ended}
	b := &fake{name: "b", ended: &ended, res: sandbox.Result{ExitCode: 1, Stderr: sandbox.Captured{Head: []byte("no way\n")}}}
	c := &fake{name: "c", ended: &ended}
	d := &fake{name: "d", ended: &ended}
	absent := kind{name: "absent", make: func(wrapped.Options) (sandbox.Executor, error) { return nil, broken }}
	mine := func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		return nil, errors.New("the project's own view has no say")
	}
	e, s := first(t.Context(), wrapped.Options{View: mine}, []kind{kindOf(a, "mend a"), absent, kindOf(b, ""), kindOf(c, ""), kindOf(d, "")})
	if e != c || s.Backend != "c" || s.Sentence != "Commands run in the c sandbox." || !slices.Equal(s.Weaknesses, []string{"c is weak"}) {
		t.Errorf("%v, %+v", e, s)
	}
	if ended != 3 || d.tried != nil {
		t.Errorf("%d trials were ended, the last was tried: %v", ended, d.tried != nil)
	}
	if v, err := c.opt.View(t.Context(), nil); v != nil || err == nil {
		t.Error("what was taken has another view than it was given")
	}
	want := []string{"a|user namespaces are refused|mend a", "absent|user namespaces are refused|", "b|/bin/true ended in it with 1: no way|"}
	var got []string
	for _, f := range s.Failures {
		got = append(got, f.Backend+"|"+f.Err.Error()+"|"+f.Mend)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.saw.Root != c.tried.Dir || c.saw.FullNetwork || c.tried.Timeout != trialLimit {
		t.Errorf("%+v tried in %+v", c.tried, c.saw)
	}
	if !slices.IsSortedFunc(c.saw.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("entries are not sorted: %+v", c.saw.Entries)
	}
}

func TestWithoutASandbox(t *testing.T) {
	ended := 0
	e, s := first(t.Context(), wrapped.Options{}, []kind{
		kindOf(&fake{name: "a", ended: &ended, err: errors.New("no namespaces")}, "allow them"),
		kindOf(&fake{name: "b", ended: &ended, res: sandbox.Result{ExitCode: 1}}, "allow them"),
		kindOf(&fake{name: "c", ended: &ended, res: sandbox.Result{ExitCode: -1, Signal: "SIGSYS"}}, "install it"),
	})
	want := "There is no sandbox on this machine, so commands would run as you: no namespaces. To mend it: allow them; or install it."
	if e != nil || s.Backend != None || s.Sentence != want || len(s.Failures) != 3 || ended != 3 {
		t.Errorf("%v, %+v", e, s)
	}
	if _, s := first(t.Context(), wrapped.Options{}, nil); !strings.Contains(s.Sentence, "WSL") {
		t.Error(s.Sentence)
	}
}

// Only what a trial says makes a machine one without a sandbox.
func TestAnUnknownSandboxIsNotNone(t *testing.T) {
	slow := sandbox.Result{TimedOut: true, ExitCode: -1}
	for name, c := range map[string]struct {
		fake    fake
		trials  int
		unknown bool
	}{
		"it takes too long":        {fake{res: slow}, 2, true},
		"its start takes too long": {fake{err: fmt.Errorf("not ready: %w", os.ErrDeadlineExceeded)}, 2, true},
		"there is no memory":       {fake{err: fmt.Errorf("start it: %w", syscall.ENOMEM)}, 1, true},
		"it is refused":            {fake{err: syscall.EPERM}, 1, false},
		"it fails":                 {fake{res: sandbox.Result{ExitCode: 1}}, 1, false},
	} {
		trials := 0
		c.fake.name, c.fake.ended = "a", &trials
		e, s := first(t.Context(), wrapped.Options{}, []kind{kindOf(&c.fake, "")})
		if e != nil || s.Unknown != c.unknown || trials != c.trials || strings.Contains(s.Sentence, "no command runs") != c.unknown {
			t.Errorf("%s: %d trials, %+v", name, trials, s)
		}
	}
	// A trial needs no folder of its own, and so leaves none when Garuda is killed.
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	trials := 0
	if e, s := first(t.Context(), wrapped.Options{}, []kind{kindOf(&fake{name: "a", ended: &trials}, "")}); e == nil || s.Unknown {
		t.Errorf("without a folder for temporary files: %+v", s)
	}
}

func TestAnInterruptedSearchFindsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Garuda ends"))
	ended := 0
	e, s := first(ctx, wrapped.Options{}, []kind{kindOf(&fake{name: "a", ended: &ended, res: sandbox.Result{Interrupted: true, ExitCode: -1}}, "")})
	if e != nil || len(s.Failures) != 1 || !strings.Contains(s.Sentence, "Garuda ends") {
		t.Errorf("%v, %+v", e, s)
	}
}

func TestWhatMendsNamespaces(t *testing.T) {
	for _, c := range []struct {
		facts facts
		want  string
	}{
		{facts{}, ""},
		{facts{noNamespaces: true, container: true}, "user.max_user_namespaces=15000"},
		{facts{noClone: true}, "kernel.unprivileged_userns_clone=1"},
		{facts{noClone: true, root: true}, ""},
		{facts{container: true, appArmor: true}, "Docker: "},
		{facts{appArmor: true}, "AppArmor"},
		{facts{appArmor: true, root: true}, ""},
	} {
		if got := c.facts.namespaces(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c.facts, got)
		}
	}
}

// Who works in a sandbox that is not the best is told so, why, and how to mend it.
func TestWhatIsSaidOfASandboxThatIsNotTheBest(t *testing.T) {
	ended := 0
	a, b := &fake{name: "a", ended: &ended, err: errors.New("namespaces are refused")}, &fake{name: "b", ended: &ended}
	second := kindOf(b, "")
	second.atStart = func() string { return "Nothing is made." }
	_, s := first(t.Context(), wrapped.Options{}, []kind{kindOf(a, "allow them"), second})
	want := "Commands run in the b sandbox. Nothing is made. The sandbox a does not work here: namespaces are refused. To mend it: allow them."
	if s.Notice() != want {
		t.Error(s.Notice())
	}
	// Of what passes, no setting of the machine is to blame.
	a.err = fmt.Errorf("not ready: %w", os.ErrDeadlineExceeded)
	_, s = first(t.Context(), wrapped.Options{}, []kind{kindOf(a, "allow them"), second})
	if got := strings.Join(s.Better(), "\n"); strings.Contains(got, "allow them") || !strings.Contains(got, mendBusy) {
		t.Error(got)
	}
	_, s = first(t.Context(), wrapped.Options{}, []kind{second})
	if s.Notice() != "" || len(s.Better()) > 0 {
		t.Errorf("of the best: %q", s.Notice())
	}
}
