package shell

import (
	"cmp"
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

//go:embed process_manager.md
var managerDescription string

type processManager struct{ background *Background }

type managerInput struct {
	Action string `json:"action"`
	ID     string `json:"id,omitempty"`
	Lines  int    `json:"lines,omitempty" jsonschema:"of logs, newest; 50 without it"`
	Stream string `json:"stream,omitempty"`
}

const managerSchema = `{"type":"object","properties":{"action":{"type":"string","enum":["list","status","logs","kill"]},"id":{"type":"string"},` +
	`"lines":{"type":"integer","minimum":1,"maximum":2000,"description":"of logs, newest; 50 without it"},` +
	`"stream":{"type":"string","enum":["stdout","stderr"]}},"required":["action"],"additionalProperties":false}`

const defaultLogLines = 50

func (processManager) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "process_manager", Description: strings.TrimSpace(managerDescription),
		Class: tool.ClassRead, Set: "tasks", Schema: json.RawMessage(managerSchema),
	}
}

func (m processManager) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in := &managerInput{}
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	if in.Action != "list" {
		if in.ID == "" {
			return nil, fmt.Errorf("%s needs the id of a background command; list shows them", in.Action)
		}
		if _, err := m.background.get(in.ID); err != nil {
			return nil, err
		}
	}
	label := strings.TrimSpace(in.Action + " " + in.ID)
	return &tool.Plan{Target: label, ReadOnly: in.Action != "kill", Parallel: in.Action != "kill", Input: in}, nil
}

func (m processManager) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*managerInput)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	now := m.background.clock.Now()
	if in.Action == "list" {
		return m.list(now), nil
	}
	if in.Action == "kill" {
		said, err := m.background.Stop(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return &tool.Output{Text: said, Summary: "ended"}, nil
	}
	j, err := m.background.get(in.ID)
	if err != nil {
		return nil, err
	}
	if in.Action == "logs" {
		return j.logs(in, now), nil
	}
	return &tool.Output{Text: j.line(now), Summary: j.state(now)}, nil
}

func (m processManager) list(now time.Time) *tool.Output {
	jobs := m.background.list()
	if len(jobs) == 0 {
		return &tool.Output{Text: "No background commands.", Summary: "none"}
	}
	var lines []string
	for _, j := range jobs {
		lines = append(lines, j.line(now))
	}
	return &tool.Output{Text: strings.Join(lines, "\n"), Summary: commands(len(jobs))}
}

// line is a job on one line.
func (j *job) line(now time.Time) string {
	return fmt.Sprintf("%s  pid %d  %s  %s", j.id, j.pid, j.shown(now), j.brief())
}

// brief is the command's text on one line, cut.
func (j *job) brief() string { return core.Cut(strings.Join(strings.Fields(j.text), " "), briefLimit) }

func (j *job) logs(in *managerInput, now time.Time) *tool.Output {
	n := cmp.Or(in.Lines, defaultLogLines)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", j.id, j.shown(now))
	empty := true
	for i, name := range [2]string{"stdout", "stderr"} {
		if in.Stream != "" && in.Stream != name {
			continue
		}
		text, before := j.tail(i, n)
		if text == "" {
			continue
		}
		empty = false
		switch {
		case before > 0:
			fmt.Fprintf(&b, "[%s: the newest %d lines of %d]\n", name, n, n+before)
		case before < 0:
			fmt.Fprintf(&b, "[%s: the newest lines; much came before them]\n", name)
		}
		writeStream(&b, name, text, "", 0)
	}
	if empty {
		b.WriteString("(no output yet)\n")
	}
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: j.state(now)}
}

func commands(n int) string {
	if n == 1 {
		return "1 command"
	}
	return fmt.Sprintf("%d commands", n)
}
