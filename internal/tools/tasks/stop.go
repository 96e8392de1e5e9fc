package tasks

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/tool"
)

//go:embed task_stop.md
var stopDescription string

type stop struct{ sources []Source }

type stopInput struct {
	ID string `json:"id"`
}

func (stop) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "task_stop", Description: strings.TrimSpace(stopDescription),
		Class: tool.ClassRead, Set: "tasks", Schema: json.RawMessage(getSchema),
	}
}

// stopPlan is what would be ended: an item, or what a source knows.
type stopPlan struct {
	id     string
	source Source
}

// Plan finds what the id names. The call changes what the session started itself,
// and so is allowed, but not in plan mode.
func (s stop) Plan(ctx context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[stopInput](input)
	if err != nil {
		return nil, err
	}
	id := strings.TrimSpace(in.ID)
	p := &stopPlan{id: id}
	for _, source := range s.sources {
		if source.Has(id) {
			p.source = source
		}
	}
	if p.source == nil {
		if err := s.checkItem(ctx, env, id); err != nil {
			return nil, err
		}
	}
	return &tool.Plan{Label: id, Input: p}, nil
}

// checkItem fails where no item has the id, naming what could be stopped.
func (s stop) checkItem(ctx context.Context, env *tool.Env, id string) error {
	err := with(ctx, env, func(l *items) error {
		for _, i := range l.Items {
			if i.ID == id {
				return nil
			}
		}
		var open []*item
		for _, i := range l.Items {
			if !i.over() {
				open = append(open, i)
			}
		}
		return s.unknown(id, l.lines(open))
	})
	if errors.Is(err, errNoKeeper) {
		return s.unknown(id, "")
	}
	return err
}

func (s stop) unknown(id, items string) error {
	var running []string
	for _, source := range s.sources {
		for _, w := range source.Running() {
			running = append(running, w.ID+" "+firstWords(w.Text))
		}
	}
	out := fmt.Sprintf("nothing has the id %q, and nothing runs", id)
	if len(running) > 0 {
		out = fmt.Sprintf("nothing has the id %q; running:\n%s", id, strings.Join(running, "\n"))
	}
	if items != "" {
		out += "\nopen items:\n" + items
	}
	return errors.New(out)
}

// firstWords is a text on one line, in short.
func firstWords(s string) string { return core.Cut(strings.Join(strings.Fields(s), " "), 100) }

func (s stop) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	p, ok := c.Plan.Input.(*stopPlan)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	if p.source != nil {
		said, err := p.source.Stop(ctx, p.id)
		if err != nil {
			return nil, err
		}
		return &tool.Output{Text: said, Summary: "stopped"}, nil
	}
	out := &tool.Output{Summary: "stopped"}
	err := with(ctx, c.Env, func(l *items) error {
		i, err := l.find(p.id)
		if err != nil {
			return err
		}
		if i.over() {
			out.Text = i.ID + " is over already: " + i.Status + "."
			return nil
		}
		if _, err := l.setStatus(i, stopped); err != nil {
			return err
		}
		out.Text = i.ID + " is stopped."
		if waiting := l.blocks(i.ID); len(waiting) > 0 {
			out.Text += " It still blocks " + strings.Join(waiting, ", ") + ": change their blocked_by, or stop them too."
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
