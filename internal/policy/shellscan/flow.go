package shellscan

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dirs are the folders a command may run in; nil means that they are not known.
type dirs []string

// maxDirs bounds how many folders are followed at once.
const maxDirs = 8

func at(dir string) dirs { return dirs{dir} }

func union(a, b dirs) dirs {
	if a == nil || b == nil {
		return nil
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}

// flow is where the shell may be after a statement that succeeded, or failed.
type flow struct{ ok, failed dirs }

func both(d dirs) flow { return flow{ok: d, failed: d} }

func (f flow) any() dirs { return union(f.ok, f.failed) }

// loopDirs is the folders for a body that may run more than once: not known
// when something in it may change the folder.
func (w *walker) loopDirs(loop syntax.Node, in dirs) dirs {
	moved := false
	syntax.Walk(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false // what moves there moves nobody else
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := n.Args[0].Lit()
				moved = moved || name == "" || name == "cd" || changesFolder(name) || w.funcs[name]
			}
		}
		return !moved
	})
	if moved {
		return nil
	}
	return in
}

// A loop over literal items is walked once for each of them, within these bounds.
const (
	maxItems  = 8
	maxPasses = 16
)

func (w *walker) forClause(c *syntax.ForClause, in dirs) flow {
	body := w.loopDirs(c, in)
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
			for _, x := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
				if x != nil {
					w.checkArithm(x)
				}
			}
		}
		w.settle(c, "for")
		w.stmts(c.Do, body)
		return both(body)
	}
	from := len(w.script.Commands)
	items, literal := w.items(iter)
	inner := w.since(from)
	name := iter.Name.Value
	if c.Select || !literal || !w.ctx.harmlessVariable(name) {
		cmd := &Command{Assigns: []string{name + "=" + iterSource(items)}, Inner: inner}
		w.refuse("a loop assigns " + name)
		w.pseudo(c, cmd)
		w.dropLoop(name, func() { w.stmts(c.Do, body) })
		return both(body)
	}
	w.settle(c, "for")
	if len(items) == 0 || len(items) > maxItems || w.passes*len(items) > maxPasses || setsInLoop(c.Do, name) {
		w.dropLoop(name, func() { w.stmts(c.Do, body) })
		return both(body)
	}
	w.eachItem(name, items, func() { w.stmts(c.Do, body) })
	return both(body)
}

// setsInLoop tells a body in which something else may set the same variable: another
// loop, or a command of which a word is the variable's name, such as read, printf -v
// or unset. What is an assignment to see is followed by itself.
func setsInLoop(body []*syntax.Stmt, name string) bool {
	found := false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.WordIter:
				found = found || n.Name.Value == name
			case *syntax.CallExpr:
				found = found || slices.ContainsFunc(n.Args, func(w *syntax.Word) bool {
					text, _ := staticWord(w)
					return strings.TrimPrefix(text, "-v") == name || strings.HasPrefix(text, name+"=") || strings.HasPrefix(text, name+"[")
				})
			case *syntax.Redirect:
				found = found || n.N != nil && n.N.Value == "{"+name+"}"
			}
			return !found
		})
	}
	return found
}

func (w *walker) items(iter *syntax.WordIter) (items []string, literal bool) {
	literal = iter.InPos.IsValid()
	for _, it := range iter.Items {
		for _, word := range w.words(it) {
			literal = literal && word.Known
			items = append(items, word.String())
		}
	}
	return items, literal
}

func iterSource(items []string) string {
	out := ""
	for i, it := range items {
		if i > 0 {
			out += " "
		}
		out += it
	}
	return out
}

// dropLoop walks a body in which the variable's value is not known.
func (w *walker) dropLoop(name string, body func()) {
	old, had := w.loop[name]
	delete(w.loop, name)
	body()
	if had {
		w.loop[name] = old
	}
}

// eachItem walks a body once for each value, and keeps what differs.
func (w *walker) eachItem(name string, items []string, body func()) {
	if w.loop == nil {
		w.loop = map[string]string{}
	}
	old, had := w.loop[name]
	w.passes *= len(items)
	seen := map[string]bool{}
	for i, it := range items {
		from := len(w.script.Commands)
		w.loop[name] = it
		body()
		if w.script.Unreadable != "" {
			break
		}
		w.script.Commands = append(w.script.Commands[:from], fresh(w.script.Commands[from:], seen, i > 0)...)
	}
	w.passes /= len(items)
	delete(w.loop, name)
	if had {
		w.loop[name] = old
	}
}

// fresh keeps the commands not seen in an earlier pass.
func fresh(list []*Command, seen map[string]bool, later bool) []*Command {
	var out []*Command
	for _, c := range list {
		key := c.signature()
		if later && seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, c)
	}
	return out
}

// loopValue is the value of an enclosing loop's variable, used plainly.
func (w *walker) loopValue(p *syntax.ParamExp) (string, bool) {
	if len(w.loop) == 0 || p.Param == nil || !simpleParam(p) {
		return "", false
	}
	v, ok := w.loop[p.Param.Value]
	return v, ok
}

// ownFolder is the value of $PWD where the folder is known and nothing in the text
// sets the variable.
func (w *walker) ownFolder(p *syntax.ParamExp) (string, bool) {
	if p.Param == nil || p.Param.Value != "PWD" || !simpleParam(p) || len(w.dirs) != 1 {
		return "", false
	}
	for up := w; up != nil; up = up.outer {
		up.collect()
		if _, set := up.vars["PWD"]; set {
			return "", false
		}
	}
	return w.dirs[0], true
}

func simpleParam(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.NestedParam == nil &&
		p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil && len(p.Modifiers) == 0
}

// harmlessVariable tells names that a loop may set: lower case, not in the
// environment, and read by no shell or tool.
func (ctx *Context) harmlessVariable(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	switch name {
	case "", "_", "auto_resume", "histchars",
		"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "rsync_proxy":
		return false
	}
	return ctx.InEnvironment == nil || !ctx.InEnvironment(name)
}

// expandTilde gives the path that a word names; false for ~user and the like.
func (ctx *Context) expandTilde(word Word) (string, bool) {
	if !word.Tilde {
		return word.Text, true
	}
	rest := word.Text[1:]
	if ctx.Home == "" || rest != "" && rest[0] != '/' {
		return "", false
	}
	return ctx.Home + rest, true
}
