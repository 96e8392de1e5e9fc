package fileedit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/tool"
)

func TestWriteFileCreates(t *testing.T) {
	env := newEnv(t, map[string]string{"crlf/a.c": "a\r\n", ".editorconfig": "[*.bat]\nend_of_line = crlf\n"})
	got := mustRun(t, env, writeFile{}, args{"path": "new/deep/f.txt", "content": "a\nb\n"})
	if want := "Created new/deep/f.txt (2 lines). New folders: new, new/deep."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tc := range []struct{ path, content, want string }{
		{"plain", "a\n", "a\n"},
		{"empty", "", ""},
		{"crlf/b.c", "a\nb\n", "a\r\nb\r\n"},
		{"x.bat", "a\nb", "a\r\nb"},
		{"own", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"crlf/c.c", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"unicode", "ä😀\n", "ä😀\n"},
	} {
		p := plan(t, env, writeFile{}, args{"path": tc.path, "content": tc.content})
		if p.Effects.Changes[0].Old != nil || *p.Effects.Changes[0].New != tc.content {
			t.Errorf("%s: change %+v", tc.path, p.Effects.Changes)
		}
		if tc.content != "" && !strings.Contains(p.Preview, "--- /dev/null\n+++ "+tc.path) {
			t.Errorf("%s: preview %q", tc.path, p.Preview)
		}
		if _, err := os.Stat(filepath.Join(env.Workspace.Root(), tc.path)); err == nil {
			t.Errorf("%s was made by planning", tc.path)
		}
		if _, err := (writeFile{}).Run(context.Background(), &tool.Call{Env: env, Plan: p}); err != nil {
			t.Errorf("%s: %v", tc.path, err)
			continue
		}
		if got := content(t, env, tc.path); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.want)
		}
	}
	// What was written is known, and may be written again.
	mustRun(t, env, writeFile{}, args{"path": "plain", "content": "b\n"})
	for path, want := range map[string]string{
		"../x": "outside", "plain/x": "is a file, not a folder", ".": "is a folder", "/tmp/x/y": "outside", "crlf": "is a folder",
	} {
		wantError(t, env, writeFile{}, args{"path": path, "content": "x"}, want)
	}
}

func TestWriteFileOverwrites(t *testing.T) {
	env := newEnv(t, map[string]string{
		"f": "a\nb\n", "unread": "x\n", "part": strings.Repeat("l\n", 3000), "crlf": "a\r\nb\r\n", "bom": "\xef\xbb\xbfa\n",
		"utf16": "\xff\xfea\x00\r\x00\n\x00", "mixed": "a\r\nb\nc\r\n",
	})
	for _, f := range []string{"f", "part", "crlf", "bom", "utf16", "mixed"} {
		read(t, env, f)
	}
	p := plan(t, env, writeFile{}, args{"path": "f", "content": "a\nc\n"})
	if want := "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"; p.Preview != want || *p.Effects.Changes[0].Old != "a\nb\n" {
		t.Errorf("preview %q, change %+v", p.Preview, p.Effects.Changes)
	}
	wantError(t, env, writeFile{}, args{"path": "unread", "content": "y"}, "was not read in this session")
	wantError(t, env, writeFile{}, args{"path": "part", "content": "y"}, "only a part of part was read (complete lines: 1-2000)")
	wantError(t, env, writeFile{}, args{"path": "f", "content": "a\nb\n"}, "already holds exactly this text")
	for path, want := range map[string]string{
		"f": "x\ny\n", "crlf": "x\r\ny\r\n", "bom": "\xef\xbb\xbfx\ny\n", "mixed": "x\r\ny\r\n",
		"utf16": "\xff\xfex\x00\r\x00\n\x00y\x00\r\x00\n\x00",
	} {
		mustRun(t, env, writeFile{}, args{"path": path, "content": "x\ny\n"})
		if got := content(t, env, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	write(t, filepath.Join(env.Workspace.Root(), "f"), "someone else\n")
	wantError(t, env, writeFile{}, args{"path": "f", "content": "z"}, "changed since it was read")
}

func TestWriteFileAfterTheReview(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "a\n"})
	root := env.Workspace.Root()
	read(t, env, "f")
	over := plan(t, env, writeFile{}, args{"path": "f", "content": "b\n"})
	write(t, filepath.Join(root, "f"), "theirs\n")
	if _, err := (writeFile{}).Run(context.Background(), &tool.Call{Env: env, Plan: over}); err == nil {
		t.Error("a file that changed after the review was overwritten")
	}
	create := plan(t, env, writeFile{}, args{"path": "new", "content": "b\n"})
	write(t, filepath.Join(root, "new"), "theirs\n")
	if _, err := (writeFile{}).Run(context.Background(), &tool.Call{Env: env, Plan: create}); err == nil {
		t.Error("a file that appeared after the review was overwritten")
	}
	for _, f := range []string{"f", "new"} {
		if got := content(t, env, f); got != "theirs\n" {
			t.Errorf("%s is %q", f, got)
		}
	}
}

func TestWriteFileHardLink(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "a\n"})
	root := env.Workspace.Root()
	if err := os.Link(filepath.Join(root, "f"), filepath.Join(root, "g")); err != nil {
		t.Skip(err)
	}
	read(t, env, "f")
	got := mustRun(t, env, writeFile{}, args{"path": "f", "content": "b\n"})
	if !strings.Contains(got, "hard links") || content(t, env, "g") != "a\n" {
		t.Errorf("%q; the other name has %q", got, content(t, env, "g"))
	}
}
