package shellscan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// checkParam looks at an expansion for what runs code or assigns.
func (w *walker) checkParam(p *syntax.ParamExp) {
	if p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 {
		w.script.give("it uses an expansion of other shells")
		return
	}
	if p.Excl && p.Names == 0 {
		w.refuse("an indirect expansion can evaluate its value")
	}
	if p.Index != nil && !harmlessIndex(p.Index) {
		w.checkArithm(p.Index)
		w.refuse("a subscript is evaluated")
	}
	if p.Slice != nil {
		w.checkArithm(p.Slice.Offset)
		w.checkArithm(p.Slice.Length)
	}
	if p.Repl != nil {
		w.word(p.Repl.Orig)
		w.word(p.Repl.With)
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		w.refuse("an expansion assigns a variable")
	case syntax.OtherParamOps:
		if strings.Trim(p.Exp.Word.Lit(), "QEAKaULuk") != "" || p.Exp.Word.Lit() == "" {
			w.refuse("${x@P} evaluates its value")
		}
	}
	w.word(p.Exp.Word)
}

// evaluates tells whether something in the text evaluates a value as arithmetic,
// a subscript or a prompt, so that a substitution in a quoted string may run.
func (s *Script) evaluates() bool {
	if !strings.ContainsAny(s.Text, "$`") {
		return false
	}
	return slices.ContainsFunc(s.Commands, func(c *Command) bool {
		if strings.Contains(c.Never, "evaluat") {
			return true
		}
		switch c.Name() {
		case "printf", "unset", "declare", "typeset", "local", "export", "readonly", "read", "let":
			return c.Never != ""
		case "set": // set -x prints PS4, which is expanded like a prompt
			return true
		}
		return false
	})
}

// evaluated walks the substitutions in strings that quotes keep from being run,
// but not from being evaluated later. They are never used to allow.
func (w *walker) evaluated(p *program) {
	root := &Command{Words: []Word{knownWord("((")}, Never: "a value that is evaluated holds a substitution"}
	syntax.Walk(p.file, func(n syntax.Node) bool {
		value := ""
		switch n := n.(type) {
		case *syntax.SglQuoted:
			value = n.Value
		case *syntax.DblQuoted:
			for _, part := range n.Parts {
				if l, ok := part.(*syntax.Lit); ok {
					value += unescapeDouble(l.Value)
				}
			}
		}
		if !strings.Contains(value, "$(") && !strings.Contains(value, "`") || w.script.Unreadable != "" {
			return true
		}
		file, err := parse("cat <<E_\n"+value+"\nE_", parsers)
		if err != nil {
			w.script.give("a value that may be evaluated later cannot be parsed: " + parseMessage(err))
			return false
		}
		w.walkSubstitutions(file, root)
		return true
	})
}

// walkSubstitutions walks what the substitutions of a here-document run, as found in
// a command.
func (w *walker) walkSubstitutions(file *syntax.File, root *Command) {
	in := newWalker(w.script, w.ctx)
	in.via, in.depth, in.outer, in.funcs, in.tree = root, w.depth+1, w, w.funcs, file
	syntax.Walk(file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.CmdSubst); ok {
			in.sub(s.Stmts, nil)
			return false
		}
		return true
	})
}

func harmlessIndex(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	lit := word.Lit()
	return lit == "@" || lit == "*" || isNumber(lit)
}

func isNumber(s string) bool {
	if s == "" || len(s) > 18 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// checkArithm looks at an arithmetic expression: only plain numbers are known to
// evaluate nothing, since the value of a variable is an expression itself.
func (w *walker) checkArithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.Word:
		if x == nil {
			return
		}
		if !isNumber(x.Lit()) && !numericParam(x.Parts) {
			w.refuse("arithmetic evaluates a value")
		}
		w.inDouble++ // quotes quote nothing there either
		w.word(x)
		w.inDouble--
	case *syntax.BinaryArithm:
		w.checkArithm(x.X)
		w.checkArithm(x.Y)
	case *syntax.UnaryArithm:
		w.checkArithm(x.X)
	case *syntax.ParenArithm:
		w.checkArithm(x.X)
	default:
		w.script.give("it uses arithmetic of other shells")
	}
}

// numericParam tells a word of one expansion that bash keeps itself and that is
// always a number: $?, $#, $$, ${#x}.
func numericParam(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	if q, ok := parts[0].(*syntax.DblQuoted); ok && !q.Dollar {
		return numericParam(q.Parts)
	}
	p, ok := parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return false
	}
	if p.Length {
		return p.Index == nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && identifier(p.Param.Value)
	}
	switch p.Param.Value {
	case "?", "#", "$":
		return simpleParam(p)
	}
	return false
}

func (w *walker) arithmetic(node syntax.Node, name string, exprs ...syntax.ArithmExpr) {
	from := len(w.script.Commands)
	for _, x := range exprs {
		w.checkArithm(x)
	}
	if name == "let" {
		w.refuse("let evaluates arithmetic")
	}
	w.pseudo(node, &Command{Words: []Word{knownWord(name)}, Inner: w.since(from)})
}

// test walks [[ … ]] into one command whose words are its parts.
func (w *walker) test(c *syntax.TestClause) {
	from := len(w.script.Commands)
	cmd := &Command{Words: []Word{knownWord("[[")}}
	w.testExpr(cmd, c.X)
	cmd.Words = append(cmd.Words, knownWord("]]"))
	cmd.Inner = w.since(from)
	w.pseudo(c, cmd)
}

func (w *walker) testExpr(cmd *Command, x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		cmd.Words = append(cmd.Words, w.word(x))
	case *syntax.ParenTest:
		w.testExpr(cmd, x.X)
	case *syntax.UnaryTest:
		cmd.Words = append(cmd.Words, knownWord(x.Op.String()))
		at := len(cmd.Words)
		w.testExpr(cmd, x.X)
		switch x.Op {
		case syntax.TsVarSet, syntax.TsRefVar:
			w.refuse("[[ -v ]] evaluates a subscript")
		case syntax.TsNot, syntax.TsParen, syntax.TsEmpStr, syntax.TsNempStr, syntax.TsOptSet, syntax.TsFdTerm:
		default:
			cmd.testFiles = append(cmd.testFiles, cmd.Words[at:]...)
		}
	case *syntax.BinaryTest:
		at := len(cmd.Words)
		w.testExpr(cmd, x.X)
		cmd.Words = append(cmd.Words, knownWord(x.Op.String()))
		w.testExpr(cmd, x.Y)
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if word, ok := side.(*syntax.Word); !ok || !isNumber(word.Lit()) && !numericParam(word.Parts) {
					w.refuse("[[ " + x.Op.String() + " ]] evaluates arithmetic")
				}
			}
		case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
			cmd.testFiles = append(cmd.testFiles, cmd.Words[at], cmd.Words[len(cmd.Words)-1])
		}
	}
}

// neverBuiltin says why a command by its name may never run silently.
func neverBuiltin(c *Command) string {
	if len(c.Words) == 0 {
		return ""
	}
	first := c.Words[0]
	if !first.Known {
		return "" // unknown, so that nothing covers it anyway
	}
	arg := func(i int) string {
		if i < len(c.Words) && c.Words[i].Known {
			return c.Words[i].Text
		}
		return ""
	}
	switch first.Text {
	case "eval", ".", "source", "trap", "alias", "unalias", "hash", "enable", "exec", "coproc",
		"read", "mapfile", "readarray", "getopts", "let", "unset", "shopt", "bind", "complete",
		"compgen", "compopt", "builtin", "fc", "history", "declare", "typeset", "local",
		"export", "readonly", "command_not_found_handle":
		return first.Text + " can run code or change what later commands mean"
	case "jobs":
		if len(c.Words) > 1 && !strings.HasPrefix(arg(1), "%") && arg(1) != "-l" && arg(1) != "-p" {
			return "jobs -x runs a command"
		}
	case "wait":
		if len(c.Words) > 1 && !isNumber(arg(1)) {
			return "wait -p assigns a variable"
		}
	case "printf":
		return neverPrintf(c.Words[1:])
	case "test", "[":
		for _, word := range c.Words[1:] {
			if word.Known && (word.Text == "-v" || word.Text == "-R") {
				return "test -v evaluates a subscript"
			}
		}
	}
	return neverInterpreter(c.Words)
}

// neverPrintf: -v and %n assign, and so evaluate a subscript.
func neverPrintf(args []Word) string {
	const why = "printf can assign a variable"
	if len(args) == 0 {
		return ""
	}
	format := args[0]
	if format.Known && format.Text == "--" && len(args) > 1 {
		format = args[1]
	} else if strings.HasPrefix(format.Text, "-") || !format.Known && format.Lead == "" {
		return why
	}
	if !format.Known {
		return "the format of printf is not known"
	}
	for s := format.Text; ; {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			return ""
		}
		s = strings.TrimLeft(s[i+1:], "-+ #0123456789.*'hlLjzt")
		if strings.HasPrefix(s, "n") {
			return why
		}
		if s != "" {
			s = s[1:]
		}
	}
}

// neverInterpreter tells an interpreter that is given code as an argument.
func neverInterpreter(words []Word) string {
	flags, ok := codeFlags(baseName(words[0]))
	if !ok {
		return ""
	}
	for i, word := range words[1:] {
		if word.Told() && flags(word.Text) {
			return words[0].Text + " is given code"
		}
		if word.Known && word.Text == "--" || i == firstOperand(words[1:]) {
			break // what follows is for the script
		}
	}
	return ""
}

// firstOperand is the index of the first word that certainly is no option nor the
// value of one; -1 when there is none.
func firstOperand(args []Word) int {
	dash := func(w Word) bool { return !w.Known || len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+') }
	for i, w := range args {
		if !dash(w) && (i == 0 || !dash(args[i-1])) {
			return i
		}
	}
	return -1
}

// codeFlags gives the test for an option that takes code; names are compared
// without a version (python3.12).
func codeFlags(name string) (func(string) bool, bool) {
	short := func(letters string) func(string) bool {
		return func(arg string) bool {
			return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
		}
	}
	switch strings.TrimRight(name, "0123456789.") {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash":
		return short("c"), true
	case "python", "pypy":
		return short("c"), true
	case "perl":
		return short("eE"), true
	case "ruby":
		return short("e"), true
	case "php":
		return func(a string) bool { return short("rBRE")(a) || a == "--run" }, true
	case "lua", "luajit", "Rscript", "osascript", "elixir", "groovy", "scala", "julia", "jshell":
		return func(a string) bool { return short("eE")(a) || a == "--eval" || a == "--execute" }, true
	case "node", "nodejs", "bun", "deno":
		return func(a string) bool {
			return short("ep")(a) || abbreviates(a, "--eval") || abbreviates(a, "--print") || a == "eval"
		}, true
	}
	return nil, false
}

// abbreviates tells whether arg is a form of a long option, shortened or with a value.
func abbreviates(arg, option string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return len(name) > 2 && strings.HasPrefix(option, name)
}
