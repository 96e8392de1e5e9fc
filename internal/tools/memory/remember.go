package memory

import (
	"cmp"
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

//go:embed remember.md
var rememberDescription string

type remember struct{ store *Store }

type rememberInput struct {
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"`
}

const rememberSchema = `{"type":"object","properties":{"text":{"type":"string"},` +
	`"kind":{"type":"string","enum":["fact","decision","gotcha","command"]}},"required":["text"],"additionalProperties":false}`

func (remember) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "remember", Description: strings.TrimSpace(rememberDescription),
		Class: tool.ClassInput, Schema: json.RawMessage(rememberSchema),
	}
}

func (r remember) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[rememberInput](input)
	if err != nil {
		return nil, err
	}
	f := Fact{Kind: cmp.Or(in.Kind, kindFact), Text: oneLine(in.Text)}
	if err := r.fits(f); err != nil {
		return nil, err
	}
	if err := r.store.check(f); err != nil {
		return nil, err
	}
	return &tool.Plan{Target: "[" + f.Kind + "] " + f.Text, Input: f}, nil
}

// fits says what is wrong with a fact's text.
func (r remember) fits(f Fact) error {
	n := utf8.RuneCountInString(f.Text)
	switch {
	case n == 0:
		return errors.New("the text is empty; say one fact in a sentence")
	case n > MaxText:
		return fmt.Errorf("the text has %d characters, and a fact at most %d; shorten it, or remember several facts", n, MaxText)
	case core.Visible(f.Text) != f.Text:
		return fmt.Errorf("the text holds characters that nobody would see: %s", core.Visible(f.Text))
	}
	if _, secret := r.store.o.Redact(f.Text); secret {
		return errors.New("the text holds what looks like a secret, and the memory is a plain file of the project; say where the secret is kept instead")
	}
	return nil
}

func (r remember) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	f, ok := c.Plan.Input.(Fact)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	if err := r.store.add(ctx, f); err != nil {
		return nil, err
	}
	return &tool.Output{Text: "Remembered, for the next session on: " + f.String(), Summary: "remembered"}, nil
}
