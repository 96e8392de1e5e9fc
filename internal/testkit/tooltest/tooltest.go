// Package tooltest runs single tools in tests, without a pipeline, and holds
// their hand-kept schemas to the structs that the input is decoded into.
package tooltest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// Args is a call's input.
type Args map[string]any

// NewEnv opens a folder with these files; names that end in .key may not be read.
func NewEnv(t testing.TB, files map[string]string) *tool.Env {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		Write(t, filepath.Join(root, path), text)
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

// Write makes a file, with its folders.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Run plans and runs one call.
func Run(env *tool.Env, t tool.Tool, input any) (*tool.Output, error) {
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

// MustRun returns the text of a call that has to work.
func MustRun(t testing.TB, env *tool.Env, tl tool.Tool, input Args) string {
	t.Helper()
	out, err := Run(env, tl, input)
	if err != nil {
		t.Fatalf("%v: %v", input, err)
	}
	return out.Text
}

// WantError runs a call that has to fail with a text.
func WantError(t testing.TB, env *tool.Env, tl tool.Tool, input Args, want string) {
	t.Helper()
	out, err := Run(env, tl, input)
	if err == nil {
		t.Errorf("%v succeeded: %q", input, out.Text)
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %q, want %q in it", input, err, want)
	}
}

// field is what a schema and a struct must agree on.
type field struct{ Type, Description string }

func fields(s *jsonschema.Schema) map[string]field {
	out := map[string]field{}
	for name, p := range s.Properties {
		f := field{p.Type, p.Description}
		for _, typ := range p.Types {
			if typ != "null" {
				f.Type = typ
			}
		}
		out[name] = f
	}
	return out
}

// CheckSpec holds a tool's schema to the struct T that its input is decoded
// into, and to its budget on the wire in bytes.
func CheckSpec[T any](t *testing.T, spec *tool.Spec, budget int) {
	t.Helper()
	var got jsonschema.Schema
	if err := json.Unmarshal(spec.Schema, &got); err != nil {
		t.Fatal(err)
	}
	want, err := jsonschema.For[T](nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fields(want), fields(&got)); diff != "" {
		t.Errorf("%T: %s", *new(T), diff)
	}
	if diff := cmp.Diff(want.Required, got.Required); diff != "" {
		t.Errorf("%T: required: %s", *new(T), diff)
	}
	if got.AdditionalProperties == nil {
		t.Errorf("%T: unknown fields are not refused", *new(T))
	}
	if n := len(spec.Schema) + len(spec.Description); n > budget {
		t.Errorf("%T: %d bytes of schema and description, more than %d", *new(T), n, budget)
	}
}
