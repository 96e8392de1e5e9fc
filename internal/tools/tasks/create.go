package tasks

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/tool"
)

//go:embed task_create.md
var createDescription string

type create struct{}

type createInput struct {
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
}

const createSchema = `{"type":"object","properties":{"subject":{"type":"string"},"description":{"type":"string"}},` +
	`"required":["subject"],"additionalProperties":false}`

func (create) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "task_create", Description: strings.TrimSpace(createDescription),
		Class: tool.ClassSession, Set: "tasks", Schema: json.RawMessage(createSchema),
	}
}

func (create) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[createInput](input)
	if err != nil {
		return nil, err
	}
	if in.Subject, err = text("subject", in.Subject, maxSubject); err != nil {
		return nil, err
	}
	if in.Subject == "" {
		return nil, errors.New("the subject is empty; say in a few words what is to be done")
	}
	if n := utf8.RuneCountInString(in.Description); n > maxDescription {
		return nil, fmt.Errorf("the description has %d characters, at most %d; put the rest into a file and name it", n, maxDescription)
	}
	in.Description = core.Visible(strings.TrimSpace(in.Description))
	return &tool.Plan{Target: in.Subject, Input: in}, nil
}

func (create) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*createInput)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	out := &tool.Output{}
	err := with(ctx, c.Env, func(l *items) error {
		made, dropped, err := l.add(in.Subject, in.Description)
		if err != nil {
			return err
		}
		out.Text, out.Summary = "Created "+l.line(made), made.ID
		if dropped != nil {
			out.Text += fmt.Sprintf("\n%s (%s) was dropped to make room.", dropped.ID, dropped.Status)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
