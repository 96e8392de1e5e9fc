package search

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEnv opens a folder with these files; names that end in .key may not be read.
func newEnv(t testing.TB, files map[string]string) *tool.Env {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		write(t, filepath.Join(root, path), text)
	}
	w, err := workspace.Open(root, nil, workspace.Options{Home: filepath.Dir(root)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &tool.Env{
		Workspace: w, Tracker: workspace.NewTracker(),
		MayRead: func(path string) bool { return !strings.HasSuffix(path, ".key") },
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run plans and runs one call.
func run(env *tool.Env, t tool.Tool, input any) (*tool.Output, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	plan, err := t.Plan(context.Background(), env, raw)
	if err != nil {
		return nil, err
	}
	return t.Run(context.Background(), &tool.Call{Env: env, Plan: plan})
}

type args map[string]any

// mustRun returns the text of a call that has to work.
func mustRun(t testing.TB, env *tool.Env, tl tool.Tool, input args) string {
	t.Helper()
	out, err := run(env, tl, input)
	if err != nil {
		t.Fatalf("%v: %v", input, err)
	}
	return out.Text
}

// wantError runs a call that has to fail with a text.
func wantError(t testing.TB, env *tool.Env, tl tool.Tool, input args, want string) {
	t.Helper()
	out, err := run(env, tl, input)
	if err == nil {
		t.Errorf("%v succeeded: %q", input, out.Text)
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %q, want %q in it", input, err, want)
	}
}
