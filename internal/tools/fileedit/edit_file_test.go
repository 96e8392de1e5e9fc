package fileedit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/testkit"
	"garuda/internal/tool"
	"garuda/internal/tools/fileread"
)

// read reads a file as the model would, so that it may be edited.
func read(t testing.TB, env *tool.Env, path string) {
	t.Helper()
	for _, tl := range fileread.New() {
		if tl.Spec().Name == "read_file" {
			mustRun(t, env, tl, args{"path": path})
		}
	}
}

func content(t testing.TB, env *tool.Env, path string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(env.Workspace.Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func plan(t testing.TB, env *tool.Env, tl tool.Tool, input args) *tool.Plan {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tl.Plan(context.Background(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEditFile(t *testing.T) {
	for _, tc := range []struct {
		name, before, old, new string
		all                    bool
		after, text            string
	}{
		{"one line", "a\nb\nc\n", "b", "x", false, "a\nx\nc\n", "Edited f: 1 replacement at line 2."},
		{"removal", "a\nb\nc\n", "b\n", "", false, "a\nc\n", ""},
		{"all", "b a b\nb\n", "b", "x", true, "x a x\nx\n", "Edited f: 3 replacements at lines 1, 1 and 2."},
		{"all of one", "a\n", "a", "x", true, "x\n", "Edited f: 1 replacement at line 1."},
		{"CRLF file, LF text", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", false, "x\r\ny\r\nz\r\nc\r\n", ""},
		{"CRLF text, LF file", "a\nb\n", "a\r\nb", "x\r\ny", false, "x\ny\n", ""},
		{"tabs in a CRLF file", "\tif x {\r\n\t\ty\r\n\t}\r\n", "\tif x {\n\t\ty", "\tif z {\n\t\ty", false, "\tif z {\r\n\t\ty\r\n\t}\r\n", ""},
		{"dollar signs are text", "a\n", "a", "$& $1 \\1", false, "$& $1 \\1\n", ""},
		{"no newline at the end", "a\nb", "b", "c", false, "a\nc", ""},
		{"mark", "\xef\xbb\xbfa\n", "a", "b", false, "\xef\xbb\xbfb\n", ""},
		{"UTF-16", "\xff\xfea\x00\r\x00\n\x00", "a\n", "ä\n", false, "\xff\xfe\xe4\x00\r\x00\n\x00", ""},
		{"other bytes kept", "\xfd\xfe\xff\n“x” it’s\ta  \r\nb\n", "b", "c", false, "\xfd\xfe\xff\n“x” it’s\ta  \r\nc\n", ""},
	} {
		env := newEnv(t, map[string]string{"f": tc.before})
		read(t, env, "f")
		in := args{"path": "f", "old_string": tc.old, "new_string": tc.new, "replace_all": tc.all}
		out, err := run(env, editFile{}, in)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := content(t, env, "f"); got != tc.after {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.after)
		}
		if tc.text != "" && out.Text != tc.text {
			t.Errorf("%s: %q, want %q", tc.name, out.Text, tc.text)
		}
		if !strings.Contains(out.Diff, "@@") {
			t.Errorf("%s: no diff: %q", tc.name, out.Diff)
		}
	}
}

func TestEditFileRefuses(t *testing.T) {
	files := map[string]string{
		"f":      "func a() {\n\treturn “x”\n}\n\nfunc b() {\n\treturn 2\n}\n\nfunc c() {\n\treturn 2\n}\n",
		"unread": "a\n", "broken": "a\xffb\n", "aaa": "aaa\n",
	}
	env := newEnv(t, files)
	for _, f := range []string{"f", "broken", "aaa"} {
		read(t, env, f)
	}
	for _, tc := range []struct {
		path, old, new, want string
	}{
		{"unread", "a", "b", "was not read in this session"},
		{"none", "a", "b", "does not exist"},
		{"f", "", "x", "old_string is empty"},
		{"f", "return 2", "return 2", "are the same"},
		{"f", "return 2\r\n", "return 2\n", "differ only in CRLF"},
		{"f", "return 2", "x", "occurs 2 times in f, at lines 6 and 10; add lines around it"},
		{"aaa", "aa", "b", "occurs 2 times"},
		{"f", "\treturn \"x\"", "x", "quotes or dashes (curly or straight):\n2\t\treturn “x”"},
		{"f", "    return 2\n}\n\nfunc c()", "x", "differs only in indentation (tabs or spaces):\n6\t\treturn 2\n7\t}"},
		{"f", "func b()  {\n\treturn 2", "x", "lines 5-6, differs only in blanks inside a line"},
		{"f", "func a() { \n\treturn", "x", "blanks at line ends"},
		{"f", "5\tfunc b() {\n6\t\treturn 2", "x", "line numbers"},
		{"f", `func b() {\n\treturn 2`, "x", "escaped once too often"},
		{"f", "func b() {\n\treturn 3\n}", "x", "The nearest text is at lines 5-7"},
		{"f", "func bb( {", "x", "The nearest text is at line"},
		{"f", "zzzzzzzzzz", "x", "Nothing in the file resembles it"},
		{"broken", "a\ufffdb", "x", "not valid in the file's charset"},
		{"../f", "a", "b", "outside the project"},
		{".", "a", "b", "is a folder"},
	} {
		wantError(t, env, editFile{}, args{"path": tc.path, "old_string": tc.old, "new_string": tc.new}, tc.want)
	}
	for path, text := range files {
		if got := content(t, env, path); got != text {
			t.Errorf("%s was changed to %q", path, got)
		}
	}
}

func TestEditPlan(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "a\nb\nc\n"})
	read(t, env, "f")
	p := plan(t, env, editFile{}, args{"path": "f", "old_string": "b", "new_string": "x\ny"})
	abs := filepath.Join(env.Workspace.Root(), "f")
	before, after := "a\nb\nc\n", "a\nx\ny\nc\n"
	want := tool.Effects{Writes: []string{abs}, Changes: []tool.Change{{Path: abs, Old: &before, New: &after}}}
	if diff := cmp.Diff(want, p.Effects); diff != "" {
		t.Error(diff)
	}
	if want := "--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n"; p.Preview != want {
		t.Errorf("preview %q, want %q", p.Preview, want)
	}
	if p.ReadOnly || p.Target != "f" {
		t.Errorf("plan %+v", p)
	}
	if got := content(t, env, "f"); got != before {
		t.Errorf("planning changed the file: %q", got)
	}
}

// A file that the policy hides is not looked at while planning: what would be
// found there shows in errors and previews before the decision.
func TestPlanDoesNotLookIntoHiddenFiles(t *testing.T) {
	env := newEnv(t, map[string]string{"id.key": "SECRET\n"})
	link := filepath.Join(env.Workspace.Root(), "innocent")
	if err := os.Symlink("id.key", link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{"id.key", "innocent"} {
		for _, c := range []struct {
			tool tool.Tool
			in   args
		}{
			{editFile{}, args{"path": path, "old_string": "SECRE", "new_string": "x"}},
			{writeFile{}, args{"path": path, "content": "x"}},
		} {
			p := plan(t, env, c.tool, c.in)
			if p.Preview != "" || len(p.Effects.Changes) > 0 || len(p.Effects.Writes) != 1 {
				t.Errorf("%v: planned %+v", c.in, p)
			}
			if path == "innocent" && p.Effects.Real[link] == "" {
				t.Errorf("%v: where the link leads is not declared", c.in)
			}
			if _, err := c.tool.Run(context.Background(), &tool.Call{Env: env, Plan: p}); err == nil {
				t.Errorf("%v ran", c.in)
			}
		}
	}
	if got := content(t, env, "id.key"); got != "SECRET\n" {
		t.Errorf("it was written: %q", got)
	}
}

func TestEditAfterTheFileChanged(t *testing.T) {
	edit := args{"path": "f", "old_string": "b", "new_string": "x"}
	setup := func(now string) *tool.Env {
		env := newEnv(t, map[string]string{"f": "a\nb\nc\n"})
		read(t, env, "f")
		write(t, filepath.Join(env.Workspace.Root(), "f"), now)
		return env
	}
	env := setup("new\na\nb\nc\nmore\n")
	got := mustRun(t, env, editFile{}, edit)
	want := "Edited f: 1 replacement at line 3.\nThe file had changed since it was read. Around the edit it is now:\n1\tnew\n2\ta\n3\tx\n4\tc\n5\tmore"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wantError(t, setup("a\n"), editFile{}, edit, "The file changed since it was read.")
	wantError(t, setup("b\nb\n"), editFile{}, edit, "occurs 2 times")
	wantError(t, setup("b\nb\n"), editFile{}, args{"path": "f", "old_string": "b", "new_string": "x", "replace_all": true}, "read it again before you replace them all")
}

// What runs must be what was reviewed.
func TestEditAfterTheReview(t *testing.T) {
	edit := args{"path": "f", "old_string": "b", "new_string": "x"}
	all := args{"path": "f", "old_string": "b", "new_string": "x", "replace_all": true}
	for _, tc := range []struct {
		name        string
		in          args
		before, now string
		want, err   string
	}{
		{"unchanged", edit, "a\nb\n", "a\nb\n", "a\nx\n", ""},
		{"changed elsewhere", edit, "a\nb\n", "a\nb\nc\n", "a\nx\nc\n", ""},
		{"text is gone", edit, "a\nb\n", "a\n", "a\n", "occurs 0 times"},
		{"not unique any more", edit, "a\nb\n", "b\nb\n", "b\nb\n", "occurs 2 times"},
		{"more to replace than was reviewed", all, "b\nb\n", "b\nb\nb\n", "b\nb\nb\n", "now"},
		{"fewer", all, "b\nb\n", "b\n", "b\n", "would not be the change that was reviewed"},
	} {
		env := newEnv(t, map[string]string{"f": tc.before})
		read(t, env, "f")
		p := plan(t, env, editFile{}, tc.in)
		write(t, filepath.Join(env.Workspace.Root(), "f"), tc.now)
		out, err := editFile{}.Run(context.Background(), &tool.Call{Env: env, Plan: p})
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.err)
		}
		if got := content(t, env, "f"); got != tc.want {
			t.Errorf("%s: the file is %q", tc.name, got)
		}
		if err == nil && (tc.before != tc.now) != strings.Contains(out.Text, "had changed") {
			t.Errorf("%s: %q", tc.name, out.Text)
		}
	}
	// The file was removed, or a link to another took its place.
	env := newEnv(t, map[string]string{"f": "b\n", "other": "b\n"})
	read(t, env, "f")
	p := plan(t, env, editFile{}, edit)
	if err := os.Remove(filepath.Join(env.Workspace.Root(), "f")); err != nil {
		t.Fatal(err)
	}
	if _, err := (editFile{}).Run(context.Background(), &tool.Call{Env: env, Plan: p}); err == nil {
		t.Error("a removed file was edited")
	}
	if err := os.Symlink("other", filepath.Join(env.Workspace.Root(), "f")); err == nil {
		if _, err := (editFile{}).Run(context.Background(), &tool.Call{Env: env, Plan: p}); err == nil {
			t.Error("another file was edited than was reviewed")
		}
		if got := content(t, env, "other"); got != "b\n" {
			t.Errorf("the other file is %q", got)
		}
	}
}

// After an edit the file is known as it is now: the next edit needs no read.
func TestEditIsTracked(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "a\nb\nc\n"})
	read(t, env, "f")
	mustRun(t, env, editFile{}, args{"path": "f", "old_string": "b", "new_string": "x\ny"})
	got := mustRun(t, env, editFile{}, args{"path": "f", "old_string": "y", "new_string": "z"})
	if strings.Contains(got, "had changed") {
		t.Errorf("one's own edit counts as another's: %q", got)
	}
	mustRun(t, env, writeFile{}, args{"path": "f", "content": "all new\n"})
}

func TestEditThroughLink(t *testing.T) {
	env := newEnv(t, map[string]string{"dir/real": "a\n"})
	link := filepath.Join(env.Workspace.Root(), "link")
	if err := os.Symlink("dir/real", link); err != nil {
		t.Skip(err)
	}
	read(t, env, "link")
	mustRun(t, env, editFile{}, args{"path": "link", "old_string": "a", "new_string": "b"})
	if got := content(t, env, "dir/real"); got != "b\n" {
		t.Errorf("the target is %q", got)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
}

func FuzzExplainMiss(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzExplainMiss.corpus")
	f.Add("a\n\tb\n", "a\n  b")
	f.Add("“x”\n", `1	"x"`)
	f.Fuzz(func(t *testing.T, lf, old string) {
		if old == "" || strings.Contains(lf, old) {
			return
		}
		if got := explainMiss(lf, old, false); got == "" {
			t.Fatal("nothing is said")
		}
	})
}

func BenchmarkEditFile(b *testing.B) {
	env := newEnv(b, map[string]string{"f.go": strings.Repeat("\tfmt.Println(\"forty characters of code\")\n", 300) + "x := 1\n"})
	read(b, env, "f.go")
	raw, err := json.Marshal(args{"path": "f.go", "old_string": "x := 1", "new_string": "x := 2"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (editFile{}).Plan(context.Background(), env, raw); err != nil {
			b.Fatal(err)
		}
	}
}

// A PDF that has no NUL in its beginning looks like text, and an edit would break it.
func TestEditRefusesPDF(t *testing.T) {
	env := newEnv(t, map[string]string{"a.pdf": "%PDF-1.4\n1 0 obj (old) endobj\n"})
	wantError(t, env, editFile{}, args{"path": "a.pdf", "old_string": "old", "new_string": "new"}, "a.pdf is a PDF document, which cannot be edited as text")
}
