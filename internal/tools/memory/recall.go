package memory

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"garuda/internal/tool"
)

// recalled is how many facts recall shows.
const recalled = 15

//go:embed recall.md
var recallDescription string

type recall struct{ store *Store }

type recallInput struct {
	Query string `json:"query,omitempty"`
}

const recallSchema = `{"type":"object","properties":{"query":{"type":"string"}},"additionalProperties":false}`

func (recall) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "recall", Description: strings.TrimSpace(recallDescription),
		Class: tool.ClassRead, Schema: json.RawMessage(recallSchema),
	}
}

func (recall) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[recallInput](input)
	if err != nil {
		return nil, err
	}
	return &tool.Plan{Target: oneLine(in.Query), ReadOnly: true, Parallel: true, Input: in}, nil
}

func (r recall) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*recallInput)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	m, err := r.store.Load()
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(in.Query))
	known := m.Trusted()
	found := slices.DeleteFunc(slices.Clone(known), func(f Fact) bool {
		return slices.ContainsFunc(words, func(w string) bool { return !f.has(w) })
	})
	slices.Reverse(found)
	all := len(found)
	found = found[:min(all, recalled)]
	if len(words) > 0 && len(found) > 0 {
		if err := r.store.hit(ctx, found); err != nil {
			slog.Warn("the facts that were recalled are not counted", "error", err)
		}
	}
	return &tool.Output{Text: recallText(words, found, all, len(known), len(m.Foreign())), Summary: count(all)}, nil
}

func recallText(words []string, found []Fact, all, known, foreign int) string {
	var b strings.Builder
	switch {
	case known == 0:
		b.WriteString("Nothing is remembered of this project.\n")
	case all == 0:
		fmt.Fprintf(&b, "None of %s has all of these words: %s. Try fewer, or none for the newest.\n", count(known), strings.Join(words, ", "))
	case all > len(found):
		fmt.Fprintf(&b, "The newest %d of %s; more words find fewer:\n", len(found), count(all))
	}
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	if foreign > 0 {
		fmt.Fprintf(&b, "[%s of the file left out: Garuda did not write them here, and the user has not said yes to them (/memory)]\n", count(foreign))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
