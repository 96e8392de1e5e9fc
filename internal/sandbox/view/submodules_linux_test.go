package view

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"garuda/internal/sandbox"
)

// TestSubmodulesAreLocked tries what makes git outside run something when it looks
// into the submodules for its status.
func TestSubmodulesAreLocked(t *testing.T) {
	d := newDecoy(t)
	git := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir, c.Env = d.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", ".")
	git("init", "-q", "own")
	git("-C", "own", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	modules := ""
	for _, name := range []string{"own", "empty", "absent"} {
		modules += "[submodule \"" + name + "\"]\n\tpath = " + name + "\n\turl = ./" + name + "\n"
	}
	modules += "[submodule \"x\"]\n\tpath = ../outside\n[submodule \"y\"]\n\tpath = .gitmodules\n"
	d.file(filepath.Join(d.root, ".gitmodules"), modules)
	d.folder(filepath.Join(d.root, "empty"))
	commit := git("-C", "own", "rev-parse", "HEAD")[:40]
	for _, name := range []string{"own", "empty", "absent"} {
		git("update-index", "--add", "--cacheinfo", "160000,"+commit+","+name)
	}
	marker := filepath.Join(t.TempDir(), "ran")
	c := d.confined()
	for _, name := range []string{"own", "empty", "absent"} {
		c.try("mv " + name + " away; mv " + name + "/.git " + name + "/x; mkdir -p " + name + "; cd " + name + " && { git init -q .; git config core.fsmonitor 'touch " + marker + "; false'; " +
			"printf '[core]\\n\\tfsmonitor = touch " + marker + "; false\\n' >> .git/config; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; }")
	}
	git("status")
	if _, err := os.Lstat(marker); err == nil {
		t.Error("git outside ran what a command told it to")
	}
	v := viewOf(t, d.builder(), &sandbox.Command{})
	expect(t, v, map[string]string{
		filepath.Join(d.root, "own", ".git", "config"): "locked", filepath.Join(d.root, "own", ".git", "index"): "write", filepath.Join(d.root, "own", "file"): "write",
		filepath.Join(d.root, "empty", ".git"): "placeholder", filepath.Join(d.root, "absent"): "placeholder", filepath.Join(d.root, "empty", "file"): "write",
	})
	for _, name := range []string{"empty/.git", "absent"} {
		if _, err := os.Lstat(filepath.Join(d.root, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// TestSubmodulesOfTheIndex: what only the index names is locked as well, and what lies
// in it; a folder where no repository is yet gets none.
func TestSubmodulesOfTheIndex(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	d := newDecoy(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", `git init -q . && git init -q own && git init -q own/deep && link=160000,1234567890123456789012345678901234567890
		git -C own update-index --add --cacheinfo $link,deep && git update-index --add --cacheinfo $link,own && git update-index --add --cacheinfo $link,none`)
	cmd.Dir, cmd.Env = d.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := d.builder()
	expect(t, viewOf(t, b, &sandbox.Command{}), map[string]string{
		filepath.Join(d.root, "own", ".git", "config"): "locked", filepath.Join(d.root, "own", ".git", "hooks"): "locked", filepath.Join(d.root, "own", ".git", "index"): "write",
		filepath.Join(d.root, "own", "deep", ".git", "config"): "locked", filepath.Join(d.root, "own", "deep", "file"): "write", filepath.Join(d.root, "none"): "placeholder",
	})
	// An index that is broken keeps no command from mending it.
	d.file(filepath.Join(d.root, ".git", "index"), "x")
	expect(t, viewOf(t, b, &sandbox.Command{}), map[string]string{filepath.Join(d.root, ".git", "index"): "write"})
}
