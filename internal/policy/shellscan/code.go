package shellscan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

type callExpr = syntax.CallExpr

// text is code for a shell that stands in a command's arguments or input.
type text struct {
	code string
	args []string
	arg0 string
	// known: the code is certainly this, so that it must be readable.
	known bool
	// here: it runs in the same shell and sees its variables.
	here bool
	// plain: it is read as a shell reads it that knows only what POSIX has.
	plain bool
}

func (t text) parse(code string) (*program, error) {
	if t.plain {
		return parseText(code, plainParsers)
	}
	return parseText(code, parsers)
}

// code walks the texts of code that a command is given.
func (w *walker) code(c *Command, words []Word) {
	for _, t := range codeOf(c, words) {
		if strings.TrimSpace(t.code) != "" {
			w.run(c, t)
		}
	}
}

// maxCutLines bounds how often a guessed text that does not parse is shortened.
const maxCutLines = 30

// run walks one text of code that a command runs.
func (w *walker) run(c *Command, t text) {
	if w.depth >= maxCodeDepth {
		w.script.give("it gives code to code too deeply")
		return
	}
	if why := unreadable(t.code); why != "" {
		if t.known {
			w.script.give("the code given to " + c.Words[0].String() + " cannot be read: " + why)
		}
		return
	}
	t.plain = t.plain || t.here && w.plain
	p, err := t.parse(t.code)
	code := t.code
	for tries := 0; err != nil; tries++ {
		if t.known || tries == maxCutLines {
			w.script.give("the code given to " + c.Words[0].String() + " cannot be parsed: " + parseMessage(err))
			return
		}
		// The shell runs what comes before the line it does not understand.
		last := strings.LastIndexByte(code, '\n')
		if last < 0 {
			return
		}
		code = code[:last]
		p, err = t.parse(code)
	}
	in := newWalker(w.script, w.ctx)
	in.via, in.depth, in.args, in.arg0 = c, w.depth+1, t.args, t.arg0
	in.dirs, in.feeding, in.plain = c.Dirs, c.Upstream, t.plain
	if t.here {
		in.outer, in.funcs = w, w.funcs
	}
	in.file(p)
	if w.script.evaluates() {
		in.evaluated(p)
	}
}

func codeOf(c *Command, words []Word) []text {
	name := baseName(words[0])
	switch name {
	case "bash", "zsh", "ksh", "mksh", "rbash":
		return shellCode(c, words)
	case "sh", "dash", "ash", "yash":
		return plainShell(shellCode(c, words))
	case "fish", "csh", "tcsh":
		return guessed(valueOf(words, 'c', "--command"))
	case "npm", "npx":
		return guessed(valueOf(words, 'c', "--call"))
	case "eval":
		args := words[1:]
		if len(args) > 0 && args[0].Text == "--" {
			args = args[1:]
		}
		return []text{joined(args, true)}
	case "trap":
		args := words[1:]
		if len(args) > 0 && args[0].Text == "--" {
			args = args[1:]
		}
		if len(args) > 0 && args[0].Text != "-" && !strings.HasPrefix(args[0].Text, "-") {
			return []text{joined(args[:1], true)}
		}
	case "alias":
		var out []text
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w.Text, "="); ok {
				out = append(out, text{code: value, here: true})
			}
		}
		return out
	case "source", ".":
		if len(words) > 1 && (words[1].Text == "/dev/stdin" || words[1].Text == "/dev/fd/0") {
			return stdinCode(c)
		}
		if len(words) > 1 && words[1].Process == "<" {
			return printedCode(c.Inner)
		}
	case "at", "batch":
		return stdinCode(c)
	case "mapfile", "readarray", "compgen", "complete":
		list := valueOf(words, 'C', "")
		for i := range list {
			list[i].code += ` "$@"` // bash adds words of its own
		}
		return list
	case "su", "runuser", "script":
		return valueOf(words, 'c', "--command")
	case "flock":
		return valueOf(words, 'c', "--command")
	case "nix-shell":
		return valueOf(words, 0, "--run")
	case "watch", "entr", "parallel":
		if spec, ok := wrapperOf(name); ok {
			if inner := spec.inner(words); len(inner) > 0 {
				t := joined(inner[0].words, false)
				t.known = false
				return []text{t}
			}
		}
	case "git":
		return gitCode(words)
	}
	return nil
}

// guessed are texts in another language than bash, or meant otherwise, which need
// not be readable.
func guessed(list []text) []text {
	for i := range list {
		list[i].known = false
	}
	return list
}

func joined(words []Word, here bool) text {
	t := text{known: true, here: here}
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.Text
		t.known = t.known && w.Known
	}
	t.code = strings.Join(parts, " ")
	return t
}

// valueOf is the value of an option that takes code, attached or as a word.
func valueOf(words []Word, letter byte, long string) []text {
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		name, value, attached := strings.Cut(t, "=")
		switch {
		case long != "" && strings.HasPrefix(t, "--") && len(name) > 2 && strings.HasPrefix(long, name):
			if attached {
				return []text{{code: value, known: words[i].Known}}
			}
		case letter != 0 && len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t, letter) > 0:
			if k := strings.IndexByte(t, letter); k+1 < len(t) {
				return []text{{code: t[k+1:], known: words[i].Known}}
			}
		default:
			continue
		}
		if i+1 < len(words) {
			return []text{{code: words[i+1].Text, known: words[i+1].Known}}
		}
	}
	return nil
}

// beyondPOSIX are the signs and words without one of which a text means the same to
// every shell.
func beyondPOSIX() []string {
	return []string{"&>", "|&", "((", "[[", "{", "$'", `$"`, "$[", "<(", ">(", "=(", "<<<", ";&", "function", "coproc", "select", "time"}
}

// plainShell adds, to code for a shell that may be bash or one that knows only what
// POSIX has, what it would be for the latter. That takes the dollar sign of $'…' and
// $"…" as it stands, and parts &> (which the parser refuses there).
func plainShell(list []text) []text {
	for _, t := range list {
		if !slices.ContainsFunc(beyondPOSIX(), func(sign string) bool { return strings.Contains(t.code, sign) }) {
			continue
		}
		t.code = strings.NewReplacer("$'", `\$'`, `$"`, `\$"`, "&>", "& >").Replace(t.code)
		t.known, t.plain = false, true
		list = append(list, t)
	}
	return list
}

// shellCode reads the command line of a shell: -c takes the first operand as
// code; without operands the code comes from standard input.
func shellCode(c *Command, words []Word) []text {
	code, stdin := false, false
	i := 1
	for ; i < len(words); i++ {
		t := words[i].Text
		if len(t) < 2 || t[0] != '-' && t[0] != '+' {
			break
		}
		if t == "--" {
			i++
			break
		}
		if strings.HasPrefix(t, "--") {
			if t == "--rcfile" || t == "--init-file" {
				i++
			}
			continue
		}
		code = code || strings.Contains(t, "c") && t[0] == '-'
		stdin = stdin || strings.Contains(t, "s") && t[0] == '-'
		if strings.ContainsAny(t, "oO") {
			i++
		}
	}
	switch {
	case code && i < len(words):
		t := text{code: words[i].Text, known: words[i].Known}
		if i+1 < len(words) {
			t.arg0 = words[i+1].Text
		}
		for _, w := range words[min(i+2, len(words)):] {
			t.args = append(t.args, w.Text)
		}
		return []text{t}
	case code:
		return nil
	case stdin || i >= len(words) || words[i].Text == "/dev/stdin" || words[i].Text == "-":
		return stdinCode(c)
	case words[i].Process == "<":
		return printedCode(c.Inner)
	}
	return nil
}

// stdinCode is what a here-document, a here-string, or a plain echo, printf or cat
// before the pipe gives to a shell.
func stdinCode(c *Command) []text {
	if c.stdin != "" {
		return []text{{code: c.stdin, known: c.stdinSure}}
	}
	for _, r := range c.Redirects {
		if r.Target.Process == "<" {
			return printedCode(c.Inner)
		}
	}
	return printedCode(c.Upstream)
}

// printedCode is what commands print as far as that can be told: echo, printf and
// cat of a here-document.
func printedCode(list []*Command) []text {
	var out []text
	for _, up := range list {
		words := up.Likely()
		if len(words) == 0 {
			continue
		}
		switch baseName(words[0]) {
		case "echo", "printf":
			args := words[1:]
			for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
				args = args[1:]
			}
			// Whether a backslash means something depends on the shell and -e.
			plain := joined(args, false)
			plain.code, plain.known = strings.ReplaceAll(plain.code, "%s", " "), false
			out = append(out, plain)
			if decoded, _ := decodeANSI(plain.code); decoded != plain.code {
				plain.code = decoded
				out = append(out, plain)
			}
		case "cat":
			if up.stdin != "" {
				out = append(out, text{code: up.stdin, known: up.stdinSure})
			}
		}
	}
	return out
}

// gitCode is code that git runs: submodule foreach, rebase --exec, filters, a tool
// for differences, an alias given on the command line.
func gitCode(words []Word) []text {
	for i := 1; i < len(words); i++ {
		switch t := words[i].Text; {
		case t == "submodule":
			return submoduleCode(words[i+1:])
		case t == "rebase":
			return guessed(valueOf(words[i:], 'x', "--exec"))
		case t == "difftool":
			return guessed(valueOf(words[i:], 'x', "--extcmd"))
		case t == "filter-branch":
			return filterCode(words[i+1:])
		case t == "-c" && i+1 < len(words):
			if _, value, ok := strings.Cut(words[i+1].Text, "=!"); ok {
				return []text{{code: value}}
			}
		}
	}
	return nil
}

func submoduleCode(words []Word) []text {
	for i, w := range words {
		if w.Text != "foreach" {
			continue
		}
		rest := words[i+1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
			rest = rest[1:]
		}
		return guessed([]text{joined(rest, false)})
	}
	return nil
}

func filterCode(words []Word) []text {
	var out []text
	for i, w := range words {
		name, value, attached := strings.Cut(w.Text, "=")
		switch {
		case !strings.HasPrefix(name, "--") || !strings.HasSuffix(name, "-filter") && name != "--setup":
		case attached:
			out = append(out, text{code: value})
		case i+1 < len(words):
			out = append(out, text{code: words[i+1].Text})
		}
	}
	return out
}
