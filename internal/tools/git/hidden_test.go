//go:build unix

package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const secret = "not to be seen"

// below moves the root of an env into a folder of the repository.
func below(t *testing.T, env *tool.Env, folder string) *tool.Env {
	t.Helper()
	w, err := workspace.Open(filepath.Join(env.Workspace.Root(), folder), nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	inside := *env
	inside.Workspace = w
	return &inside
}

// Names that git, this program and the reader could understand differently.
func TestHiddenUnderOddNames(t *testing.T) {
	files := map[string]string{"sub/a.txt": "a\n"}
	folders := []string{"\n", "\n\n", "caf\xe9", "a\tb", `q"uo\te`, "glob*[x]", ":(top)", "ü", " "}
	for _, folder := range folders {
		files["sub/"+folder+"/s.key"] = secret + " 1\n"
	}
	env := repo(t, files)
	git(t, env, "init", "-q")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	for _, folder := range folders {
		put(t, env, "sub/"+folder+"/s.key", secret+" 2\n")
		put(t, env, "sub/"+folder+"/new.pem", secret+" 2\n")
	}
	git(t, env, "mv", "sub/a.txt", "sub/b.txt")
	for _, config := range []string{"user.name=x", "diff.relative=true", "diff.renames=copies", "core.quotePath=true", "log.showRoot=false"} {
		name, value, _ := strings.Cut(config, "=")
		git(t, env, "config", name, value)
		for _, at := range []*tool.Env{env, below(t, env, "sub")} {
			for _, call := range []struct {
				tool tool.Tool
				in   args
			}{{diff{}, args{}}, {diff{}, args{"base": "HEAD"}}, {show{}, args{}}, {status{}, args{}}} {
				got := mustRun(t, at, call.tool, call.in)
				if strings.Contains(got, secret) || strings.Contains(got, "s.key") {
					t.Errorf("%s, %T %v:\n%s", config, call.tool, call.in, got)
				}
				if !strings.Contains(got, fmt.Sprintf("[%d protected files are not shown]", len(folders))) {
					t.Errorf("%s, %T %v does not say what is left out:\n%s", config, call.tool, call.in, got)
				}
			}
		}
		git(t, env, "config", "--unset", name)
	}
}

// The ids of contents show them under another name, or without one.
func TestBaseIsACommit(t *testing.T) {
	env := repo(t, map[string]string{"conf/s.key": secret + "\n", "a.txt": "a\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	blob := strings.TrimSpace(git(t, env, "rev-parse", "HEAD:conf/s.key"))
	other := strings.TrimSpace(git(t, env, "rev-parse", "HEAD:a.txt"))
	tree := strings.TrimSpace(git(t, env, "rev-parse", "HEAD:conf"))
	for _, base := range []string{blob, tree, blob + ".." + other, other + "..." + blob, "HEAD^{tree}", "main.." + tree, "^HEAD", "HEAD@{u}"} {
		tooltest.WantError(t, env, diff{}, args{"base": base, "path": "a.txt"}, "is no commit, branch or tag")
		tooltest.WantError(t, env, diff{}, args{"base": base}, "is no commit, branch or tag")
	}
	tooltest.WantError(t, env, show{}, args{"ref": "^HEAD"}, "is no commit")
	git(t, env, "tag", "-am", "first", "v1")
	put(t, env, "a.txt", "b\n")
	git(t, env, "commit", "-qam", "d")
	for _, base := range []string{"v1", "v1..", "v1...main", "..", "main~1..main", "HEAD^"} {
		got := mustRun(t, env, diff{}, args{"base": base})
		if changed := strings.Contains(got, "+b"); changed == (base == "..") {
			t.Errorf("%s:\n%s", base, got)
		}
	}
}

// In a root below the top of the repository names begin at the root.
func TestBelowTheTop(t *testing.T) {
	env := repo(t, map[string]string{"sub/a.txt": "a\n", "sub/dir/b.txt": "b\n", "top.txt": "t\n"})
	git(t, env, "init", "-q", "-b", "main")
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	put(t, env, "sub/a.txt", "2\n")
	put(t, env, "sub/new", "")
	put(t, env, "top.txt", "2\n")
	git(t, env, "mv", "sub/dir/b.txt", "sub/dir/c.txt")
	in := below(t, env, "sub")
	want(t, "status", mustRun(t, in, status{}, args{}), "On branch main.\nmodified: a.txt\nstaged renamed: dir/b.txt → dir/c.txt\nuntracked: new")
	want(t, "diff", mustRun(t, in, diff{}, args{}), "diff --git a/a.txt b/a.txt\nindex HASH..HASH 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+2")
	if got := mustRun(t, in, show{}, args{}); !strings.Contains(got, "+++ b/dir/b.txt\n") || strings.Contains(got, "top.txt") {
		t.Error(got)
	}
}

// More ways in which a repository could make git run something, wait, or print
// what is not text.
func TestHostileNames(t *testing.T) {
	env := repo(t, map[string]string{"a.txt": "one\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	tooltest.Write(t, evil, "#!/bin/sh\necho \"$0 $*\" >> "+marker+"\ncat 2>/dev/null\nexit 0\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"caf\xe9", `qu"ote`, "a.b.c", "ü", "x=y", "-", `b\s`, "*"}
	var attributes, config strings.Builder
	git(t, env, "init", "-q")
	for i, name := range names {
		file := fmt.Sprintf("f%d", i)
		put(t, env, file, "1\n")
		fmt.Fprintf(&attributes, "%s filter=%s diff=%s\n", file, name, name)
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
		fmt.Fprintf(&config, "[filter \"%s\"]\n\tclean = %s\n[diff \"%[1]s\"]\n\ttextconv = %[2]s\n", quoted, evil)
	}
	git(t, env, "add", ".")
	git(t, env, "commit", "-qm", "c")
	put(t, env, ".gitattributes", attributes.String())
	config.WriteString("[color]\n\tdiff = always\n\tui = always\n[blame]\n\tcoloring = repeatedLines\n[i18n]\n\tlogOutputEncoding = UTF-16LE\n")
	// What is missing may not be fetched either: that would run uploadpack.
	fmt.Fprintf(&config, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = %s\n\tpromisor = true\n\tuploadpack = %s\n",
		env.Workspace.Root(), evil)
	path := filepath.Join(env.Workspace.Root(), ".git", "config")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Write(t, path, string(before)+config.String())
	for i := range names {
		put(t, env, fmt.Sprintf("f%d", i), "2\n")
	}
	check := func(what string, got string) {
		t.Helper()
		if ran, err := os.ReadFile(marker); err == nil {
			t.Fatalf("%s ran:\n%s", what, ran)
		}
		if strings.ContainsAny(got, "\x1b\x00") {
			t.Errorf("%s: %q", what, got)
		}
	}
	for i := range names {
		check("blame", mustRun(t, env, blame{}, args{"path": fmt.Sprintf("f%d", i)}))
	}
	check("status", mustRun(t, env, status{}, args{}))
	check("diff", mustRun(t, env, diff{}, args{}))
	check("log", mustRun(t, env, log{}, args{}))
	check("show", mustRun(t, env, show{}, args{}))
	blob := strings.TrimSpace(git(t, env, "rev-parse", "HEAD:f0"))
	if err := os.Remove(filepath.Join(env.Workspace.Root(), ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	out, err := tooltest.Run(env, show{}, args{})
	check("show of what is missing", fmt.Sprint(out, err))
	if err == nil {
		t.Errorf("a missing object is no error: %+v", out)
	}
	// The environment is what counts for versions that can fetch on their own.
	quietEnv := strings.Join(gitEnv(nil, nil), " ")
	if !strings.Contains(quietEnv, "GIT_ALLOW_PROTOCOL=none") {
		t.Errorf("fetching is not forbidden: %s", quietEnv)
	}
}

// A list that does not fit is not taken for a whole one.
func TestListsAreWhole(t *testing.T) {
	env := repo(t, map[string]string{"a": "x"})
	git(t, env, "init", "-q")
	r := &repository{env: env}
	if _, err := r.list(context.Background(), "-c", "alias.flood=!head -c 20000000 /dev/zero", "flood"); err == nil || !strings.Contains(err.Error(), "narrow it") {
		t.Errorf("got %v", err)
	}
}
