package search

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func TestGrep(t *testing.T) {
	env := newEnv(t, map[string]string{
		".gitignore": "*.log\n", "a.go": "package a\n\nfunc Foo() {}\n\n// foo\n", "b/b.go": "func Foo2() {\r\n}\r\n", "b/c.txt": "Foo\n",
		"x.log": "Foo\n", "id.key": "Foo\n", "bin": "Foo\x00\n", "node_modules/m.js": "Foo\n", "empty": "",
		"utf16": "\xff\xfeF\x00o\x00o\x00\r\x00\n\x00x\x00", "bom": "\xef\xbb\xbfFoo\n", "last": "x\nFoo",
	})
	for _, tc := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "Foo"}, "a.go\nb/b.go\nb/c.txt\nbom\nlast\nutf16"},
		{args{"pattern": "^Foo$"}, "b/c.txt\nbom\nlast\nutf16"},
		{args{"pattern": `\{$`, "mode": "content"}, "b/b.go:1:func Foo2() {"},
		{args{"pattern": "foo", "ignore_case": true, "mode": "content", "glob": "*.go"}, "a.go:3:func Foo() {}\na.go:5:// foo\nb/b.go:1:func Foo2() {"},
		{args{"pattern": "Foo", "mode": "content", "type": "go", "context": 1}, "a.go-2-\na.go:3:func Foo() {}\na.go-4-\n--\nb/b.go:1:func Foo2() {\nb/b.go-2-}"},
		{args{"pattern": "Foo", "mode": "content", "path": "a.go", "before": 2}, "a.go-1-package a\na.go-2-\na.go:3:func Foo() {}"},
		{args{"pattern": "Foo|foo", "mode": "count", "path": "a.go"}, "a.go:2\n[2 matching lines in 1 file]"},
		{args{"pattern": "Foo", "glob": "b/*.go"}, "b/b.go"},
		{args{"pattern": "Foo", "glob": "!*.go"}, "b/c.txt\nbom\nlast\nutf16"},
		{args{"pattern": "Foo", "path": "b"}, "b/b.go\nb/c.txt"},
		{args{"pattern": "Foo", "limit": 2}, "a.go\nb/b.go\n[1-2 of 6 files; offset=2 shows more]"},
		{args{"pattern": "Foo", "limit": 2, "offset": 4}, "last\nutf16\n[5-6 of 6 files]"},
		{args{"pattern": "Foo", "offset": 9}, "[offset 9 is past the end; there are 6 files]"},
		{args{"pattern": "Foo", "mode": "content", "limit": 1, "offset": 1}, "b/b.go:1:func Foo2() {\n[2-2 of 6 matching lines in 6 files; offset=2 shows more]"},
		{args{"pattern": "Foo", "include_ignored": true, "glob": "*.{log,js}"}, "node_modules/m.js\nx.log"},
		{args{"pattern": "x", "path": "node_modules"}, "No matches: 1 file searched."},
		{args{"pattern": "none"}, "No matches: 8 files searched; 2 ignored entries left out (node_modules among them); include_ignored searches them; 1 binary file skipped; 1 protected file or folder skipped."},
		{args{"pattern": "Foo\\(\\) \\{\\}\n\n//", "multiline": true}, "a.go"},
		{args{"pattern": "package.*foo", "multiline": true, "mode": "content"}, "a.go:1:package a\na.go:2:\na.go:3:func Foo() {}\na.go:4:\na.go:5:// foo"},
		{args{"pattern": `(?<=func )Foo(?!2)`, "mode": "content"}, "a.go:3:func Foo() {}"},
		{args{"pattern": `(o)\1`, "mode": "count", "glob": "*.go"}, "a.go:2\nb/b.go:1\n[3 matching lines in 2 files]"},
	} {
		if got := mustRun(t, env, grepTool{}, tc.in); got != tc.want {
			t.Errorf("%v:\n%s\nwant\n%s", tc.in, got, tc.want)
		}
	}
	for _, tc := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "foo("}, `missing closing )`},
		{args{"pattern": "ab[c"}, `at character 3, "[c"`},
		{args{"pattern": "a**"}, "not valid"},
		{args{"pattern": "(?=a"}, "not valid"},
		{args{"pattern": ""}, "the pattern is empty"},
		{args{"pattern": "a\nb"}, "set multiline"},
		{args{"pattern": "a", "type": "golang"}, `there is no type "golang"`},
		{args{"pattern": "a", "glob": "../*"}, "goes up"},
		{args{"pattern": "a", "path": "id.key"}, "may not be read"},
		{args{"pattern": "a", "path": "bin"}, "binary"},
		{args{"pattern": "a", "path": "nope"}, "does not exist"},
		{args{"pattern": "a", "path": "/proc/self"}, "kernel"},
	} {
		wantError(t, env, grepTool{}, tc.in, tc.want)
	}
}

// Long lines are cut around what matched; large files are read piece by piece.
func TestGrepLargeAndLong(t *testing.T) {
	long := strings.Repeat("ä", 3000) + "NEEDLE" + strings.Repeat("z", 3000)
	var big strings.Builder
	for i := 1; big.Len() < 2<<20; i++ {
		fmt.Fprintf(&big, "line %d\n", i)
		if i%50_000 == 0 {
			big.WriteString("HIT\n")
		}
	}
	env := newEnv(t, map[string]string{"long": long + "\n", "big": big.String(), "endless": strings.Repeat("y", 40<<20) + "END"})
	got := mustRun(t, env, grepTool{}, args{"pattern": "NEEDLE", "mode": "content"})
	if want := "long:1:…" + strings.Repeat("ä", 100) + "NEEDLE" + strings.Repeat("z", 394) + "…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = mustRun(t, env, grepTool{}, args{"pattern": "HIT", "mode": "content", "context": 1})
	want := "big-50000-line 50000\nbig:50001:HIT\nbig-50002-line 50001\n--\nbig-100001-line 100000\nbig:100002:HIT\nbig-100003-line 100001\n--\n" +
		"big-150002-line 150000\nbig:150003:HIT\nbig-150004-line 150001"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := mustRun(t, env, grepTool{}, args{"pattern": "END", "mode": "files"}); got != "endless" {
		t.Errorf("a line of 40 MB: %q", got)
	}
	got = mustRun(t, env, grepTool{}, args{"pattern": "a.b", "multiline": true})
	if !strings.Contains(got, "too large to be searched across lines: endless") {
		t.Errorf("got %q", got)
	}
}

// A line that is matched in pieces counts once, however many of them match.
func TestGrepCountsAnEndlessLineOnce(t *testing.T) {
	piece := "NEEDLE" + strings.Repeat("y", 3<<20)
	env := newEnv(t, map[string]string{"f": "NEEDLE\n" + strings.Repeat(piece, 3) + "NEEDLE\nNEEDLE\n"})
	if got, want := mustRun(t, env, grepTool{}, args{"pattern": "NEEDLE", "mode": "count"}), "f:3\n[3 matching lines in 1 file]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := mustRun(t, env, grepTool{}, args{"pattern": "NEEDLE", "mode": "content"})
	if lines := strings.Split(got, "\n"); len(lines) != 3 || lines[0] != "f:1:NEEDLE" || !strings.HasPrefix(lines[1], "f:2:NEEDLEyyy") || lines[2] != "f:3:NEEDLE" {
		t.Errorf("got %.300q", got)
	}
}

// Lines at the borders of the buffer have their context and numbers right: the
// streaming search agrees with a simple one over the whole text.
func TestGrepAgreesWithASimpleSearch(t *testing.T) {
	var text strings.Builder
	for i := 1; text.Len() < 900<<10; i++ {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("x", i*7919%977))
	}
	lines := strings.Split(text.String(), "\n")
	lines = lines[:len(lines)-1]
	for _, around := range []int{0, 1, 5} {
		env := newEnv(t, map[string]string{"f": text.String()})
		var want strings.Builder
		last := 0
		for i, l := range lines {
			if !strings.Contains(l, "37 ") {
				continue
			}
			from, to := max(last+1, i+1-around), min(len(lines), i+1+around)
			if around > 0 && last > 0 && from > last+1 {
				want.WriteString("--\n")
			}
			for n := from; n <= to; n++ {
				sep := "-"
				if strings.Contains(lines[n-1], "37 ") {
					sep = ":"
				}
				shown := lines[n-1]
				if len(shown) > cutAt {
					shown = shown[:cutAt] + "…"
				}
				fmt.Fprintf(&want, "f%s%d%s%s\n", sep, n, sep, shown)
			}
			last = to
		}
		got := mustRun(t, env, grepTool{}, args{"pattern": "37 ", "mode": "content", "context": around, "limit": 500})
		if diff := cmp.Diff(strings.TrimSuffix(want.String(), "\n"), got); diff != "" {
			t.Errorf("context %d: %.2000s", around, diff)
		}
	}
}

func TestGrepIsStable(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%02d/f%03d", i%20, i)] = strings.Repeat("hit\n", 1+i%5)
	}
	env := newEnv(t, files)
	in := args{"pattern": "hit", "mode": "content", "limit": 50, "offset": 30}
	first := mustRun(t, env, grepTool{}, in)
	if !strings.HasSuffix(first, "[31-80 of 1200 matching lines in 400 files; offset=80 shows more]") {
		t.Errorf("got …%s", first[len(first)-120:])
	}
	for range 10 {
		if again := mustRun(t, env, grepTool{}, in); again != first {
			t.Fatal("the result differs from one search to the next")
		}
	}
	// Pages put together are the whole.
	seen, n := map[string]bool{}, 0
	for offset := 0; offset < 1200; offset += 500 {
		text := mustRun(t, env, grepTool{}, args{"pattern": "hit", "mode": "content", "limit": 500, "offset": offset})
		for _, l := range strings.Split(text, "\n") {
			if !strings.HasPrefix(l, "[") {
				seen[l] = true
				n++
			}
		}
	}
	if n != 1200 || len(seen) != 1200 {
		t.Errorf("%d lines on all pages, %d different", n, len(seen))
	}
}

// A pattern that makes a backtracking engine explode ends in time, with what was
// found elsewhere.
func TestGrepTimeLimit(t *testing.T) {
	defer regexp2.StopTimeoutClock()
	env := newEnv(t, map[string]string{"hostile": strings.Repeat("a", 60) + "!\n", "fine": "aab\n"})
	out, err := run(env, grepTool{}, args{"pattern": `(?=a)(a|aa)+\1b`, "mode": "content"})
	if err != nil {
		t.Fatal(err)
	}
	if !out.IsError || !strings.Contains(out.Text, "takes longer than 2s in: hostile") {
		t.Errorf("%v %q", out.IsError, out.Text)
	}
}

func TestGrepEndsEarly(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "x\n"})
	raw, err := json.Marshal(args{"pattern": "x"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := grepTool{}.Plan(context.Background(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out, err := grepTool{}.Run(ctx, &tool.Call{Env: env, Plan: p})
	if err != nil || !out.IsError || !strings.Contains(out.Text, "ended early") {
		t.Errorf("%+v, %v", out, err)
	}
}

// Links are not followed, so that nothing outside and nothing protected is
// reached through an innocent name.
func TestGrepLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "out")
	write(t, filepath.Join(outside, "f"), "needle\n")
	env := newEnv(t, map[string]string{"id.key": "needle\n", "a/f": "needle\n"})
	root := env.Workspace.Root()
	for link, target := range map[string]string{"out": outside, "out.txt": filepath.Join(outside, "f"), "k.txt": "id.key", "loop": ".", "b": "a"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	if got := mustRun(t, env, grepTool{}, args{"pattern": "needle"}); got != "a/f" {
		t.Errorf("got %q", got)
	}
	wantError(t, env, grepTool{}, args{"pattern": "needle", "path": "out"}, "outside")
	wantError(t, env, grepTool{}, args{"pattern": "needle", "path": "k.txt"}, "may not be read")
	if got := mustRun(t, env, grepTool{}, args{"pattern": "needle", "path": "b"}); got != "a/f" {
		t.Errorf("a link to a folder inside: %q", got)
	}
}

func TestGrepOddNames(t *testing.T) {
	env := newEnv(t, nil)
	root := env.Workspace.Root()
	for _, name := range []string{"a\nb:1:fake", "\x1b[2J", "c\xff"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("x\n"), 0o644); err != nil {
			t.Skip(err)
		}
	}
	got := mustRun(t, env, grepTool{}, args{"pattern": "x", "mode": "content"})
	if strings.Count(got, "\n") != 2 || strings.Contains(got, "\x1b") || strings.Contains(got, "\xff") {
		t.Errorf("got %q", got)
	}
}

// The texts that are looked for first never hide a match.
func FuzzNeedles(f *testing.F) {
	for _, seed := range []string{"foo.*bar", "(a|bc)+d", "(?i)skim", "x{2,}y?z", "[ab]c|d", "ſ(?i:k)"} {
		f.Add(seed, "foo bar acd SKIM xxz \u212a\u017f", true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if strings.ContainsAny(text, "\n\r") {
			return
		}
		e, err := compile(pattern, fold, false)
		if err != nil || e.re == nil || !e.re.MatchString(text) {
			return
		}
		if len(e.needles) > 0 && newFinder(e.needles).first([]byte(text), 0) < 0 {
			t.Fatalf("%q matches %q, which holds none of %v", pattern, text, e.needles)
		}
		if e.literal != nil && !strings.Contains(text, string(e.literal)) {
			t.Fatalf("%q is taken for the literal %q", pattern, e.literal)
		}
	})
}
