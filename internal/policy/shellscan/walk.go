package shellscan

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through the syntax tree in the order bash runs it, and follows the
// folder in which commands run.
type walker struct {
	script *Script
	ctx    *Context
	text   string // the text being walked; code in code has a walker of its own
	outer  *walker
	via    *Command
	depth  int
	// plain: the text is read as by a shell that knows only what POSIX has.
	plain bool
	// args are the positional parameters, for guesses; in a function, or after
	// set, they are not known.
	args   []string
	arg0   string
	inFunc int

	dirs dirs
	// feeding are the commands before the pipe that leads here.
	feeding []*Command
	// never collects why the command being read may never be allowed silently.
	never string

	tree  *syntax.File
	vars  map[string]variable // filled on first use
	funcs map[string]bool
	// setsArgs: set changes the positional parameters; known once vars are.
	setsArgs bool
	// loop holds the value of each enclosing loop's variable; passes is how many
	// times the innermost body is walked.
	loop    map[string]string
	passes  int
	counted map[syntax.Node]bool
	// inDouble counts the double quotes and here-documents around what is read:
	// in the expansions there, single quotes are characters like any other.
	inDouble int
}

func newWalker(s *Script, ctx *Context) *walker {
	return &walker{script: s, ctx: ctx, dirs: at(ctx.Root), passes: 1}
}

// file walks a parsed text.
func (w *walker) file(p *program) {
	w.tree, w.text = p.file, p.text
	for range p.coprocs {
		w.refuse("a coprocess")
		w.pseudo(nil, &Command{Words: []Word{knownWord("coproc")}})
	}
	w.stmts(p.file.Stmts, w.dirs)
}

func (w *walker) sourceOf(word *syntax.Word) string {
	if word == nil || len(word.Parts) == 0 {
		return ""
	}
	from, to := int(word.Pos().Offset()), int(word.End().Offset())
	if from < 0 || to > len(w.text) || from > to {
		return ""
	}
	return w.text[from:to]
}

// add records a command; it returns nil when the text has too many.
func (w *walker) add(node syntax.Node, c *Command) *Command {
	if !w.counted[node] {
		w.script.parsed++
		if w.passes > 1 {
			if w.counted == nil {
				w.counted = map[syntax.Node]bool{}
			}
			w.counted[node] = true
		}
	}
	if w.script.parsed > MaxCommands {
		w.script.give("it has more than 50 simple commands")
	}
	return w.found(c)
}

func (w *walker) found(c *Command) *Command {
	if len(w.script.Commands) >= maxFound {
		w.script.give("it starts more commands than can be followed")
	}
	if w.script.Unreadable != "" {
		return nil
	}
	if c.Via == nil {
		c.Via = w.via
	}
	if c.Dirs == nil && c.Via == w.via {
		c.Dirs = w.dirs
	}
	if c.Upstream == nil {
		c.Upstream = w.feeding
	}
	w.script.Commands = append(w.script.Commands, c)
	return c
}

// refuse records, for the command being read, why it may never run silently.
func (w *walker) refuse(why string) {
	if w.never == "" {
		w.never = why
	}
}

// pseudo records something that is no command of its own but does something.
func (w *walker) pseudo(node syntax.Node, c *Command) {
	if c.Never == "" {
		c.Never, w.never = w.never, ""
	}
	w.add(node, c)
}

// settle turns what was found in words outside a command into an entry.
func (w *walker) settle(node syntax.Node, word string) {
	if w.never != "" {
		w.pseudo(node, &Command{Words: []Word{knownWord(word)}})
	}
}

func (w *walker) stmts(list []*syntax.Stmt, in dirs) flow {
	f := both(in)
	for _, s := range list {
		if w.script.Unreadable != "" {
			return f
		}
		f = w.stmt(s, f.any())
	}
	return f
}

// sub walks statements that run in a shell of their own.
func (w *walker) sub(list []*syntax.Stmt, in dirs) {
	outer := w.dirs
	w.stmts(list, in)
	w.dirs = outer
}

func (w *walker) substitution(list []*syntax.Stmt) {
	never, inDouble := w.never, w.inDouble
	w.never, w.inDouble = "", 0
	w.sub(list, w.dirs)
	w.never, w.inDouble = never, inDouble
}

func (w *walker) stmt(s *syntax.Stmt, in dirs) flow {
	w.dirs = in
	if s.Coprocess || s.Disown {
		w.script.give("it uses a form of background command of other shells")
		return both(in)
	}
	var f flow
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		f = w.call(s, call, in)
	} else {
		f = w.compound(s, in)
	}
	if s.Negated {
		f.ok, f.failed = f.failed, f.ok
	}
	if s.Background {
		return both(in)
	}
	return f
}

// compound walks every other kind of statement. Its redirections open before
// the body runs.
func (w *walker) compound(s *syntax.Stmt, in dirs) flow {
	if len(s.Redirs) > 0 {
		c := &Command{}
		from := len(w.script.Commands)
		w.redirects(c, s.Redirs)
		c.Inner = w.since(from)
		w.pseudo(s, c)
	}
	w.dirs = in
	switch c := s.Cmd.(type) {
	case nil:
		return both(in)
	case *syntax.Subshell:
		w.sub(c.Stmts, in)
	case *syntax.Block:
		return w.stmts(c.Stmts, in)
	case *syntax.BinaryCmd:
		return w.binary(c, in)
	case *syntax.IfClause:
		return w.ifClause(c, in)
	case *syntax.WhileClause:
		body := w.loopDirs(c, in)
		w.stmts(c.Cond, body)
		w.stmts(c.Do, body)
		return both(body)
	case *syntax.ForClause:
		return w.forClause(c, in)
	case *syntax.CaseClause:
		return w.caseClause(c, in)
	case *syntax.FuncDecl:
		w.funcDecl(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		w.refuse("a coprocess")
		w.pseudo(c, &Command{Words: []Word{knownWord("coproc")}})
		w.stmt(c.Stmt, in)
	case *syntax.ArithmCmd:
		w.arithmetic(c, "((", c.X)
	case *syntax.LetClause:
		w.arithmetic(c, "let", c.Exprs...)
	case *syntax.DeclClause:
		w.declaration(c)
	case *syntax.TestClause:
		w.test(c)
	default:
		w.script.give("it uses a construct that is not analysed")
	}
	return both(in)
}

func (w *walker) since(from int) []*Command {
	if from >= len(w.script.Commands) {
		return nil
	}
	return slices.Clone(w.script.Commands[from:])
}

func (w *walker) binary(c *syntax.BinaryCmd, in dirs) flow {
	switch c.Op {
	case syntax.AndStmt:
		x := w.stmt(c.X, in)
		y := w.stmt(c.Y, x.ok)
		return flow{ok: y.ok, failed: union(x.failed, y.failed)}
	case syntax.OrStmt:
		x := w.stmt(c.X, in)
		y := w.stmt(c.Y, x.failed)
		return flow{ok: union(x.ok, y.ok), failed: y.failed}
	}
	from := len(w.script.Commands)
	w.stmt(c.X, in)
	outer := w.feeding
	w.feeding = append(w.since(from), outer...)
	w.stmt(c.Y, in)
	w.feeding = outer
	return both(in)
}

func (w *walker) ifClause(c *syntax.IfClause, in dirs) flow {
	cond := flow{ok: in}
	if len(c.Cond) > 0 {
		cond = w.stmts(c.Cond, in)
	}
	then := w.stmts(c.Then, cond.ok)
	switch {
	case len(c.Cond) == 0: // else
		return then
	case c.Else == nil:
		return flow{ok: union(then.ok, cond.failed), failed: then.failed}
	}
	other := w.ifClause(c.Else, cond.failed)
	return flow{ok: union(then.ok, other.ok), failed: union(then.failed, other.failed)}
}

func (w *walker) caseClause(c *syntax.CaseClause, in dirs) flow {
	w.word(c.Word)
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.word(p)
		}
	}
	w.settle(c, "case")
	out := both(in)
	fallen := in // ;& goes on with the next item's commands
	for _, item := range c.Items {
		f := w.stmts(item.Stmts, union(in, fallen))
		out = flow{ok: union(out.ok, f.ok), failed: union(out.failed, f.failed)}
		fallen = union(fallen, f.any())
	}
	return out
}

func (w *walker) funcDecl(c *syntax.FuncDecl) {
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	if w.funcs == nil {
		w.funcs = map[string]bool{}
	}
	w.funcs[name] = true
	if startsItself(c.Body, name) {
		w.script.ForkBomb = true
	}
	w.refuse("it defines the function " + name)
	w.pseudo(c, &Command{Words: []Word{knownWord(name), knownWord("()")}})
	args := w.args
	w.args = nil
	w.inFunc++
	w.stmt(c.Body, nil)
	w.inFunc--
	w.args = args
}

// startsItself tells a function that calls itself in a pipe or the background.
func startsItself(body *syntax.Stmt, name string) bool {
	calls := func(n syntax.Node) (found bool) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == name {
				found = true
			}
			return !found
		})
		return found
	}
	bomb := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			bomb = bomb || n.Background && calls(n)
		case *syntax.BinaryCmd:
			bomb = bomb || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && calls(n)
		}
		return !bomb
	})
	return bomb
}

// call walks a simple command.
func (w *walker) call(s *syntax.Stmt, call *syntax.CallExpr, in dirs) flow {
	outer := w.never
	w.never = ""
	from := len(w.script.Commands)
	c := &Command{}
	for _, a := range call.Assigns {
		c.Assigns = append(c.Assigns, w.assign(a))
	}
	for _, a := range call.Args {
		c.Words = append(c.Words, w.words(a)...)
	}
	w.redirects(c, s.Redirs)
	c.Inner = w.since(from)
	if len(c.Assigns) > 0 {
		w.refuse("it assigns " + nameOf(c.Assigns[0]))
	}
	c.Never, w.never = w.never, outer
	if c.Never == "" {
		c.Never = neverBuiltin(c)
	}
	if inner := allowInner(c.Words); c.Never == "" && len(inner) < len(c.Words) {
		c.Never = neverInterpreter(inner)
	}
	if len(c.Words) > 0 && w.funcs[c.Words[0].Text] {
		c.Never = "it calls a function"
	}
	w.dirs = in
	if w.add(call, c) == nil {
		return both(in)
	}
	if c.Name() == "ln" {
		w.script.links = true
	}
	if c.Name() == "shift" && len(w.args) > 0 {
		w.args = w.args[1:] // a guess, if it is to be one at all
	}
	w.derive(c, 0)
	return w.moves(c, in)
}

func nameOf(assign string) string {
	if i := strings.IndexAny(assign, "=[+"); i > 0 {
		return assign[:i]
	}
	return assign
}

func (w *walker) assign(a *syntax.Assign) string {
	var b strings.Builder
	if a.Name != nil {
		b.WriteString(a.Name.Value)
	}
	if a.Index != nil {
		w.checkArithm(a.Index)
		b.WriteString("[…]")
	}
	if a.Append {
		b.WriteByte('+')
	}
	if !a.Naked {
		b.WriteByte('=')
	}
	if a.Value != nil {
		b.WriteString(w.word(a.Value).String())
	}
	if a.Array != nil {
		b.WriteByte('(')
		for i, el := range a.Array.Elems {
			if el.Index != nil {
				w.checkArithm(el.Index)
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			if el.Value != nil {
				for _, v := range w.words(el.Value) {
					b.WriteString(v.String())
				}
			}
		}
		b.WriteByte(')')
	}
	return b.String()
}

func (w *walker) declaration(c *syntax.DeclClause) {
	from := len(w.script.Commands)
	cmd := &Command{Words: []Word{knownWord(c.Variant.Value)}}
	for _, a := range c.Args {
		text := w.assign(a)
		cmd.Words = append(cmd.Words, knownWord(text))
		if !a.Naked {
			cmd.Assigns = append(cmd.Assigns, text)
		}
	}
	cmd.Inner = w.since(from)
	w.refuse(c.Variant.Value + " changes variables")
	w.pseudo(c, cmd)
}

// moves follows cd; other builtins, and functions, may leave any folder behind.
func (w *walker) moves(c *Command, in dirs) flow {
	if len(c.Words) == 0 {
		return both(in)
	}
	name := c.Name()
	switch {
	case name == "cd":
		return flow{ok: w.cdTargets(c, in), failed: in}
	case name == "" || changesFolder(name) || w.funcs[name]:
		return both(nil)
	}
	return both(in)
}

func changesFolder(name string) bool {
	switch name {
	case "pushd", "popd", "eval", "source", ".", "builtin", "command", "trap":
		return true
	}
	return false
}

// cdTargets are the folders a cd may lead to; nil when they are not known.
func (w *walker) cdTargets(c *Command, in dirs) dirs {
	args := c.Words[1:]
	if len(args) == 2 && args[0].Known && (args[0].Text == "--" || args[0].Text == "-L") {
		args = args[1:]
	}
	if len(args) == 0 && w.ctx.Home != "" {
		return at(w.ctx.Home)
	}
	if len(args) != 1 || !args[0].Known || args[0].Text == "" || strings.HasPrefix(args[0].Text, "-") {
		return nil
	}
	to, ok := w.ctx.expandTilde(args[0])
	switch {
	case !ok:
		return nil
	case path.IsAbs(to):
		return at(path.Clean(to))
	case in == nil, !strings.HasPrefix(to, ".") && w.ctx.InEnvironment != nil && w.ctx.InEnvironment("CDPATH"):
		return nil
	}
	out := dirs{}
	for _, d := range in {
		out = union(out, at(path.Join(d, to)))
	}
	return out
}
