package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func report(t *testing.T, offences []Offence, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range offences {
		t.Error(o)
	}
}

func graph(t *testing.T) Graph {
	t.Helper()
	g, err := ReadGraph(root)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDirection(t *testing.T) { report(t, graph(t).Direction(), nil) }

func TestNoChangedState(t *testing.T) {
	found, err := ChangedState(root)
	report(t, found, err)
}

func TestFileWrites(t *testing.T) {
	found, err := FileWrites(root)
	report(t, found, err)
}

func TestGrantMakers(t *testing.T) {
	found, err := GrantMakers(root)
	report(t, found, err)
}

func TestShape(t *testing.T) {
	found, err := Shape(root)
	report(t, found, err)
}

func TestGeneratedDocuments(t *testing.T) {
	want, err := Generated(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range want {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s is out of date; run make generate:\n%s", path, diff)
		}
	}
}

// The rest of this file are the controls: each check finds what it is for.

func imports(packages ...string) []Import {
	var out []Import
	for _, p := range packages {
		out = append(out, Import{Package: p})
	}
	return out
}

func TestDirectionFindsOffences(t *testing.T) {
	cases := []struct {
		name string
		g    Graph
		want []string
	}{
		{"fine", Graph{
			"cmd/garuda": imports("internal/wire"), "internal/wire": imports("internal/engine", "internal/tools/git", "internal/llm/chat"),
			"internal/engine": imports("internal/tool"), "internal/tool": imports("internal/core"), "internal/core": imports("time"),
			"internal/tools/git": imports("internal/tool", "internal/proc"), "internal/proc": imports("os/exec"), "internal/llm/chat": imports("net/http"),
		}, nil},
		{"up", Graph{"internal/workspace": imports("internal/tool"), "internal/tool": nil}, []string{"internal/workspace → internal/tool"}},
		{"only a test points up", Graph{"internal/workspace": {{Package: "internal/tool", Test: true}}, "internal/tool": nil}, nil},
		{"a surface behind the engine's back", Graph{
			"internal/engine": imports("internal/engine/turn"), "internal/engine/turn": imports("internal/tool"), "internal/tool": imports("internal/tools/git"),
			"internal/tools/git": nil,
		}, []string{"internal/engine → internal/engine/turn → internal/tool → internal/tools/git", "internal/engine/turn → internal/tool → internal/tools/git"}},
		{"tool that decides", Graph{"internal/tools/git": imports("internal/tool"), "internal/tool": imports("internal/policy"), "internal/policy": nil},
			[]string{"internal/tools/git → internal/tool → internal/policy"}},
		{"processes", Graph{"internal/tools/git": imports("os/exec"), "internal/sandbox/host": imports("os/exec")}, []string{"internal/tools/git → os/exec"}},
		{"network", Graph{"internal/config": imports("net/http", "net/url"), "internal/llm": imports("net/http")}, []string{"internal/config → net/http"}},
		{"core", Graph{"internal/core": imports("time", "golang.org/x/text/width", "internal/nearest"), "internal/nearest": nil},
			[]string{"internal/core → golang.org/x/text/width", "internal/core → internal/nearest", "internal/core → internal/nearest"}},
		{"testkit in the program", Graph{"cmd/garuda": imports("internal/cli"), "internal/cli": imports("internal/testkit/modelserver"), "internal/testkit/modelserver": nil},
			[]string{"cmd/garuda → internal/cli → internal/testkit/modelserver"}},
		{"a package without a layer", Graph{"internal/novel": nil}, []string{"internal/novel"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, o := range c.g.Direction() {
				got = append(got, strings.Join(o.Path, " → "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// module writes files into a folder of their own and returns it.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(t *testing.T, offences []Offence, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range offences {
		out = append(out, strings.Join(o.Path, " ")+" at "+o.Where)
	}
	return out
}

func TestChangedStateFindsOffences(t *testing.T) {
	dir := module(t, map[string]string{
		"internal/core/a.go": `package core

import ("flag"; "sync"; "sync/atomic"; "gopkg.in/yaml.v3"; "example.org/go-thing/v2")

var count int
var table = map[string]int{}
var list []struct{ n int }
var mu sync.Mutex
var p atomic.Pointer[int]
var once = sync.OnceValue(func() int { count = 3; return 1 })
var pool = sync.Pool{}
var read = []int{1}

func init() { count = 1; table["x"] = 1 }

func f() {
	count++
	table["x"] = 2
	list[0].n = 3
	(*(&read))[0] = 1
	delete(table, "x")
	flag.Usage = nil
	for count = range read {
	}
}

func fine(count int) {
	count = 2
	table := table
	_ = table
	var list []int
	list[0] = read[0]
	for i, r := range read { _, _ = i, r }
}
`,
		"internal/core/a_test.go": "package core\n\nfunc g() { count = 9 }\n",
	})
	found, err := ChangedState(dir)
	want := []string{
		"internal/core mu at internal/core/a.go:8:5", "internal/core p at internal/core/a.go:9:5",
		"internal/core count at internal/core/a.go:10:40", "internal/core count at internal/core/a.go:17:2",
		"internal/core table at internal/core/a.go:18:2", "internal/core list at internal/core/a.go:19:2",
		"internal/core table at internal/core/a.go:21:9", "internal/core flag.Usage at internal/core/a.go:22:2",
		"internal/core count at internal/core/a.go:23:6",
	}
	if diff := cmp.Diff(want, names(t, found, err)); diff != "" {
		t.Error(diff)
	}
}

func TestSourceChecksFindOffences(t *testing.T) {
	dir := module(t, map[string]string{
		"internal/tools/x/x.go":      "package x\n\nfunc f() { _ = os.WriteFile(\"a\", nil, 0) ; tool.NewGrant(\"c\") }\n",
		"internal/workspace/x.go":    "package workspace\n\nfunc f() { _ = os.WriteFile(\"a\", nil, 0) }\n",
		"internal/policy/x.go":       "package policy\n\nfunc f() { tool.NewGrant(\"c\") }\n",
		"internal/core/helpers.go":   "package core\n",
		"internal/core/long.go":      "package core\n" + strings.Repeat("\n", maxLines),
		"internal/core/long_test.go": "package core\n" + strings.Repeat("\n", maxLines),
	})
	found, err := FileWrites(dir)
	if diff := cmp.Diff([]string{"internal/tools/x os.WriteFile at internal/tools/x/x.go:3:16"}, names(t, found, err)); diff != "" {
		t.Error(diff)
	}
	found, err = GrantMakers(dir)
	if diff := cmp.Diff([]string{"internal/tools/x tool.NewGrant at internal/tools/x/x.go:3:44"}, names(t, found, err)); diff != "" {
		t.Error(diff)
	}
	found, err = Shape(dir)
	want := []string{"internal/core/helpers.go at internal/core/helpers.go", "internal/core/long.go at internal/core/long.go"}
	if diff := cmp.Diff(want, names(t, found, err)); diff != "" {
		t.Error(diff)
	}
}
