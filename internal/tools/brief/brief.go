// Package brief holds the tool brief: what the session is about, from its records.
//
// It asks no model, reads no file and changes nothing.
package brief

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

//go:embed brief.md
var description string

// New returns the tool.
func New() []tool.Tool { return []tool.Tool{brief{}} }

type brief struct{}

type input struct{}

const schema = `{"type":"object","properties":{},"additionalProperties":false}`

func (brief) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "brief", Description: strings.TrimSpace(description),
		Class: tool.ClassRead, Set: "more", Schema: json.RawMessage(schema),
	}
}

func (brief) Plan(_ context.Context, env *tool.Env, _ json.RawMessage) (*tool.Plan, error) {
	if env.Briefer == nil {
		return nil, errors.New("there is no session to tell of: a call by hand has none; call it in a chat")
	}
	return &tool.Plan{Label: "this session", ReadOnly: true, Parallel: true}, nil
}

func (brief) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: text(c.Env.Briefer.Brief()), Summary: "told"}, nil
}

// shownFiles is how many files are named.
const shownFiles = 50

func text(b *tool.Brief) string {
	var out strings.Builder
	out.WriteString("Goal: " + b.Goal + "\n")
	if b.Now != "" {
		out.WriteString("Now: " + b.Now + "\n")
	}
	var done, open []string
	for _, a := range b.Answers {
		done = append(done, "- "+a)
	}
	for _, t := range b.Todos {
		if t.Status == core.TodoCompleted {
			done = append(done, t.String())
		} else {
			open = append(open, t.String())
		}
	}
	if b.Unfinished {
		open = append(open, "- the message of this turn")
	}
	section(&out, "Done", done)
	section(&out, "Open", open)
	var files []string
	for _, f := range b.Files[max(len(b.Files)-shownFiles, 0):] {
		line := "- " + f.Path
		if f.Changes > 1 {
			line += fmt.Sprintf(" (%d changes)", f.Changes)
		}
		files = append(files, line)
	}
	if n := len(b.Files) - len(files); n > 0 {
		files = append(files, fmt.Sprintf("- and %d changed before these", n))
	}
	section(&out, "Files changed by tools, the last one last (what commands changed is not among them)", files)
	return strings.TrimSuffix(out.String(), "\n")
}

func section(out *strings.Builder, name string, lines []string) {
	if len(lines) == 0 {
		lines = []string{"- nothing"}
	}
	out.WriteString(name + ":\n" + strings.Join(lines, "\n") + "\n")
}
