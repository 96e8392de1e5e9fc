package wire

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/sandbox"
)

// isolating is an executor that says it isolates, and notes what it ran.
type isolating struct{ ran []*sandbox.Command }

func (*isolating) Name() string                   { return "linux" }
func (*isolating) Isolation() sandbox.Isolation   { return sandbox.IsolationOS }
func (*isolating) Shutdown(context.Context) error { return nil }

func (i *isolating) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	i.ran = append(i.ran, cmd)
	return &sandbox.Result{}, nil
}

func (i *isolating) Start(context.Context, *sandbox.Command) (sandbox.Process, error) {
	return nil, errors.New("not played")
}

var errNoNamespaces = errors.New("user namespaces are off; switch them on with sysctl")

// withSandbox opens a system where find stands for the machine's sandbox.
func withSandbox(t *testing.T, find func(context.Context) (sandbox.Executor, error), settings string, change func(*Options)) (*System, error) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GARUDA_HOME", home)
	if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &Options{CWD: t.TempDir(), InMemory: true, UseModel: fakeModel{spec: "a/m"}, FindSandbox: find}
	if change != nil {
		change(o)
	}
	s, err := Open(t.Context(), o)
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

func works(i *isolating) func(context.Context) (sandbox.Executor, error) {
	return func(context.Context) (sandbox.Executor, error) { return i, nil }
}

func fails(context.Context) (sandbox.Executor, error) { return nil, errNoNamespaces }

// bash calls the tool, unattended.
func bash(t *testing.T, s *System, input string) (text string, denied bool) {
	t.Helper()
	r := s.Call(t.Context(), core.Block{Type: core.BlockToolUse, ID: "c1", Name: "bash", Input: input})
	return r.Result.ResultText(), r.Denied
}

// offersLeaving tells whether the model is told of outside_sandbox.
func offersLeaving(s *System) bool {
	for _, r := range s.Tools() {
		if r.Spec.Name == "bash" {
			return strings.Contains(string(r.Spec.Schema)+r.Spec.Description, "outside_sandbox")
		}
	}
	return false
}

func TestASandboxThatWorks(t *testing.T) {
	box := &isolating{}
	s, err := withSandbox(t, works(box), `{}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, denied := bash(t, s, `{"command":"make install"}`); denied || len(box.ran) != 1 || box.ran[0].Outside || box.ran[0].ReadOnlyRoot {
		t.Errorf("a command in the sandbox: %s, %+v", text, box.ran)
	}
	if text, denied := bash(t, s, `{"command":"make install","outside_sandbox":true}`); !denied || !strings.Contains(text, "leaves the sandbox") {
		t.Errorf("a command that leaves it, with nobody to ask: %s", text)
	}
	if !offersLeaving(s) || !strings.HasPrefix(s.SandboxInWords(), "commands write only in this folder") || len(s.Notices()) > 0 {
		t.Errorf("%v, %q, %q", offersLeaving(s), s.SandboxInWords(), s.Notices())
	}
	s.buildPrompt()
	if !strings.Contains(s.system, "Commands run in a sandbox") {
		t.Errorf("%s", s.system)
	}
	if err := s.policy.SetMode("plan"); err != nil {
		t.Fatal(err)
	}
	if text, denied := bash(t, s, `{"command":"make"}`); denied || !box.ran[len(box.ran)-1].ReadOnlyRoot {
		t.Errorf("plan mode: %s", text)
	}
	if _, denied := bash(t, s, `{"command":"ls","outside_sandbox":true}`); !denied {
		t.Error("a command left the sandbox in plan mode")
	}
	if len(box.ran) != 2 {
		t.Errorf("%d commands ran", len(box.ran))
	}
}

// What was granted as such runs on the machine itself, and nothing else does.
func TestLeavingByARule(t *testing.T) {
	box := &isolating{}
	s, err := withSandbox(t, works(box), `{"permissions":{"allow":["unsandboxed(echo *)","bash(echo *)"]}}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := bash(t, s, `{"command":"echo out there","outside_sandbox":true}`)
	if !strings.Contains(text, "out there") || len(box.ran) != 0 {
		t.Errorf("%s, %+v", text, box.ran)
	}
	if text, _ = bash(t, s, `{"command":"echo in here"}`); strings.Contains(text, "in here") || len(box.ran) != 1 {
		t.Errorf("%s, %+v", text, box.ran)
	}
}

func TestWithoutASandbox(t *testing.T) {
	s, err := withSandbox(t, fails, `{}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(s.Notices(), "\n"); !strings.Contains(said, "are asked about") || !strings.Contains(said, errNoNamespaces.Error()) {
		t.Errorf("it does not say why: %q", said)
	}
	if _, denied := bash(t, s, `{"command":"make install"}`); !denied || offersLeaving(s) || s.isolated() {
		t.Errorf("denied %v, leaving %v, isolated %v", denied, offersLeaving(s), s.isolated())
	}
	if s, err = withSandbox(t, works(&isolating{}), `{"executor":"host"}`, nil); err != nil || s.isolated() || offersLeaving(s) || len(s.Notices()) > 0 {
		t.Errorf("executor host: %v", err)
	}
}

// A machine of which it is not known whether it has a sandbox is none without one:
// nothing runs there unasked, not even what only reads.
func TestAnUnknownSandbox(t *testing.T) {
	why := &unknownSandbox{errors.New("the disk is full")}
	find := func(context.Context) (sandbox.Executor, error) { return nil, why }
	s, err := withSandbox(t, find, `{"permissions":{"allow":["bash(echo *)","unsandboxed(echo out*)"]}}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"echo in", "ls"} {
		if text, _ := bash(t, s, `{"command":"`+command+`"}`); !strings.Contains(text, why.Error()) {
			t.Errorf("%s: %s", command, text)
		}
	}
	if text, _ := bash(t, s, `{"command":"echo out","outside_sandbox":true}`); !strings.Contains(text, "Exit code: 0") {
		t.Errorf("what a rule lets leave it: %s", text)
	}
	if text, denied := bash(t, s, `{"command":"touch out","outside_sandbox":true}`); !denied {
		t.Errorf("it left the sandbox unasked: %s", text)
	}
	if said := strings.Join(append(s.Notices(), s.SandboxInWords()), "\n"); strings.Count(said, why.Error()) != 2 || strings.Contains(said, "asked about") {
		t.Errorf("it says %q", said)
	}
}

// Where a sandbox is required there is no start without one, and no advice to do
// without.
func TestARequiredSandbox(t *testing.T) {
	for _, settings := range []string{`{"executor":"os"}`, `{"profile":"strict"}`} {
		var unusable *SettingsError
		if _, err := withSandbox(t, fails, settings, nil); !errors.As(err, &unusable) || !errors.Is(err, errNoNamespaces) || strings.Contains(err.Error(), "host") {
			t.Errorf("%s: %v", settings, err)
		}
		s, err := withSandbox(t, works(&isolating{}), settings, nil)
		if err != nil {
			t.Fatalf("%s: %v", settings, err)
		}
		if strict := strings.Contains(settings, "strict"); offersLeaving(s) == strict {
			t.Errorf("%s: a command may leave: %v", settings, offersLeaving(s))
		}
	}
	if _, err := withSandbox(t, works(&isolating{}), `{"profile":"strict","executor":"host"}`, nil); err == nil {
		t.Error("the strict profile started on the host")
	}
}

// The team's policy lets no command run on the host, those of the tools neither.
func TestATeamRequiresTheSandbox(t *testing.T) {
	policy := func(home string) {
		if err := os.WriteFile(filepath.Join(home, "policy.json"), []byte(`{"requireSandbox":true}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := withSandbox(t, fails, `{}`, func(*Options) { policy(os.Getenv("GARUDA_HOME")) })
	if err != nil {
		t.Fatal(err)
	}
	if text, denied := bash(t, s, `{"command":"ls"}`); !denied {
		t.Errorf("%s", text)
	}
	if _, err := s.executor.Run(t.Context(), &sandbox.Command{Argv: []string{"bash", "-c", "true"}, Dir: s.Root()}); err == nil {
		t.Error("the executor ran a command without a sandbox")
	}
	s, err = withSandbox(t, works(&isolating{}), `{}`, func(*Options) { policy(os.Getenv("GARUDA_HOME")) })
	if err != nil || offersLeaving(s) {
		t.Errorf("a command may leave: %v", err)
	}
}

// Most starts run no command, so nothing is made for commands before the first; what
// a killed session left goes with the next start.
func TestNothingIsMadeForCommandsBeforeTheFirst(t *testing.T) {
	s, err := withSandbox(t, nil, `{}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.isolated() {
		t.Skip("this machine has no sandbox: ", s.Notices())
	}
	home := s.places.garuda
	for _, name := range []string{"sandbox", "placeholders", "toolchains.json"} {
		if _, err := os.Lstat(filepath.Join(home, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", name, err)
		}
	}
	text, denied := bash(t, s, `{"command":"echo in $TMPDIR; touch /tmp/x"}`)
	made, err := filepath.Glob(filepath.Join(home, "sandbox", "session-*"))
	if denied || !strings.Contains(text, "in /tmp") || err != nil || len(made) != 1 {
		t.Errorf("%s, %v, %v", text, made, err)
	}
	if _, host := s.hostPath("/tmp/x"); len(made) == 1 && host != filepath.Join(made[0], "tmp", "x") {
		t.Errorf("/tmp/x is %s", host)
	}
	s.Close()
	if _, err := os.Lstat(made[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the end left %s: %v", made[0], err)
	}

	orphan := filepath.Join(home, "sandbox", "session-1")
	if err := os.Mkdir(orphan, 0o700); err != nil {
		t.Fatal(err)
	}
	next, err := Open(t.Context(), &Options{CWD: t.TempDir(), InMemory: true, UseModel: fakeModel{spec: "a/m"}})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	next.isolated()
	next.sweeping.Wait()
	if _, err := os.Lstat(orphan); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next start left %s: %v", orphan, err)
	}
}

// Where nothing can be made for commands the start says so, and none runs.
func TestAPlaceForCommandsThatCannotBeMade(t *testing.T) {
	file := func(*Options) {
		if err := os.WriteFile(filepath.Join(os.Getenv("GARUDA_HOME"), "sandbox"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := withSandbox(t, nil, `{}`, file)
	if err != nil {
		t.Fatal(err)
	}
	if s.found.Backend == "" && !strings.Contains(strings.Join(s.Notices(), "\n"), "private folder") {
		t.Skip("this machine has no sandbox: ", s.Notices())
	}
	if text, _ := bash(t, s, `{"command":"echo in"}`); !strings.Contains(text, "make the session's private folder: ") || !strings.Contains(text, "not a directory") {
		t.Error(text)
	}
}

// A start that runs nothing, as those of `garuda sessions` and `garuda permissions` are,
// does not look for a sandbox until its state is shown all the same. Another one looks
// beside the start.
func TestASandboxIsLookedForWhenItIsNeeded(t *testing.T) {
	for _, settings := range []string{`{}`, `{"executor": "os"}`} {
		searches := make(chan struct{}, 10)
		find := func(context.Context) (sandbox.Executor, error) {
			searches <- struct{}{}
			return &isolating{}, nil
		}
		s, err := withSandbox(t, find, settings, func(o *Options) { o.UseModel, o.WithoutModel, o.RunsNothing = nil, true, true })
		if err != nil {
			t.Fatal(err)
		}
		s.Rules()
		s.Notices()
		if _, err := s.Sessions().List(0); err != nil {
			t.Error(err)
		}
		if len(searches) != 0 {
			t.Errorf("%s: a start that runs nothing looked for a sandbox", settings)
		}
		s.SandboxInWords()
		s.SandboxInWords()
		if len(searches) != 1 {
			t.Errorf("%s: %d searches when the state was shown twice, not one", settings, len(searches))
		}
	}
	searched := make(chan struct{})
	_, err := withSandbox(t, func(context.Context) (sandbox.Executor, error) {
		close(searched)
		return &isolating{}, nil
	}, `{}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-searched // without anybody's asking
}
