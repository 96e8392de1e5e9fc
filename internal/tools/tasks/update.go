package tasks

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"strings"

	"garuda/internal/tool"
)

//go:embed task_update.md
var updateDescription string

type update struct{}

type updateInput struct {
	ID     string  `json:"id"`
	Status string  `json:"status,omitempty"`
	Owner  *string `json:"owner,omitempty"`
	// Blocks and BlockedBy are nil where nothing was said of them.
	Blocks    []string `json:"blocks,omitempty"`
	BlockedBy []string `json:"blocked_by,omitempty"`
}

const updateSchema = `{"type":"object","properties":{"id":{"type":"string"},` +
	`"status":{"type":"string","enum":["pending","in_progress","completed","stopped"]},"owner":{"type":"string"},` +
	`"blocks":{"type":"array","items":{"type":"string"}},"blocked_by":{"type":"array","items":{"type":"string"}}},` +
	`"required":["id"],"additionalProperties":false}`

func (update) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "task_update", Description: strings.TrimSpace(updateDescription),
		Class: tool.ClassSession, Set: "tasks", Schema: json.RawMessage(updateSchema),
	}
}

func (update) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[updateInput](input)
	if err != nil {
		return nil, err
	}
	if in.Status == "" && in.Owner == nil && in.Blocks == nil && in.BlockedBy == nil {
		return nil, errors.New("nothing is to be changed; give a status, an owner, blocks or blocked_by")
	}
	if in.Owner != nil {
		if *in.Owner, err = text("owner", *in.Owner, maxOwner); err != nil {
			return nil, err
		}
	}
	return &tool.Plan{Label: strings.TrimSpace(in.ID + " " + in.Status), Input: in}, nil
}

func (update) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*updateInput)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	out := &tool.Output{}
	err := with(ctx, c.Env, func(l *items) error {
		i, err := l.find(in.ID)
		if err != nil {
			return err
		}
		freed, err := l.apply(i, in)
		if err != nil {
			return err
		}
		out.Text, out.Summary = l.line(i), i.Status
		if len(freed) > 0 {
			out.Text += "\nNothing to wait for any more:\n" + l.lines(freed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// apply makes the changes, the dependencies first: what an item waits for decides
// whether it may begin.
func (l *items) apply(i *item, in *updateInput) (freed []*item, err error) {
	if in.BlockedBy != nil {
		if err := l.setBlockedBy(i, in.BlockedBy); err != nil {
			return nil, err
		}
	}
	if in.Blocks != nil {
		if err := l.setBlocks(i, in.Blocks); err != nil {
			return nil, err
		}
	}
	if in.Owner != nil {
		i.Owner = *in.Owner
	}
	if in.Status == "" {
		return nil, nil
	}
	return l.setStatus(i, in.Status)
}
