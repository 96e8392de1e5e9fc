// Package lines turns a session's events into plain lines of text for people:
// the activity of the line chat and of headless runs, and the sums at the end.
//
// It never reads input, moves the cursor or knows the terminal's size.
package lines

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"garuda/internal/core"
	"garuda/internal/engine"
)

// Activity prints what a session does, a line for each thing. It is for one
// goroutine, and made anew for each session.
type Activity struct {
	// Out gets the lines, without colour; Screen takes its place where it is set.
	Out    io.Writer
	Screen *Screen
	// Quiet hides results that went well.
	Quiet bool
	// Diffs shows what an edit wrote.
	Diffs bool
	// Todos prints the list of steps when it changes.
	Todos bool
	// Live names a call before its arguments are complete, and shows what a
	// command prints while it runs.
	Live bool
	// Clock spaces what Live shows of a long output; nil means the machine's.
	Clock core.Clock

	last    string // id of the call whose line was printed last
	pending pending
	names   map[string]string // of the running calls
	// elsewhere is true while text is written by another way.
	elsewhere bool
	outputs   map[string]*output
	// seen holds the calls whose change a person was already shown.
	seen map[string]bool
	// todos is the list of steps that was printed last.
	todos []core.Todo
}

// pending is a call's line of which only the name is written. Any call of that
// name completes it: of several that run together the first one ready does.
type pending struct {
	name string
	mark int
}

// BeforeText must be called before the model's text is written to the same
// terminal by another way than the Screen.
func (a *Activity) BeforeText() {
	if !a.elsewhere {
		a.elsewhere = true
		a.screen().EndLine()
	}
	a.screen().Elsewhere(true)
}

// Seen says that a person was shown this call's change already: its diff is not
// printed again.
func (a *Activity) Seen(callID string) {
	if a.seen == nil {
		a.seen = make(map[string]bool)
	}
	a.seen[callID] = true
}

// Show prints the event, if it is one that is told in a line.
func (a *Activity) Show(e engine.Event) {
	switch e := e.(type) {
	case engine.ToolStarted:
		a.named(e)
	case engine.ToolReady:
		a.ready(e)
	case engine.ToolProgress:
		a.line(Dim, "  "+indented(e.Text))
	case engine.ToolOutput:
		if a.Live {
			a.output(e)
		}
	case engine.ToolEnded:
		a.ended(e)
	case engine.Retrying:
		a.retrying(e)
	case engine.ServerTool:
		a.serverTool(e)
	case engine.Steered:
		for _, p := range e.Prompts {
			a.Screen.Line(Dim, "told the model: "+oneLine(p.Text))
		}
	case engine.Notice:
		a.line(Warn, "! "+indented(e.Text))
	case engine.BudgetWarning:
		a.line(Warn, "! "+indented(e.Text))
	case engine.BlockEnd:
		a.blockEnd(e)
	case engine.StepEnded, engine.TurnEnded:
		a.pending = pending{}
	}
}

func (a *Activity) blockEnd(e engine.BlockEnd) {
	if e.Discarded {
		a.pending = pending{}
		a.line(Warn, "! the response broke off; what was shown of it does not count")
	}
	if a.elsewhere {
		a.elsewhere = false
		a.screen().Elsewhere(false)
	}
}

// Naming reports whether the open line is a call's name that waits for its target.
func (a *Activity) Naming() bool {
	return a.pending.name != "" && a.pending.mark == a.screen().Mark()
}

// named writes a call's name and leaves the line open for its target, which
// comes when its arguments are complete. Where several calls arrive together
// only the first is named so early: the others would leave half lines behind.
func (a *Activity) named(e engine.ToolStarted) {
	if !a.Live || a.pending.name != "" {
		return
	}
	s := a.screen()
	s.EndLine()
	name := firstLine(e.Name, maxName)
	s.Text(Bold, "● "+name)
	a.pending = pending{name: name, mark: s.Mark()}
}

func (a *Activity) ready(e engine.ToolReady) {
	s := a.screen()
	name, text := firstLine(e.Name, maxName), callText(e)
	if a.names == nil {
		a.names = make(map[string]string)
	}
	a.last, a.names[e.ID] = e.ID, name+" "+text
	if a.pending != (pending{name: name, mark: s.Mark()}) {
		s.EndLine()
		s.Text(Bold, "● "+name)
	}
	a.pending = pending{}
	rest := " " + text
	if s.Wrap != nil {
		// Where the name alone breaks, it stands there already, and so does its rest.
		wrapped, whole := strings.CutPrefix(strings.Join(s.Wrap("● "+name+rest), "\n"), "● "+name)
		if whole {
			rest = wrapped
		}
	}
	s.Text(Normal, rest+"\n")
}

func (a *Activity) ended(e engine.ToolEnded) {
	r := e.Result
	a.finishOutput(r)
	seen := a.seen[r.ID]
	delete(a.seen, r.ID)
	defer delete(a.names, r.ID)
	if a.Quiet && !r.Result.IsError {
		return
	}
	prefix := "  ⎿ "
	if a.last != r.ID {
		prefix += cmp.Or(a.names[r.ID], firstLine(r.Name, maxName)) + ": "
	}
	style := Dim
	if r.Result.IsError {
		style = Bad
	}
	a.line(style, prefix+resultText(e))
	a.todosChanged(r)
	if a.Diffs && !seen && r.Output != nil && r.Output.Diff != "" {
		a.screen().Diff("    ", r.Output.Diff, maxDiffLines)
	}
}

// serverTool tells of a tool that the provider ran: it passed no rule of the
// user's, and the line says so.
func (a *Activity) serverTool(e engine.ServerTool) {
	a.pending = pending{}
	name := firstLine(e.Name, maxName)
	if !e.Done {
		a.last = e.ID
		a.line(Bold, strings.TrimRight("● "+name+" (run by the provider) "+firstLine(e.Input, maxTarget), " "))
		return
	}
	style, text := Dim, firstLine(cmp.Or(e.Result, "done"), maxResult)
	if e.IsError {
		style = Bad
	} else if a.Quiet {
		return
	}
	prefix := "  ⎿ "
	if a.last != e.ID {
		prefix += name + ": "
	}
	a.line(style, prefix+text)
}

func (a *Activity) line(style Style, text string) { a.screen().Line(style, text) }

func (a *Activity) screen() *Screen {
	if a.Screen == nil {
		a.Screen = NewScreen(a.Out, false)
	}
	return a.Screen
}

// maxDiffLines is how much of a diff is printed after an edit.
const maxDiffLines = 300

// Diff writes a unified diff with the indent before each line, at most limit
// lines of it where limit is not 0.
func (s *Screen) Diff(indent, diff string, limit int) {
	all := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	for i, line := range all {
		if limit > 0 && i == limit {
			s.Line(Dim, indent+"… "+Count(len(all)-limit, "more line"))
			return
		}
		s.Verbatim(DiffStyle(line), indent+line)
	}
}

// DiffStyle is the style of one line of a unified diff.
func DiffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return Bold
	case strings.HasPrefix(line, "+"):
		return Good
	case strings.HasPrefix(line, "-"):
		return Bad
	case strings.HasPrefix(line, "@@"):
		return Dim
	}
	return Normal
}

// callText is the call in short: the first line of its label, target or input.
func callText(e engine.ToolReady) string {
	return firstLine(cmp.Or(e.Label, e.Target, e.Input), maxTarget)
}

// resultText is a result in a few words.
func resultText(e engine.ToolEnded) string {
	r := e.Result
	text := r.Result.ResultText()
	switch {
	case r.Result.IsError:
		if r.Output != nil && r.Output.Summary != "" {
			return oneLine(r.Output.Summary)
		}
		return firstLine(strings.TrimPrefix(text, "Error: "+r.Name+" failed: "), maxResult)
	case r.Output != nil && r.Output.Summary != "":
		return oneLine(r.Output.Summary)
	}
	n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return Count(n, "line")
}

// Count is a number of things: "1 line", "2 lines".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func firstLine(s string, limit int) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	runes := []rune(core.Visible(line))
	if len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	if more {
		return string(runes) + " …"
	}
	return string(runes)
}

// How many characters of a call's name, of its target and of a failure are shown;
// a model may call anything.
const (
	maxName   = 60
	maxTarget = 120
	maxResult = 200
)

// indented keeps a text's further lines apart from lines that say something else.
func indented(s string) string { return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") }

// oneLine makes a text of several lines one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// EndInWords says how a turn ended that was not simply done.
func EndInWords(r *engine.TurnResult) string {
	switch r.End {
	case core.EndDone:
		return "done"
	case core.EndMaxSteps:
		return "stopped after " + Count(r.Steps, "step") + ", the limit (limits.maxSteps, --max-turns)"
	case core.EndTokenBudget:
		return "stopped: the token budget is spent (limits.tokenBudget)"
	case core.EndSpend:
		return "stopped: the money for this session is spent (limits.spendUsd, --max-spend-usd)"
	case core.EndRepeatedCalls:
		return "stopped: the model made the same call three times with the same result"
	case core.EndNoAnswer:
		return "stopped: the model gave no answer that fits the schema (--json-schema)"
	case core.EndMaxTokens:
		return "stopped: the response was cut at the output limit three times"
	case core.EndRefusal:
		return "stopped: the model refused"
	case core.EndTimeout:
		return "stopped: the time limit was reached (--timeout)"
	case core.EndInterrupted:
		return "interrupted"
	case core.EndError:
	}
	return "ended by an error"
}
