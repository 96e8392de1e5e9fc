package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/tool"
	"garuda/internal/watched"
)

// doing is an executor whose command is a function.
type doing struct {
	played
	isolation sandbox.Isolation
	do        func()
}

func (d *doing) Isolation() sandbox.Isolation { return d.isolation }

func (d *doing) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	if !cmd.LockWatched {
		d.do()
	}
	return d.played.Run(ctx, cmd)
}

// watchedCall is a bash call whose command changes AGENTS.md.
type watchedCall struct {
	exec *doing
	env  *tool.Env
	call *tool.Call
	// asked is what was asked about, preview what was shown.
	asked   tool.Effects
	preview string
	answer  error
}

func newWatchedCall(t *testing.T) *watchedCall {
	t.Helper()
	w := &watchedCall{exec: &doing{isolation: sandbox.IsolationOS}}
	w.env = testEnv(t, w.exec)
	w.env.Watcher = watched.New(w.env.Workspace, func(context.Context, ...string) ([]byte, error) {
		return nil, errors.New("no git here")
	})
	w.exec.do = func() { w.write(t, "evil\n") }
	w.write(t, "good\n")
	plan, err := planned(t, w.env, map[string]any{"command": "make"})
	if err != nil {
		t.Fatal(err)
	}
	w.call = &tool.Call{
		ID: "call_1", Env: w.env, Plan: plan, Progress: func(string) {}, Emit: func(bool, []byte) {},
		Check: func(_ context.Context, e tool.Effects, _, preview string) error {
			w.asked, w.preview = e, preview
			return w.answer
		},
	}
	return w
}

func (w *watchedCall) path() string { return filepath.Join(w.env.Workspace.Root(), "AGENTS.md") }

func (w *watchedCall) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(w.path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *watchedCall) run(ctx context.Context, t *testing.T) (out *tool.Output, file string) {
	t.Helper()
	out, err := New(Options{})[0].Run(ctx, w.call)
	if out == nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(w.path())
	if err != nil {
		t.Fatal(err)
	}
	return out, string(text)
}

func TestWatchedFileIsAsked(t *testing.T) {
	w := newWatchedCall(t)
	out, file := w.run(t.Context(), t)
	if len(w.asked.Writes) != 1 || w.asked.Writes[0] != w.path() || !strings.Contains(w.preview, "-good\n+evil\n") {
		t.Errorf("asked %+v, shown %q", w.asked, w.preview)
	}
	if file != "evil\n" || strings.Contains(out.Text, "not allowed") {
		t.Errorf("allowed, and the file is %q: %s", file, out.Text)
	}
}

func TestWatchedFileIsPutBack(t *testing.T) {
	w := newWatchedCall(t)
	w.answer = errors.New("Permission denied: the user said no")
	out, file := w.run(t.Context(), t)
	want := "[Garuda: the command changed AGENTS.md, and that was not allowed (Permission denied: the user said no). Put back: AGENTS.md."
	if file != "good\n" || !strings.Contains(out.Text, want) {
		t.Errorf("denied, and the file is %q: %s", file, out.Text)
	}
}

// TestWatchedFileOfAStoppedCall: nobody is asked about a call that was stopped.
func TestWatchedFileOfAStoppedCall(t *testing.T) {
	w := newWatchedCall(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	w.exec.do = func() { w.write(t, "evil\n"); cancel(tool.ErrInterrupted) }
	w.exec.res.Interrupted = true
	out, file := w.run(ctx, t)
	if file != "good\n" || len(w.asked.Writes) != 0 || !strings.Contains(out.Text, "was not allowed (interrupted)") {
		t.Errorf("stopped, and the file is %q, asked %+v: %s", file, w.asked, out.Text)
	}
}

// TestWatchedOnlyInTheSandbox: elsewhere the command itself was asked about.
func TestWatchedOnlyInTheSandbox(t *testing.T) {
	for name, change := range map[string]func(*watchedCall){
		"host":         func(w *watchedCall) { w.exec.isolation = sandbox.IsolationNone },
		"not watched":  func(w *watchedCall) { w.env.Watcher = nil },
		"read-only":    func(w *watchedCall) { w.call.Grant = &tool.Grant{ReadOnlyRoot: true} },
		"nothing done": func(w *watchedCall) { w.exec.do = func() {} },
	} {
		w := newWatchedCall(t)
		change(w)
		if _, _ = w.run(t.Context(), t); len(w.asked.Writes) != 0 {
			t.Errorf("%s: asked %+v", name, w.asked)
		}
	}
}

// TestWatchedFilesThatCannotBeKept are locked for the command.
func TestWatchedFilesThatCannotBeKept(t *testing.T) {
	w := newWatchedCall(t)
	dir := filepath.Join(w.env.Workspace.Root(), ".github", "workflows")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := os.WriteFile(filepath.Join(dir, strings.Repeat("x", i%100+1)+strings.Repeat("y", i/100)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, file := w.run(t.Context(), t); file != "good\n" || !w.exec.got.LockWatched {
		t.Errorf("the file is %q, locked %v", file, w.exec.got.LockWatched)
	}
}

// plantedCall is a call whose command makes a submodule of which git runs a program.
func plantedCall(t *testing.T) (w *watchedCall, dot string) {
	t.Helper()
	w = newWatchedCall(t)
	root := w.env.Workspace.Root()
	dot = filepath.Join(root, "s", ".git")
	index := "DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 24) + "\x00\x00\xe0\x00" + strings.Repeat("\x00", 32) + "\x00\x01s\x00" + strings.Repeat("\x00", 20)
	w.exec.do = func() {
		for name, text := range map[string]string{filepath.Join(root, ".git", "index"): index, filepath.Join(dot, "config"): "[core]\nfsmonitor = x\n"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Error(err)
			}
		}
	}
	return w, dot
}

// TestPlantedRepository: it is asked about, also where the watched files are locked,
// and set aside where that is not allowed.
func TestPlantedRepository(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		want   string
	}{
		"allowed": {nil, ""},
		"denied":  {errors.New("no"), "[Garuda: the command changed s/.git, and that was not allowed (no). s/.git is called s/.git.aside now"},
	} {
		w, dot := plantedCall(t)
		w.answer = c.answer
		out, _ := w.run(t.Context(), t)
		if len(w.asked.Writes) != 1 || w.asked.Writes[0] != dot || !strings.Contains(w.preview, "core.fsmonitor") {
			t.Errorf("%s: asked %+v, shown %q", name, w.asked, w.preview)
		}
		if _, err := os.Lstat(dot); (err == nil) != (c.answer == nil) || !strings.Contains(out.Text, c.want) || c.want == "" && strings.Contains(out.Text, "Garuda") {
			t.Errorf("%s: %v: %s", name, err, out.Text)
		}
	}
}
