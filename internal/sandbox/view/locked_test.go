package view

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
)

func TestLocked(t *testing.T) {
	d := newDecoy(t)
	git := filepath.Join(d.root, ".git")
	d.repository(git)
	d.repository(filepath.Join(git, "modules", "lib", "deep"))
	d.repository(filepath.Join(git, "modules", "lib", "deep", "modules", "inner"))
	d.file(filepath.Join(git, "config"), "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../.gitshared\n[includeIf \"onbranch:x\"]\n\tpath = ../conf/x\n[include]\n\tpath = ~/x\n")
	d.file(filepath.Join(d.root, ".vscode", "settings.json"), "{}")
	d.file(filepath.Join(d.root, ".bashrc"), "")
	d.folder(filepath.Join(d.root, ".cursor")) // as another command's placeholder is
	d.file(filepath.Join(d.root, "tools", "hooks", "pre-commit"), "")
	b := d.builder()
	v := viewOf(t, b, &sandbox.Command{})
	want := map[string]string{
		"": "write", ".git": "write", ".git/index": "write", ".git/refs/heads/x": "write", "AGENTS.md": "write", ".github/workflows/x": "write",
		".git/config": "locked", ".git/hooks/pre-commit": "locked", ".git/info/exclude": "locked", ".git/config.worktree": "placeholder", ".git/commondir": "placeholder", ".git/modules/lib/deep/commondir": "placeholder",
		".git/modules/lib/deep/config": "locked", ".git/modules/lib/deep/hooks": "locked", ".git/modules/lib/deep/index": "write",
		".git/modules/lib/deep/modules/inner/hooks": "locked", ".git/modules/lib/deep/modules/inner/config": "locked",
		".garuda/settings.json": "placeholder", ".mcp.json": "placeholder", ".claude/x": "placeholder", ".husky/pre-commit": "placeholder", ".cursor": "placeholder",
		".vscode/settings.json": "locked", ".bashrc": "locked", ".zshrc": "write",
		"tools/hooks/pre-commit": "locked", "tools/other": "write", ".gitshared": "placeholder", "conf/x": "placeholder", "conf": "placeholder",
	}
	absolute := map[string]string{}
	for rel, access := range want {
		absolute[filepath.Join(d.root, rel)] = access
	}
	expect(t, v, absolute)

	exclude, err := os.ReadFile(filepath.Join(at(v, filepath.Join(git, "info")).Source, "exclude"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(exclude)), "\n")
	if diff := cmp.Diff([]string{
		"# mine", "*.swp", "/.agents", "/.claude", "/.codex", "/.cursor", "/.devcontainer", "/.garuda", "/.gemini", "/.gitshared", "/.husky", "/.idea",
		"/.mcp.json", "/.opencode", "/.zed", "/conf",
	}, lines); diff != "" {
		t.Error(diff)
	}
	again := viewOf(t, b, &sandbox.Command{})
	if diff := cmp.Diff(v, again); diff != "" {
		t.Errorf("a second command sees something else:\n%s", diff)
	}
	d.file(filepath.Join(git, "info", "exclude"), "new\n")
	changed := viewOf(t, b, &sandbox.Command{})
	if text, err := os.ReadFile(filepath.Join(at(changed, filepath.Join(git, "info")).Source, "exclude")); err != nil || !strings.HasPrefix(string(text), "new\n/.agents") {
		t.Errorf("what the user changed is not taken up: %q, %v", text, err)
	}
	for i := range v.Entries {
		if e := &v.Entries[i]; e.Missing && e.Folder == (slices.Contains([]string{".mcp.json", "commondir"}, filepath.Base(e.Path)) || strings.HasPrefix(filepath.Base(e.Path), ".gitshared") || filepath.Base(e.Path) == "config.worktree") {
			t.Errorf("%s: folder %v", e.Path, e.Folder)
		}
	}
}

// TestLockWatched locks, for a command that nobody looks after, what others may write.
func TestLockWatched(t *testing.T) {
	d := newDecoy(t)
	d.repository(filepath.Join(d.root, ".git"))
	d.file(filepath.Join(d.root, "docs", "agents.md"), "x")
	d.link(filepath.Join("docs", "agents.md"), filepath.Join(d.root, "AGENTS.md"))
	d.link("nowhere", filepath.Join(d.root, "CLAUDE.md"))
	d.link(d.outside, filepath.Join(d.root, "GARUDA.md"))
	d.file(filepath.Join(d.root, ".gitattributes"), "x")
	b := d.builder()
	for watched, want := range map[bool]map[string]string{
		false: {"docs/agents.md": "write", ".gitattributes": "write", ".github/workflows/x": "write", "lefthook.yml": "write", "docs/x": "write"},
		true:  {"docs/agents.md": "locked", ".gitattributes": "locked", ".github/workflows/x": "placeholder", "lefthook.yml": "placeholder", "docs/x": "write"},
	} {
		absolute := map[string]string{}
		for rel, access := range want {
			absolute[filepath.Join(d.root, rel)] = access
		}
		expect(t, viewOf(t, b, &sandbox.Command{LockWatched: watched}), absolute)
	}
}

func TestNoRepository(t *testing.T) {
	d := newDecoy(t)
	expect(t, d.view(), map[string]string{filepath.Join(d.root, ".git", "hooks"): "placeholder"})
	d.repository(d.root) // a bare one
	expect(t, d.view(), map[string]string{
		filepath.Join(d.root, "hooks", "x"): "locked", filepath.Join(d.root, "config"): "locked", filepath.Join(d.root, "HEAD"): "write",
	})
}

// A link on a locked path could be led elsewhere, so nothing runs.
func TestLinksOnLockedPaths(t *testing.T) {
	for _, rel := range []string{".git", ".git/hooks", ".git/config", ".git/info", ".git/modules", ".git/modules/x", ".git/worktrees", ".garuda", ".mcp.json", ".claude", ".vscode", ".config", "tools"} {
		t.Run(rel, func(t *testing.T) {
			d := newDecoy(t)
			git := filepath.Join(d.root, ".git")
			if rel != ".git" {
				d.repository(git)
				d.file(filepath.Join(git, "config"), "[core]\n\thooksPath = tools/hooks\n")
			}
			d.folder(filepath.Join(d.root, "elsewhere"))
			path := filepath.Join(d.root, rel)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			d.link(filepath.Join(d.root, "elsewhere"), path)
			if _, err := d.builder().View(t.Context(), &sandbox.Command{}); err == nil {
				t.Error("a command would run")
			} else if rel != ".git/modules" && rel != ".git/config" && !errors.Is(err, ErrLink) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// worktree makes a linked work tree at dir of a repository in main.
func (d *decoy) worktree(main, dir, name string) {
	own := filepath.Join(main, ".git", "worktrees", name)
	d.file(filepath.Join(own, "commondir"), "../..\n")
	d.file(filepath.Join(own, "gitdir"), filepath.Join(dir, ".git")+"\n")
	d.file(filepath.Join(own, "HEAD"), "ref: refs/heads/w\n")
	d.file(filepath.Join(dir, ".git"), "gitdir: "+own+"\n")
}

func TestWorktrees(t *testing.T) {
	d := newDecoy(t)
	main := filepath.Join(d.outside, "main")
	d.repository(filepath.Join(main, ".git"))
	d.worktree(main, d.root, "p")
	d.worktree(main, filepath.Join(d.outside, "q"), "q")
	git := filepath.Join(main, ".git")
	b := d.builder()
	v := viewOf(t, b, &sandbox.Command{})
	expect(t, v, map[string]string{
		filepath.Join(d.root, ".git"): "locked", git: "write", filepath.Join(git, "refs"): "write", main: "nothing",
		filepath.Join(git, "hooks", "x"): "locked", filepath.Join(git, "config"): "locked", filepath.Join(git, "info"): "locked",
		filepath.Join(git, "worktrees", "p", "index"): "write", filepath.Join(git, "worktrees", "p", "commondir"): "locked",
		filepath.Join(git, "worktrees", "q", "commondir"): "locked", filepath.Join(git, "worktrees", "q", "gitdir"): "locked",
	})
	if exclude, err := os.ReadFile(filepath.Join(at(v, filepath.Join(git, "info")).Source, "exclude")); err != nil || !strings.Contains(string(exclude), "/.claude\n") {
		t.Errorf("git would see placeholders: %q, %v", exclude, err)
	}
	expect(t, viewOf(t, b, &sandbox.Command{ReadOnlyRoot: true}), map[string]string{d.root: "read", git: "read", main: "nothing"})

	// From the main work tree: one inside the project is git's to remove.
	inner := filepath.Join(main, "inner")
	d.worktree(main, inner, "inner")
	d.opt.Root = main
	expect(t, d.view(), map[string]string{
		filepath.Join(git, "worktrees", "inner", "commondir"): "write", filepath.Join(git, "worktrees", "q", "commondir"): "locked",
	})
}

func TestSubmoduleAsRoot(t *testing.T) {
	d := newDecoy(t)
	super := filepath.Join(d.home, "src")
	module := filepath.Join(super, ".git", "modules", "p")
	d.repository(module)
	d.file(filepath.Join(module, "config"), "[core]\n\tworktree = ../../../p\n")
	d.file(filepath.Join(d.root, ".git"), "gitdir: ../.git/modules/p\n")
	expect(t, d.view(), map[string]string{
		module: "write", filepath.Join(module, "config"): "locked", filepath.Join(module, "hooks"): "locked", filepath.Join(super, ".git", "config"): "nothing",
		filepath.Join(d.root, ".git"): "locked",
	})
}

// A project may name any folder in its .git file: only one that leads back is opened.
func TestGitFilesThatLie(t *testing.T) {
	d := newDecoy(t)
	stranger := filepath.Join(d.outside, "stranger", ".git")
	d.repository(stranger)
	d.worktree(filepath.Join(d.outside, "stranger"), filepath.Join(d.outside, "tree"), "tree")
	for _, text := range []string{
		"gitdir: " + filepath.Join(d.home, ".ssh"), "gitdir: /", "gitdir: " + d.home, "gitdir: " + stranger, "gitdir: " + filepath.Join(stranger, "worktrees", "tree"),
		"gitdir: ../../.ssh", "nonsense", "gitdir: ", "gitdir: " + filepath.Join(d.dir, "none"),
	} {
		d.file(filepath.Join(d.root, ".git"), text)
		b := d.builder()
		for _, plan := range []bool{false, true} {
			v := viewOf(t, b, &sandbox.Command{ReadOnlyRoot: plan})
			expect(t, v, map[string]string{filepath.Join(d.home, ".ssh", "id_ed25519"): "nothing", stranger: "nothing", d.outside: "nothing"})
			if !plan {
				expect(t, v, map[string]string{filepath.Join(d.root, ".git"): "locked"})
			}
		}
	}
}

// Settings of the user's do not open what is locked.
func TestWritePathsBelowLocks(t *testing.T) {
	d := newDecoy(t)
	d.repository(filepath.Join(d.root, ".git"))
	other := filepath.Join(d.outside, "other")
	d.repository(filepath.Join(other, ".git"))
	d.file(filepath.Join(other, ".vscode", "tasks.json"), "{}")
	d.folder(filepath.Join(d.outside, "plain"))
	d.opt.WritePaths = []string{".git/hooks", other, filepath.Join(other, ".git", "hooks"), filepath.Join(d.outside, "plain")}
	expect(t, d.view(), map[string]string{
		filepath.Join(d.root, ".git", "hooks"): "locked", filepath.Join(other, "x"): "write", filepath.Join(other, ".git", "hooks", "x"): "locked",
		filepath.Join(other, ".vscode"): "locked", filepath.Join(other, ".claude"): "placeholder", filepath.Join(d.outside, "plain", ".claude"): "write",
	})
}
