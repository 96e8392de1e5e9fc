package policy

import (
	"path"
	"strconv"
	"strings"

	"garuda/internal/policy/shellscan"
)

// rmRecursive: a recursive removal of anything but what a build makes again.
func (g *guardCase) rmRecursive() bool {
	if g.name != "rm" || !g.flag("rR", "--recursive") {
		return false
	}
	operands := g.operands()
	for _, w := range operands {
		if !w.Told() || !buildFolder(path.Base(path.Clean(w.Text))) {
			return true
		}
	}
	return len(operands) == 0
}

func buildFolder(name string) bool {
	switch name {
	case "dist", "build", "out", "target", "node_modules", ".venv", "coverage", "__pycache__", ".next":
		return true
	}
	return false
}

// git gives the subcommand and the words after it, behind git's own options.
func (g *guardCase) git() (sub string, rest *guardCase) {
	if g.name != "git" {
		return "", nil
	}
	for i := 0; i < len(g.args); i++ {
		a := g.args[i]
		switch {
		case a == "-c" || a == "-C" || a == "--git-dir" || a == "--work-tree" || a == "--namespace" || a == "--config-env":
			i++
		case strings.HasPrefix(a, "-"):
		default:
			cut := *g
			cut.words, cut.args = g.words[i+1:], g.args[i+1:]
			return a, &cut
		}
	}
	return "", nil
}

func (g *guardCase) gitResetHard() bool {
	sub, rest := g.git()
	return sub == "reset" && (rest.flag("", "--hard") || rest.flag("", "--merge"))
}

func (g *guardCase) gitClean() bool {
	sub, rest := g.git()
	return sub == "clean" && !rest.flag("n", "--dry-run")
}

func (g *guardCase) gitPushForce() bool {
	sub, rest := g.git()
	if sub != "push" {
		return false
	}
	if rest.flag("f", "--force-with-lease") || rest.flag("", "--force-if-includes") || rest.flag("", "--mirror") || rest.flag("", "--prune") {
		return true
	}
	for _, a := range rest.args {
		if strings.HasPrefix(a, "+") {
			return true
		}
	}
	return false
}

func (g *guardCase) gitBranchDelete() bool {
	sub, rest := g.git()
	switch sub {
	case "branch":
		return rest.flag("dD", "--delete")
	case "push":
		if rest.flag("d", "--delete") {
			return true
		}
		for _, a := range rest.args {
			if strings.HasPrefix(a, ":") && len(a) > 1 {
				return true
			}
		}
	}
	return false
}

func (g *guardCase) gitHistoryRewrite() bool {
	sub, rest := g.git()
	switch sub {
	case "filter-branch", "filter-repo", "replace":
		return true
	case "commit":
		return rest.amends()
	case "pull":
		return rest.rebases()
	case "rebase":
		for _, a := range rest.args {
			switch a {
			case "--abort", "--continue", "--skip", "--quit", "--edit-todo", "--show-current-patch":
				return false
			}
		}
		return true
	case "reflog":
		return len(rest.args) > 0 && (rest.args[0] == "expire" || rest.args[0] == "delete" || rest.args[0] == "drop")
	case "update-ref":
		return rest.flag("d", "--delete")
	}
	return false
}

// amends tells git commit that replaces the last one.
func (g *guardCase) amends() bool {
	for i, a := range g.args {
		if len(a) > 3 && strings.HasPrefix("--amend", a) {
			// It may be the text of a message.
			before := ""
			if i > 0 {
				before = g.args[i-1]
			}
			if !strings.HasPrefix(before, "-") || before == "--" || !strings.ContainsAny(before[len(before)-1:], "mFCct") || strings.HasPrefix(before, "--") {
				return true
			}
		}
	}
	return false
}

// rebases tells git pull that rebases instead of merging.
func (g *guardCase) rebases() bool {
	on := false
	for _, a := range g.args {
		switch {
		case a == "--rebase=false" || a == "--no-rebase":
			on = false
		case a == "--rebase" || strings.HasPrefix(a, "--rebase=") || a == "-r":
			on = true
		}
	}
	return on
}

func (g *guardCase) gitCheckoutDiscard() bool {
	sub, rest := g.git()
	switch sub {
	case "restore":
		return !rest.flag("S", "--staged") || rest.flag("W", "--worktree")
	case "switch":
		return rest.flag("f", "--discard-changes") || rest.flag("", "--force")
	case "stash":
		return len(rest.args) > 0 && (rest.args[0] == "drop" || rest.args[0] == "clear")
	case "checkout", "co":
		if rest.flag("f", "--force") {
			return true
		}
		if rest.flag("bB", "--orphan") || rest.flag("", "--detach") {
			return false
		}
		return rest.checksOutFiles()
	}
	return false
}

// checksOutFiles tells git checkout with files from one with a branch.
func (g *guardCase) checksOutFiles() bool {
	for i, w := range g.words {
		switch {
		case w.Text == "--":
			return i+1 < len(g.words)
		case strings.HasPrefix(w.Text, "-"):
			if w.Text == "--ours" || w.Text == "--theirs" || w.Text == "-p" || w.Text == "--patch" {
				return true
			}
		case w.Text == "." || strings.ContainsAny(w.Text, "*?"):
			return true
		default:
			for _, p := range g.script.Paths(g.c, w) {
				if exists(p) {
					return true
				}
			}
		}
	}
	return false
}

func (g *guardCase) sqlDrop() bool {
	switch g.name {
	case "dropdb":
		return true
	case "psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "clickhouse-client", "clickhouse", "sqlcmd", "sqlplus",
		"cockroach", "bq", "snowsql", "mongosh", "mongo", "redis-cli", "valkey-cli", "mysqladmin", "usql", "pgcli", "mycli", "litecli":
	default:
		return false
	}
	var texts []string
	for _, a := range g.args {
		if len(a) > 2 && (strings.HasPrefix(a, "-c") || strings.HasPrefix(a, "-e")) && a[1] != '-' {
			a = a[2:] // the statement is glued to its option
		}
		if _, statement, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "--") {
			a = statement
		}
		texts = append(texts, a)
	}
	texts = append(texts, g.c.Input())
	for _, up := range g.c.Upstream {
		for _, w := range up.Likely() {
			texts = append(texts, w.Text)
		}
		texts = append(texts, up.Input())
	}
	var fields []string
	for _, text := range texts {
		fields = append(fields, sqlWords(text)...)
	}
	for i, f := range fields {
		switch {
		case f == "truncate", f == "flushall", f == "flushdb", strings.HasPrefix(f, "db.dropdatabase"):
			return true
		case f == "drop" && g.name == "mysqladmin":
			return true
		case f == "drop" && i+1 < len(fields):
			switch fields[i+1] {
			case "table", "database", "schema", "view", "index", "user", "role", "column", "materialized", "sequence",
				"type", "function", "keyspace", "owned", "tablespace", "collection":
				return true
			}
		}
	}
	return false
}

// sqlWords are the words of a statement in lower case, without its comments and the
// texts in it.
func sqlWords(statement string) []string {
	var b strings.Builder
	for rest := statement; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "/*"):
			_, rest, _ = strings.Cut(rest[2:], "*/")
			b.WriteByte(' ')
		case strings.HasPrefix(rest, "--"):
			_, rest, _ = strings.Cut(rest, "\n")
			b.WriteByte(' ')
		case rest[0] == '\'':
			_, rest, _ = strings.Cut(rest[1:], "'")
			b.WriteString(" '' ")
		default:
			b.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == ';' || r == '(' || r == '"'
	})
}

func (g *guardCase) chmod777() bool {
	if g.name != "chmod" {
		return false
	}
	for _, a := range g.args {
		if mode, err := strconv.ParseUint(a, 8, 16); err == nil && mode&0o002 != 0 {
			return true
		}
		for _, clause := range strings.Split(a, ",") {
			i := strings.IndexAny(clause, "+=")
			if i < 0 || strings.Trim(clause[:i], "ugoa") != "" || strings.Trim(clause[i+1:], "rwxXst") != "" {
				continue
			}
			who := clause[:i]
			everyone := strings.Contains(who, "a") || strings.Contains(who, "o")
			if everyone && strings.Contains(clause[i+1:], "w") {
				return true
			}
		}
	}
	return false
}

func (g *guardCase) publish() bool {
	has := func(words ...string) bool {
		k := 0
		for _, a := range g.args {
			if k < len(words) && a == words[k] {
				k++
			}
		}
		return k == len(words)
	}
	if g.flag("", "--dry-run") || has("search") || has("view") || has("info") || has("show") || has("help") || has("docs") {
		return false
	}
	switch g.name {
	case "npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun", "lerna", "cargo", "uv", "poetry", "flit", "hatch", "pdm", "deno", "jsr", "vsce", "ovsx", "changeset":
		return has("publish")
	case "gem":
		return has("push")
	case "twine":
		return has("upload")
	case "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane":
		return has("push") || has("build") && g.flag("", "--push")
	case "dotnet", "nuget":
		return has("push")
	case "mvn", "mvnw":
		return has("deploy")
	case "gradle", "gradlew":
		return has("publish") || has("publishPlugins") || has("publishAllPublicationsToMavenRepository")
	}
	return shellscan.Interprets(g.name) && has("-m", "twine", "upload")
}
