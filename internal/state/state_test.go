package state_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/state"
)

func open(t *testing.T, root string) *state.Dir {
	t.Helper()
	d, err := state.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func sessions(t *testing.T, root string) *state.Folder {
	t.Helper()
	f, err := open(t, root).MakeSessions()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsMadeBeforeItIsNeeded(t *testing.T) {
	root := t.TempDir()
	if _, err := open(t, root).Sessions(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".garuda", "sessions"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := sessions(t, root)
	if err := f.WriteNew("a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace("a", []byte("y"), true); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{"sessions": 0o700, "sessions/a": 0o600, ".gitignore": 0o600} {
		info, err := os.Stat(filepath.Join(root, ".garuda", path))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}

func git(t *testing.T, root string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// State never shows in git, whatever .gitignore the project has of its own.
func TestHiddenFromGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, files := range map[string]map[string]string{
		"a new project":                  {},
		"settings are kept in git":       {".garuda/settings.json": "{}"},
		"a .gitignore that hides them":   {".garuda/.gitignore": "sessions/\n"},
		"a .gitignore that does not":     {".garuda/.gitignore": "# nothing\n"},
		"the root un-ignores everything": {".gitignore": "!*\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			git(t, root, "init", "-q")
			write(t, filepath.Join(root, "main.go"), "package main\n")
			for path, text := range files {
				write(t, filepath.Join(root, path), text)
			}
			git(t, root, "add", "-A")
			git(t, root, "commit", "-qm", "x")
			f := sessions(t, root)
			if err := f.WriteNew("20260101-000000-abcd.jsonl", []byte("{}\n")); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"index", "evals", "jobs", "worktrees"} {
				if _, ok := files[".garuda/.gitignore"]; !ok { // a .gitignore of the project's own answers for the rest
					write(t, filepath.Join(root, ".garuda", dir, "x"), "x")
					write(t, filepath.Join(root, ".garuda", "memory.state.json"), "{}")
				}
			}
			if got := git(t, root, "status", "--porcelain", "--untracked-files=all"); got != "" {
				t.Errorf("git sees\n%s", got)
			}
			if again := sessions(t, root); again == nil {
				t.Error("cannot be opened twice")
			}
		})
	}
}

func TestLinksAreRefused(t *testing.T) {
	outside := t.TempDir()
	for name, link := range map[string]string{"the folder": ".garuda", "sessions": ".garuda/sessions"} {
		for kind, target := range map[string]string{"to a folder": outside, "to nothing": filepath.Join(outside, "missing"), "relative": "../../../../../../../../.." + outside, "within": "."} {
			t.Run(name+" "+kind, func(t *testing.T) {
				root := t.TempDir()
				path := filepath.Join(root, link)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, path); err != nil {
					t.Skip(err)
				}
				d := open(t, root)
				if _, err := d.MakeSessions(); !errors.Is(err, state.ErrLink) {
					t.Errorf("make: %v", err)
				}
				if _, err := d.Sessions(); !errors.Is(err, state.ErrLink) {
					t.Errorf("open: %v", err)
				}
				if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
					t.Errorf("something was made outside: %v %v", entries, err)
				}
			})
		}
	}
}

func TestLinkedFiles(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "x")
	write(t, secret, "kept")
	write(t, filepath.Join(root, "main.go"), "kept")
	f := sessions(t, root)
	for name, target := range map[string]string{"out": secret, "in": "../../main.go"} {
		if err := os.Symlink(target, filepath.Join(f.Path(), name)); err != nil {
			t.Skip(err)
		}
		if _, err := f.ReadFile(name); !errors.Is(err, state.ErrNotRegular) {
			t.Errorf("%s: read: %v", name, err)
		}
		if _, err := f.OpenAppend(name); !errors.Is(err, state.ErrNotRegular) {
			t.Errorf("%s: append: %v", name, err)
		}
		if _, err := f.Create(name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: create: %v", name, err)
		}
		if _, err := f.Lock(name); !errors.Is(err, state.ErrNotRegular) {
			t.Errorf("%s: lock: %v", name, err)
		}
		if err := f.Replace(name, []byte("new"), false); err != nil { // takes the link's place
			t.Errorf("%s: replace: %v", name, err)
		}
	}
	for _, path := range []string{secret, filepath.Join(root, "main.go")} {
		if got, err := os.ReadFile(path); err != nil || string(got) != "kept" {
			t.Errorf("%s was changed to %q (%v)", path, got, err)
		}
	}
}

func TestLock(t *testing.T) {
	root := t.TempDir()
	a, b := sessions(t, root), sessions(t, root)
	held, err := a.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	var locked *state.LockedError
	if _, err := b.Lock("lock"); !errors.As(err, &locked) {
		t.Fatalf("%v", err)
	}
	if locked.PID != os.Getpid() || !strings.Contains(locked.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("%v", locked)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := b.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	// Whoever deletes a lock's file while it is held does not free the lock's name for two.
	if err := a.Remove("lock"); err != nil {
		t.Skip(err) // Windows keeps open files
	}
	fresh, err := a.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Close(); err != nil {
		t.Error(err)
	}
}

func TestReplaceLeavesNothingElse(t *testing.T) {
	f := sessions(t, t.TempDir())
	for _, text := range []string{"one", "two"} {
		if err := f.Replace("index.json", []byte(text), true); err != nil {
			t.Fatal(err)
		}
		if got, err := f.ReadFile("index.json"); err != nil || string(got) != text {
			t.Errorf("%q %v", got, err)
		}
	}
	entries, err := f.ReadDir()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if d := cmp.Diff([]string{"index.json"}, names); d != "" {
		t.Error(d)
	}
}

func TestUnwritable(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, ".garuda"), "a file")
	if _, err := open(t, root).MakeSessions(); err == nil || !strings.Contains(err.Error(), filepath.Join(root, ".garuda")) {
		t.Errorf("%v", err)
	}
}

func TestCreateExport(t *testing.T) {
	root := t.TempDir()
	d := open(t, root)
	f, err := d.CreateExport("garuda-x.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateExport("garuda-x.md"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("overwrites: %v", err)
	}
	if _, err := d.CreateExport("../x.md"); err == nil {
		t.Error("leaves the root")
	}
}
