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
	sure  bool     // assigned once, a literal
	items []string // of an array
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
	if p.Index == nil && len(w.vars[name].items) > 0 {
		value = w.vars[name].items[0]
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
	case "$", "!", "PPID", "BASHPID":
		return "2", true // some process
	case "?", "-", "#", "_", "RANDOM", "SECONDS", "LINENO", "UID", "EUID",
		"OLDPWD", "BASH", "SHELL", "REPLY", "OSTYPE", "HOSTNAME", "HOSTTYPE", "MACHTYPE":
		return "", false
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n == 0 {
			return w.arg0, w.arg0 != ""
		}
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

// arrayItems are what an expansion of an array that the text itself makes most
// likely becomes.
func (w *walker) arrayItems(p *syntax.ParamExp) ([]string, bool) {
	ix, ok := p.Index.(*syntax.Word)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil || p.Exp != nil {
		return nil, false
	}
	w.collect()
	items := w.vars[p.Param.Value].items
	if lit := ix.Lit(); len(items) == 0 {
		return nil, false
	} else if lit == "@" || lit == "*" {
		return items, true
	} else if n, err := strconv.Atoi(lit); err == nil && n >= 0 && n < len(items) {
		return items[n : n+1], true
	}
	return nil, false
}

// knowsArgs tells whether the positional parameters are known: those given at the
// start, or the ones that the only set in the text gives.
func (w *walker) knowsArgs() bool {
	w.collect()
	return w.inFunc == 0 && (!w.setsArgs || w.args != nil)
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
					value, sure = w.assigned(n.Value)
				}
				put(n.Name.Value, value, sure && n.Index == nil && !n.Append)
				if n.Array != nil {
					w.vars[n.Name.Value] = variable{items: arrayWords(n.Array), sure: true}
				}
			}
		case *syntax.Stmt:
			if name, value, ok := readFromText(n); ok {
				put(name, value, true)
			}
		case *syntax.WordIter:
			put(n.Name.Value, "", false)
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				value, sure := staticWord(n.Exp.Word)
				put(n.Param.Value, value, sure)
			}
		case *syntax.CallExpr:
			if setsParameters(n.Args) {
				w.args = nil
				if !w.setsArgs {
					w.args = setWords(n.Args)
				}
				w.setsArgs = true
			}
			for i, arg := range n.Args {
				if _, known := w.vars[arg.Lit()]; i > 0 && !known && assignsByName(n.Args[0].Lit()) {
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

// setWords are the words after set --, if they are literals.
func setWords(args []*syntax.Word) []string {
	var out []string
	for _, a := range args[1:] {
		text, ok := staticWord(a)
		if !ok {
			return nil
		}
		if text != "--" {
			out = append(out, text)
		}
	}
	return out
}

// assigned is the value that an assignment most likely gives.
func (w *walker) assigned(word *syntax.Word) (string, bool) {
	if text, ok := staticWord(word); ok {
		return text, true
	}
	var b strings.Builder
	for _, part := range word.Parts {
		list := []syntax.WordPart{part}
		if q, ok := part.(*syntax.DblQuoted); ok {
			list = q.Parts
		}
		for _, part := range list {
			text, ok := staticWord(&syntax.Word{Parts: []syntax.WordPart{part}})
			if p, isParam := part.(*syntax.ParamExp); isParam {
				text, ok = w.guessParam(p)
			} else if s, isSubst := part.(*syntax.CmdSubst); isSubst {
				text, ok = w.guessSubst(s.Stmts)
			}
			if !ok || !w.script.spend(len(text)) {
				return "", false
			}
			b.WriteString(text)
		}
	}
	return b.String(), true
}

func arrayWords(a *syntax.ArrayExpr) []string {
	var out []string
	for _, el := range a.Elems {
		text, ok := staticWord(el.Value)
		if !ok || el.Index != nil {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// readFromText tells read name <<< value.
func readFromText(s *syntax.Stmt) (name, value string, ok bool) {
	call, isCall := s.Cmd.(*syntax.CallExpr)
	if !isCall || len(call.Args) < 2 || call.Args[0].Lit() != "read" || len(s.Redirs) != 1 || s.Redirs[0].Op != syntax.WordHdoc {
		return "", "", false
	}
	value, ok = staticWord(s.Redirs[0].Word)
	return call.Args[len(call.Args)-1].Lit(), value, ok
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
	if len(list) != 1 {
		return "", len(list) == 0
	}
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return "", false
	}
	name, args := call.Args[0].Lit(), call.Args[1:]
	for _, r := range list[0].Redirs {
		switch {
		case r.Op == syntax.WordHdoc && name == "cat" && len(args) == 0:
			return staticWord(r.Word)
		case r.Op != syntax.WordHdoc && r.Op != syntax.RdrIn && r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc:
			return "", false
		}
	}
	switch name {
	case "true", "false", ":":
		return "", true
	case "echo", "printf":
	default:
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
