package shell

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"garuda/internal/tool"
)

//go:embed sleep.md
var sleepDescription string

type sleep struct{ background *Background }

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

func (s sleep) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*sleepInput)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	clock := s.background.clock
	began := clock.Now()
	wake := make(chan string, 1)
	quit := make(chan struct{})
	defer close(quit)
	for _, j := range s.background.list() {
		if j.over() {
			continue
		}
		go func() {
			select {
			case <-j.ended:
				select {
				case wake <- j.id:
				default: // something else was quicker
				}
			case <-quit:
			}
		}()
	}
	stop := clock.AfterFunc(time.Duration(in.Seconds)*time.Second, func() {
		select {
		case wake <- "":
		default: // something else was quicker
		}
	})
	defer stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case id := <-wake:
		text := fmt.Sprintf("Waited %s.", age(clock.Now().Sub(began)))
		if id != "" {
			if j, err := s.background.get(id); err == nil {
				text += " " + id + " ended: " + j.state(clock.Now()) + "."
			}
		}
		return &tool.Output{Text: text, Summary: strings.TrimSuffix(text, ".")}, nil
	}
}
