package plain

import (
	"context"
	"fmt"
	"strings"

	"garuda/internal/engine"
	"garuda/internal/front/lines"
)

// runCompact sums the older part of the conversation up.
func runCompact(_ context.Context, c *chat, focus string) error {
	if err := c.session.Compact(focus); err != nil {
		return fmt.Errorf("sum the conversation up: %w", err)
	}
	c.busy, c.aside = true, true
	c.say("Ctrl-C leaves the conversation as it is")
	return nil
}

// runContext shows what fills the model's window.
func runContext(_ context.Context, c *chat, _ string) error {
	use, err := c.session.Context()
	if err != nil {
		return fmt.Errorf("show what fills the window: %w", err)
	}
	percent := func(n int) string {
		const whole = 100
		return fmt.Sprintf("%d %%", n*whole/max(use.Window, 1))
	}
	row := func(name string, n int) []string { return []string{name, lines.Count(n, "token"), percent(n)} }
	var rows [][]string
	for _, p := range use.Parts {
		if p.Tokens > 0 {
			rows = append(rows, row(p.Name, p.Tokens))
		}
	}
	rows = append(rows, row("kept for the answer", use.Output), row("free", use.Free()))
	head := "about " + lines.Count(use.Used, "token") + " of a window of " + lines.Count(use.Window, "token")
	if use.Assumed {
		head += ", which is assumed: nobody knows the model's"
	}
	c.screen.Line(lines.Normal, head)
	for _, r := range table(rows) {
		c.screen.Line(lines.Normal, r)
	}
	if use.Used > use.DueAt {
		c.say("/compact sums the older part up; by itself that happens before the next step")
	} else {
		c.say("from " + lines.Count(use.DueAt, "token") + " on the older part is made smaller by itself; /compact does it now")
	}
	return nil
}

// shellLine is a line that runs a command of the person's own; "" for any other.
func shellLine(text string) string {
	command, is := strings.CutPrefix(strings.TrimSpace(text), "!")
	if !is {
		return ""
	}
	return strings.TrimSpace(command)
}

// shell runs a command line, and tells the model of it with the next message.
func (c *chat) shell(command string) {
	if err := c.session.Shell(command); err != nil {
		c.fail(fmt.Errorf("run %s: %w", inShort(command), err))
		return
	}
	c.busy, c.aside = true, true
}

// asideEnded goes on after a command line or a compaction.
func (c *chat) asideEnded(e engine.AsideEnded) {
	stopped := c.stopping
	c.busy, c.aside, c.stopping = false, false, false
	c.screen.EndLine()
	switch {
	case e.Err != nil:
		c.fail(e.Err)
	case e.Stopped || stopped:
		c.say("stopped")
	}
	if e.JournalErr != nil {
		c.fail(e.JournalErr)
	}
}
