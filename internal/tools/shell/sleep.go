package shell

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/tool"
)

//go:embed sleep.md
var sleepDescription string

type sleep struct{}

type sleepInput struct {
	Seconds int `json:"seconds"`
}

const sleepSchema = `{"type":"object","properties":{"seconds":{"type":"integer","minimum":1,"maximum":600}},"required":["seconds"],"additionalProperties":false}`

func (sleep) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "sleep", Description: strings.TrimSpace(sleepDescription),
		Class: tool.ClassRead, Set: "tasks", Schema: json.RawMessage(sleepSchema),
	}
}

func (sleep) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in := &sleepInput{}
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return &tool.Plan{Label: fmt.Sprintf("%d s", in.Seconds), ReadOnly: true, Parallel: true, Input: in}, nil
}

// errSlept ends a sleep that nothing has ended before.
var errSlept = errors.New("slept long enough")

func (sleep) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*sleepInput)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	clock := c.Env.Clock
	began := clock.Now()
	ctx, cancel := core.Within(ctx, clock, time.Duration(in.Seconds)*time.Second, errSlept)
	defer cancel()
	var why string
	var err error
	if notes := c.Env.Notes; notes != nil {
		why, err = notes.Next(ctx)
	} else { // nothing happens beside the call
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errSlept) {
		return nil, err
	}
	text := "Waited " + age(clock.Now().Sub(began))
	if why != "" {
		text += ", and not longer: " + why
	}
	return &tool.Output{Text: text + ".", Summary: text}, nil
}
