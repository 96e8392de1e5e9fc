// Package lines turns a session's events into plain lines of text for people:
// the activity of the line chat and of headless runs, and the sums at the end.
//
// It never reads input, moves the cursor or knows the terminal's size.
package lines

import (
	"fmt"
	"io"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
)

// Activity prints what a session does, a line for each thing.
type Activity struct {
	Out io.Writer
	// Quiet hides results that went well.
	Quiet bool
	// Diffs shows what an edit wrote.
	Diffs bool

	midLine bool
	last    string // id of the call whose line was printed last
}

// BeforeText must be called before the model's text is written to the same screen.
func (a *Activity) BeforeText() { a.midLine = true }

// Show prints the event, if it is one that is told in a line.
func (a *Activity) Show(e engine.Event) {
	switch e := e.(type) {
	case engine.ToolReady:
		a.last = e.ID
		a.line("● " + e.Name + " " + callText(e))
	case engine.ToolProgress:
		a.line("  " + clean(e.Text))
	case engine.ToolEnded:
		a.ended(e)
	case engine.Retrying:
		a.line(fmt.Sprintf("! %s; attempt %d of %d in %s", clean(e.Err.Error()), e.Attempt+1, e.Max+1, e.Wait.Round(100*time.Millisecond)))
	case engine.Notice:
		a.line("! " + clean(e.Text))
	case engine.BudgetWarning:
		a.line("! " + clean(e.Text))
	case engine.BlockEnd:
		a.midLine = false
		if e.Discarded {
			a.line("! the response broke off; what was shown of it does not count")
		}
	}
}

func (a *Activity) ended(e engine.ToolEnded) {
	r := e.Result
	if a.Quiet && !r.Result.IsError {
		return
	}
	prefix := "  ⎿ "
	if a.last != r.ID {
		prefix = "  ⎿ " + r.Name + " " + firstLine(r.Target, 60) + ": "
	}
	a.line(prefix + resultText(e))
	if a.Diffs && r.Output != nil && r.Output.Diff != "" {
		a.line(strings.TrimRight(clean(r.Output.Diff), "\n"))
	}
}

func (a *Activity) line(text string) {
	if a.midLine {
		a.midLine = false
		fmt.Fprintln(a.Out)
	}
	fmt.Fprintln(a.Out, text)
}

// callText is the call in short: its target's first line.
func callText(e engine.ToolReady) string {
	if e.Target == "" {
		return firstLine(e.Input, 120)
	}
	return firstLine(e.Target, 120)
}

// resultText is a result in a few words.
func resultText(e engine.ToolEnded) string {
	r := e.Result
	text := r.Result.ResultText()
	switch {
	case r.Result.IsError:
		if r.Output != nil && r.Output.Summary != "" {
			return clean(r.Output.Summary)
		}
		return firstLine(strings.TrimPrefix(text, "Error: "+r.Name+" failed: "), 200)
	case r.Output != nil && r.Output.Summary != "":
		return clean(r.Output.Summary)
	}
	n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func firstLine(s string, limit int) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	runes := []rune(clean(line))
	if len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	if more {
		return string(runes) + " …"
	}
	return string(runes)
}

// clean makes text from outside safe to print: what could move the cursor, hide
// or reorder text is shown as its code.
func clean(s string) string { return core.Visible(s) }

// EndInWords says how a turn ended that was not simply done.
func EndInWords(r *engine.TurnResult) string {
	switch r.End {
	case core.EndDone:
		return "done"
	case core.EndMaxSteps:
		return fmt.Sprintf("stopped after %d steps, the limit (limits.maxSteps, --max-turns)", r.Steps)
	case core.EndTokenBudget:
		return "stopped: the token budget is spent (limits.tokenBudget)"
	case core.EndSpend:
		return "stopped: the money for this session is spent (limits.spendUsd, --max-spend-usd)"
	case core.EndRepeatedCalls:
		return "stopped: the model made the same call three times with the same result"
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

// Usage is the line at the end of a turn.
func Usage(r *engine.TurnResult, info *llm.Info) string {
	u := r.Usage
	atLeast := ""
	if u.Unreported > 0 {
		atLeast = "at least "
	}
	text := fmt.Sprintf("%s · %d steps · %s%d tokens in", r.End, r.Steps, atLeast, u.Input+u.CacheRead+u.CacheWrite)
	if u.CacheRead > 0 {
		text += fmt.Sprintf(" (%d from cache)", u.CacheRead)
	}
	text += fmt.Sprintf(", %d out", u.Output)
	if info.Price.Known {
		text += " · " + Money(r.Cost.USD)
	}
	return text
}

// Money shows US dollars, with more digits where they matter.
func Money(usd float64) string {
	if usd < 0.01 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
