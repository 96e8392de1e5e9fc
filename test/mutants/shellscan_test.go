//go:build mutants

package mutants

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// laxer is what the table's test says of a case that became more permissive. That
// something useful is asked about needlessly would be no loss of safety.
var laxer = regexp.MustCompile(`want (no, got allow|ask, got allow|deny, got (allow|ask)) `)

// TestEachClauseOfTheShellAnalysis takes each clause of the analysis of shell texts
// away: a case of internal/policy/testdata must become more permissive.
func TestEachClauseOfTheShellAnalysis(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant
	for _, c := range slices.Concat(shellWords(), shellFlow(), shellCode(), readOnlyTools()) {
		all = append(all, mutant{c.rule, "internal/policy/shellscan/" + c.file, c.from, c.to, "internal/policy:TestShellCases"})
	}
	for _, m := range chosen(t, all) {
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			if out := m.check(t, root); !t.Failed() && !laxer.MatchString(out) {
				t.Errorf("no case is more permissive without it:\n%s", out)
			}
		})
	}
}

// clause is a mutant of the analysis.
type clause struct{ rule, file, from, to string }

// shellWords are those on what a word is.
func shellWords() []clause {
	return []clause{
		{"braces make several words", "word.go", "syntax.SplitBraces(split)", "_ = split"},
		{"$'…' is decoded", "word.go", "text, sure := decodeANSI(q.Value)", "text, sure := q.Value, true"},
		{"IFS stands between words", "guess.go", `return " ", true`, `return "", true`},
		{"variables of the text have values", "guess.go", "return v.value, v.sure", `return "", v.sure && false`},
		{"hidden characters", "unreadable.go", "if Hidden(r) && !partOfEmoji(text, i, r, n) {", "if false {"},
		{"continued lines are joined", "scan.go", "text, err := joinLines(text)", "text, err := text, error(nil)"},
		{"a # in a word begins no comment", "scan.go", "if err := strayComment(file, text); err != nil {", "if err := error(nil); err != nil {"},
	}
}

// shellFlow are those on what a text as a whole does.
func shellFlow() []clause {
	return []clause{
		{"assignments before a command", "walk.go", `w.refuse("it assigns " + nameOf(c.Assigns[0]))`, "_ = nameOf"},
		{"process substitutions run", "word.go", "w.substitution(p.Stmts)\n\t\tr.unknown", "r.unknown"},
		{"here-documents expand", "redirect.go", "rd.expansion(part, true)", "_ = part"},
		{"output redirections write", "redirect.go", "kind := RedirectWrite", "kind := RedirectNeutral"},
		{"/dev/tcp is the network", "redirect.go", "return RedirectNetwork", "return RedirectNeutral"},
		{"cd is followed", "walk.go", "return flow{ok: w.cdTargets(c, in), failed: in}", "return both(in)"},
		{"cd may leave the project", "readonly.go", "if s.links || s.ctx.Inside == nil || !s.ctx.Inside(d) {", `if s.links || s.ctx.Inside == nil || d == "" {`},
		{"a loop may move its next pass", "flow.go", "if moved {\n\t\treturn nil", "if moved {\n\t\treturn in"},
		{"functions are defined", "walk.go", `w.refuse("it defines the function " + name)`, "_ = name"},
		{"each value of a loop", "flow.go", "w.loop[name] = it\n", "w.loop[name], _ = items[0], it\n"},
		{"a loop's variable that something else sets", "flow.go", " || setsInLoop(c.Do, name) {", " {"},
		{"paths outside", "readonly.go", "if s.ctx.Inside == nil || !s.ctx.Inside(p) {", `if s.ctx.Inside == nil || p == "" {`},
		{"arithmetic evaluates values", "evaluate.go", `w.refuse("arithmetic evaluates a value")`, "_ = x"},
		{"expansions that assign", "evaluate.go", `w.refuse("an expansion assigns a variable")`, "_ = p"},
	}
}

// shellCode are those on commands in the words of others.
func shellCode() []clause {
	return []clause{
		{"wrappers are taken off", "unwrap.go", "list := unwrapped(words)", "list := unwrapped([]Word{{}})"},
		{"code for bash", "code.go", "return shellCode(c, words)\n\tcase \"sh\"", "return nil\n\tcase \"sh\""},
		{"sh may know only what POSIX has", "code.go", "return plainShell(shellCode(c, words))", "return shellCode(c, words)"},
		{"code from a pipe", "code.go", "return printedCode(c.Upstream)", "return nil"},
		{"eval", "code.go", `case "eval":`, `case "eval-":`},
		{"trap", "code.go", `case "trap":`, `case "trap-":`},
		{"quoted text that is evaluated later", "scan.go", "if s.evaluates() {\n\t\tw.evaluated(p)", "if false {\n\t\tw.evaluated(p)"},
	}
}

// readOnlyTools are those on options and operands with which a tool that reads does
// more than that.
func readOnlyTools() []clause {
	return []clause{
		{"find", "readonly.go", `return "find " + w.Text + " is not on the read-only table"`, `return ""`},
		{"sed", "readonly.go", "rest, why := sedFiles(ops, p)", "rest, why := ops[min(1, len(ops)):], \"\""},
		{"sort", "tables.go", "!--compress-program= !--output=", "--compress-program= !--output="},
		{"uniq", "readonly.go", "if len(ops) > 1 {", "if false {"},
		{"tar", "readonly.go", "if !list {", "if false {"},
		{"date", "readonly.go", `return "date sets the clock with " + w.Text`, "continue"},
		{"file", "tables.go", "!-m: !-C --brief", "!-m: -C --brief"},
		{"rg", "tables.go", "!--pre= ~", "--pre= ~"},
		{"git's subcommands", "git.go", `return "git " + sub + " is not on the read-only table"`, `return ""`},
		{"git branch", "git.go", `return "git branch with a name makes a branch"`, `return ""`},
		{"long options that nobody knows", "options.go", "p.take(\"the option \" + text + \" is not on the read-only table\")\n\t\treturn i", "return i"},
	}
}
