package policy

import "strings"

// sensitive tells whether a path holds secrets: those are neither read nor
// searched unless a rule of the user names the file. byTool adds all of /proc.
func sensitive(path string, byTool, fold bool) bool {
	name := plainName(path[strings.LastIndexByte(path, '/')+1:], fold)
	if sensitiveName(name) || strings.HasPrefix(path, "/proc") && sensitiveProc(strings.Split(path, "/"), byTool) {
		return true
	}
	for rest := path; rest != ""; { // a search asks of every file: nothing is put in memory
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		last := !strings.Contains(rest, "/")
		switch plainName(part, fold) {
		case ".ssh", ".aws", ".gnupg":
			return true
		case ".docker":
			if last && rest != "" && name == "config.json" {
				return true
			}
		case ".kube":
			if last && rest != "" && name == "config" {
				return true
			}
		}
	}
	return false
}

func sensitiveName(name string) bool {
	switch name {
	case ".env", ".envrc", ".npmrc", ".pypirc", ".netrc", ".git-credentials", "credentials", "credentials.json":
		return true
	case ".env.example", ".env.sample", ".env.template":
		return false
	}
	for _, prefix := range []string{".env.", "id_rsa", "id_ecdsa", "id_ed25519", "terraform.tfstate"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return strings.HasPrefix(name, "service-account") && strings.HasSuffix(name, ".json")
}

// sensitiveProc: the kernel shows other processes' environments, memory and files.
func sensitiveProc(parts []string, byTool bool) bool {
	if len(parts) < 2 || parts[0] != "" || parts[1] != "proc" {
		return false
	}
	if byTool {
		return true
	}
	for _, p := range parts[2:] {
		switch p {
		case "environ", "mem", "root", "fd":
			return true
		}
	}
	return false
}

// inGit tells whether a path is .git or lies in it.
func inGit(path string, fold bool) bool {
	for _, p := range strings.Split(path, "/") {
		if plainName(p, fold) == ".git" {
			return true
		}
	}
	return false
}

// protected tells whether a path decides what other programs run: configuration
// of git, of agents, editors and shells, instructions and workflows.
func protected(path string, fold bool) bool {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = plainName(parts[i], fold)
	}
	name := parts[len(parts)-1]
	switch name {
	case ".mcp.json", ".git", // .git as a file
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".xprofile", ".xsessionrc", ".gitconfig", "config.fish",
		plainAgents, plainClaude, plainGaruda, ".gitattributes", ".gitmodules", "lefthook.yml",
		".pre-commit-config.yaml", ".mise.toml":
		return true
	}
	if fold && (name == "agents.md" || name == "claude.md" || name == "garuda.md") {
		return true
	}
	for i, p := range parts {
		next := ""
		if i+1 < len(parts) {
			next = parts[i+1]
		}
		switch p {
		case ".garuda", ".claude", ".codex", ".gemini", ".opencode", ".agents", ".cursor", ".vscode", ".idea", ".zed",
			".devcontainer", ".husky":
			return true
		case ".git":
			if next == "hooks" || next == "config" || next == "config.worktree" || next == "info" || next == "modules" {
				return true
			}
		case ".github":
			if next == "workflows" {
				return true
			}
		case ".config":
			if next == "git" || next == "fish" {
				return true
			}
		}
	}
	return false
}

const plainAgents, plainClaude, plainGaruda = "AGENTS.md", "CLAUDE.md", "GARUDA.md"
