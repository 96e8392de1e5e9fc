package gitlink

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// script runs a shell script with git's settings of nobody.
func script(t *testing.T, dir, text string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", text)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}

func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

const link = "git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,"

func TestIndexes(t *testing.T) {
	files := `mkdir -p a b && for i in 1 2 3 4 5 6 7 8 9; do echo $i > a/$i$i$i$i$i; echo $i > b/f$i; done; touch z; git add -A; ` +
		link + "a/sub; " + link + "b/sub-" + strings.Repeat("x", 60) + "; " + link + "own; "
	want := []string{"a/sub", "b/sub-" + strings.Repeat("x", 60), "own"}
	for name, text := range map[string]string{
		"version 2":    "git init -q; " + files,
		"version 3":    "git init -q; " + files + "echo > n; git add -N n",
		"version 4":    "git init -q; " + files + "git update-index --index-version 4",
		"split":        "git init -q; " + files + "git update-index --split-index; echo > n; git add n",
		"split later":  "git init -q; git commit -q --allow-empty -m x; git update-index --split-index; " + files,
		"with a cache": "git init -q; " + files + "git update-index --untracked-cache; git status >/dev/null",
		"with a tree":  "git init -q; " + files + "git commit -qm x; git status > /dev/null",
		"sha256": "git init -q --object-format=sha256; " + strings.ReplaceAll(files, "1234567890123456789012345678901234567890",
			strings.Repeat("12345678", 8)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := project(t)
			script(t, root, text)
			got, err := NewFinder(root).Paths()
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestNoIndex(t *testing.T) {
	root := project(t)
	if got, err := NewFinder(root).Repositories(); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	script(t, root, "git init -q")
	if got, err := NewFinder(root).Repositories(); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "DIRC", "DIRC\x00\x00\x00\x09\x00\x00\x00\x00", "DIRC\x00\x00\x00\x02\x00\x00\x00\x01short"} {
		if err := os.WriteFile(filepath.Join(root, ".git", "index"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewFinder(root).Repositories(); !errors.Is(err, ErrIndex) {
			t.Errorf("%q: %v", text, err)
		}
	}
	script(t, root, "rm .git/index; ln -s HEAD .git/index")
	if _, err := NewFinder(root).Repositories(); !errors.Is(err, ErrIndex) {
		t.Errorf("a link: %v", err)
	}
}

// TestPlanted makes what a command could make, and checks that each case which git
// runs something for is seen; and, so that the cases are none of the imagination, that
// git does run it.
func TestPlanted(t *testing.T) {
	const commit = "git -C s commit -q --allow-empty -m x; "
	for name, c := range map[string]struct {
		script string
		why    string
		// inert is set for what this git does not run, or not for its status.
		inert bool
	}{
		"harmless":            {"git init -q s; " + commit + "git -C s config user.name a; git -C s remote add origin https://example.org/x; git add s", "", true},
		"no submodule":        {"git init -q s; " + commit + "git -C s config core.fsmonitor \"$run\"", "none", true},
		"nothing there":       {"git init -q s; " + commit + "git add s; rm -rf s", "none", true},
		"a monitor":           {"git init -q s; " + commit + "git add s; git -C s config core.fsmonitor \"$run\"", "core.fsmonitor", false},
		"only in the index":   {link + "s; git init -q s; " + commit + "git -C s config core.fsmonitor \"$run\"", "core.fsmonitor", false},
		"in other words":      {"git init -q s; " + commit + "git add s; printf '[CORE]\\n\\tFSMonitor=%s\\n' \"$run\" >> s/.git/config", "FSMonitor", false},
		"behind its section":  {"git init -q s; " + commit + "git add s; printf '[core] fsmonitor=%s\\n' \"$run\" >> s/.git/config", "[core] fsmonitor", false},
		"behind a comment":    {"git init -q s; " + commit + "git add s; printf '# \\\\\\n[core]\\n# x \\\\\\nfsmonitor=%s\\n' \"$run\" >> s/.git/config", "fsmonitor", false},
		"an included file":    {"git init -q s; " + commit + "git add s; printf '[core]\\nfsmonitor=%s\\n' \"$run\" > x; git -C s config include.path ../../x", "include.path", false},
		"a filter":            {"git init -q s; " + commit + "git add s; echo x > s/f; echo '* filter=x' > s/.gitattributes; git -C s add -A; git -C s commit -qm y; git -C s config filter.x.clean \"$run;cat\"; echo z > s/f; touch -d 2001-01-01 s/f", "filter.clean", false},
		"a hook":              {"git init -q s; " + commit + "git add s; mkdir -p s/.git/hooks; printf '#!/bin/sh\\n%s\\n' \"$run\" > s/.git/hooks/post-index-change; chmod +x s/.git/hooks/post-index-change; echo x > s/f; git -C s add f; touch -d 2001-01-01 s/f", "post-index-change", false},
		"settings elsewhere":  {"git init -q s; " + commit + "git add s; git init -q t; git -C t config core.fsmonitor \"$run\"; echo ../../t/.git > s/.git/commondir", "another repository", false},
		"a repository beside": {"git init -q s; " + commit + "git add s; mv s/.git t; git --git-dir=t config core.fsmonitor \"$run\"; echo 'gitdir: ../t' > s/.git", "core.fsmonitor", false},
		"behind a link":       {"git init -q s; " + commit + "git add s; mv s/.git t; git --git-dir=t config core.fsmonitor \"$run\"; ln -s ../t s/.git", "neither", false},
		"in git's own folder": {"git init -q s; " + commit + "git add s; mkdir -p .git/modules; mv s/.git .git/modules/s; git --git-dir=.git/modules/s config core.fsmonitor \"$run\"; echo 'gitdir: ../.git/modules/s' > s/.git", "core.fsmonitor", false},
		"settings of a tree":  {"git init -q s; " + commit + "git add s; git -C s config extensions.worktreeConfig true; printf '[core]\\nfsmonitor=%s\\n' \"$run\" > s/.git/config.worktree", "worktreeConfig", false},
		"one in another":      {"git init -q s; git init -q s/t; git -C s/t commit -q --allow-empty -m x; git -C s/t config core.fsmonitor \"$run\"; git -C s add t 2>/dev/null; " + commit + "git add s", "core.fsmonitor", false},
		"a worktree":          {"git commit -q --allow-empty -m x; git worktree add -q s; git add s", "", true},
		"behind a folder":     {"git init -q s; " + commit + "git -C s config core.fsmonitor \"$run\"; git add s; mv s t; ln -s t s", "none", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := project(t)
			ran := filepath.Join(t.TempDir(), "ran")
			script(t, root, "git init -q .; run='touch "+ran+"'; exec 2>/dev/null; "+c.script)
			_ = os.Remove(ran) // git may have run it while it was made
			found, err := NewFinder(root).Repositories()
			if err != nil {
				t.Fatal(err)
			}
			why := "none"
			for _, r := range found {
				if why = r.Why; why != "" {
					break
				}
			}
			if why != c.why && (c.why == "" || !strings.Contains(why, c.why)) {
				t.Errorf("found %+v", found)
			}
			script(t, root, "git status || true")
			if _, err := os.Lstat(ran); err == nil == c.inert {
				t.Errorf("git ran it: %v", err == nil)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"[core]\n\tbare = false\n":         "",
		"[core]\r\n\tbare = false\r\n":     "",
		"[core]\nbare\n":                   "core.bare",
		"[branch \"a b]\"]\nmerge=x\n":     "",
		"[branch \"a\\\"b\"]\nmerge=x\n":   `[branch "a\"b"]`,
		"[remote \"o\"]\nuploadpack = x":   "remote.uploadpack = x",
		"[remote.o]\nurl = x":              "[remote.o]",
		"[core]\nbare = a\\\nfsmonitor=x":  `bare = a\`,
		"[core]\nbare = a\rfsmonitor=x":    `"bare = a\rfsmonitor=x"`,
		"\ufeff[core]\nbare = a":           ".\ufeff[core]",
		"[core]\n[]\nbare=a":               "[]",
		"bare=a":                           ".bare=a",
		"[submodule \"x\"]\nupdate = !run": "update = !run",
	} {
		if got := offending(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCache: an index that was not changed is not read again, and one that was changed
// within a tick of the clock is.
func TestCache(t *testing.T) {
	root := project(t)
	script(t, root, "git init -q; "+link+"s; git init -q s")
	f := NewFinder(root)
	file := filepath.Join(root, ".git", "index")
	for range 2 {
		if got, err := f.Paths(); err != nil || len(got) != 1 || len(f.seen) != 0 {
			t.Fatalf("%v, %v: kept %v", got, err, f.seen)
		}
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	f.seen[file] = seenIndex{info, []string{"kept"}}
	if got, err := f.Paths(); err != nil || len(got) != 1 || got[0] != "kept" {
		t.Errorf("%v, %v", got, err)
	}
	script(t, root, link+"t")
	if got, err := f.Paths(); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"+strings.Repeat("\x00", 24)+"\x00\x00\xe0\x00"+strings.Repeat("\x00", 32)+"\x00\x01s\x00\x00"), false)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"+strings.Repeat("\x00", 24)+"\x00\x00\xe0\x00"+strings.Repeat("\x00", 32)+"\x00\x01\x00s\x00"), false)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		idLen := sha1Len
		if long {
			idLen = sha256Len
		}
		links, shared, err := parse(bytes.NewReader(data), idLen)
		if err != nil && !errors.Is(err, ErrIndex) {
			t.Errorf("%v", err)
		}
		if len(links)*statLen > len(data) || len(shared) > 2*idLen {
			t.Errorf("%d submodules, %q, of %d bytes", len(links), shared, len(data))
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add("[core]\nbare = x # y\n")
	f.Fuzz(func(t *testing.T, text string) {
		// Whatever stands before it, a setting that runs something is not passed over.
		if offending(text+"\n[core]\nfsmonitor = x\n") == "" {
			t.Errorf("%q hides it", text)
		}
	})
}
