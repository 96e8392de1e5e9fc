package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commandFacts are what a command's text tells about its result. They serve
// hints only: what a command may do is judged by package policy.
type commandFacts struct {
	// oneIsAnswer is true when an exit code of 1 is an answer ("no match",
	// "they differ") and not a failure.
	oneIsAnswer bool
	// readersOnly is true when it only runs programs that file tools replace.
	readersOnly bool
	// cutByHead is true when a pipe ends in head or tail.
	cutByHead bool
}

// analyse never fails: of a text that does not parse nothing is known.
func analyse(command string) commandFacts {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) == 0 {
		return commandFacts{}
	}
	facts := commandFacts{oneIsAnswer: answers(file.Stmts[len(file.Stmts)-1])}
	calls, readers := 0, true
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				calls++
				readers = readers && isReader(n)
			}
		case *syntax.Redirect:
			readers = readers && (n.Op == syntax.DplOut || n.Word.Lit() == "/dev/null")
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				facts.cutByHead = facts.cutByHead || isOneOf(n.Y, "head", "tail")
			}
		}
		return true
	})
	facts.readersOnly = readers && calls > 0
	return facts
}

// answers reports whether every command whose exit code may be the statement's
// says by 1 that the answer is no.
func answers(s *syntax.Stmt) bool {
	if s.Negated {
		return true
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return isAnswerer(c)
	case *syntax.TestClause:
		return true
	case *syntax.BinaryCmd:
		return answers(c.Y) && (c.Op != syntax.AndStmt || answers(c.X))
	case *syntax.Subshell:
		return len(c.Stmts) > 0 && answers(c.Stmts[len(c.Stmts)-1])
	case *syntax.Block:
		return len(c.Stmts) > 0 && answers(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

func isAnswerer(c *syntax.CallExpr) bool {
	args := words(c)
	if len(args) == 0 {
		return false
	}
	switch args[0] {
	case "grep", "egrep", "fgrep", "rg", "find", "diff", "test", "[":
		return true
	case "git":
		sub := gitCommand(args[1:])
		return sub == "diff" || sub == "grep"
	}
	return false
}

// gitCommand is the command among git's arguments, after its own options.
func gitCommand(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-C" || args[i] == "-c":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

func isReader(c *syntax.CallExpr) bool {
	args := words(c)
	if args[0] == "find" {
		return !slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") || a == "-delete" || strings.HasPrefix(a, "-fprint")
		})
	}
	return slices.Contains([]string{
		"cat", "head", "tail", "less", "more", "ls", "tree",
		"grep", "egrep", "fgrep", "rg", "wc", "file", "stat",
	}, args[0])
}

func isOneOf(s *syntax.Stmt, names ...string) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && slices.Contains(names, call.Args[0].Lit())
}

// words are a command's words, "" for those that are not plain.
func words(c *syntax.CallExpr) []string {
	out := make([]string, len(c.Args))
	for i, w := range c.Args {
		out[i] = w.Lit()
	}
	return out
}

// written are the files that a command's text certainly names to be written: output
// redirections, and the words of programs that do nothing but change files. Hints
// use it, so it need not be complete.
func written(command string) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var out []string
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			switch args := words(n); {
			case len(args) < 2:
			case slices.Contains([]string{"mv", "rm", "rmdir", "touch", "mkdir", "tee", "chmod", "truncate"}, args[0]):
				out = append(out, args[1:]...)
			case slices.Contains([]string{"cp", "ln", "install"}, args[0]):
				out = append(out, args[len(args)-1])
			}
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
				out = append(out, n.Word.Lit())
			}
		}
		return true
	})
	return out
}
