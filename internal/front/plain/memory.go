package plain

import (
	"context"
	"fmt"

	"garuda/internal/front/lines"
)

// Fact is one line of the project's memory.
type Fact struct {
	Kind, Text string
	// Hits is how often the model has recalled it.
	Hits int
	// Trusted facts count; the others wait for the person's yes.
	Trusted bool
}

// runMemory shows the memory, and asks about what did not come from here.
func runMemory(ctx context.Context, c *chat, _ string) error {
	var facts []Fact
	if err := c.call(ctx, func(ctx context.Context) (err error) {
		facts, err = c.o.Host.Memory(ctx)
		return err
	}); err != nil {
		return fmt.Errorf("show the memory: %w", err)
	}
	if len(facts) == 0 {
		c.say("nothing is remembered of this project")
		return nil
	}
	var foreign []Fact
	for _, f := range facts {
		text := "  [" + f.Kind + "] " + f.Text
		style := lines.Normal
		switch {
		case !f.Trusted:
			foreign = append(foreign, f)
			text, style = text+"  (left out)", lines.Warn
		case f.Hits > 0:
			text += fmt.Sprintf("  (recalled %d×)", f.Hits)
		}
		c.screen.Line(style, text)
	}
	if len(foreign) == 0 {
		return nil
	}
	c.screen.Line(lines.Warn, "? "+lines.Count(len(foreign), "fact")+" not written by Garuda on this machine: shall the model be told?")
	c.confirm = &confirm{undone: "left out", do: func(ctx context.Context) error { return c.trust(ctx, foreign) }}
	return nil
}

func (c *chat) trust(ctx context.Context, facts []Fact) error {
	loaded := false
	if err := c.call(ctx, func(ctx context.Context) (err error) {
		loaded, err = c.o.Host.TrustMemory(ctx, facts)
		return err
	}); err != nil {
		return fmt.Errorf("take up the memory: %w", err)
	}
	c.follow(ctx)
	if loaded {
		c.say("the model is told of " + lines.Count(len(facts), "more fact"))
	} else {
		c.say("the model is told of them in the next session (/new)")
	}
	return nil
}
