package fileread

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	env := newEnv(t, map[string]string{
		"short": "one\n\ttwo\nthree", "lines": numbered(1, 120), "long": numbered(1, 2500),
		"empty": "", "bin": "\x7fELF\x00\x01", "crlf": "a\r\nb\r\n", "bom": "\xef\xbb\xbfa\n", "broken": "a\xff\n",
		"utf16": "\xff\xfea\x00\n\x00", "wide": strings.Repeat("ä", 2500) + "\nnext\n", "heavy": strings.Repeat(strings.Repeat("x", 1500)+"\n", 100),
		"dir/f": "x",
	})
	long := mustRun(t, env, readFile{}, args{"path": "long"})
	for _, tc := range []struct{ name, got, want string }{
		{"numbers and tabs", mustRun(t, env, readFile{}, args{"path": "short"}), "1\tone\n2\t\ttwo\n3\tthree"},
		{"right-aligned", mustRun(t, env, readFile{}, args{"path": "lines", "offset": 9, "limit": 2}), " 9\tline 9\n10\tline 10\n\n[lines 9-10 of 120; to go on use offset=11]"},
		{"the end", mustRun(t, env, readFile{}, args{"path": "lines", "offset": 119}), "119\tline 119\n120\tline 120"},
		{"first page", long[len(long)-80:], "1999\tline 1999\n2000\tline 2000\n\n[lines 1-2000 of 2500; to go on use offset=2001]"},
		{"empty", mustRun(t, env, readFile{}, args{"path": "empty"}), "empty is empty (0 lines)."},
		{"CRLF", mustRun(t, env, readFile{}, args{"path": "crlf"}), "1\ta\n2\tb\n\n[UTF-8, CRLF newlines; shown with LF and written back as it is]"},
		{"mark", mustRun(t, env, readFile{}, args{"path": "bom"}), "1\ta\n\n[UTF-8 with a byte order mark; shown with LF and written back as it is]"},
		{"UTF-16", mustRun(t, env, readFile{}, args{"path": "utf16"}), "1\ta\n\n[UTF-16 LE with a byte order mark; shown with LF and written back as it is]"},
		{"broken bytes", mustRun(t, env, readFile{}, args{"path": "broken"}), "1\ta\ufffd\n\n[some bytes are not valid in this charset; they are shown as U+FFFD and cannot be edited]"},
		{"a long line", mustRun(t, env, readFile{}, args{"path": "wide"}), "1\t" + strings.Repeat("ä", 2000) + " [… 1.0 KB more in this line]\n2\tnext"},
	} {
		if !strings.HasSuffix(tc.got, tc.want) || tc.name != "first page" && tc.got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, tc.got, tc.want)
		}
	}
	heavy := mustRun(t, env, readFile{}, args{"path": "heavy"})
	if n := len(heavy); n > 50_200 || !strings.HasSuffix(heavy, "[lines 1-33 of 100; to go on use offset=34]") {
		t.Errorf("a heavy file gives %d bytes, ending in %q", n, heavy[len(heavy)-60:])
	}
	for _, tc := range []struct {
		in   args
		want string
	}{
		{args{"path": "short", "offset": 4}, "short has 3 lines; offset 4 is past its end"},
		{args{"path": "bin"}, "bin is not text: it is an ELF program or library of 6 B"},
		{args{"path": "dir"}, "use list_dir"},
		{args{"path": "shrot"}, "did you mean short?"},
		{args{"path": "../x"}, "outside the project"},
		{args{"path": "/etc/passwd"}, "outside the project"},
		{args{"path": "/proc/self/environ"}, "kernel"},
		{args{"path": ""}, "empty"},
	} {
		wantError(t, env, readFile{}, tc.in, tc.want)
	}
}

func TestReadFileAgain(t *testing.T) {
	env := newEnv(t, map[string]string{"f": numbered(1, 50)})
	first := mustRun(t, env, readFile{}, args{"path": "f"})
	if again := mustRun(t, env, readFile{}, args{"path": "./f"}); !strings.Contains(again, "unchanged") {
		t.Errorf("the same read gives %q", again)
	}
	if other := mustRun(t, env, readFile{}, args{"path": "f", "limit": 3}); !strings.Contains(other, "line 3") {
		t.Errorf("another range gives %q", other)
	}
	env.Tracker.ClearShown()
	if again := mustRun(t, env, readFile{}, args{"path": "f"}); again != first {
		t.Errorf("after a compaction: %q", again)
	}
	write(t, filepath.Join(env.Workspace.Root(), "f"), numbered(2, 51))
	if again := mustRun(t, env, readFile{}, args{"path": "f"}); !strings.Contains(again, "line 51") {
		t.Errorf("after a change: %q", again)
	}
}

// What counts as read decides what may be overwritten.
func TestReadFileIsTracked(t *testing.T) {
	env := newEnv(t, map[string]string{"f": numbered(1, 30), "wide": strings.Repeat("x", 3000) + "\nb\n", "bin": "\x00"})
	state := func(name string) (workspace.ReadState, bool) {
		p, err := env.Workspace.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := env.Workspace.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return env.Tracker.Status(p.Real, c.Snapshot), env.Tracker.Whole(p.Real, c.Snapshot)
	}
	mustRun(t, env, readFile{}, args{"path": "f", "limit": 10})
	if s, whole := state("f"); s != workspace.Current || whole {
		t.Errorf("a part: %v, %v", s, whole)
	}
	mustRun(t, env, readFile{}, args{"path": "f", "offset": 11})
	if _, whole := state("f"); !whole {
		t.Error("two parts that make the whole do not count as the whole")
	}
	mustRun(t, env, readFile{}, args{"path": "wide"})
	if s, whole := state("wide"); s != workspace.Current || whole {
		t.Errorf("a cut line counts as read: %v, %v", s, whole)
	}
	wantError(t, env, readFile{}, args{"path": "bin"}, "not text")
	wantError(t, env, readFile{}, args{"path": "f", "offset": 99}, "past its end")
	if s, _ := state("bin"); s != workspace.Unread {
		t.Error("a failed read counts as read")
	}
}

func TestReadLargeFile(t *testing.T) {
	env := newEnv(t, nil)
	root := env.Workspace.Root()
	var b strings.Builder
	for i := 1; b.Len() < workspace.MaxWhole+100; i++ {
		fmt.Fprintf(&b, "line %d %s\r\n", i, strings.Repeat("x", 90))
	}
	write(t, filepath.Join(root, "large"), b.String())
	wantError(t, env, readFile{}, args{"path": "large"}, "give offset and limit")
	got := mustRun(t, env, readFile{}, args{"path": "large", "offset": 50_000, "limit": 2})
	if !strings.HasPrefix(got, "50000\tline 50000 xxx") || !strings.HasSuffix(got, "[lines 50000-50001; to go on use offset=50002]") || strings.Contains(got, "\r") {
		t.Errorf("a window: %q", got)
	}
	wantError(t, env, readFile{}, args{"path": "large", "offset": 9_000_000}, "is past its end")

	// One line that never ends, and a file that is mostly a hole.
	f, err := os.Create(filepath.Join(root, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	wantError(t, env, readFile{}, args{"path": "sparse", "offset": 1}, "not text")
	write(t, filepath.Join(root, "oneline"), strings.Repeat("ä", 6<<20))
	got = mustRun(t, env, readFile{}, args{"path": "oneline", "limit": 1})
	if len(got) > 9000 || !strings.Contains(got, "more in this line") {
		t.Errorf("a line of 12 MB gives %d bytes: %q", len(got), got[max(0, len(got)-80):])
	}
}

func TestReadSpilledOutput(t *testing.T) {
	env := newEnv(t, map[string]string{"f": ""})
	env.OutputDir = filepath.Join(t.TempDir(), "s", "20260101-000000-abcd")
	write(t, filepath.Join(env.OutputDir, "call_1.txt"), "all of it\n")
	write(t, filepath.Join(filepath.Dir(env.OutputDir), "secret"), "SECRET")
	if got := mustRun(t, env, readFile{}, args{"path": filepath.Join(env.OutputDir, "call_1.txt")}); got != "1\tall of it" {
		t.Errorf("got %q", got)
	}
	wantError(t, env, readFile{}, args{"path": filepath.Join(env.OutputDir, "..", "secret")}, "outside")
	wantError(t, env, readFile{}, args{"path": env.OutputDir}, "outside")
	if err := os.Symlink("../secret", filepath.Join(env.OutputDir, "link")); err == nil {
		wantError(t, env, readFile{}, args{"path": filepath.Join(env.OutputDir, "link")}, "outside")
	}
}

// What commands in the sandbox have as /tmp is read where it lies, and nothing that a
// link in it leads to.
func TestReadWhatACommandLeftInItsTemporaryFolder(t *testing.T) {
	env := newEnv(t, map[string]string{"f": ""})
	session := t.TempDir()
	write(t, filepath.Join(session, "tmp", "log", "x.txt"), "left\n")
	write(t, filepath.Join(session, "secret"), "SECRET")
	env.HostPath = func(path string) (folder, host string) {
		if rest, ok := strings.CutPrefix(path, "/sandboxtmp"); ok {
			return filepath.Join(session, "tmp"), filepath.Join(session, "tmp", rest)
		}
		return "", ""
	}
	if got := mustRun(t, env, readFile{}, args{"path": "/sandboxtmp/log/../log/x.txt"}); got != "1\tleft" {
		t.Errorf("got %q", got)
	}
	wantError(t, env, readFile{}, args{"path": "/sandboxtmp/../secret"}, "outside")
	wantError(t, env, readFile{}, args{"path": "/elsewhere"}, "outside")
	if err := os.Symlink("../secret", filepath.Join(session, "tmp", "link")); err == nil {
		wantError(t, env, readFile{}, args{"path": "/sandboxtmp/link"}, "outside")
	}
	env.HostPath = nil
	wantError(t, env, readFile{}, args{"path": "/sandboxtmp/log/x.txt"}, "outside")
}

// A file behind a link declares both spellings, and the link's later change does
// not change what is read.
func TestReadThroughLink(t *testing.T) {
	env := newEnv(t, map[string]string{"real": "right\n", "other": "wrong\n"})
	root := env.Workspace.Root()
	if err := os.Symlink("real", filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	raw, _ := json.Marshal(args{"path": "link"})
	plan, err := readFile{}.Plan(context.Background(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(root, "link")
	if plan.Effects.Reads[0] != abs || plan.Effects.Real[abs] != filepath.Join(root, "real") {
		t.Errorf("effects %+v", plan.Effects)
	}
	if err := os.Remove(abs); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", abs); err != nil {
		t.Fatal(err)
	}
	out, err := readFile{}.Run(context.Background(), &tool.Call{Env: env, Plan: plan})
	if err != nil || out.Text != "1\tright" {
		t.Errorf("%v, %v", out, err)
	}
}

func BenchmarkReadFile300Lines(b *testing.B) {
	env := newEnv(b, map[string]string{"internal/deep/f.go": strings.Repeat("\tfmt.Println(\"forty characters of code\")\n", 300)})
	raw, _ := json.Marshal(args{"path": "internal/deep/f.go"})
	b.ReportAllocs()
	for b.Loop() {
		env.Tracker.Forget()
		plan, err := readFile{}.Plan(context.Background(), env, raw)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := (readFile{}).Run(context.Background(), &tool.Call{Env: env, Plan: plan}); err != nil {
			b.Fatal(err)
		}
	}
}
