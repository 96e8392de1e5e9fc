package shellscan

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func writeFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const plainConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n" +
	"[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n" +
	"[user]\n\tname = x\n\temail = x@y\n; comment\n# [core] fsmonitor = x\n[alias]\n\tst = status\n"

func TestRepositoryConfig(t *testing.T) {
	for added, want := range map[string]string{
		"":                                         "",
		"[core]\n\tfsmonitor = touch pwn":          "core.fsmonitor",
		"[core] fsmonitor = x":                     "core.fsmonitor",
		"[CORE]\nFSMonitor=x":                      "core.fsmonitor",
		"[core]\n\tfsmonitor = false":              "",
		"[core]\n\tfsmonitor":                      "core.fsmonitor",
		"[core]\n\thooksPath = x":                  "core.hookspath",
		"[core]\n\tpager = x":                      "core.pager",
		"[core]\n\tsshCommand = x":                 "core.sshcommand",
		"[core]\n\tworktree = /x":                  "core.worktree",
		"[core]\n\teditor = x":                     "core.editor",
		"[core]\n\tattributesFile = x":             "core.attributesfile",
		"[pager]\n\tlog = x":                       "pager.log",
		"[diff]\n\texternal = x":                   "diff.external",
		"[diff \"x\"]\n\tcommand = x":              "diff.command",
		"[diff \"x y]\"]\n\ttextconv = x":          "diff.textconv",
		"[diff.x]\n\ttextconv = x":                 "diff.textconv",
		"[filter \"x\"]\n\tclean = x":              "filter.clean",
		"[filter \"x\"]\n\tprocess = x":            "filter.process",
		"[alias]\n\tlog = !x":                      "alias.log",
		"[credential]\n\thelper = x":               "credential.helper",
		"[credential \"https://x\"]\n\thelper = x": "credential.helper",
		"[include]\n\tpath = x":                    "include.path",
		"[includeIf \"gitdir:x\"]\n\tpath = x":     "includeif.path",
		"[gpg]\n\tprogram = x":                     "gpg.program",
		"[log]\n\tshowSignature = true":            "log.showsignature",
		"[extensions]\n\tpartialClone = origin":    "extensions.partialclone",
		"[remote \"x\"]\n\tpromisor = true":        "remote.promisor",
		"[remote \"x\"]\n\tuploadpack = x":         "remote.uploadpack",
		"[status]\n\tsubmoduleSummary = true":      "status.submodulesummary",
		"[protocol \"ext\"]\n\tallow = always":     "protocol.allow",
		"[user]\n\tname = a\\\n[core] fsmonitor=x": "several lines",
		"[core":                    "cannot be parsed",
		"[x][core]\n\tfsmonitor=x": "core.fsmonitor",
		"[diff]\n\trenames = copies\n[color]\n\tui=auto": "",
	} {
		root := t.TempDir()
		writeFiles(t, root, map[string]string{".git/config": plainConfig + added + "\n", ".git/HEAD": "x", "src/a": "a"})
		got := repositoryConfig(filepath.Join(root, "src"))
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", added, got, want)
		}
	}
}

func TestRepositoryShapes(t *testing.T) {
	evil := "[core]\n\tfsmonitor = touch pwn\n"
	for name, c := range map[string]struct {
		files map[string]string
		dir   string
		want  string
	}{
		"none":                {map[string]string{"a": ""}, "", ""},
		"a bare one in it":    {map[string]string{".git/config": plainConfig, "x/HEAD": "", "x/objects/a": "", "x/refs/a": "", "x/config": evil}, "x", "without a work tree"},
		"one below":           {map[string]string{".git/config": plainConfig, "x/.git/config": evil}, "x", "core.fsmonitor"},
		"a work tree":         {map[string]string{"main/.git/config": evil, "main/.git/worktrees/w/commondir": "../..\n", "w/.git": "gitdir: ../main/.git/worktrees/w\n"}, "w", "core.fsmonitor"},
		"a work tree's own":   {map[string]string{".git/config": plainConfig, ".git/config.worktree": evil}, "", "core.fsmonitor"},
		"a .git that is none": {map[string]string{".git": "hello"}, "", "not understood"},
		"submodules":          {map[string]string{".git/config": plainConfig, ".gitmodules": ""}, "", "submodules"},
	} {
		root := t.TempDir()
		writeFiles(t, root, c.files)
		got := repositoryConfig(filepath.Join(root, c.dir))
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestNeutralGit runs the real git: with the environment that a read-only git
// command gets, no configured program starts.
func TestNeutralGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	root := t.TempDir()
	mark := filepath.Join(t.TempDir(), "pwned")
	run := func(env []string, args ...string) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := exec.CommandContext(ctx, git, args...)
		cmd.Dir = root
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}, env...)
		return cmd.Run()
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if err := run(nil, args...); err != nil {
			t.Fatal(args, err)
		}
	}
	if err := run(nil, "config", "core.fsmonitor", "touch "+mark+"; false"); err != nil {
		t.Fatal(err)
	}
	if err := run(nil, "status"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Skip("this git does not start a monitor")
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status"}, {"diff"}, {"log", "-p"}, {"show"}, {"ls-files"}, {"branch", "--list"}} {
		if err := run(NeutralGitEnv(), args...); err != nil {
			t.Errorf("git %v: %v", args, err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("git %v started the configured program", args)
		}
	}
}
