package tasks

import (
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"fmt"
	"strings"

	"garuda/internal/tool"
)

//go:embed task_get.md
var getDescription string

//go:embed task_list.md
var listDescription string

type (
	get  struct{}
	list struct{}
)

type getInput struct {
	ID string `json:"id"`
}

type listInput struct{}

const (
	getSchema  = `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`
	listSchema = `{"type":"object","properties":{},"additionalProperties":false}`
)

func (get) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "task_get", Description: strings.TrimSpace(getDescription),
		Class: tool.ClassRead, Set: "tasks", Schema: json.RawMessage(getSchema),
	}
}

func (get) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[getInput](input)
	if err != nil {
		return nil, err
	}
	return &tool.Plan{Label: in.ID, ReadOnly: true, Parallel: true, Input: in}, nil
}

func (get) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*getInput)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	out := &tool.Output{}
	err := with(ctx, c.Env, func(l *items) error {
		i, err := l.find(in.ID)
		if err != nil {
			return err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s %s\nstatus: %s\n", i.ID, mark(i.Status), i.Subject, i.Status)
		if i.Owner != "" {
			fmt.Fprintf(&b, "owner: %s\n", i.Owner)
		}
		for _, side := range []struct {
			name string
			ids  []string
		}{{"blocked by", i.BlockedBy}, {"blocks", l.blocks(i.ID)}} {
			if len(side.ids) > 0 {
				fmt.Fprintf(&b, "%s: %s\n", side.name, l.states(side.ids))
			}
		}
		if i.Description != "" {
			b.WriteString("\n" + i.Description)
		}
		out.Text, out.Summary = strings.TrimSuffix(b.String(), "\n"), i.Status
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// states names items with their state.
func (l *items) states(ids []string) string {
	var found []*item
	for _, id := range ids {
		if i, err := l.find(id); err == nil {
			found = append(found, i)
		}
	}
	return inWords(found)
}

func (list) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "task_list", Description: strings.TrimSpace(listDescription),
		Class: tool.ClassRead, Set: "tasks", Schema: json.RawMessage(listSchema),
	}
}

func (list) Plan(context.Context, *tool.Env, json.RawMessage) (*tool.Plan, error) {
	return &tool.Plan{ReadOnly: true, Parallel: true, Label: "items"}, nil
}

func (list) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	out := &tool.Output{Text: "There are no items.", Summary: "none"}
	err := with(ctx, c.Env, func(l *items) error {
		if len(l.Items) > 0 {
			out.Text, out.Summary = l.lines(l.Items), many(len(l.Items), "item")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
