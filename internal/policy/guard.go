package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"garuda/internal/nearest"
	"garuda/internal/policy/shellscan"
)

// What an entry of the guard does when it matches.
const (
	guardOff  = "off"
	guardAsk  = "ask"
	guardDeny = "deny"
)

// guardEntry is one kind of command that destroys or gives away what no undo
// brings back.
type guardEntry struct {
	id, action string
	// does says what the command does, for a person.
	does string
	hits func(g *guardCase) bool
}

// guardCase is one command before the guard, in words as they most likely are.
type guardCase struct {
	e      *Engine
	memo   memo
	script *shellscan.Script
	c      *shellscan.Command
	name   string
	args   []string
	words  []shellscan.Word
}

// guardEntries is the whole guard, in the order in which it is consulted.
func guardEntries() []guardEntry {
	return []guardEntry{
		{"rm-root", guardDeny, "removes the whole project, the home folder, or what holds them", (*guardCase).rmRoot},
		{"mkfs", guardDeny, "makes a file system over what is there", (*guardCase).mkfs},
		{"dd-device", guardDeny, "writes over a device", (*guardCase).ddDevice},
		{"device-write", guardDeny, "uses a device directly", (*guardCase).deviceWrite},
		{"dev-tcp", guardDeny, "opens a network connection through a redirection", (*guardCase).devTCP},
		{"fork-bomb", guardDeny, "starts itself without end", func(g *guardCase) bool { return g.script.ForkBomb }},
		{"shutdown", guardDeny, "stops the machine", (*guardCase).shutdown},
		{"kill-all", guardDeny, "ends every process", (*guardCase).killAll},
		{"pipe-to-interpreter", guardDeny, "runs what it downloads, unseen", (*guardCase).pipeToInterpreter},
		{"rm-recursive", guardAsk, "removes a folder and all it holds", (*guardCase).rmRecursive},
		{"git-reset-hard", guardAsk, "throws away changes that are not committed", (*guardCase).gitResetHard},
		{"git-clean", guardAsk, "removes files that git does not know", (*guardCase).gitClean},
		{"git-push-force", guardAsk, "overwrites history on the other side", (*guardCase).gitPushForce},
		{"git-branch-delete", guardAsk, "removes a branch", (*guardCase).gitBranchDelete},
		{"git-history-rewrite", guardAsk, "rewrites history", (*guardCase).gitHistoryRewrite},
		{"git-checkout-discard", guardAsk, "throws away changes that are not committed", (*guardCase).gitCheckoutDiscard},
		{"sql-drop", guardAsk, "removes data from a database", (*guardCase).sqlDrop},
		{"chmod-777", guardAsk, "lets everyone write", (*guardCase).chmod777},
		{"publish", guardAsk, "publishes to the world", (*guardCase).publish},
	}
}

// guardActions is what each entry does, after the user's overrides.
func guardActions(overrides map[string]string) (map[string]string, error) {
	actions := map[string]string{}
	var ids []string
	for _, g := range guardEntries() {
		actions[g.id] = g.action
		ids = append(ids, g.id)
	}
	for id, action := range overrides {
		if _, ok := actions[id]; !ok {
			hint := ""
			if near := nearest.Of(id, ids); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return nil, fmt.Errorf("guard: unknown entry %q%s", id, hint)
		}
		if !slices.Contains([]string{guardOff, guardAsk, guardDeny}, action) {
			return nil, fmt.Errorf("guard: %s can be off, ask or deny, not %q", id, action)
		}
		actions[id] = action
	}
	return actions, nil
}

// guardHit is the first entry with this action that a call matches.
func (s *situation) guardHit(action string) (guardEntry, *shellscan.Command, bool) {
	if s.guarded == nil {
		s.commands(func(script *shellscan.Script, c *shellscan.Command) bool {
			g := guardCase{e: s.e, memo: s.memo, script: script, c: c, words: c.Likely(), name: c.Program()}
			if len(g.words) > 1 {
				g.args = make([]string, len(g.words)-1)
				for i, w := range g.words[1:] {
					g.args[i] = w.Text
				}
			}
			s.guarded = append(s.guarded, g)
			return true
		})
	}
	for i := range s.guarded {
		for _, entry := range s.e.entries {
			if s.e.guard[entry.id] == action && entry.hits(&s.guarded[i]) {
				return entry, s.guarded[i].c, true
			}
		}
	}
	return guardEntry{}, nil, false
}

// flag tells whether one of the letters, or the long option, is among the options.
func (g *guardCase) flag(letters, long string) bool {
	for _, a := range g.args {
		switch {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a, "=")
			if long != "" && len(name) > 2 && strings.HasPrefix(long, name) {
				return true
			}
		case len(a) > 1 && a[0] == '-' && strings.ContainsAny(a[1:], letters):
			return true
		}
	}
	return false
}

// operands are the words after the options.
func (g *guardCase) operands() []shellscan.Word {
	var out []shellscan.Word
	ended := false
	for _, w := range g.words[min(1, len(g.words)):] {
		switch {
		case !ended && w.Text == "--":
			ended = true
		case ended || !strings.HasPrefix(w.Text, "-"):
			out = append(out, w)
		}
	}
	return out
}

func (g *guardCase) rmRoot() bool {
	switch {
	case g.name == "rm" && g.flag("rR", "--recursive"):
	case g.name == "find" && g.findRemovesAll():
	default:
		return false
	}
	for _, w := range g.operands() {
		if w.Tilde && !strings.Contains(strings.Trim(w.Text, "/"), "/") {
			return true // somebody's home folder, whoever it is
		}
		if !w.Told() {
			continue
		}
		paths := g.script.Paths(g.c, w)
		if paths == nil && !strings.HasPrefix(w.Text, "/") && !w.Tilde {
			paths = []string{g.e.root.given + "/" + w.Text}
		}
		for _, p := range paths {
			if g.e.holdsEverything(g.memo, p) {
				return true
			}
		}
		if g.name == "find" && len(paths) > 0 {
			break // what follows are tests, not folders
		}
	}
	return false
}

// findRemovesAll tells find that removes what it finds, with no test that would
// leave anything out.
func (g *guardCase) findRemovesAll() bool {
	removes := false
	for i, a := range g.args {
		switch a {
		case "-delete":
			removes = true
		case "-exec", "-execdir", "-ok", "-okdir":
			removes = removes || i+1 < len(g.args) && path.Base(g.args[i+1]) == "rm"
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname":
			if i+1 < len(g.args) && strings.Trim(g.args[i+1], "*./") != "" {
				return false
			}
		case "-empty", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-user", "-group", "-perm",
			"-nouser", "-nogroup", "-inum", "-links", "-samefile", "-used", "-quit":
			return false
		}
	}
	return removes
}

// holdsEverything tells the top, the home folder, the root and what holds them,
// also written with a star for all that is in them.
func (e *Engine) holdsEverything(m memo, p string) bool {
	for {
		last := path.Base(p)
		if strings.Trim(last, "*.?") != "" || last == "." || last == ".." || last == "" {
			break
		}
		p = strings.TrimSuffix(strings.TrimRight(p, "/"), last)
		if p == "" {
			break
		}
	}
	spellings := []string{path.Clean(p)}
	if real, err := e.follow(m, p); err == nil {
		spellings = append(spellings, real)
	}
	for _, s := range spellings {
		for _, dir := range []string{e.root.given, e.root.real, e.cfg.Home} {
			if _, ok := below(dir, s, e.cfg.FoldCase); ok && dir != "" {
				return true
			}
		}
		if s == "/" || s == "/home" || s == "/Users" || s == "/root" {
			return true
		}
	}
	return false
}

func (g *guardCase) mkfs() bool {
	switch g.name {
	case "mkfs", "mke2fs", "mkntfs", "mkdosfs", "mkexfatfs", "mkreiserfs", "newfs", "wipefs", "mkswap", "sgdisk", "blkdiscard":
		return true
	case "diskutil":
		return len(g.args) > 0 && (strings.HasPrefix(strings.ToLower(g.args[0]), "erase") || strings.EqualFold(g.args[0], "partitionDisk") ||
			strings.EqualFold(g.args[0], "zeroDisk") || strings.EqualFold(g.args[0], "reformat"))
	}
	return strings.HasPrefix(g.name, "mkfs.") || strings.HasPrefix(g.name, "newfs_")
}

func (g *guardCase) ddDevice() bool {
	if g.name != "dd" {
		return false
	}
	for _, a := range g.args {
		if of, ok := strings.CutPrefix(a, "of="); ok && deviceFile(path.Clean(of)) {
			return true
		}
	}
	return false
}

// deviceFile tells devices whose contents matter.
func deviceFile(p string) bool {
	rest, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	switch rest {
	case "null", "stdout", "stderr", "stdin", "tty", "zero", "full", "random", "urandom":
		return false
	}
	return !strings.HasPrefix(rest, "fd/") && !strings.HasPrefix(rest, "shm/")
}

func (g *guardCase) deviceWrite() bool {
	for _, r := range g.c.Redirects {
		if r.Kind == shellscan.RedirectDevice {
			return true
		}
	}
	if g.name == "dd" {
		return false // an entry of its own
	}
	for _, f := range g.script.Writes(g.c) {
		for _, p := range f.Paths {
			if deviceFile(path.Clean(p)) {
				return true
			}
		}
	}
	return false
}

func (g *guardCase) devTCP() bool {
	for _, r := range g.c.Redirects {
		if r.Kind == shellscan.RedirectNetwork {
			return true
		}
	}
	return false
}

func (g *guardCase) shutdown() bool {
	switch g.name {
	case "shutdown", "reboot", "halt", "poweroff":
		return true
	case "init", "telinit":
		return slices.Contains(g.args, "0") || slices.Contains(g.args, "6")
	case "systemctl", "loginctl":
		for _, a := range g.args {
			switch a {
			case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "suspend", "hibernate", "hybrid-sleep",
				"poweroff.target", "reboot.target", "halt.target", "kexec.target", "shutdown.target", "rescue.target", "emergency.target":
				return true
			}
		}
	}
	return false
}

func (g *guardCase) killAll() bool {
	switch g.name {
	case "killall5":
		return true
	case "pkill", "killall":
		return g.killsAllNames()
	case "kill":
	default:
		return false
	}
	for i, a := range g.args {
		// The first word may be a signal: kill -1 PID sends HUP to one process.
		if a == "-1" && (i > 0 || len(g.args) == 1) {
			return true
		}
	}
	return false
}

// killsAllNames tells pkill and killall with a pattern that every name matches, or
// with only a user.
func (g *guardCase) killsAllNames() bool {
	named, ofUser := false, false
	for i := 0; i < len(g.args); i++ {
		a := g.args[i]
		switch {
		case a == "-u" || a == "-U" || a == "--euid" || a == "--uid" || a == "--user":
			ofUser = true
			if i++; !g.c.Known() && i < len(g.args) {
				named = true // the user may be a word that is not known, and this the name
			}
		case a == "-g" || a == "-G" || a == "-P" || a == "-s" || a == "-t" || a == "-F" || a == "--signal":
			named = named || a != "-s" && a != "--signal" // these choose processes by other means
			i++
		case strings.HasPrefix(a, "-u") || strings.HasPrefix(a, "--euid=") || strings.HasPrefix(a, "--uid=") || strings.HasPrefix(a, "--user="):
			ofUser = true
		case strings.HasPrefix(a, "-"):
		case strings.Trim(a, ".*^$+") == "":
			return true
		default:
			named = true
		}
	}
	return ofUser && !named
}

func downloads(c *shellscan.Command) bool {
	switch c.Program() {
	case "curl", "wget", "fetch", "aria2c", "http", "https", "xh", "curlie", "lwp-request", "GET", "lynx", "ftp", "nc", "ncat", "ssh", "socat":
		return true
	}
	return false
}

func (g *guardCase) pipeToInterpreter() bool {
	sourcing := g.name == "eval" || g.name == "source" || g.name == "."
	if !sourcing && !shellscan.Interprets(g.name) {
		return false
	}
	if slices.ContainsFunc(g.c.Inner, downloads) {
		for _, w := range g.c.Words[1:] {
			if !w.Known && (sourcing || w.Process == "<" || g.flag("ceEpr", "")) {
				return true
			}
		}
		for _, r := range g.c.Redirects {
			if !r.Target.Known && (r.Op == "<<<" || r.Op == "<" || strings.HasPrefix(r.Op, "<<")) {
				return true
			}
		}
	}
	return !sourcing && slices.ContainsFunc(g.c.Upstream, downloads) && g.codeFromInput()
}

// codeFromInput tells an interpreter that was given neither code nor a script.
func (g *guardCase) codeFromInput() bool {
	for i := 0; i < len(g.args); i++ {
		a := g.args[i]
		switch {
		case a == "-" || a == "/dev/stdin" || a == "-s":
			return true
		case a == "--":
		case strings.HasPrefix(a, "--"):
			if strings.HasPrefix(a, "--eval") || strings.HasPrefix(a, "--print") || strings.HasPrefix(a, "--run") {
				return false
			}
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
			if strings.ContainsAny(a[1:], "cem") || strings.ContainsAny(a[1:], "pEr") && g.name != "bash" && g.name != "sh" {
				return false
			}
			if strings.ContainsAny(a[1:], "oOWX") && len(a) == 2 {
				i++
			}
		default:
			return false
		}
	}
	return true
}
