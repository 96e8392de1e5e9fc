package protect

import (
	"slices"
	"strings"
	"testing"
)

// named are, for each pattern, paths that it names.
var named = map[string]string{
	".env": ".env", ".env.*": ".env.local .env.production .env.example.bak .env.", ".envrc": ".envrc",
	".ssh/**": ".ssh .ssh/config .ssh/known_hosts .ssh/a/b", ".aws/**": ".aws/config .aws/x/y", ".gnupg/**": ".gnupg/x",
	".docker/config.json": ".docker/config.json", ".kube/config": ".kube/config",
	".npmrc": ".npmrc", ".pypirc": ".pypirc", ".netrc": ".netrc", ".git-credentials": ".git-credentials",
	"credentials": "credentials .config/x/credentials", "credentials.json": "credentials.json",
	"*.pem": "a.pem .pem", "*.key": "a.key server.crt.key", "*.p12": "a.p12", "*.pfx": "a.pfx", "*.keystore": "a.keystore",
	"*.jks": "a.jks", "id_rsa*": "id_rsa id_rsa.pub id_rsa_work", "id_ecdsa*": "id_ecdsa id_ecdsa_sk", "id_ed25519*": "id_ed25519 id_ed25519.bak",
	"*.kdbx": "a.kdbx", "service-account*.json": "service-account.json service-account-prod.json",
	"terraform.tfstate*": "terraform.tfstate terraform.tfstate.backup terraform.tfstate.d/x/terraform.tfstate",

	".git": ".git", ".git/hooks/**": ".git/hooks .git/hooks/pre-commit", ".git/config": ".git/config", ".git/config.worktree": ".git/config.worktree",
	".git/info/**": ".git/info/exclude .git/info/attributes", ".git/modules/**": ".git/modules/x/config",
	".garuda/**": ".garuda .garuda/settings.json", ".mcp.json": ".mcp.json", ".claude/**": ".claude/settings.json", ".codex/**": ".codex/x",
	".gemini/**": ".gemini/x", ".opencode/**": ".opencode/x", ".agents/**": ".agents/x", ".cursor/**": ".cursor/rules/x", ".vscode/**": ".vscode/tasks.json",
	".idea/**": ".idea/x", ".zed/**": ".zed/x", ".devcontainer/**": ".devcontainer/devcontainer.json", ".husky/**": ".husky/pre-commit .husky/_/h",
	".bashrc": ".bashrc", ".bash_profile": ".bash_profile", ".bash_login": ".bash_login", ".bash_logout": ".bash_logout", ".bash_aliases": ".bash_aliases",
	".profile": ".profile", ".zshrc": ".zshrc", ".zshenv": ".zshenv", ".zprofile": ".zprofile", ".zlogin": ".zlogin", ".zlogout": ".zlogout",
	".kshrc": ".kshrc", ".mkshrc": ".mkshrc", ".cshrc": ".cshrc", ".tcshrc": ".tcshrc", ".login": ".login", ".logout": ".logout", ".inputrc": ".inputrc",
	".xprofile": ".xprofile", ".xsessionrc": ".xsessionrc", "config.fish": "config.fish", ".config/fish/**": ".config/fish/conf.d/a.fish",
	".gitconfig": ".gitconfig", ".config/git/**": ".config/git/config .config/git/attributes",
	"AGENTS.md": "AGENTS.md", "CLAUDE.md": "CLAUDE.md", "GARUDA.md": "GARUDA.md", ".gitattributes": ".gitattributes", ".gitmodules": ".gitmodules",
	".github/workflows/**": ".github/workflows .github/workflows/ci.yml", "lefthook.yml": "lefthook.yml", ".pre-commit-config.yaml": ".pre-commit-config.yaml",
	".mise.toml": ".mise.toml",
}

// TestEachName holds each name of the lists, and with it away nothing else has its
// paths: the negative control of every name.
func TestEachName(t *testing.T) {
	for what, list := range map[string][]string{"sensitive": Sensitive(), "locked": Locked(), "watched": Watched()} {
		for _, pattern := range list {
			if strings.HasPrefix(pattern, "!") {
				continue
			}
			paths := strings.Fields(named[pattern])
			if len(paths) == 0 {
				t.Errorf("%s: %s has no case", what, pattern)
			}
			all := Compile(list, false)
			without := Compile(slices.DeleteFunc(slices.Clone(list), func(p string) bool { return p == pattern }), false)
			for _, p := range paths {
				for _, dir := range []string{"/", "/p/", "/p/a b/c/"} {
					if !all.Has(dir + p) {
						t.Errorf("%s%s is not %s", dir, p, what)
					}
				}
				covered := pattern == ".config/fish/**" && strings.HasSuffix(p, "config.fish")
				if without.Has("/p/"+p) && !covered {
					t.Errorf("without %s, %s is still %s", pattern, p, what)
				}
			}
		}
	}
}

// TestLookAlikes: what only looks like a name is none.
func TestLookAlikes(t *testing.T) {
	secret, steering := Compile(Sensitive(), false), Compile(slices.Concat(Locked(), Watched()), false)
	for _, p := range strings.Fields(`.env.example .env.sample .env.template env .environment a.env .envrc.md .sshx/a ssh/config .awsx/a aws/credentials.md
		gnupg/x docker/config.json .docker/x .docker/config.json/x .docker/a/config.json .kube/x .kube/config/x .kube/a/config config npmrc .npmrc.md
		pypirc netrc git-credentials .git-credentials.md credentials.md credentials/index.ts my-credentials credentials.jsonx a.pem.md pem key a.keys keys/a
		keystore a.jks.txt my_id_rsa rsa id_dsa_x.md a.kdbxx service-accounts.ts service-account.yaml my-service-account.json tfstate terraform.tf
		.ENV ID_RSA .SSH/x Credentials`) {
		if secret.Has("/p/" + p) {
			t.Errorf("%s is sensitive", p)
		}
	}
	for _, p := range strings.Fields(`.git/x .git/refs/heads/main .git/hooksx .git/configx .git/index .git/HEAD git/hooks/x .gitx .gitignore claude/x .claudex/y codex/x
		.github/x.yml .github/CODEOWNERS workflows/ci.yml github/workflows/x vscode/x .vscodex/x bashrc .bashrcx fish/config .config/x git/config
		README.md agents.md Claude.md AGENTS.mdx AGENTS.md.bak docs/AGENTS mcp.json .mcp.jsonx husky/x .huskyx/y garuda/x .garudax/y lefthook.toml
		mise.toml gitattributes .gitmodulesx`) {
		if steering.Has("/p/" + p) {
			t.Errorf("%s is protected", p)
		}
	}
}

// TestIgnoringCase: on a file system that ignores case so do the lists, and what it
// makes no difference of makes none.
func TestIgnoringCase(t *testing.T) {
	secret, steering := Compile(Sensitive(), true), Compile(slices.Concat(Locked(), Watched()), true)
	for pattern, paths := range named {
		for _, p := range strings.Fields(paths) {
			for _, spelled := range []string{p, strings.ToUpper(p), strings.ToLower(p), p + ".", p + " ", p + "::$DATA", "\u200b" + p, p + "\ufe0f"} {
				if strings.HasPrefix(p, ".env.") && len(p) == len(".env.") {
					continue // with the dot at its end gone it is another name of the list
				}
				if !secret.Has("/p/"+spelled) && !steering.Has("/p/"+spelled) {
					t.Errorf("%s: %q is on no list", pattern, spelled)
				}
			}
		}
	}
	for _, p := range []string{"GIT~1/config", "git~1/hooks/x", ".g\u200cit/config"} {
		if !steering.Has("/p/" + p) {
			t.Errorf("%q is not protected", p)
		}
		if steering.Has("/P/"+strings.ToLower(strings.TrimPrefix(p, "."))) != strings.HasPrefix(strings.ToLower(p), "git~1") {
			t.Errorf("%q without its dot", p)
		}
	}
	for _, p := range []string{"/p/.ENV.EXAMPLE", "/p/.Env.Sample", "/p/readme.MD"} {
		if secret.Has(p) || steering.Has(p) {
			t.Errorf("%s is on a list", p)
		}
	}
}

func TestProc(t *testing.T) {
	for _, p := range strings.Fields("/proc/1/environ /proc/self/environ /proc/self/mem /proc/1/root/etc/shadow /proc/9/fd/3 /proc/self/task/7/environ /proc/thread-self/root/x") {
		if !Proc(p, false) || !Proc(p, true) {
			t.Errorf("%s may be read", p)
		}
	}
	for _, p := range strings.Fields("/proc /proc/cpuinfo /proc/self/status /proc/1/cmdline") {
		if Proc(p, false) || !Proc(p, true) {
			t.Errorf("%s: only file tools are kept from it", p)
		}
	}
	for _, p := range strings.Fields("/p/proc/1/environ /process/1/environ /procfs/mem /srv/environ") {
		if Proc(p, true) {
			t.Errorf("%s is no process", p)
		}
	}
}

func TestInGit(t *testing.T) {
	for p, want := range map[string]bool{"/p/.git": true, "/p/.git/x": true, "/p/a/.git/b/c": true, "/p/.gitx/a": false, "/p/git": false, "/p/.GIT/x": false} {
		if InGit(p, false) != want {
			t.Errorf("%s: want %v", p, want)
		}
	}
	for _, p := range []string{"/p/.GIT/x", "/p/GIT~1/x", "/p/.git./x", "/p/.git /x", "/p/.g\u200dit/x"} {
		if !InGit(p, true) {
			t.Errorf("%q is not in git", p)
		}
	}
}

func BenchmarkHas(b *testing.B) {
	secret := Compile(Sensitive(), false)
	b.ReportAllocs()
	for b.Loop() {
		secret.Has("/home/user/project/internal/front/plain/command.go")
	}
}
