package plain

import (
	"fmt"
	"time"

	"garuda/internal/front/lines"
)

// thinking is the model's thinking that arrives now: a line that says so, or all
// of it where the person wants to see it.
type thinking struct {
	open bool
	// shown is true where the text itself is printed, below the line.
	shown bool
	since time.Time
	bytes int
	mark  int
}

// soFar is how long the model has thought, and about how much. Providers tell
// the tokens only with the whole response; until then four bytes are taken for one.
func (t *thinking) soFar(now time.Time) string {
	return fmt.Sprintf("%s · about %s", lines.Elapsed(now.Sub(t.since)), lines.Count((t.bytes+3)/4, "token"))
}

func (c *chat) think(text string) {
	if !c.thinking.open {
		c.screen.EndLine()
		c.screen.Text(lines.Dim, "thinking…")
		c.thinking = thinking{open: true, shown: c.showThinking, since: c.clock.Now()}
		if c.thinking.shown {
			c.screen.EndLine()
		}
		c.thinking.mark = c.screen.Mark()
	}
	c.thinking.bytes += len(text)
	if c.thinking.shown {
		c.screen.Text(lines.Dim, text)
	}
}

// thought ends the line, or the text, with what it came to.
func (c *chat) thought() {
	t := c.thinking
	c.thinking = thinking{}
	switch {
	case !t.open:
	case t.shown:
		c.screen.Line(lines.Dim, "thought for "+t.soFar(c.clock.Now()))
	case t.mark == c.screen.Mark():
		c.screen.Text(lines.Dim, " "+t.soFar(c.clock.Now())+"\n")
	}
}
