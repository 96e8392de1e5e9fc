package view

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/linux"
)

// confined runs commands as the views of a decoy machine let them.
type confined struct {
	t    *testing.T
	d    *decoy
	b    *Builder
	exec *linux.Executor
	env  []string
}

func (d *decoy) confined() *confined {
	d.t.Helper()
	b := d.builder()
	sup, err := proc.New(proc.Options{RunningDir: filepath.Join(d.garuda, "running"), Report: func(err error) { d.t.Errorf("reported: %v", err) }})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			d.t.Error(err)
		}
	})
	e, err := linux.New(linux.Options{
		Supervisor: sup, View: b.View, Path: os.Getenv("PATH"), Root: d.root, Records: filepath.Join(d.garuda, "placeholders"),
		Report: func(err error) { d.t.Errorf("reported: %v", err) },
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := linux.Probe(d.t.Context(), sup); err != nil {
		d.t.Skipf("this machine has no such sandbox: %v", err)
	}
	d.t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			d.t.Error(err)
		}
	})
	return &confined{d.t, d, b, e, append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + d.home, "LANG=C", "GIT_EDITOR=true"}, b.Env()...)}
}

// run runs a command text and returns what it printed; it must succeed.
func (c *confined) run(text string) string {
	c.t.Helper()
	out, code := c.try(text)
	if code != 0 {
		c.t.Errorf("%s\nended with %d: %s", text, code, out)
	}
	return out
}

func (c *confined) try(text string) (string, int) {
	c.t.Helper()
	res, err := c.exec.Run(c.t.Context(), &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: c.d.root, Env: c.env, Timeout: time.Minute, Limit: 1 << 20,
	})
	if err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	return string(res.Stdout.Head) + string(res.Stderr.Head), res.ExitCode
}

// A repository that git made itself is worked in as without a sandbox, and git sees
// nothing of what the sandbox put there.
func TestGitWorks(t *testing.T) {
	git := proc.LookPath("git", os.Getenv("PATH"))
	if git == "" {
		t.Skip("there is no git")
	}
	d := newDecoy(t)
	d.file(filepath.Join(d.home, ".gitconfig"), "[user]\n\tname = U\n\temail = u@example.org\n[init]\n\tdefaultBranch = main\n[credential]\n\thelper = store\n")
	d.file(filepath.Join(d.root, "a.txt"), "one\n")
	d.file(filepath.Join(d.root, "AGENTS.md"), "one\n")
	sup, err := proc.New(proc.Options{RunningDir: filepath.Join(d.dir, "running"), Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "one"}} {
		res, err := sup.NewGroup().Run(t.Context(), &sandbox.Command{Argv: append([]string{git}, args...), Dir: d.root, Env: []string{"HOME=" + d.home, "PATH=/usr/bin:/bin"}, Limit: 1 << 10})
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("git %v: %v, %s", args, err, res.Stderr.Head)
		}
	}
	if err := sup.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := d.confined()
	if out := c.run("git status --porcelain"); out != "" {
		t.Errorf("git sees %q in a clean tree", out)
	}
	for _, text := range []string{
		"echo two >> a.txt && git add -A && git commit -qm two",
		"git checkout -qb other && echo x > AGENTS.md && mkdir -p .github/workflows && echo y > .github/workflows/w.yml && git add -A && git commit -qm other",
		"git checkout -q main && test ! -e .github && grep -q one AGENTS.md",
		"git checkout -q other && grep -q x AGENTS.md && git checkout -q main",
		"echo three >> a.txt && git stash -q && git stash pop -q && git commit -qam three",
		"git checkout -q other && git rebase -q main && git checkout -q main && git merge -q --no-edit other",
		"git gc -q && git fsck && git log --oneline | wc -l",
		"git worktree add -q wt -b wt && cd wt && git status --porcelain && cd .. && git worktree remove wt && git branch -qD wt",
		"git tag v1 && git branch b && git branch -d b && git reset -q --hard v1",
	} {
		c.run(text)
		if out := c.run("git status --porcelain"); out != "" {
			t.Errorf("after %s git sees %q", text, out)
		}
	}
	for text, held := range map[string]string{
		"git config core.fsmonitor x":                                ".git/config",
		"echo x > .git/hooks/pre-commit":                             ".git/hooks/pre-commit",
		"echo x > .claude/settings.json":                             ".claude",
		"rm -rf .mcp.json; echo '{}' > .mcp.json":                    ".mcp.json",
		"mv .git .git2":                                              ".git2",
		"echo x > .git/config.worktree":                              ".git/config.worktree",
		"cat ~/.ssh/id_ed25519 ~/.netrc; echo x > ~/mine; ls ~/.ssh": "mine",
	} {
		out, _ := c.try(text)
		if strings.Contains(out, "SECRET") {
			t.Errorf("%s printed a secret", text)
		}
		switch data, err := os.ReadFile(filepath.Join(d.root, held)); {
		case held == ".git/config":
			if err != nil || strings.Contains(string(data), "fsmonitor") {
				t.Errorf("%s changed the settings: %v", text, err)
			}
		case exists(filepath.Join(d.root, held)):
			t.Errorf("%s made %s", text, held)
		}
	}
	if exists(filepath.Join(d.home, "mine")) {
		t.Error("a command wrote into the user's home")
	}
	if out := c.run("git config user.name; git config credential.helper || true; echo x > /tmp/f && echo $TMPDIR && cat /etc/shadow || true"); !strings.HasPrefix(out, "U\n/tmp\n") {
		t.Errorf("it printed %q", out)
	}
}

// ungoverned runs a script as the user would, outside of any sandbox.
func (d *decoy) ungoverned(script string) {
	d.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		d.t.Skip("needs git")
	}
	d.file(filepath.Join(d.home, ".gitconfig"), "[user]\n\tname = U\n\temail = u@example.org\n[init]\n\tdefaultBranch = main\n")
	cmd := exec.CommandContext(d.t.Context(), "bash", "-ec", script)
	cmd.Dir, cmd.Env = d.root, []string{"HOME=" + d.home, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// TestWorktreeWorks works in a project that is one of several worktrees.
func TestWorktreeWorks(t *testing.T) {
	d := newDecoy(t)
	d.ungoverned("git init -q ../main && cd ../main && echo one > AGENTS.md && git add -A && git commit -qm one && rmdir ../p && git worktree add -q ../p -b p")
	c := d.confined()
	c.run("echo two > a && git add -A && git commit -qm two && git checkout -q --detach main && test ! -e a && git checkout -q p && git stash list && git rebase -q main && git gc -q && git branch x && git branch -qd x")
	if out := c.run("git status --porcelain && git log --oneline | wc -l"); out != "2\n" {
		t.Errorf("git sees %q", out)
	}
	for _, text := range []string{"echo x > ../main/.git/hooks/pre-commit", "git config a.b c", "echo 'gitdir: /tmp' > .git"} {
		if out, code := c.try(text); code == 0 {
			t.Errorf("%s worked: %s", text, out)
		}
	}
	c.try("echo evil > ../main/AGENTS.md")
	if text, err := os.ReadFile(filepath.Join(d.root, "..", "main", "AGENTS.md")); err != nil || string(text) != "one\n" {
		t.Errorf("a file of the other worktree is %q: %v", text, err)
	}
}

// TestWhatGitCannotDo: what does not work inside ends with an error that names what is
// locked, from which bash tells the model why, and changes nothing.
func TestWhatGitCannotDo(t *testing.T) {
	d := newDecoy(t)
	d.ungoverned("git init -q . && git init -q ../lib && git -C ../lib commit -q --allow-empty -m x && git commit -q --allow-empty -m x && git branch other")
	c := d.confined()
	before, err := os.ReadFile(filepath.Join(d.root, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"git config a.b c":                            ".git/config",
		"git config --unset core.bare":                ".git/config",
		"git remote add origin https://example.org/x": ".git/config",
		"git branch -m other another":                 ".git/config",
		"git config --worktree a.b c":                 ".git/config",
		"git sparse-checkout set x":                   ".git/config",
		"echo x > .git/info/exclude":                  ".git/info/exclude",
		"echo x > .git/hooks/post-commit":             ".git/hooks/post-commit",
	} {
		if out, code := c.try(text); code == 0 || !strings.Contains(out, want) || !strings.Contains(out, "busy") && !strings.Contains(out, "Read-only") {
			t.Errorf("%s ended with %d: %q", text, code, out)
		}
	}
	if after, err := os.ReadFile(filepath.Join(d.root, ".git", "config")); err != nil || string(after) != string(before) {
		t.Errorf("the settings are %q: %v", after, err)
	}
}
