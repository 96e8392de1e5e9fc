//go:build unix

package git

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

// each runs the five tools; path is a file that is there.
func each(path string) []struct {
	tool tool.Tool
	in   args
} {
	return []struct {
		tool tool.Tool
		in   args
	}{{status{}, args{}}, {diff{}, args{}}, {log{}, args{}}, {show{}, args{}}, {blame{}, args{"path": path}}}
}

// Git waits at a pipe until someone writes to it. The tools say which it is.
func TestPipesAmongSettings(t *testing.T) {
	for pipe, waits := range map[string][]int{ // which of the five would wait
		"sub/.gitattributes":   {1},
		"sub/.gitignore":       {0},
		".git/info/attributes": {1},
		".git/config":          {2},
	} {
		env := repo(t, map[string]string{"sub/a.txt": "one\n"})
		git(t, env, "init", "-q")
		git(t, env, "add", ".")
		git(t, env, "commit", "-qm", "c")
		put(t, env, "sub/a.txt", "two\n")
		abs := filepath.Join(env.Workspace.Root(), pipe)
		if err := os.Remove(abs); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(abs, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, i := range waits {
			call := each("sub/a.txt")[i]
			tooltest.WantError(t, env, call.tool, call.in, pipe+" is a named pipe where git reads a file")
		}
	}
}

func TestBareRepository(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "first")
	git(t, env, "commit", "-qm", "second", "--allow-empty")
	git(t, env, "clone", "-q", "--bare", ".", "bare")
	bare := below(t, env, "bare")
	const want = "is a bare repository, which has history and no files; use git_log and git_show, or git_diff with two commits as base"
	for _, call := range []struct {
		tool tool.Tool
		in   args
	}{{status{}, args{}}, {diff{}, args{}}, {diff{}, args{"staged": true}}} {
		tooltest.WantError(t, bare, call.tool, call.in, want)
	}
	if got := mustRun(t, bare, log{}, args{}); !strings.Contains(got, "first") {
		t.Error(got)
	}
	if got := mustRun(t, bare, diff{}, args{"base": "HEAD~1..HEAD"}); got != "No differences." {
		t.Error(got)
	}
	if got := mustRun(t, bare, show{}, args{"ref": "HEAD~1"}); !strings.Contains(got, "+one") {
		t.Error(got)
	}
}

// A repository may not say that its files are those of someone else.
func TestWorkTreeElsewhere(t *testing.T) {
	env := repo(t, map[string]string{"key.txt": "one\n"})
	other := t.TempDir()
	tooltest.Write(t, filepath.Join(other, "key.txt"), secret+"\n")
	git(t, env, "init", "-q")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	git(t, env, "config", "core.worktree", other)
	for _, call := range each("key.txt") {
		out, err := tooltest.Run(env, call.tool, call.in)
		if err == nil || !strings.Contains(err.Error(), "which is not this project") {
			t.Errorf("%T: %+v, %v", call.tool, out, err)
		}
		if err == nil && strings.Contains(out.Text, secret) {
			t.Errorf("%T shows files of another folder", call.tool)
		}
	}
	if got := git(t, env, "diff"); !strings.Contains(got, secret) {
		t.Errorf("the user's own git did not fall for it, so this test shows nothing: %s", got)
	}
}

// Work trees, submodules and repositories within the project are looked at as
// git does; what they hold beyond the project is not.
func TestRepositoriesOfOtherForms(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "first")
	git(t, env, "worktree", "add", "-q", "tree")
	lib := repo(t, map[string]string{"lib.txt": "lib\n"})
	git(t, lib, "init", "-q", "-b", "main")
	git(t, lib, "add", ".")
	git(t, lib, "commit", "-qm", "of the library")
	git(t, env, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Workspace.Root(), "sub")
	git(t, env, "clone", "-q", lib.Workspace.Root(), "nested")
	put(t, env, "sub/lib.txt", "changed\n")
	put(t, env, "nested/lib.txt", "changed\n")
	put(t, env, "tree/a.txt", "changed\n")
	for folder, file := range map[string]string{"tree": "a.txt", "sub": "lib.txt", "nested": "lib.txt"} {
		inside := below(t, env, folder)
		for i, call := range each(file) {
			got := mustRun(t, inside, call.tool, call.in)
			want := []string{"modified: " + file, "+changed", "A U Thor", "+++ b/" + file, "changed"}[i]
			if !strings.Contains(got, want) {
				t.Errorf("%s, %T:\n%s", folder, call.tool, got)
			}
		}
	}
	if got := mustRun(t, env, status{}, args{}); got != "On branch main.\nstaged new: .gitmodules\nstaged new: sub\nuntracked: nested/\nuntracked: tree/" {
		t.Errorf("status from above:\n%s", got)
	}
	if got := mustRun(t, env, diff{}, args{}); got != "No differences." {
		t.Errorf("diff from above:\n%s", got)
	}
}

// What a replaced commit really says is shown, and a list of commits to pass over
// that the repository names is not read.
func TestReplacedAndIgnoredCommits(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "harmless")
	first := strings.TrimSpace(git(t, env, "rev-parse", "HEAD"))
	put(t, env, "a.txt", "evil\n")
	git(t, env, "commit", "-qam", "evil")
	git(t, env, "replace", "HEAD", first)
	if got := mustRun(t, env, log{}, args{}); !strings.Contains(got, "evil") {
		t.Errorf("log:\n%s", got)
	}
	if got := mustRun(t, env, show{}, args{}); !strings.Contains(got, "+evil") {
		t.Errorf("show:\n%s", got)
	}
	if got := git(t, env, "log", "-1", "--format=%s"); strings.Contains(got, "evil") {
		t.Errorf("the user's own git does not show the other commit, so this test shows nothing: %s", got)
	}
	git(t, env, "config", "blame.ignoreRevsFile", "gone")
	git(t, env, "config", "mailmap.file", "a.txt")
	if got := mustRun(t, env, blame{}, args{"path": "a.txt"}); !strings.Contains(got, "evil") {
		t.Errorf("blame:\n%s", got)
	}
}

// Git looks into no submodule, whatever the repository says about that: what the
// settings of one run would be run.
func TestSubmodulesAreNotEntered(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "init", "-q", "sub")
	git(t, env, "-C", "sub", "commit", "-q", "--allow-empty", "-m", "x")
	put(t, env, ".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "first")
	git(t, env, "config", "submodule.sub.ignore", "none")
	git(t, env, "config", "submodule.recurse", "true")
	git(t, env, "config", "diff.submodule", "diff")
	git(t, env, "config", "status.submoduleSummary", "true")
	ran := filepath.Join(t.TempDir(), "ran")
	git(t, env, "-C", "sub", "config", "core.fsmonitor", "touch "+ran+"; false")
	for _, call := range append(each("a.txt"), each("sub")...) {
		_, _ = tooltest.Run(env, call.tool, call.in) // some say that there is no such file
		if _, err := os.Lstat(ran); err == nil {
			t.Fatalf("%T ran what a submodule's settings say", call.tool)
		}
	}
	git(t, env, "status")
	if _, err := os.Lstat(ran); err != nil {
		t.Error("the user's own git did not run it, so this test shows nothing")
	}
}
