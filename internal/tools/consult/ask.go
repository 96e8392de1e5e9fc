package consult

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/tool"
)

//go:embed ask.md
var askDescription string

type ask struct{}

type askInput struct {
	Questions []question `json:"questions"`
}

type question struct {
	Header   string   `json:"header,omitempty"`
	Question string   `json:"question"`
	Options  []option `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
}

type option struct {
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

const askSchema = `{"type":"object","properties":{"questions":{"type":"array","items":{"type":"object","properties":{` +
	`"header":{"type":"string","description":"one or two words"},"question":{"type":"string"},` +
	`"options":{"type":"array","items":{"type":"object","properties":{"label":{"type":"string"},"detail":{"type":"string"}},` +
	`"required":["label"],"additionalProperties":false}},"multiple":{"type":"boolean"}},` +
	`"required":["question"],"additionalProperties":false}}},"required":["questions"],"additionalProperties":false}`

// What a person is asked at once, and how long each part may be, in characters.
const (
	maxQuestions = 4
	maxOptions   = 8

	maxHeader   = 40
	maxQuestion = 2_000
	maxLabel    = 200
	maxDetail   = 1_000
)

func (ask) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "ask", Description: strings.TrimSpace(askDescription), Class: tool.ClassSession, Schema: json.RawMessage(askSchema),
	}
}

func (ask) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[askInput](input)
	if err != nil {
		return nil, err
	}
	switch n := len(in.Questions); {
	case n == 0:
		return nil, fmt.Errorf("there is no question; give 1 to %d", maxQuestions)
	case n > maxQuestions:
		return nil, fmt.Errorf("there are %d questions; at most %d are asked at once: ask those first that the others depend on", n, maxQuestions)
	}
	labels := make([]string, len(in.Questions))
	for i := range in.Questions {
		q := &in.Questions[i]
		if err := q.check(fmt.Sprintf("questions[%d]", i)); err != nil {
			return nil, err
		}
		labels[i] = q.name()
	}
	return &tool.Plan{Label: strings.Join(labels, ", "), ReadOnly: true, Alone: true, Input: in}, nil
}

// check puts labels and the like into one line each, and says what is wrong.
func (q *question) check(place string) error {
	q.Header = inOneLine(q.Header)
	q.Question = strings.TrimSpace(q.Question)
	if q.Question == "" {
		return fmt.Errorf("%s.question is empty; say what the user is to decide", place)
	}
	if err := cmp.Or(atMost(place+".header", q.Header, maxHeader), atMost(place+".question", q.Question, maxQuestion)); err != nil {
		return err
	}
	if n := len(q.Options); n > maxOptions {
		return fmt.Errorf("%s has %d options, at most %d are offered; leave out those that nobody would take", place, n, maxOptions)
	}
	seen := make(map[string]bool, len(q.Options))
	for i := range q.Options {
		o, place := &q.Options[i], fmt.Sprintf("%s.options[%d]", place, i)
		o.Label, o.Detail = inOneLine(o.Label), inOneLine(o.Detail)
		if o.Label == "" {
			return fmt.Errorf("%s.label is empty; name each option in a few words", place)
		}
		if err := cmp.Or(atMost(place+".label", o.Label, maxLabel), atMost(place+".detail", o.Detail, maxDetail)); err != nil {
			return err
		}
		key := strings.ToLower(o.Label)
		if seen[key] {
			return fmt.Errorf("%s: two options are named %q; name each by what is different", place, o.Label)
		}
		seen[key] = true
	}
	return nil
}

// name is the question in a few words.
func (q *question) name() string {
	if q.Header != "" {
		return q.Header
	}
	return core.Cut(inOneLine(q.Question), maxHeader)
}

func (ask) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*askInput)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	if c.Env.Consult == nil {
		return nil, errNobody
	}
	var b strings.Builder
	given, skipped := 0, 0
	for i := range in.Questions {
		q := &in.Questions[i]
		answer, err := c.Env.Consult.Ask(ctx, q.put(c.ID, i, len(in.Questions)))
		if err != nil {
			return unanswered(len(in.Questions), i), fmt.Errorf("wait for the answer to question %d: %w", i+1, err)
		}
		text, err := q.answered(&answer)
		switch why := words(answer.Comment); {
		case err != nil:
			return nil, err
		case text != "":
			given++
		case why != "":
			text = "not answered (" + why + "); " + assume
		default:
			skipped++
			text = "skipped; " + assume
		}
		fmt.Fprintf(&b, "\n%d. %s: %s", i+1, q.name(), text)
	}
	return result(b.String(), given, skipped, len(in.Questions)), nil
}

// assume is what to do about a question that was skipped.
const assume = "decide it yourself, and state in your answer what you assumed"

func result(answers string, given, skipped, all int) *tool.Output {
	out := &tool.Output{Text: "The user answered:" + answers, Summary: "answered"}
	switch {
	case skipped == all && all == 1:
		out.Text, out.Summary = "The user skipped the question: "+assume+".", "skipped"
	case skipped == all:
		out.Text, out.Summary = "The user skipped the questions: decide them yourself, and state in your answer what you assumed.", "skipped"
	case given == 0:
		out.Text, out.Summary = "There is no answer:"+answers, "not answered"
	case given < all:
		out.Summary = fmt.Sprintf("%d of %d answered", given, all)
	}
	return out
}

// unanswered is the result of a call that was given up.
func unanswered(all, given int) *tool.Output {
	text := "Error: ask failed: it was interrupted before the user answered"
	if given > 0 {
		text += fmt.Sprintf(" all of it: %d of %d answers had come and do not count", given, all)
	}
	return &tool.Output{Text: text + ".", IsError: true}
}

// put is the question as a person gets it.
func (q *question) put(callID string, i, all int) *tool.Question {
	out := &tool.Question{
		Kind: tool.QuestionChoice, CallID: callID, Tool: "ask", Title: "The model asks",
		Multiple: q.Multiple && len(q.Options) > 1, Options: make([]tool.Option, len(q.Options)),
	}
	if all > 1 {
		out.Title += fmt.Sprintf(" (%d of %d)", i+1, all)
	}
	hides := false
	show := func(text string) string {
		shown, hid := visible(text)
		hides = hides || hid
		return shown
	}
	out.Target, out.Preview = show(q.Header), show(q.Question)
	for i, o := range q.Options {
		out.Options[i] = tool.Option{Label: show(o.Label), Detail: show(o.Detail)}
	}
	if hides {
		out.Warning = hiddenWarning
	}
	return out
}

// answered is the answer for the model; empty where there is none. The error is
// for an answer that no question of this kind has.
func (q *question) answered(a *tool.Answer) (string, error) {
	if a.Choice != tool.AnswerGiven {
		return "", nil
	}
	picked := slices.Compact(slices.Sorted(slices.Values(a.Picked)))
	var parts []string
	for _, i := range picked {
		if i < 0 || i >= len(q.Options) {
			return "", fmt.Errorf("the answer picks option %d of %d; this is a fault of the surface, and nothing was decided", i+1, len(q.Options))
		}
		parts = append(parts, q.Options[i].Label)
	}
	if len(parts) > 1 && !q.Multiple {
		return "", fmt.Errorf("the answer picks %d options of a question that takes one; this is a fault of the surface, and nothing was decided", len(parts))
	}
	text := strings.Join(parts, ", ")
	if own := words(a.Text); own != "" {
		if text != "" {
			text += "; "
		}
		text += "in their own words: " + own
	}
	return text, nil
}
