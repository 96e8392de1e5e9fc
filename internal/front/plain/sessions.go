package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"garuda/internal/front/lines"
)

// confirm is a command that waits for a yes.
type confirm struct {
	// undone is what is said after a no.
	undone string
	do     func(ctx context.Context) error
	// other are further answers; hint is what can be answered then, and keys the
	// letters of it, before the cursor.
	other      map[string]func(ctx context.Context) error
	hint, keys string
}

func (c *chat) confirmLine(ctx context.Context, text string) {
	waiting := c.confirm
	answer := strings.ToLower(strings.TrimSpace(text))
	if do, ok := waiting.other[answer]; ok {
		waiting, answer = &confirm{do: do}, "y"
	}
	switch answer {
	case "y", "yes":
		c.confirm = nil
		if err := waiting.do(ctx); err != nil {
			c.fail(err)
		}
	case "n", "no", "":
		c.confirm = nil
		c.say(waiting.undone)
	default:
		c.say("answer with " + cmp.Or(waiting.hint, "y or n"))
	}
}

func runNew(ctx context.Context, c *chat, _ string) error {
	level := c.session.Thinking()
	if err := c.call(ctx, c.o.Host.New); err != nil {
		return fmt.Errorf("begin a new session: %w", err)
	}
	c.keepThinking(level)
	c.say("new session " + c.o.Host.Current().ID())
	return nil
}

func runSessions(ctx context.Context, c *chat, ref string) error {
	if ref == "" {
		return c.listSessions(ctx)
	}
	info, err := c.findSession(ctx, ref)
	if err != nil {
		return err
	}
	if info.ID == c.session.ID() {
		c.say("that session is open already")
		return nil
	}
	var notices []string
	err = c.call(ctx, func(ctx context.Context) (err error) {
		notices, err = c.o.Host.Resume(ctx, info.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("open session %s: %w", info.ID, err)
	}
	c.notices(notices)
	c.say(fmt.Sprintf("opened %s (%s), %s", sessionName(info), info.ID, turns(info.Turns)))
	c.follow(ctx)
	c.takeUpTodos()
	return nil
}

func (c *chat) fetchSessions(ctx context.Context) error {
	return c.call(ctx, func(ctx context.Context) error {
		list, err := c.o.Host.Sessions(ctx)
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		c.listedSessions = list
		return nil
	})
}

func (c *chat) listSessions(ctx context.Context) error {
	if err := c.fetchSessions(ctx); err != nil {
		return err
	}
	if len(c.listedSessions) == 0 {
		c.say("there are no sessions here yet")
	}
	for i, info := range c.listedSessions {
		open := ""
		if info.ID == c.session.ID() {
			open = "  ● open"
		}
		c.screen.Line(lines.Normal, fmt.Sprintf("%4d  %s%s", i+1, sessionName(info), open))
		c.screen.Line(lines.Dim, "      "+strings.Join([]string{
			info.Time.Format("2006-01-02 15:04"), turns(info.Turns), oneLine(info.Model), sessionCost(info), info.ID,
		}, " · "))
	}
	return nil
}

// findSession reads a number of the list that was shown last, so that a number
// never means another session than the one that the person saw.
func (c *chat) findSession(ctx context.Context, ref string) (SessionInfo, error) {
	const largest = 99 // above it a number is the beginning of an id
	if n, err := strconv.Atoi(ref); err == nil && n >= 0 && n <= largest {
		if c.listedSessions == nil {
			if err := c.fetchSessions(ctx); err != nil {
				return SessionInfo{}, err
			}
		}
		if n == 0 || n > len(c.listedSessions) {
			return SessionInfo{}, fmt.Errorf("there is no session number %d; /sessions lists them", n)
		}
		return c.listedSessions[n-1], nil
	}
	var info SessionInfo
	err := c.call(ctx, func(ctx context.Context) (err error) {
		info, err = c.o.Host.Find(ctx, ref)
		return err
	})
	if err != nil {
		return SessionInfo{}, fmt.Errorf("find session %q: %w", ref, err)
	}
	return info, nil
}

func runRename(ctx context.Context, c *chat, args string) error {
	ref, title := cutWord(args)
	if title == "" {
		return errors.New("which session, and what is its name? /sessions rename 2 My title")
	}
	info, err := c.findSession(ctx, ref)
	if err != nil {
		return err
	}
	err = c.call(ctx, func(ctx context.Context) error { return c.o.Host.Rename(ctx, info.ID, title) })
	if err != nil {
		return fmt.Errorf("rename session %s: %w", info.ID, err)
	}
	c.say(fmt.Sprintf("%s is now named %s", info.ID, title))
	return nil
}

func runDelete(ctx context.Context, c *chat, ref string) error {
	if ref == "" {
		return errors.New("which session? /sessions delete 2")
	}
	info, err := c.findSession(ctx, ref)
	if err != nil {
		return err
	}
	if info.ID == c.session.ID() {
		return errors.New("the open session cannot be deleted; begin another one with /new first")
	}
	c.screen.Line(lines.Warn, fmt.Sprintf("? delete %s (%s), %s", sessionName(info), info.ID, turns(info.Turns)))
	c.confirm = &confirm{
		undone: "not deleted",
		do: func(ctx context.Context) error {
			err := c.call(ctx, func(ctx context.Context) error { return c.o.Host.Delete(ctx, info.ID) })
			if err != nil {
				return fmt.Errorf("delete session %s: %w", info.ID, err)
			}
			c.say("deleted " + info.ID)
			return nil
		},
	}
	return nil
}

func sessionName(info SessionInfo) string {
	switch {
	case info.Title != "":
		return oneLine(info.Title)
	case strings.TrimSpace(info.FirstPrompt) != "":
		return inShort(info.FirstPrompt)
	}
	return "(nothing asked yet)"
}

func turns(n int) string { return lines.Count(n, "turn") }

func sessionCost(info SessionInfo) string {
	switch {
	case !info.Cost.Known:
		return "cost unknown"
	case info.AtLeast:
		return "at least " + lines.Money(info.Cost.USD)
	}
	return lines.Money(info.Cost.USD)
}
