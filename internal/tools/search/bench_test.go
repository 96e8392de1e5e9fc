package search

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// goSource is Go's own source tree, the sample that the benchmarks search:
// about 11,000 files and 110 MB.
func goSource(b *testing.B) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("go is not installed")
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

func benchEnv(b *testing.B, root string) *tool.Env {
	w, err := workspace.Open(root, nil, workspace.Options{Home: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Close)
	return &tool.Env{Workspace: w, Tracker: workspace.NewTracker(), MayRead: func(string) bool { return true }}
}

func call(b *testing.B, env *tool.Env, t tool.Tool, input any) *tool.Output {
	b.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := t.Plan(context.Background(), env, raw)
	if err != nil {
		b.Fatal(err)
	}
	out, err := t.Run(context.Background(), &tool.Call{Env: env, Plan: plan})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func BenchmarkGrepGoSource(b *testing.B) {
	src := goSource(b)
	for _, c := range []struct {
		name string
		in   grepInput
	}{
		{"literal", grepInput{Pattern: "ErrUnexpectedEOF", Mode: "content"}},
		{"regexp", grepInput{Pattern: `func \(\w+ \*Root\) \w+\(`, Mode: "content"}},
		{"ignore-case", grepInput{Pattern: "errunexpectedeof", IgnoreCase: true}},
		{"alternatives", grepInput{Pattern: "openat2|getdents64|statx", Mode: "count"}},
		{"no-literal", grepInput{Pattern: `[A-Z]{12}\d`, Mode: "count"}},
		{"everywhere", grepInput{Pattern: "e", Mode: "content"}},
		{"type-go", grepInput{Pattern: "TODO", Type: "go"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			env := benchEnv(b, src)
			for b.Loop() {
				call(b, env, grepTool{}, c.in)
			}
		})
	}
}

func BenchmarkGlobGoSource(b *testing.B) {
	env := benchEnv(b, goSource(b))
	for b.Loop() {
		call(b, env, globTool{}, globInput{Pattern: "**/*_test.go"})
	}
}

// BenchmarkReference runs the usual programs over the same tree, where they are
// installed, for comparison.
func BenchmarkReference(b *testing.B) {
	src := goSource(b)
	for _, argv := range [][]string{
		{"rg", "--no-config", "-n", "ErrUnexpectedEOF", src},
		{"grep", "-rIn", "ErrUnexpectedEOF", src},
		{"git", "grep", "--no-index", "-nI", "ErrUnexpectedEOF", "--", src},
	} {
		b.Run(argv[0], func(b *testing.B) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				b.Skip("not installed")
			}
			for b.Loop() {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Dir = src
				if out, err := cmd.Output(); err != nil && len(out) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
	b.Logf("%d processors", runtime.GOMAXPROCS(0))
}
