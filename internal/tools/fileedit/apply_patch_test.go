package fileedit

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/testkit"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

func patchOf(lines ...string) args {
	return args{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

// tree is every file below the root with its text.
func tree(t testing.TB, env *tool.Env) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := env.Workspace.Root()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestApplyPatch(t *testing.T) {
	files := map[string]string{
		"a.go":   "package a\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 1\n}\n",
		"b.txt":  "first\r\nsecond\r\nlast",
		"old.go": "package old\n",
	}
	for _, tt := range []struct {
		name  string
		patch []string
		want  map[string]string // what differs afterwards; "" for gone
		text  string
	}{
		{"update with a head", []string{"*** Update File: a.go", "@@ func two() {", "-\treturn 1", "+\treturn 2"},
			map[string]string{"a.go": "package a\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 2\n}\n"}, "updated a.go (+1 -1)"},
		{"another indent", []string{"*** Update File: a.go", "@@", "-  return 1", "+  return 2", " }", " ", " func two() {"},
			map[string]string{"a.go": "package a\n\nfunc one() {\n  return 2\n}\n\nfunc two() {\n\treturn 1\n}\n"},
			"updated a.go (+1 -1)\nThe hunk at line 3 of the patch fits lines 4-7 but for indentation; lines that stay were left as the file has them, " +
				"and added ones stand as the patch has them: look whether they are indented rightly."},
		{"blanks at an end", []string{"*** Update File: a.go", "@@", "-package a  ", "-"},
			map[string]string{"a.go": "func one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 1\n}\n"},
			"updated a.go (+0 -2)\nThe hunk at line 3 of the patch fits lines 1-2 but for blanks at the ends of lines; lines that stay were left as the file has them."},
		{"lines around", []string{"*** Update File: a.go", " func one() {", "-\treturn 1", "+\tx := 1", "+\treturn x", " }"},
			map[string]string{"a.go": "package a\n\nfunc one() {\n\tx := 1\n\treturn x\n}\n\nfunc two() {\n\treturn 1\n}\n"}, ""},
		{"two hunks", []string{"*** Update File: a.go", "@@", "-package a", "+package b", "@@ func one() {", "-\treturn 1", "+\treturn 3"},
			map[string]string{"a.go": "package b\n\nfunc one() {\n\treturn 3\n}\n\nfunc two() {\n\treturn 1\n}\n"}, "updated a.go (+2 -2)"},
		{"unified head", []string{"*** Update File: a.go", "@@ -7,3 +7,3 @@ func two() {", "-\treturn 1", "+\treturn 2"},
			map[string]string{"a.go": "package a\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 2\n}\n"}, ""},
		{"blanks differ", []string{"*** Update File: a.go", "@@ func two() {", "-    return 1  ", "+\treturn 2"},
			map[string]string{"a.go": "package a\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 2\n}\n"}, ""},
		{"CRLF and no newline at the end", []string{"*** Update File: b.txt", " second", "-last", "+end", "*** End of File"},
			map[string]string{"b.txt": "first\r\nsecond\r\nend"}, ""},
		{"added at the end", []string{"*** Update File: b.txt", "+more", "*** End of File"},
			map[string]string{"b.txt": "first\r\nsecond\r\nlast\r\nmore"}, ""},
		{"last line gone", []string{"*** Update File: b.txt", " second", "-last"},
			map[string]string{"b.txt": "first\r\nsecond"}, ""},
		{"add, move, delete", []string{
			"*** Add File: new/c.go", "+package c", "+", "+var x int",
			"*** Update File: a.go", "*** Move to: new/a.go", "@@", "-package a", "+package c",
			"*** Delete File: old.go",
		}, map[string]string{
			"new/c.go": "package c\n\nvar x int\n", "a.go": "", "old.go": "",
			"new/a.go": "package c\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 1\n}\n",
		}, "Applied the patch:\nadded new/c.go (3 lines)\nmoved a.go to new/a.go (+1 -1)\ndeleted old.go"},
		{"move alone", []string{"*** Update File: old.go", "*** Move to: kept.go"},
			map[string]string{"old.go": "", "kept.go": "package old\n"}, "moved old.go to kept.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := newEnv(t, files)
			for path := range files {
				read(t, env, path)
			}
			text := mustRun(t, env, applyPatch{}, patchOf(tt.patch...))
			if !strings.Contains(text, tt.text) {
				t.Errorf("%q, want %q in it", text, tt.text)
			}
			want := map[string]string{}
			for path, s := range files {
				want[path] = s
			}
			for path, s := range tt.want {
				if want[path] = s; s == "" {
					delete(want, path)
				}
			}
			if d := cmp.Diff(want, tree(t, env)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestApplyPatchErrors(t *testing.T) {
	files := map[string]string{"f": "a\nb\na\nb\n", "unread": "x\n", "bin": "\x00", "x.key": "secret\n", "d/g": "g\n"}
	update := "*** Update File: f"
	for _, tt := range []struct {
		patch args
		want  string
	}{
		{args{"patch": ""}, `line 1 of the patch: a patch begins with "*** Begin Patch"`},
		{args{"patch": "*** Begin Patch\n*** Add File: x\n+x\n"}, "it was cut"},
		{patchOf(), "holds no file"},
		{patchOf("--- a/f", "+++ b/f"), "begins no section"},
		{patchOf("*** Add File: new", "text"), "line 3 of the patch: every line of an added file begins with +"},
		{patchOf("*** Add File: f", "+x"), "f is there already"},
		{patchOf("*** Add File: d", "+x"), "d is a folder"},
		{patchOf(update), "has no hunk"},
		{patchOf(update, "@@", " a"), "changes nothing"},
		{patchOf(update, "@@", "?a"), "begins with none of"},
		{patchOf(update, "@@", "-a", "+c"), "stand 2 times in f, at lines 1 and 3"},
		{patchOf(update, "@@ nowhere", "-a", "+c"), `f has no line "nowhere"`},
		{patchOf(update, "@@", "-c", "+d"), "do not stand in f."},
		{patchOf(update, "@@", "-a", "+a", " b", " a"), "leave f as it is"},
		{patchOf("*** Update File: gone", "-a", "+b"), "gone does not exist"},
		{patchOf("*** Update File: unread", "-x", "+b"), "unread was not read"},
		{patchOf("*** Update File: ../x", "-x", "+b"), "outside the project"},
		{patchOf("*** Delete File: d"), "d is a folder"},
		{patchOf("*** Update File: x.key", "-secret", "+public"), "x.key may not be read"},
		{patchOf("*** Delete File: f", "*** Delete File: ./f"), "names f twice"},
		{patchOf(update, "*** Move to: d/g"), "d/g is there already"},
		{patchOf("*** Add File: ok", "+x", update, "@@", "-zz", "+y"), "do not stand in f"},
	} {
		env := newEnv(t, files)
		read(t, env, "f")
		before := tree(t, env)
		wantError(t, env, applyPatch{}, tt.patch, tt.want)
		if d := cmp.Diff(before, tree(t, env)); d != "" {
			t.Errorf("%v changed something: %s", tt.patch, d)
		}
	}
}

// When a step fails, what was done before it is put back, with its mode.
func TestPatchIsPutBack(t *testing.T) {
	files := map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "gone/d": "d\n"}
	env := newEnv(t, files)
	for path := range files {
		read(t, env, path)
	}
	root := env.Workspace.Root()
	if err := os.Chmod(filepath.Join(root, "c"), 0o750); err != nil {
		t.Fatal(err)
	}
	p := plan(t, env, applyPatch{}, patchOf("*** Add File: new/n", "+n", "*** Update File: a", "-a", "+A",
		"*** Update File: b", "*** Move to: moved/b", "-b", "+B", "*** Delete File: c", "*** Delete File: gone/d"))
	call, _ := p.Input.(*patchCall)
	last := call.files[len(call.files)-1]
	last.was.Info.Size++ // as if it changed after the check at the beginning
	a := &applying{w: env.Workspace, written: make([]*workspace.Written, len(call.files))}
	for _, f := range call.files[:4] {
		if _, err := a.one(f); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.one(last); err == nil {
		t.Fatal("the last step worked")
	}
	if err := a.putBack(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(files, tree(t, env)); d != "" {
		t.Error(d)
	}
	if info, err := os.Stat(filepath.Join(root, "c")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode of c: %v, %v", info, err)
	}
}

// A file that changes between plan and run stops the whole patch before it begins.
func TestPatchOfAChangedFile(t *testing.T) {
	env := newEnv(t, map[string]string{"a": "a\n", "b": "b\n"})
	read(t, env, "a")
	read(t, env, "b")
	p := plan(t, env, applyPatch{}, patchOf("*** Update File: a", "-a", "+A", "*** Update File: b", "-b", "+B"))
	write(t, filepath.Join(env.Workspace.Root(), "b"), "changed\n")
	_, err := applyPatch{}.Run(t.Context(), &tool.Call{Env: env, Plan: p})
	if err == nil || !strings.Contains(err.Error(), "nothing of the patch was applied") {
		t.Errorf("%v", err)
	}
	if d := cmp.Diff(map[string]string{"a": "a\n", "b": "changed\n"}, tree(t, env)); d != "" {
		t.Error(d)
	}
}

// A patch made from two texts makes the second of the first.
func TestPatchRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 20).Draw(t, "lines")
		sort.Ints(lines)
		var old, patch strings.Builder
		var want strings.Builder
		changed := false
		for i, n := range lines {
			if i > 0 && n == lines[i-1] {
				continue
			}
			line := strings.Repeat("x", n%7) + " " + string(rune('a'+n%26)) + strings.Repeat("y", n)
			old.WriteString(line + "\n")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				patch.WriteString("-" + line + "\n")
				changed = true
			case 1:
				patch.WriteString(" " + line + "\n+new " + line + "\n")
				want.WriteString(line + "\nnew " + line + "\n")
				changed = true
			default:
				patch.WriteString(" " + line + "\n")
				want.WriteString(line + "\n")
			}
		}
		if !changed {
			t.Skip("nothing changes")
		}
		sections, err := parsePatch("*** Begin Patch\n*** Update File: f\n" + patch.String() + "*** End Patch")
		if err != nil {
			t.Fatal(err)
		}
		text := newPatchedText("f", old.String(), false)
		if err := text.apply(&sections[0].hunks[0]); err != nil {
			t.Fatal(err)
		}
		_, got, err := workspace.Decode([]byte(old.String())).Splice(text.edits())
		if err != nil || got != want.String() {
			t.Fatalf("got %q, want %q (%v)", got, want.String(), err)
		}
	})
}

func FuzzParsePatch(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzParsePatch.corpus")
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ x\n a\n-b\n+c\n*** End of File\n*** End Patch", "a\nb\n")
	f.Add("*** Begin Patch\n*** Add File: a\n+\n\n*** Delete File: b\n*** End Patch\n", "")
	f.Fuzz(func(t *testing.T, patch, lf string) {
		sections, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, s := range sections {
			before := workspace.Decode([]byte(lf))
			text := newPatchedText("f", before.LF, false)
			lines := workspace.CountLines(before.LF)
			for i := range s.hunks {
				if text.apply(&s.hunks[i]) != nil {
					return
				}
				for _, l := range s.hunks[i].lines {
					lines += map[byte]int{'+': 1, '-': -1}[l.op]
				}
			}
			_, after, err := before.Splice(text.edits())
			switch {
			case err != nil && strings.Contains(err.Error(), "out of"):
				t.Errorf("%q on %q: %v", patch, lf, err)
			case err == nil && strings.Count(after+"\n", "\n") < lines, err == nil && workspace.CountLines(after) > lines:
				t.Errorf("%q on %q: %d lines, want %d: %q", patch, lf, workspace.CountLines(after), lines, after)
			}
		}
	})
}
