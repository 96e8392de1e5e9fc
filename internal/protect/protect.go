// Package protect names the files that hold secrets, and those that decide what
// other programs run. The decision table, the sandbox and the searches take the
// same names from here.
//
// It only compares names: it looks at no disk and decides nothing.
package protect

import (
	"strings"
	"unicode"
)

// Sensitive are the files that hold secrets, in the form that Compile takes. What
// the kernel shows of processes is not among them; see Proc.
func Sensitive() []string {
	return []string{
		".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template", ".envrc",
		".ssh/**", ".aws/**", ".gnupg/**", ".docker/config.json", ".kube/config",
		".npmrc", ".pypirc", ".netrc", ".git-credentials", "credentials", "credentials.json",
		"*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "id_rsa*", "id_ecdsa*", "id_ed25519*", "*.kdbx",
		"service-account*.json", "terraform.tfstate*",
	}
}

// Locked are the files that decide what other programs run and that no command has
// to write: a sandbox makes them read-only.
func Locked() []string {
	return append([]string{
		".git", ".git/hooks/**", ".git/config", ".git/config.worktree", ".git/info/**", ".git/modules/**",
		".garuda/**", ".mcp.json",
		".claude/**", ".codex/**", ".gemini/**", ".opencode/**", ".agents/**", ".cursor/**", ".vscode/**", ".idea/**",
		".zed/**", ".devcontainer/**", ".husky/**",
	}, StartUp()...)
}

// StartUp are those of the locked files that shells and git read when they start,
// from a home folder.
func StartUp() []string {
	return []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".xprofile", ".xsessionrc", "config.fish", ".config/fish/**", ".gitconfig", ".config/git/**",
	}
}

// Watched are those that git has to write when it changes branches: a sandbox leaves
// them writable and looks at them afterwards.
func Watched() []string {
	return []string{
		"AGENTS.md", "CLAUDE.md", "GARUDA.md", ".gitattributes", ".gitmodules", ".github/workflows/**", "lefthook.yml",
		".pre-commit-config.yaml", ".mise.toml",
	}
}

// List is a list of names, made ready.
type List struct {
	fold bool
	// exact, except, prefix, suffix and around are of a path's last part.
	exact, except  map[string]bool
	prefix, suffix []string
	around         [][2]string
	// below are folders with all that is in them, pairs a part and the one after it.
	below map[string]bool
	pairs map[string][]pair
	// begins are the first bytes of the folders in below and pairs: most parts of
	// most paths are told by that.
	begins [256]bool
}

// pair is a part that follows another one.
type pair struct {
	next string
	// below takes all that is in it too; else it is the path's last part.
	below bool
}

// Compile reads patterns: a name, a name with one star, !name for one that is not
// meant, folder/** for a folder and all that is in it, folder/name, and
// folder/name/**. Each stands for such names at any depth. With fold the comparison
// is that of a file system that ignores case.
func Compile(patterns []string, fold bool) *List {
	l := &List{fold: fold, exact: map[string]bool{}, except: map[string]bool{}, below: map[string]bool{}, pairs: map[string][]pair{}}
	for _, p := range patterns {
		if fold {
			p = strings.ToLower(p)
		}
		p, whole := strings.CutSuffix(p, "/**")
		folder, next, two := strings.Cut(p, "/")
		before, after, star := strings.Cut(p, "*")
		if two || whole {
			l.begins[p[0]] = true
		}
		switch {
		case two:
			l.pairs[folder] = append(l.pairs[folder], pair{next, whole})
		case whole:
			l.below[p] = true
		case strings.HasPrefix(p, "!"):
			l.except[p[1:]] = true
		case !star:
			l.exact[p] = true
		case before == "":
			l.suffix = append(l.suffix, after)
		case after == "":
			l.prefix = append(l.prefix, before)
		default:
			l.around = append(l.around, [2]string{before, after})
		}
	}
	return l
}

// Has tells whether a clean absolute path, with slashes, is on the list. A search
// asks of every file, so nothing is put in memory where case counts.
func (l *List) Has(path string) bool {
	name := Plain(path[strings.LastIndexByte(path, '/')+1:], l.fold)
	if l.hasName(name) {
		return true
	}
	for rest := path; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		part = Plain(part, l.fold)
		if part == "" || !l.begins[part[0]] {
			continue
		}
		if l.below[part] {
			return true
		}
		for _, p := range l.pairs[part] {
			next, more, deeper := strings.Cut(rest, "/")
			if rest != "" && Plain(next, l.fold) == p.next && (p.below || !deeper || more == "") {
				return true
			}
		}
	}
	return false
}

func (l *List) hasName(name string) bool {
	if l.exact[name] {
		return true
	}
	if l.except[name] {
		return false
	}
	for _, p := range l.prefix {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, s := range l.suffix {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	for _, a := range l.around {
		if len(name) >= len(a[0])+len(a[1]) && strings.HasPrefix(name, a[0]) && strings.HasSuffix(name, a[1]) {
			return true
		}
	}
	return false
}

// Proc tells what the kernel shows of processes and must not be read: their
// environments, memory and files. byTool takes all of /proc.
func Proc(path string, byTool bool) bool {
	rest, ok := strings.CutPrefix(path, "/proc")
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	if byTool {
		return true
	}
	for _, part := range strings.Split(rest, "/") {
		switch part {
		case "environ", "mem", "root", "fd":
			return true
		}
	}
	return false
}

// InGit tells whether a path is .git or lies in it.
func InGit(path string, fold bool) bool {
	for rest := path; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if Plain(part, fold) == ".git" {
			return true
		}
	}
	return false
}

// Plain is a part of a path as a file system that ignores case compares it: case,
// characters that do not show, a stream's name, dots and blanks at the end make no
// difference, and git~1 is the short name of .git. Without fold it is the part.
func Plain(part string, fold bool) string {
	if !fold {
		return part
	}
	part = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, part)
	part, _, _ = strings.Cut(strings.ToLower(part), ":")
	part = strings.TrimRight(part, ". ")
	if part == "git~1" {
		return ".git"
	}
	return part
}
