package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTallyCounts(t *testing.T) {
	const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB/sub"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    a_test.go:9: no tmux: not installed\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
not an event
{"ImportPath":"q","Action":"build-output","Output":"q.go:1:1: broken\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
{"Action":"output","Package":"r","Output":"?   \tr\t[no test files]\n"}
{"Action":"skip","Package":"r"}
{"Action":"output","Package":"s","Output":"ok  \ts\t0.1s\n"}
{"Action":"pass","Package":"s"}`
	var shown bytes.Buffer
	got := &tally{}
	if err := got.read(strings.NewReader(events), &shown); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("2 passed, 2 failed, 1 skipped", got.line()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"p.TestC: no tmux: not installed"}, got.Skips); diff != "" {
		t.Error(diff)
	}
	wantShown := "    a_test.go:3: wrong\nFAIL\tp\t0.1s\nnot an event\nq.go:1:1: broken\nFAIL\tq [build failed]\nok  \ts\t0.1s\n"
	if diff := cmp.Diff(wantShown, shown.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSplitArguments(t *testing.T) {
	own, rest := splitArguments([]string{"-counts", "f", "-fuzz", "5s", "-race", "-counts", "./..."})
	if diff := cmp.Diff([]string{"-counts", "f", "-fuzz", "5s"}, own); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"-race", "-counts", "./..."}, rest); diff != "" {
		t.Error(diff)
	}
}

func TestFinds(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a_test.go":          "package a\n\nfunc FuzzA(f *testing.F) {}\n\nfunc FuzzB(f *testing.F) {}\n",
		"a/a.go":               "package a\n\nfunc FuzzNot() {}\n",
		"b/b_test.go":          "package b\n\nconst (\n\tother = 1\n\tname = \"GARUDA_X\"\n)\n\nfunc TestOther(t *testing.T) { _ = other }\n\n// GARUDA_X\nfunc TestNot(t *testing.T) {}\n",
		"b/c_test.go":          "package b\n\nfunc size() int { return os.Getenv(name) }\n\nfunc TestSized(t *testing.T) { size() }\n\nfunc TestSuite(t *testing.T) { suite.Run(t) }\n",
		"a/testdata/c_test.go": "func FuzzC(",
		"m/go.mod":             "module m",
		"m/d_test.go":          "func FuzzD(",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	targets, err := fuzzTargets(".")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]fuzzTarget{{"./a", "FuzzA"}, {"./a", "FuzzB"}}, targets, cmp.AllowUnexported(fuzzTarget{})); diff != "" {
		t.Error(diff)
	}
	for about, want := range map[string][]string{"GARUDA_X": {"TestSized"}, "suite": {"TestSuite"}} {
		dirs, tests, err := sizedTests(".", []string{about, "GARUDA_Y"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"./b"}, dirs); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, tests); diff != "" {
			t.Error(diff)
		}
	}
}
