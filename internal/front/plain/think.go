package plain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/front/lines"
	"garuda/internal/llm"
	"garuda/internal/nearest"
)

// levels are what /think takes, but for "default".
func levels() []string {
	return []string{
		string(llm.ThinkOff), string(llm.ThinkLow), string(llm.ThinkMedium),
		string(llm.ThinkHigh), string(llm.ThinkXHigh), string(llm.ThinkMax),
	}
}

// levelDefault is the word for leaving it to the model.
const levelDefault = "default"

func runThink(_ context.Context, c *chat, args string) error {
	info, now := c.session.Model(), c.session.Thinking()
	switch {
	case args == "":
		c.sayThinking(info, now)
		return nil
	case args != levelDefault && !slices.Contains(levels(), args):
		if near := nearest.Of(args, append(levels(), levelDefault)); near != "" {
			return fmt.Errorf("there is no level %q; did you mean %s?", args, near)
		}
		return fmt.Errorf("there is no level %q; there are %s, and %s", args, strings.Join(levels(), ", "), levelDefault)
	case !info.Thinks && args != levelDefault && args != string(llm.ThinkOff):
		return cannotThink(info)
	}
	level := llm.ThinkingLevel(args)
	if args == levelDefault {
		level = llm.ThinkDefault
	}
	if level == now {
		c.say("thinking: " + levelInWords(level) + " already")
		return nil
	}
	if err := c.session.SetThinking(level); err != nil {
		return err
	}
	text := "thinking: " + levelInWords(level) + sentAs(info, level)
	if c.busy {
		text += ", from the next message on"
	}
	c.say(text)
	return nil
}

// sayThinking says what is set and what could be.
func (c *chat) sayThinking(info *llm.Info, now llm.ThinkingLevel) {
	c.say("thinking: " + levelInWords(now) + sentAs(info, now))
	switch {
	case !info.Thinks:
		c.say(cannotThink(info).Error())
		return
	case len(info.Efforts) > 0:
		c.say(info.Spec + " knows " + oneLine(strings.Join(info.Efforts, ", ")) + "; for another level the nearest of them counts")
	default:
		c.say(info.Spec + " thinks; which levels it tells apart is not known")
	}
	c.say("there are " + strings.Join(levels(), ", ") + ", and default; a change starts the provider's cache anew")
}

func levelInWords(level llm.ThinkingLevel) string {
	if level == llm.ThinkDefault {
		return "the model's own default"
	}
	return string(level)
}

// sentAs names the level that a model gets in place of one that it does not know.
func sentAs(info *llm.Info, level llm.ThinkingLevel) string {
	if !info.Thinks || level == llm.ThinkDefault || level == llm.ThinkOff {
		return ""
	}
	word := llm.Effort(level, info.Efforts)
	if word == "" || word == string(level) {
		return ""
	}
	return fmt.Sprintf(" (the nearest that %s knows is %s)", info.Spec, oneLine(word))
}

func cannotThink(info *llm.Info) error {
	return fmt.Errorf(`%s is not known to think, so there is no level to set; where it does, say "thinking": true for it under models in models.json`, info.Spec)
}

func runThinking(ctx context.Context, c *chat, args string) error {
	switch args {
	case "":
		if c.showThinking {
			c.say("what the model thinks is shown; /thinking hide leaves a line of it")
		} else {
			c.say("what the model thinks is not shown, only that it does; /thinking show shows it")
		}
		return nil
	case "show":
		c.showThinking = true
		c.say("what the model thinks is shown from here on (thinking.show in your settings: always)")
		return nil
	case "hide":
		c.showThinking = false
		c.say("what the model thinks is not shown from here on, only that it does")
		return nil
	}
	if args == levelDefault || slices.Contains(levels(), args) {
		return runThink(ctx, c, args)
	}
	return fmt.Errorf("/thinking takes show or hide, not %q; /think sets how much the model thinks", args)
}

// keepThinking takes the level that was chosen before into a new session.
func (c *chat) keepThinking(level llm.ThinkingLevel) {
	s := c.o.Host.Current()
	if s.Thinking() == level {
		return
	}
	if err := s.SetThinking(level); err != nil {
		c.screen.Line(lines.Warn, "! "+err.Error())
	}
}
