package shellscan

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A guess is the most likely value of a word whose value is not known. It is
// used to refuse, never to allow: c${u}rl with u unset is curl, and rm${IFS}x
// is rm x.

// variable is what the text itself says of a variable's value.
type variable struct {
	value string
	sure  bool // assigned once, a literal
}

// guessParam is the most likely value of an expansion.
func (w *walker) guessParam(p *syntax.ParamExp) (string, bool) {
	if p.Param == nil || p.Length || p.Names != 0 || p.Excl {
		return "", false
	}
	name := p.Param.Value
	if name == "IFS" {
		return " ", true
	}
	value, ok := w.guessVariable(name)
	if !ok {
		return "", false
	}
	if p.Index != nil || p.Slice != nil || p.Repl != nil {
		return "", value == ""
	}
	if p.Exp == nil {
		return value, true
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if value != "" {
			return value, true
		}
		return staticWord(p.Exp.Word)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if value == "" {
			return "", true
		}
		return staticWord(p.Exp.Word)
	}
	return "", value == ""
}

func (w *walker) guessVariable(name string) (string, bool) {
	if v, ok := w.loop[name]; ok {
		return v, true
	}
	switch name {
	case "@", "*":
		return strings.Join(w.args, " "), w.knowsArgs()
	case "HOME":
		return w.ctx.Home, w.ctx.Home != ""
	case "PWD":
		if len(w.dirs) == 1 {
			return w.dirs[0], true
		}
		return "", false
	case "?", "$", "!", "-", "#", "_", "0", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID",
		"OLDPWD", "BASH", "BASHPID", "SHELL", "REPLY", "OSTYPE", "HOSTNAME", "HOSTTYPE", "MACHTYPE":
		return "", false
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n >= 1 && n <= len(w.args) {
			return w.args[n-1], w.knowsArgs()
		}
		return "", w.knowsArgs()
	}
	w.collect()
	if v, ok := w.vars[name]; ok {
		return v.value, v.sure
	}
	if w.outer != nil {
		return w.outer.guessVariable(name)
	}
	if w.ctx.InEnvironment != nil && w.ctx.InEnvironment(name) {
		return "", false
	}
	return "", true // not set anywhere: empty
}

// knowsArgs tells whether the positional parameters are those given at the start.
func (w *walker) knowsArgs() bool {
	w.collect()
	return w.inFunc == 0 && !w.setsArgs
}

// collect finds what the text assigns, once.
func (w *walker) collect() {
	if w.vars != nil {
		return
	}
	w.vars = map[string]variable{}
	if w.tree == nil {
		return
	}
	put := func(name, value string, sure bool) {
		if old, ok := w.vars[name]; ok && (!old.sure || old.value != value) {
			sure = false
		}
		w.vars[name] = variable{value: value, sure: sure}
	}
	syntax.Walk(w.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				value, sure := "", n.Value == nil && n.Array == nil
				if n.Value != nil {
					value, sure = staticWord(n.Value)
				}
				put(n.Name.Value, value, sure && n.Index == nil && !n.Append)
			}
		case *syntax.WordIter:
			put(n.Name.Value, "", false)
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				value, sure := staticWord(n.Exp.Word)
				put(n.Param.Value, value, sure)
			}
		case *syntax.CallExpr:
			w.setsArgs = w.setsArgs || setsParameters(n.Args)
			for i, arg := range n.Args {
				if i > 0 && assignsByName(n.Args[0].Lit()) {
					put(arg.Lit(), "", false)
				}
			}
		}
		return true
	})
}

// setsParameters tells set with words for the positional parameters.
func setsParameters(args []*syntax.Word) bool {
	if len(args) < 2 || args[0].Lit() != "set" {
		return false
	}
	for i, a := range args[1:] {
		lit := a.Lit()
		option := len(lit) > 1 && lit != "--" && (lit[0] == '-' || lit[0] == '+')
		if value := i > 0 && strings.HasSuffix(args[i].Lit(), "o"); !option && !value {
			return true
		}
	}
	return false
}

func assignsByName(builtin string) bool {
	switch builtin {
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "wait":
		return true
	}
	return false
}

// staticWord is the value of a word of literals and quotes only.
func staticWord(word *syntax.Word) (string, bool) {
	if word == nil {
		return "", true
	}
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r := wordReader{}
			r.word.Known = true
			r.unquoted(p.Value, false)
			b.WriteString(r.text.String())
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text, _ = decodeANSI(p.Value)
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				l, ok := in.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescapeDouble(l.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// guessSubst is what a substitution of a plain echo or printf prints.
func (w *walker) guessSubst(list []*syntax.Stmt) (string, bool) {
	if len(list) != 1 || len(list[0].Redirs) > 0 {
		return "", false
	}
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return "", false
	}
	name, args := call.Args[0].Lit(), call.Args[1:]
	if name != "echo" && name != "printf" {
		return "", false
	}
	if len(args) > 0 && name == "echo" && args[0].Lit() == "-n" {
		args = args[1:]
	}
	words := make([]string, len(args))
	for i, a := range args {
		if words[i], ok = staticWord(a); !ok {
			return "", false
		}
	}
	if name == "printf" && len(words) > 0 && strings.ContainsAny(words[0], `%\`) {
		if len(words) != 2 || words[0] != "%s" {
			return "", false
		}
		words = words[1:]
	}
	return strings.TrimRight(strings.Join(words, " "), "\n"), true
}
