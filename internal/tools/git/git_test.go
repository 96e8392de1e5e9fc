//go:build unix

package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/proc"
	"garuda/internal/sandbox/host"
	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type args = tooltest.Args

// repo is a folder with these files and git.
func repo(t *testing.T, files map[string]string) *tool.Env {
	t.Helper()
	env := tooltest.NewEnv(t, files)
	sup, err := proc.New(proc.Options{Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	env.Exec = host.New(host.Options{Supervisor: sup})
	env.CommandEnv = environment(t)
	return env
}

func environment(t *testing.T) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	}
}

// git runs the user's own git.
func git(t *testing.T, env *tool.Env, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = env.Workspace.Root(), env.CommandEnv
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func put(t *testing.T, env *tool.Env, path, text string) {
	t.Helper()
	tooltest.Write(t, filepath.Join(env.Workspace.Root(), path), text)
}

var hash = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)

func mustRun(t *testing.T, env *tool.Env, tl tool.Tool, in args) string {
	t.Helper()
	return hash.ReplaceAllString(tooltest.MustRun(t, env, tl, in), "HASH")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

func TestTools(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "dir/c d.txt": "c\n", "gone": "x\n"})
	git(t, env, "init", "-q", "-b", "main")
	want(t, "log of nothing", mustRun(t, env, log{}, args{}), "No commits yet.")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "First\n\nWith a body.")
	want(t, "clean", mustRun(t, env, status{}, args{}), "On branch main.\nNothing is changed.")
	want(t, "no differences", mustRun(t, env, diff{}, args{}), "No differences.")

	put(t, env, "a.txt", "one\n2\n")
	put(t, env, "new ü.txt", "n\n")
	git(t, env, "mv", "b.txt", "B.txt")
	git(t, env, "rm", "-q", "gone")
	want(t, "status", mustRun(t, env, status{}, args{}),
		"On branch main.\nstaged renamed: b.txt → B.txt\nmodified: a.txt\nstaged deleted: gone\nuntracked: new ü.txt")
	want(t, "diff", mustRun(t, env, diff{}, args{}),
		"diff --git a/a.txt b/a.txt\nindex HASH..HASH 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2")
	want(t, "staged", mustRun(t, env, diff{}, args{"staged": true, "path": "gone"}),
		"diff --git a/gone b/gone\ndeleted file mode 100644\nindex HASH..HASH\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x")
	want(t, "of a path", mustRun(t, env, diff{}, args{"path": "dir"}), "No differences.")
	git(t, env, "commit", "-qam", "Second")
	want(t, "log", mustRun(t, env, log{}, args{}), "HASH  2026-01-02 03:04  A U Thor  Second\nHASH  2026-01-02 03:04  A U Thor  First")
	want(t, "log of a path", mustRun(t, env, log{}, args{"path": "dir/c d.txt"}), "HASH  2026-01-02 03:04  A U Thor  First")
	want(t, "show", mustRun(t, env, show{}, args{"path": "a.txt"}),
		"commit HASH\nAuthor: A U Thor <author@example.com>\nDate: 2026-01-02 03:04\n\nSecond\n\n"+
			"diff --git a/a.txt b/a.txt\nindex HASH..HASH 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2")
	if got := mustRun(t, env, diff{}, args{"base": "HEAD~1", "path": "a.txt"}); !strings.Contains(got, "+2") {
		t.Errorf("against a base: %s", got)
	}
	want(t, "blame", mustRun(t, env, blame{}, args{"path": "a.txt", "start_line": 2}), "HASH (A U Thor 2026-01-02 2) 2")
	git(t, env, "checkout", "-q", "--detach")
	if got := mustRun(t, env, status{}, args{}); !strings.HasPrefix(got, "On no branch, at HASH.") {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n"})
	out, err := tooltest.Run(env, status{}, args{})
	if err != nil || !out.IsError || out.Text != env.Workspace.Root()+" is not a git repository." {
		t.Errorf("outside a repository: %+v, %v", out, err)
	}
	git(t, env, "init", "-q")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	for _, tt := range []struct {
		tool tool.Tool
		in   args
		want string
	}{
		{show{}, args{"ref": "--output=x"}, "begins with -"},
		{diff{}, args{"base": "-p"}, "begins with -"},
		{show{}, args{"ref": "HEAD:a.txt"}, "names a file in a commit"},
		{show{}, args{"ref": "nowhere"}, `"nowhere" is no commit, branch or tag`},
		{show{}, args{"ref": "HEAD^{tree}"}, "is no commit"},
		{diff{}, args{"base": "nowhere"}, "nowhere"},
		{diff{}, args{"path": "../x"}, "outside the project"},
		{blame{}, args{"path": "gone"}, "gone"},
		{blame{}, args{"path": "a.txt", "start_line": 3, "end_line": 2}, "before start_line"},
		{blame{}, args{"path": "a.txt", "start_line": 9}, "has only 1 line"},
	} {
		tooltest.WantError(t, env, tt.tool, tt.in, tt.want)
	}
	// The id of a file's contents is no commit either.
	blob := strings.TrimSpace(git(t, env, "rev-parse", "HEAD:a.txt"))
	tooltest.WantError(t, env, show{}, args{"ref": blob}, "is no commit")
}

// What the policy hides is not shown, not even its name.
func TestHidden(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n", "s.key": "secret one\n"})
	git(t, env, "init", "-q")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	put(t, env, "s.key", "secret two\n")
	put(t, env, "a.txt", "two\n")
	for _, tt := range []struct {
		tool tool.Tool
		in   args
	}{
		{diff{}, args{}}, {diff{}, args{"base": "HEAD"}}, {show{}, args{}}, {diff{}, args{"path": "s.key"}},
	} {
		got := mustRun(t, env, tt.tool, tt.in)
		if strings.Contains(got, "secret") || strings.Contains(got, "s.key") || !strings.Contains(got, "[1 protected file is not shown]") {
			t.Errorf("%T %v:\n%s", tt.tool, tt.in, got)
		}
	}
	tooltest.WantError(t, env, blame{}, args{"path": "s.key"}, "may not be read")
}

// A repository that tries to run something in every way that a reading git
// offers. The user's git falls for each; the tools for none.
func TestHostileRepository(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "sub/x": "x\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	tooltest.Write(t, evil, "#!/bin/sh\necho \"$0 $*\" >> "+marker+"\ncat 2>/dev/null\nexit 0\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, env, "init", "-q", "-b", "main")
	for i := range 2 {
		put(t, env, "a.txt", fmt.Sprintf("line %d\n", i))
		git(t, env, "add", ".")
		git(t, env, "commit", "-qm", "c")
	}
	put(t, env, ".gitattributes", "a.txt diff=evil filter=evil merge=evil\nb.txt diff=e=v filter=e=v\n")
	included := filepath.Join(env.Workspace.Root(), ".git", "more")
	tooltest.Write(t, included, fmt.Sprintf("[filter \"evil\"]\n\tprocess = %s\n\trequired\n", evil))
	config := fmt.Sprintf(`
[include]
	path = more
[core]
	fsmonitor = %[1]s
	hooksPath = .git/evilhooks
	pager = %[1]s
	sshCommand = %[1]s
	editor = %[1]s
	askPass = %[1]s
[diff]
	external = %[1]s
	submodule = log
[diff "evil"]
	command = %[1]s
	textconv = %[1]s
[diff "e=v"]
	textconv = %[1]s
[filter "evil"]
	clean = %[1]s
	smudge = %[1]s
[filter "e=v"]
	clean = %[1]s
	required = true
[gpg]
	program = %[1]s
[log]
	showSignature = true
[alias]
	status = !%[1]s
[pager]
	status = %[1]s
	diff = %[1]s
[interactive]
	diffFilter = %[1]s
`, evil)
	path := filepath.Join(env.Workspace.Root(), ".git", "config")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Write(t, path, string(before)+config)
	hooks := filepath.Join(env.Workspace.Root(), ".git", "evilhooks")
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout"} {
		tooltest.Write(t, filepath.Join(hooks, hook), "#!/bin/sh\nexec "+evil+"\n")
		if err := os.Chmod(filepath.Join(hooks, hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, env, "a.txt", "changed\n")
	put(t, env, "b.txt", "changed\n")
	// A repository may also lie in wait in the environment of commands.
	env.CommandEnv = append(env.CommandEnv, "GIT_EXTERNAL_DIFF="+evil, "GIT_SSH_COMMAND="+evil, "PAGER="+evil)
	for _, call := range []struct {
		tool tool.Tool
		in   args
	}{
		{status{}, args{}}, {diff{}, args{}}, {diff{}, args{"staged": true}}, {diff{}, args{"base": "HEAD~1"}},
		{log{}, args{}}, {log{}, args{"path": "a.txt"}}, {show{}, args{}}, {show{}, args{"path": "a.txt"}},
		{blame{}, args{"path": "a.txt"}}, {blame{}, args{"path": "b.txt"}},
	} {
		out, err := tooltest.Run(env, call.tool, call.in)
		if err != nil || out.IsError {
			t.Errorf("%T %v: %+v, %v", call.tool, call.in, out, err)
		}
		if ran, err := os.ReadFile(marker); err == nil {
			t.Fatalf("%T %v ran:\n%s", call.tool, call.in, ran)
		}
	}
	cmd := exec.Command("git", "status")
	cmd.Dir, cmd.Env = env.Workspace.Root(), env.CommandEnv
	_ = cmd.Run()
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("the user's own git did not fall for it, so this test shows nothing: %v", err)
	}
}
