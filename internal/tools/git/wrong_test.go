//go:build unix

package git

import (
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/testkit/tooltest"
)

// The wrong calls that models make, and the exact text that comes back.
func TestWrongCalls(t *testing.T) {
	env := repo(t, map[string]string{"main.go": "package main\n", "docs/guide.md": "one\n", "secret.key": "k\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "add", ".")
	git(t, env, "commit", "-q", "-m", "First")
	tooltest.Write(t, filepath.Join(env.Workspace.Root(), "new.go"), "package main\n")
	if err := os.Symlink("/etc/hostname", filepath.Join(env.Workspace.Root(), "out")); err != nil {
		t.Fatal(err)
	}
	tooltest.Wrongs(t, env, New(), []tooltest.Wrong{
		{Name: "a field", Tool: "git_status", In: `{"short":true}`, Want: `Error: git_status failed: git_status takes no fields; leave out "short"`},

		{Name: "a field of git", Tool: "git_diff", In: `{"stat":true}`, Want: `Error: git_diff failed: git_diff has no field "stat"; its fields are base, path, staged`},
		{Name: "no boolean", Tool: "git_diff", In: `{"staged":"index"}`, Want: `Error: git_diff failed: staged is "index", want true or false`},
		{Name: "an option as a commit", Tool: "git_diff", In: `{"base":"--output=x"}`, Want: `Error: git_diff failed: "--output=x" begins with -, as no commit, branch or tag does`},
		{Name: "no such commit", Tool: "git_diff", In: `{"base":"mian"}`, Want: `Error: git_diff failed: "mian" is no commit, branch or tag of this repository; git_log lists the newest commits`},
		{Name: "half a range", Tool: "git_diff", In: `{"base":"main..mian"}`, Want: `Error: git_diff failed: "mian" is no commit, branch or tag of this repository; git_log lists the newest commits`},
		{Name: "outside", Tool: "git_diff", In: `{"path":"/etc"}`, Want: "Error: git_diff failed: /etc is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a link that leads outside", Tool: "git_diff", In: `{"path":"out"}`, Want: "Error: git_diff failed: out leads to /etc/hostname, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a name that is not there", Tool: "git_diff", In: `{"file_path":"mian.go"}`, Want: "No differences.\n[mian.go does not exist; did you mean main.go?]"},

		{Name: "too many", Tool: "git_log", In: `{"limit":500}`, Want: "Error: git_log failed: limit is 500, want a whole number from 1 to 100"},
		{Name: "none", Tool: "git_log", In: `{"limit":"0"}`, Want: "Error: git_log failed: limit is 0, want a whole number from 1 to 100"},
		{Name: "of a branch", Tool: "git_log", In: `{"ref":"main"}`, Want: `Error: git_log failed: git_log has no field "ref"; its fields are limit, path`},
		{Name: "of no such file", Tool: "git_log", In: `{"path":"gone.go"}`, Want: "No commits.\n[gone.go does not exist; use glob to find it]"},

		{Name: "an option as a commit", Tool: "git_show", In: `{"ref":"-p"}`, Want: `Error: git_show failed: "-p" begins with -, as no commit, branch or tag does`},
		{Name: "no such commit", Tool: "git_show", In: `{"ref":"deadbeef"}`, Want: `Error: git_show failed: "deadbeef" is no commit, branch or tag of this repository; git_log lists the newest commits`},
		{Name: "a file of a commit", Tool: "git_show", In: `{"ref":"HEAD:main.go"}`, Want: `Error: git_show failed: "HEAD:main.go" names a file in a commit; give the commit as ref and the file as path`},
		{Name: "a hash as a number", Tool: "git_show", In: `{"ref":1234567}`, Want: `Error: git_show failed: ref is 1234567, want text: "1234567"`},
		{Name: "a field of git", Tool: "git_show", In: `{"format":"oneline"}`, Want: `Error: git_show failed: git_show has no field "format"; its fields are path, ref`},

		{Name: "nothing", Tool: "git_blame", In: `{}`, Want: "Error: git_blame failed: path is missing; give path, and if you like end_line, start_line"},
		{Name: "from line 0", Tool: "git_blame", In: `{"path":"main.go","startLine":0}`, Want: "Error: git_blame failed: start_line is 0, want a whole number of at least 1"},
		{Name: "the wrong way round", Tool: "git_blame", In: `{"path":"main.go","start_line":5,"end_line":2}`, Want: "Error: git_blame failed: end_line 2 is before start_line 5; swap them"},
		{Name: "past the end", Tool: "git_blame", In: `{"path":"main.go","start_line":9}`, Want: "Error: git_blame failed: file main.go has only 1 line"},
		{Name: "a folder", Tool: "git_blame", In: `{"path":"docs"}`, Want: "Error: git_blame failed: docs is a folder; name one file"},
		{Name: "not tracked", Tool: "git_blame", In: `{"path":"new.go"}`, Want: "Error: git_blame failed: new.go is in no commit yet, so nobody can be named; git_status shows what is untracked"},
		{Name: "a slip in the name", Tool: "git_blame", In: `{"path":"mian.go"}`, Want: "Error: git_blame failed: mian.go does not exist; did you mean main.go?"},
		{Name: "protected", Tool: "git_blame", In: `{"path":"secret.key"}`, Want: "Error: git_blame failed: secret.key may not be read: it is protected; go on without it, or ask the user for what you need of it"},
	})
	bare := repo(t, map[string]string{"a": "b\n"})
	for _, call := range []tooltest.Wrong{
		{Tool: "git_status", In: `{}`}, {Tool: "git_diff", In: `{}`}, {Tool: "git_log", In: `{}`}, {Tool: "git_show", In: `{}`}, {Tool: "git_blame", In: `{"path":"a"}`},
	} {
		call.Name, call.Want = "outside a repository", "$ROOT is not a git repository."
		tooltest.Wrongs(t, bare, New(), []tooltest.Wrong{call})
	}
}
