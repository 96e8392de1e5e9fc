package shellscan

import (
	"path"
	"strings"
)

// ReadOnly says why a simple command is not certainly harmless; "" when it is
// on the table of commands that only read, with flags and operands that cannot
// write or execute, all of them inside the root. Output redirections are judged
// apart (see Writes).
func (s *Script) ReadOnly(c *Command) string {
	if c.Never != "" {
		return c.Never
	}
	for _, r := range c.Redirects {
		switch r.Kind {
		case RedirectRead:
			if !s.inside(c, r.Target) {
				return "it reads " + r.Target.String() + ", which is not known to lie inside the project"
			}
		case RedirectDevice, RedirectNetwork:
			return "it uses the device " + r.Target.String()
		}
	}
	if len(c.Words) == 0 {
		return ""
	}
	words := allowInner(c.Words)
	if c.Open || !words[0].Known {
		return "the command is not known before it runs"
	}
	return s.readOnlyTool(c, words)
}

func (s *Script) readOnlyTool(c *Command, words []Word) string {
	name, args := words[0].Text, words[1:]
	switch name {
	case "echo", "true", "false", ":", "basename", "dirname":
		return ""
	case "printf": // what assigns was refused by neverBuiltin
		return ""
	case "test", "[":
		return s.readOnlyTest(c, words)
	case "[[":
		return s.allInside(c, c.testFiles)
	case "((": // only numbers, or it would never be allowed
		return ""
	case "cd":
		return s.readOnlyCd(c, words)
	case "break", "continue", "exit", "return":
		if len(args) == 0 || len(args) == 1 && (args[0].Number || args[0].Known && isNumber(args[0].Text)) {
			return ""
		}
		return "its argument is not a number"
	case "set":
		return readOnlySet(args)
	case "find":
		return s.readOnlyFind(c, words)
	case "git":
		return s.readOnlyGit(c, words)
	}
	if !onTable(name) {
		return name + " is not on the read-only table"
	}
	p := optionsOf(name).parse(words)
	if p.off != "" {
		return p.off
	}
	return s.readOnlyOperands(c, name, words, p)
}

func onTable(name string) bool {
	switch name {
	case "ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "rg", "stat", "file", "du", "pwd",
		"cut", "tr", "basename", "dirname", "which", "date", "uniq", "sed", "awk", "gawk", "mawk", "nawk",
		"sort", "tar":
		return true
	}
	return false
}

// readOnlyOperands judges what is left after the options.
func (s *Script) readOnlyOperands(c *Command, name string, words []Word, p *parsed) string {
	ops := pick(words, p.operands)
	if name != "basename" && name != "dirname" {
		for _, w := range ops {
			if !w.Known && w.Process != "<" {
				return w.String() + " is not known before it runs"
			}
		}
	}
	switch name {
	case "pwd", "tr", "basename", "dirname", "which":
		return ""
	case "date":
		for _, w := range ops {
			if !strings.HasPrefix(w.Text, "+") {
				return "date sets the clock with " + w.Text
			}
		}
		return s.allInside(c, p.files)
	case "uniq":
		if len(ops) > 1 {
			return "the second operand of uniq is a file it writes"
		}
	case "sed":
		rest, why := sedFiles(ops, p)
		if why != "" {
			return why
		}
		ops = rest
	case "awk", "gawk", "mawk", "nawk":
		rest, why := awkFiles(ops)
		if why != "" {
			return why
		}
		ops = rest
	case "tar":
		return s.readOnlyTar(c, ops, p)
	case "grep", "egrep", "fgrep", "rg":
		if !p.has("-e", "--regexp", "-f", "--file", "--files", "--type-list") && len(ops) > 0 {
			ops = ops[1:]
		}
		if len(ops) == 0 {
			ops = []Word{knownWord(".")} // they may search the folder they run in
		}
	case "ls", "du":
		if len(ops) == 0 {
			ops = []Word{knownWord(".")}
		}
	}
	if why := s.allInside(c, ops); why != "" {
		return why
	}
	return s.allInside(c, p.files)
}

func pick(words []Word, indexes []int) []Word {
	out := make([]Word, len(indexes))
	for i, at := range indexes {
		out[i] = words[at]
	}
	return out
}

func (s *Script) allInside(c *Command, files []Word) string {
	for _, w := range files {
		if w.Known && w.Text == "-" {
			continue
		}
		if !s.inside(c, w) {
			return w.String() + " is not known to lie inside the project"
		}
	}
	return ""
}

// inside tells whether a word names a file inside the root in every folder that
// the command may run in.
func (s *Script) inside(c *Command, w Word) bool {
	if w.Process == "<" {
		return true
	}
	if !w.Known || s.links {
		return false
	}
	paths, ok := s.paths(c, w)
	if !ok {
		return false
	}
	for _, p := range paths {
		if s.ctx.Inside == nil || !s.ctx.Inside(p) {
			return false
		}
	}
	return true
}

// paths are the absolute paths that a word may name. They are not cleaned: after
// a link ".." does not lead back.
func (s *Script) paths(c *Command, w Word) ([]string, bool) {
	text, ok := s.ctx.expandTilde(w)
	switch {
	case !ok:
		return nil, false
	case path.IsAbs(text):
		return []string{text}, true
	case c.Dirs == nil:
		return nil, false
	}
	out := make([]string, len(c.Dirs))
	for i, d := range c.Dirs {
		out[i] = strings.TrimSuffix(d, "/") + "/" + text
	}
	return out, true
}

// likelyPaths are the paths that a word names, for refusing: where the folder is not
// known, those in the root. They are sure when it is known.
func (s *Script) likelyPaths(c *Command, w Word) (paths []string, sure bool) {
	if p, ok := s.paths(c, w); ok {
		return p, true
	}
	if c.Dirs == nil && !w.Tilde {
		return []string{strings.TrimSuffix(s.ctx.Root, "/") + "/" + w.Text}, false
	}
	return nil, false
}

func (s *Script) readOnlyCd(c *Command, words []Word) string {
	w := &walker{ctx: s.ctx}
	cmd := &Command{Words: words}
	targets := w.cdTargets(cmd, c.Dirs)
	if targets == nil {
		return "cd leads to a folder that is not known"
	}
	for _, d := range targets {
		if s.links || s.ctx.Inside == nil || !s.ctx.Inside(d) {
			return "cd leads out of the project"
		}
	}
	return ""
}

// readOnlySet accepts the options with which scripts begin.
func readOnlySet(args []Word) string {
	const why = "set changes the shell"
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		if !args[i].Known || len(text) < 2 || text[0] != '-' || strings.Trim(text[1:], "euo") != "" {
			return why
		}
		if strings.HasSuffix(text, "o") {
			i++
			if i >= len(args) || !args[i].Known || args[i].Text != "pipefail" {
				return why
			}
		}
	}
	if len(args) == 0 {
		return why
	}
	return ""
}

// readOnlyTest accepts test and [ in the forms whose meaning is certain whatever
// an unknown word turns out to be.
func (s *Script) readOnlyTest(c *Command, words []Word) string {
	args := words[1:]
	if words[0].Text == "[" {
		if len(args) == 0 || args[len(args)-1].Text != "]" {
			return "[ is not closed"
		}
		args = args[:len(args)-1]
	}
	if len(args) > 0 && args[0].Known && args[0].Text == "!" {
		args = args[1:]
	}
	known := true
	for _, w := range args {
		known = known && w.Known
		if !w.Known && !w.Quoted {
			return w.String() + " may become several words"
		}
	}
	if !known {
		unary := len(args) == 2 && args[0].Known && (args[0].Text == "-n" || args[0].Text == "-z")
		binary := len(args) == 3 && args[1].Known && comparison(args[1].Text)
		if unary || binary {
			return ""
		}
		return "what it tests is not known before it runs"
	}
	for i, w := range args {
		if len(w.Text) == 2 && w.Text[0] == '-' && strings.Contains("abcdefghkprsuwxLSONG", w.Text[1:]) && i+1 < len(args) {
			if why := s.allInside(c, args[i+1:i+2]); why != "" {
				return why
			}
		}
		if (w.Text == "-nt" || w.Text == "-ot" || w.Text == "-ef") && i > 0 && i+1 < len(args) {
			if why := s.allInside(c, []Word{args[i-1], args[i+1]}); why != "" {
				return why
			}
		}
	}
	return ""
}

func comparison(op string) bool {
	switch op {
	case "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

// readOnlyTar accepts the listing of an archive.
func (s *Script) readOnlyTar(c *Command, ops []Word, p *parsed) string {
	files := p.files
	list := p.has("-t", "--list")
	if !list && len(ops) > 0 && strings.Trim(ops[0].Text, "tvzjJf") == "" && strings.Contains(ops[0].Text, "t") {
		list = true // the old form without a dash: tar tf x
		if strings.Contains(ops[0].Text, "f") && len(ops) > 1 {
			files = append(files, ops[1])
		}
	}
	if !list {
		return "tar does more than list"
	}
	for _, f := range files {
		if strings.Contains(f.Text, ":") {
			return "tar reaches another machine for " + f.Text
		}
	}
	return s.allInside(c, append(files, ops...))
}

// readOnlyFind accepts expressions that only test and print.
func (s *Script) readOnlyFind(c *Command, words []Word) string {
	i := 1
	for i < len(words) && (words[i].Text == "-H" || words[i].Text == "-P") {
		i++
	}
	start := i
	for i < len(words) && words[i].Known && !strings.HasPrefix(words[i].Text, "-") && words[i].Text != "(" && words[i].Text != "!" {
		i++
	}
	from := words[start:i]
	if len(from) == 0 {
		from = []Word{knownWord(".")}
	}
	for ; i < len(words); i++ {
		w := words[i]
		if !w.Known {
			return w.String() + " is not known before it runs"
		}
		values, ok := findTest(w.Text)
		if !ok {
			return "find " + w.Text + " is not on the read-only table"
		}
		for k := 1; k <= values && i+k < len(words); k++ {
			if !words[i+k].Known {
				return words[i+k].String() + " is not known before it runs"
			}
		}
		if strings.HasPrefix(w.Text, "-newer") || w.Text == "-samefile" || w.Text == "-anewer" || w.Text == "-cnewer" {
			if i+1 < len(words) {
				from = append(from, words[i+1])
			}
		}
		i += values
	}
	return s.allInside(c, from)
}

// findTest tells the expressions of find that only test or print to its own
// output, and how many values each takes.
func findTest(name string) (values int, ok bool) {
	switch name {
	case "(", ")", "!", "-not", "-a", "-and", "-o", "-or", ",", "-true", "-false", "-depth", "-d", "-mount",
		"-xdev", "-daystart", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race", "-empty", "-prune",
		"-print", "-print0", "-ls", "-quit", "-readable", "-writable", "-executable", "-nouser", "-nogroup",
		"-warn", "-nowarn":
		return 0, true
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype",
		"-lname", "-ilname", "-type", "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-ctime",
		"-cmin", "-atime", "-amin", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-fstype",
		"-used", "-printf", "-newer", "-anewer", "-cnewer", "-samefile", "-newermt", "-newermm":
		return 1, true
	}
	return 0, false
}
