package memory

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"garuda/internal/tool"
)

//go:embed forget.md
var forgetDescription string

type forget struct{ store *Store }

type forgetInput struct {
	Text string `json:"text"`
}

const forgetSchema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`

func (forget) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "forget", Description: strings.TrimSpace(forgetDescription),
		Class: tool.ClassInput, Schema: json.RawMessage(forgetSchema),
	}
}

// minText is how short the text may be; one letter would be in nearly all facts.
const minText = 2

// forgetPlan is what would be deleted.
type forgetPlan struct {
	lower string
	facts []Fact
}

func (t forget) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[forgetInput](input)
	if err != nil {
		return nil, err
	}
	text := oneLine(in.Text)
	if utf8.RuneCountInString(text) < minText {
		return nil, errors.New("the text is too short to say which facts are meant; take some words of theirs")
	}
	lines, err := t.store.lines()
	if err != nil {
		return nil, err
	}
	p := &forgetPlan{lower: strings.ToLower(text)}
	for _, l := range matching(lines, p.lower) {
		p.facts = append(p.facts, l.Fact)
	}
	if len(p.facts) == 0 {
		return nil, fmt.Errorf("none of %s holds %q; recall shows what is remembered", count(len(lines)), text)
	}
	return &tool.Plan{
		Target: text, Label: text + " (" + count(len(p.facts)) + ")", Preview: listed("-", p.facts),
		Destructive: true, Input: p,
	}, nil
}

func (t forget) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	p, ok := c.Plan.Input.(*forgetPlan)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	if err := t.store.remove(ctx, p.lower, p.facts); err != nil {
		return nil, err
	}
	return &tool.Output{Text: forgotText(p.facts), Summary: "forgot " + count(len(p.facts))}, nil
}

// forgotText names the facts that counted. What nobody has said yes to was for the
// person's eyes only, and does not reach the model by being deleted.
func forgotText(facts []Fact) string {
	m := Memory{Facts: facts}
	lines := []string{"Forgot " + count(len(facts)) + ":"}
	if known := m.Trusted(); len(known) > 0 {
		lines = append(lines, listed("", known))
	}
	if n := len(m.Foreign()); n > 0 {
		lines = append(lines, fmt.Sprintf("[%s that the user had not said yes to, whose text is not shown]", count(n)))
	}
	return strings.Join(lines, "\n")
}

func listed(mark string, facts []Fact) string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = mark + f.String()
	}
	return strings.Join(out, "\n")
}
