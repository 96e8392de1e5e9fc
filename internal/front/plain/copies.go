package plain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"garuda/internal/front/lines"
)

// runFork goes on in a copy of the open session, of all of it or up to a step.
func runFork(ctx context.Context, c *chat, args string) error {
	step := 0
	if args = strings.TrimSpace(args); args != "" {
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no step: /fork copies all of the session, /fork 3 its first three steps", args)
		}
		step = n
	}
	before := c.session.ID()
	var notices []string
	err := c.call(ctx, func(ctx context.Context) (err error) {
		notices, err = c.o.Host.Fork(ctx, step)
		return err
	})
	if err != nil {
		return fmt.Errorf("copy the session: %w", err)
	}
	c.notices(notices)
	c.say(fmt.Sprintf("this is %s now; %s stays as it is", c.o.Host.Current().ID(), before))
	c.follow(ctx)
	c.takeUpTodos()
	return nil
}

// runExport writes the open session as Markdown into a new file of the project.
func runExport(ctx context.Context, c *chat, name string) error {
	name = strings.TrimSpace(name)
	if name == "" {
		name = c.session.ID() + ".md"
	}
	err := c.call(ctx, func(ctx context.Context) error { return c.o.Host.Export(ctx, name) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("export to %s: the file exists already, and is not overwritten", name)
	}
	if err != nil {
		return fmt.Errorf("export to %s: %w", name, err)
	}
	c.say("written to " + name)
	return nil
}

// runSession says which session is open.
func runSession(_ context.Context, c *chat, _ string) error {
	t := c.session.Totals()
	cost := "cost unknown"
	if t.Cost.Known {
		cost = lines.Money(t.Cost.USD)
	}
	c.say(strings.Join([]string{
		c.session.ID(), turns(t.Turns), lines.Count(t.Steps, "step"), oneLine(c.session.Model().Spec), cost,
	}, " · "))
	return nil
}
