package policy

import (
	"strings"
	"testing"

	"garuda/internal/tool"
)

// TestSensitiveList holds the list of the contract, and what only looks like it.
func TestSensitiveList(t *testing.T) {
	for _, p := range strings.Fields(`.env .env.local .env.production .env.example.bak .envrc .ssh .ssh/config .ssh/known_hosts .aws/credentials .aws/x/y
		.gnupg/x .docker/config.json .kube/config .npmrc .pypirc .netrc .git-credentials credentials credentials.json a.pem a.key a.p12
		a.pfx a.keystore a.jks id_rsa id_rsa.pub id_rsa_work id_ecdsa id_ed25519 id_ed25519.bak a.kdbx service-account.json
		service-account-prod.json terraform.tfstate terraform.tfstate.backup`) {
		for _, dir := range []string{"/p/", "/p/a/b/", "/h/"} {
			if !sensitive(dir+p, false, false) {
				t.Errorf("%s%s is not sensitive", dir, p)
			}
		}
	}
	for _, p := range strings.Fields(`/p/.env.example /p/.env.sample /p/.env.template /p/env /p/.environment /p/a.env /p/.sshx/a /p/ssh/config
		/p/docker/config.json /p/.docker/x /p/.kube/x /p/config /p/npmrc /p/credentials.md /p/credentials/index.ts /p/a.pem.md /p/key /p/a.keys
		/p/my_id_rsa /p/service-accounts.ts /p/service-account.yaml /p/tfstate /proc/cpuinfo /proc/self/status /p/proc/1/environ`) {
		if sensitive(p, false, false) {
			t.Errorf("%s is sensitive", p)
		}
	}
	for _, p := range strings.Fields("/proc/1/environ /proc/self/environ /proc/self/mem /proc/1/root/etc/shadow /proc/9/fd/3 /proc/self/task/7/environ") {
		if !sensitive(p, false, false) {
			t.Errorf("%s is not sensitive", p)
		}
	}
	if !sensitive("/proc/cpuinfo", true, false) || !sensitive("/proc", true, false) {
		t.Error("a file tool may read /proc")
	}
}

func TestProtectedList(t *testing.T) {
	for _, p := range strings.Fields(`.git .git/hooks .git/hooks/pre-commit .git/config .git/config.worktree .git/info/exclude .git/modules/x/config
		.garuda .garuda/settings.json .mcp.json .claude/x .codex/x .gemini/x .opencode/x .agents/x .cursor/rules .vscode/tasks.json .idea/x .zed/x
		.devcontainer/x .husky/pre-commit .bashrc .bash_profile .profile .zshrc .zshenv .gitconfig .config/git/config .config/fish/config.fish
		AGENTS.md CLAUDE.md GARUDA.md .gitattributes .gitmodules .github/workflows/ci.yml lefthook.yml .pre-commit-config.yaml .mise.toml`) {
		for _, dir := range []string{"/p/", "/p/a/b/"} {
			if !protected(dir+p, false) {
				t.Errorf("%s%s is not protected", dir, p)
			}
		}
	}
	for _, p := range strings.Fields(`/p/.git/x /p/.git/refs/heads/main /p/git/hooks/x /p/claude/x /p/.github/x.yml /p/workflows/ci.yml /p/README.md /p/agents.md
		/p/.gitignore /p/bashrc /p/vscode/x`) {
		if protected(p, false) {
			t.Errorf("%s is protected", p)
		}
	}
	if !protected("/p/agents.MD", true) {
		t.Error("/p/agents.MD is not protected where case makes no difference")
	}
}

// TestDeniedEverywhere puts each spelling of a denied command into each place
// where a command can stand.
func TestDeniedEverywhere(t *testing.T) {
	spellings := []string{
		"rm x", "rm -rf x y", "'rm' x", `r\m x`, `"r"m x`, `$'\x72m' x`, "/bin/rm x", "./a/../rm x", "rm${IFS}x", "r$@m x", "{rm,x}", "{,rm} x",
		"sudo rm x", "env -u A B=1 rm x", "timeout -k 1 5 rm x", "nice -n 3 nohup rm x", "command rm x", "xargs -n 1 rm", `find . -exec rm {} \;`,
		"A=1 rm x", ">/dev/null rm x", "rm<f", "bash -c 'rm x'", "eval rm x", "env -S 'rm x'", "$(echo rm) x", "busybox rm x", "exec rm x",
	}
	places := []string{
		"%", "ls; %", "ls\n%", "ls && %", "ls || %", "ls | %", "ls |& %", "ls & %", "% &", "! %", "time %", "(%)", "{ %\n}", "( ( { %\n} ) )",
		"if %\nthen ls; fi", "if ls; then %\nfi", "if ls; then ls; else %\nfi", "while %\ndo ls; done", "until ls; do %\ndone", "for i in a b; do %\ndone",
		"for ((;;)); do %\ndone", "case a in a) %\n;; esac", "f() { %\n}", "f() { %\n}; f", "coproc { %\n}", "select i in a; do %\ndone",
		"echo $(%\n)", "echo \"$(%\n)\"", "cat <(%\n)", "ls > >(%\n)", "cat <<E\n$(%\n)\nE", "cat <<< \"$(%\n)\"", "x=$(%\n)", "x=(a $(%\n))", "export x=$(%\n)",
		"echo ${x:-$(%\n)}", "echo $((1 + $(%\n)))", "[[ $(%\n) ]]", "[ \"$(%\n)\" ]", "trap 'ls' EXIT; %", "# a\n%", "ls # a\\\n%", "set -e\n%", "cd src && %",
		"{ ls; (ls; %\n) } 2>&1 | cat", "cat <<'E'\nx\nE\n%", "for i in $(%\n); do ls; done", "ls $(ls $(%\n))",
	}
	e := newEngine(t, func(c *Config) { c.Rules = []RuleSource{shellRules()} })
	for _, s := range spellings {
		for _, p := range places {
			text := strings.Replace(p, "%", s, 1)
			if d := e.Explain(command(text)); d.Outcome != tool.Deny {
				t.Errorf("%q: got %s by %s (%s)", text, d.Outcome, d.By, d.Reason)
			}
		}
	}
	// And nothing there is denied for its place alone.
	for _, p := range places {
		text := strings.Replace(p, "%", "touch x", 1)
		if d := e.Explain(command(text)); d.Outcome != tool.Ask {
			t.Errorf("%q: got %s by %s (%s)", text, d.Outcome, d.By, d.Reason)
		}
	}
}
