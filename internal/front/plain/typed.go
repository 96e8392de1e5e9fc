package plain

import (
	"context"
	"errors"
	"strings"

	"garuda/internal/engine"
	"garuda/internal/front/lines"
)

// line takes one line of the input; more is false at its end.
func (c *chat) line(ctx context.Context, l typedLine, more bool) {
	if !more {
		c.endOfInput(ctx)
		return
	}
	if c.o.IsTerminal {
		c.screen.Elsewhere(false) // the terminal has shown the line, and the Enter
	}
	switch {
	case l.ends:
		c.inputErr = l.err
	case l.err != nil:
		c.fail(l.err)
	case c.question != nil:
		c.answerLine(ctx, l)
	case c.confirm != nil:
		c.confirmLine(ctx, l.text)
	case c.handOff != nil:
		c.handOffLine(ctx, l)
	default:
		c.enter(ctx, l.text)
	}
}

// enter takes a line that is part of a prompt or a command.
func (c *chat) enter(ctx context.Context, text string) {
	if begun, more := strings.CutSuffix(text, `\`); more {
		c.partial += begun + "\n"
		return
	}
	text, c.partial = c.partial+text, ""
	if strings.TrimSpace(text) == "" {
		return
	}
	cmd, args, err := parseCommand(text)
	switch {
	case c.idle():
		c.start(ctx, text, !c.o.IsTerminal)
	case err != nil:
		c.fail(err)
	case cmd != nil && cmd.whileBusy != nil && cmd.whileBusy(args):
		c.command(ctx, cmd, args)
	default:
		c.queue = append(c.queue, text)
		c.session.MessageWaits()
		c.say("queued: " + inShort(text))
	}
}

// takeQueued starts what waited, until something runs again.
func (c *chat) takeQueued(ctx context.Context) {
	for len(c.queue) > 0 && c.idle() && !c.leaving {
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.start(ctx, next, true)
	}
}

// start runs a command or sends a prompt. With echo the text is shown first,
// where it does not stand on the screen already.
func (c *chat) start(ctx context.Context, text string, echo bool) {
	if echo {
		c.screen.Line(lines.Bold, "› "+text)
	}
	cmd, args, err := parseCommand(text)
	switch {
	case err != nil:
		c.fail(err)
	case cmd != nil:
		c.command(ctx, cmd, args)
	case strings.TrimSpace(text) == "!":
		c.fail(errors.New("say which command: !git status"))
	case shellLine(text) != "":
		c.shell(shellLine(text))
	default:
		c.submit(text)
	}
}

func (c *chat) submit(text string) {
	c.busy = true
	c.session.Submit(engine.Prompt{Text: strings.TrimRight(text, " \t\n")})
}

// runSteer gives the running turn a message; without one it is a prompt.
func runSteer(_ context.Context, c *chat, text string) error {
	switch {
	case text == "":
		return errors.New("say something: /steer TEXT")
	case c.idle():
		c.submit(text)
	default:
		c.session.Steer(engine.Prompt{Text: text})
		c.say("for the next step: " + inShort(text))
	}
	return nil
}

// endOfInput ends the chat once what was asked for is done.
func (c *chat) endOfInput(ctx context.Context) {
	c.inputEnded, c.handOff = true, nil
	if c.partial != "" {
		text := c.partial
		c.partial = ""
		c.enter(ctx, strings.TrimSuffix(text, "\n"))
	}
	switch {
	case c.question != nil:
		c.unanswered("the input ended while the question waited")
	case c.confirm != nil:
		c.confirmLine(ctx, "n")
	}
	if c.busy && c.o.IsTerminal {
		c.say("the chat ends after this turn; Ctrl-C stops it")
	}
}

// inShort is the first line of a text, for a line that only names it.
func inShort(text string) string {
	const limit = 100
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	if more {
		line += " …"
	}
	return line
}
