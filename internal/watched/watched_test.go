package watched

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"garuda/internal/workspace"
)

// project is a repository with two branches whose watched files differ, and a tag.
type project struct {
	root string
	ws   *workspace.Workspace
}

func newProject(t *testing.T) *project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(root, nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	return &project{root, ws}
}

// template is the project that each test gets a copy of; git is slow to start.
var template string

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "watched")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	template = dir
	if _, err := exec.LookPath("git"); err == nil {
		cmd := exec.Command("bash", "-ec", `git init -qb main && git config user.name a && git config user.email a@b
		mkdir -p .github/workflows src && echo one > AGENTS.md && echo on: push > .github/workflows/ci.yml && echo x > src/x
		git add -A && git commit -qm one && git tag -am t v1
		git checkout -qb other && echo two > AGENTS.md && rm .github/workflows/ci.yml && echo lint > lefthook.yml
			git add -A && git commit -qm two && git checkout -q main`)
		cmd.Dir, cmd.Env = dir, gitEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v: %s", err, out))
		}
	}
	code = m.Run()
}

func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
}

func (p *project) sh(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir, cmd.Env = p.root, gitEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (p *project) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = p.root
	return cmd.Output()
}

// after is what a script changes, as "file: how".
func (p *project) after(t *testing.T, w *Watcher, script string) string {
	t.Helper()
	look, err := w.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.sh(t, script)
	changes, err := look.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s %v→%v", c.Was.Rel, c.Was.Exists, c.Is.Exists))
	}
	return strings.Join(out, ", ")
}

// forge defines a shell function that stores under an object's id what it would be
// if AGENTS.md said something else. The order of the files' ids within stays.
const forge = `evil() { echo evil | git hash-object -w --stdin; }
tree() { git ls-tree "$1" | sed "s/[0-9a-f]*\tAGENTS.md/$(evil)\tAGENTS.md/" | git mktree; }
forge() {
	set -e
	old=$(git rev-parse "$1")
	case $(git cat-file -t "$old") in
	blob) new=$(evil) ;;
	tree) new=$(tree "$old") ;;
	esac
	cp -f ".git/objects/${new:0:2}/${new:2}" ".git/objects/${old:0:2}/${old:2}"
}
`

func TestChanges(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a POSIX shell")
	}
	for _, c := range []struct{ name, before, script, want string }{
		{"nothing", "", "true", ""},
		{"another file", "", "echo y > src/x", ""},
		{"written", "", "echo evil >> AGENTS.md", "AGENTS.md true→true"},
		{"the same again", "", "cp AGENTS.md t && mv t AGENTS.md", ""},
		{"removed", "", "rm AGENTS.md", "AGENTS.md true→false"},
		{"made", "", "echo x > CLAUDE.md", "CLAUDE.md false→true"},
		{"made for the first time below", "rm -r .github", "mkdir -p .github/workflows/a && echo x > .github/workflows/a/b.yml", ".github/workflows/a/b.yml false→true"},
		{"changed below", "", "echo on: evil > .github/workflows/ci.yml", ".github/workflows/ci.yml true→true"},
		{"folder moved away", "", "mv .github x", ".github/workflows/ci.yml true→false"},
		{"exchanged for a link", "", "ln -sf src/x AGENTS.md", "AGENTS.md true→true"},
		{"through a link", "rm AGENTS.md && ln -s src/x AGENTS.md", "echo evil > src/x", "src/x true→true"},
		{"linked elsewhere", "rm AGENTS.md && ln -s src/x AGENTS.md && echo z > src/z", "ln -sf src/z AGENTS.md", "AGENTS.md true→true"},
		{"a link out of the project", "ln -sf /etc/hostname CLAUDE.md", "true", ""},
		{"a folder in its place", "", "rm AGENTS.md && mkdir AGENTS.md", "AGENTS.md true→true"},

		{"another branch", "", "git checkout -q other", ""},
		{"there and back", "", "git checkout -q other && git checkout -q main", ""},
		{"another branch, then written", "", "git checkout -q other && echo evil >> AGENTS.md", "AGENTS.md true→true"},
		{"another branch, one more", "", "git checkout -q other && echo evil > CLAUDE.md", "CLAUDE.md false→true"},
		{"a tag", "git checkout -q other", "git checkout -q v1", ""},
		{"a packed tag", "git pack-refs --all && git checkout -q other", "git checkout -q v1", ""},
		{"merged by fast-forward", "", "git merge -q other", ""},
		{"its own commit", "", "echo evil > AGENTS.md && git commit -qam evil", "AGENTS.md true→true"},
		{"its own commit on a branch", "", "git checkout -qb evil && echo evil > AGENTS.md && git commit -qam evil", "AGENTS.md true→true"},
		{"a merge that it made", "echo y > src/y && git add -A && git commit -qm y", "git merge -q --no-edit other",
			".github/workflows/ci.yml true→false, AGENTS.md true→true, lefthook.yml false→true"},
		// Git reads what is stored under an id without a look at whether it fits.
		{"another branch with another file under its id", "", forge + `forge other:AGENTS.md && git checkout -q other`, "AGENTS.md true→true"},
		{"another branch with another folder under its id", "", forge + `forge other^{tree} && git checkout -qf other`,
			".github/workflows/ci.yml true→false, AGENTS.md true→true, lefthook.yml false→true"},
		{"another name", "", "ln AGENTS.md src/y", "AGENTS.md true→true"},
		{"another name that was there", "ln AGENTS.md src/y", "true", ""},
		{"another branch and another name", "", "git checkout -q other && ln AGENTS.md src/y", "AGENTS.md true→true"},
		{"text thrown away", "echo mine > AGENTS.md", "git checkout -q -- AGENTS.md", "AGENTS.md true→true"},
		{"a commit from the log", "echo three > AGENTS.md && git commit -qam three && git reset -q --hard HEAD~1", "git reset -q --hard HEAD@{1}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			if c.before != "" {
				p.sh(t, c.before)
			}
			if got := p.after(t, New(p.ws, p.git), c.script); got != c.want {
				t.Errorf("changed %q, want %q", got, c.want)
			}
		})
	}
}

// TestOwnCommitIsNeverKnown: a commit that one command makes is not trusted by the
// next, although a branch names it by then.
func TestOwnCommitIsNeverKnown(t *testing.T) {
	p := newProject(t)
	w := New(p.ws, p.git)
	if got := p.after(t, w, `tree=$(git rev-parse other^{tree}) && git branch evil $(echo evil | git commit-tree $tree)`); got != "" {
		t.Fatalf("changed %q", got)
	}
	want := ".github/workflows/ci.yml true→false, AGENTS.md true→true, lefthook.yml false→true"
	if got := p.after(t, w, "git checkout -q evil"); got != want {
		t.Errorf("changed %q, want %q", got, want)
	}
}

// TestBegin: neither is a commit that a command made at which nobody looked.
func TestBegin(t *testing.T) {
	p := newProject(t)
	w := New(p.ws, p.git)
	w.Begin()
	p.sh(t, `git branch evil $(echo evil | git commit-tree other^{tree})`)
	want := ".github/workflows/ci.yml true→false, AGENTS.md true→true, lefthook.yml false→true"
	if got := p.after(t, w, "git checkout -q evil"); got != want {
		t.Errorf("changed %q, want %q", got, want)
	}
	(*Watcher)(nil).Begin()
}

// TestOtherName breaks the second name of a file that was given back its first.
func TestOtherName(t *testing.T) {
	p := newProject(t)
	look, err := New(p.ws, p.git).Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.sh(t, "ln AGENTS.md src/y")
	changes, err := look.Changes(t.Context())
	if err != nil || len(changes) != 1 {
		t.Fatalf("%v, %v", changes, err)
	}
	if got := Diff(changes); !strings.HasPrefix(got, "AGENTS.md: has another name by now (a hard link)") {
		t.Errorf("shown as %q", got)
	}
	if err := p.ws.PutBack(changes[0].Was); err != nil {
		t.Fatal(err)
	}
	p.sh(t, `echo evil > src/y && test "$(cat AGENTS.md)" = one`)
}

func TestWorktree(t *testing.T) {
	p := newProject(t)
	p.sh(t, "git worktree add -q ../tree main~0 --detach")
	root := filepath.Join(filepath.Dir(p.root), "tree")
	ws, err := workspace.Open(root, nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	tree := &project{root: root, ws: ws}
	if got := tree.after(t, New(ws, tree.git), "git checkout -q other"); got != "" {
		t.Errorf("changed %q", got)
	}
}

func TestTooMany(t *testing.T) {
	p := newProject(t)
	for i := range maxFiles {
		name := filepath.Join(p.root, ".github", "workflows", fmt.Sprintf("%d.yml", i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(p.ws, p.git).Look(t.Context()); !errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
}

// TestWithoutRepository watches a folder that has no git, and one whose .git is
// nonsense.
func TestWithoutRepository(t *testing.T) {
	for _, prepare := range []string{"rm -rf .git", "rm -rf .git && echo x > .git", "echo 'ref: ../../x' > .git/HEAD", "rm .git/HEAD && mkfifo .git/HEAD"} {
		p := newProject(t)
		p.sh(t, prepare)
		if got := p.after(t, New(p.ws, p.git), "echo evil > AGENTS.md"); got != "AGENTS.md true→true" {
			t.Errorf("%s: changed %q", prepare, got)
		}
	}
}

func TestDiff(t *testing.T) {
	p := newProject(t)
	look, err := New(p.ws, p.git).Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.sh(t, "echo evil >> AGENTS.md; ln -s src/x CLAUDE.md; rm .github/workflows/ci.yml")
	changes, err := look.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `--- a/.github/workflows/ci.yml
+++ /dev/null
@@ -1 +0,0 @@
-on: push
--- a/AGENTS.md
+++ b/AGENTS.md
@@ -1 +1,2 @@
 one
+evil
--- /dev/null
+++ b/CLAUDE.md
@@ -0,0 +1 @@
+a symbolic link to src/x
`
	if got := Diff(changes); got != want {
		t.Errorf("%s", got)
	}
	if got := strings.Join(Names(changes), " "); got != ".github/workflows/ci.yml AGENTS.md CLAUDE.md" {
		t.Error(got)
	}
}
