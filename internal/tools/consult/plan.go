package consult

import (
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/tool"
)

//go:embed enter_plan_mode.md
var enterDescription string

//go:embed exit_plan_mode.md
var exitDescription string

type (
	enterPlanMode struct{}
	exitPlanMode  struct{}
)

type enterInput struct{}

type exitInput struct {
	Plan string `json:"plan" jsonschema:"Markdown"`
}

const (
	enterSchema = `{"type":"object","properties":{},"additionalProperties":false}`
	exitSchema  = `{"type":"object","properties":{"plan":{"type":"string","description":"Markdown"}},"required":["plan"],"additionalProperties":false}`
)

func (enterPlanMode) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "enter_plan_mode", Description: strings.TrimSpace(enterDescription), Class: tool.ClassSession, Schema: json.RawMessage(enterSchema),
	}
}

func (enterPlanMode) Plan(context.Context, *tool.Env, json.RawMessage) (*tool.Plan, error) {
	return &tool.Plan{Label: "until a plan is approved", ReadOnly: true, Alone: true}, nil
}

func (enterPlanMode) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	if c.Env.Consult == nil {
		return nil, errors.New("nobody can be asked here to approve a plan; go on as you are")
	}
	if c.Env.Consult.Mode() == tool.ModePlan {
		return &tool.Output{Text: "This session is in plan mode already.", Summary: "already"}, nil
	}
	rules, err := c.Env.Consult.EnterPlan()
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: rules, Summary: "plan mode"}, nil
}

func (exitPlanMode) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "exit_plan_mode", Description: strings.TrimSpace(exitDescription), Class: tool.ClassSession, Schema: json.RawMessage(exitSchema),
	}
}

func (exitPlanMode) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[exitInput](input)
	if err != nil {
		return nil, err
	}
	if in.Plan = strings.TrimSpace(in.Plan); in.Plan == "" {
		return nil, errors.New("plan is empty; give the whole plan: the user decides by what stands in it")
	}
	if err := atMost("plan", in.Plan, tool.PlanLimit); err != nil {
		return nil, err
	}
	label := "1 line"
	if n := strings.Count(in.Plan, "\n") + 1; n > 1 {
		label = fmt.Sprintf("%d lines", n)
	}
	return &tool.Plan{Label: label, ReadOnly: true, Alone: true, Input: in}, nil
}

// maxEdits is how often a plan is shown anew after it was edited, so that a
// surface that answers by itself does not do so for ever.
const maxEdits = 50

func (exitPlanMode) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	in, ok := c.Plan.Input.(*exitInput)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	consult := c.Env.Consult
	switch {
	case consult == nil:
		return nil, errors.New("nobody can be asked here; the plan is your answer: write it there")
	case consult.Mode() != tool.ModePlan:
		return nil, fmt.Errorf("this session is not in plan mode (it is in %s mode), so there is nothing to approve; go on with the work", consult.Mode())
	}
	p := &shownPlan{text: in.Plan}
	for range maxEdits {
		answer, err := consult.ApprovePlan(ctx, p.put(c.ID))
		switch {
		case errors.Is(err, tool.ErrModeChanged):
			return p.modeChanged(consult.Mode()), nil
		case err != nil && ctx.Err() != nil:
			return &tool.Output{Text: "Error: exit_plan_mode failed: it was interrupted before the user decided; plan mode stays.", IsError: true}, err
		case err != nil:
			return nil, fmt.Errorf("leave plan mode: %w", err)
		}
		if answer.Choice != tool.AnswerEditPlan {
			return p.decided(&answer), nil
		}
		if err := p.edit(answer.Text); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the plan was edited %d times without a decision; plan mode stays", maxEdits)
}

// shownPlan is a plan that is being approved.
type shownPlan struct {
	text   string
	edited bool
}

func (p *shownPlan) put(callID string) *tool.Question {
	q := &tool.Question{Kind: tool.QuestionPlan, CallID: callID, Tool: "exit_plan_mode", Title: "Carry out this plan?"}
	if p.edited {
		q.Title = "Carry out this plan, as you edited it?"
	}
	var hid bool
	if q.Preview, hid = visible(p.text); hid {
		q.Warning = hiddenWarning
	}
	return q
}

// edit takes the person's text in place of the plan; an empty one changes nothing.
func (p *shownPlan) edit(text string) error {
	text = strings.TrimSpace(text)
	if err := atMost("the edited plan", text, tool.PlanLimit); err != nil {
		return err
	}
	if text != "" && text != p.text {
		p.text, p.edited = text, true
	}
	return nil
}

// decided tells the model what was decided. Whatever is neither of the two
// answers that leave plan mode is no approval.
func (p *shownPlan) decided(a *tool.Answer) *tool.Output {
	var b strings.Builder
	out := &tool.Output{Summary: "approved"}
	switch a.Choice {
	case tool.AnswerBuild:
		b.WriteString("The user approved the plan. Plan mode is over and this is build mode: carry the plan out; each change is asked for.")
	case tool.AnswerAcceptEdits:
		b.WriteString("The user approved the plan. Plan mode is over: carry the plan out. Edits inside the root are accepted without a question, commands are not.")
		out.Summary = "approved, edits accepted"
	default:
		b.WriteString("The user did not approve the plan and wants to go on planning; plan mode stays.")
		out.Summary = "not approved"
		if strings.TrimSpace(a.Comment) == "" && !p.edited {
			b.WriteString(" They did not say what is missing: ask them, and wait for their next message.")
		} else {
			b.WriteString(" Change the plan accordingly, and give it to exit_plan_mode again.")
		}
	}
	if comment := words(a.Comment); comment != "" {
		b.WriteString("\nTheir comment: " + comment)
	}
	p.tellEdit(&b)
	out.Text = b.String()
	return out
}

// modeChanged tells of a person who changed the mode by other means while the plan
// was shown.
func (p *shownPlan) modeChanged(mode string) *tool.Output {
	var b strings.Builder
	fmt.Fprintf(&b, "While the plan was shown the user switched to %s mode themselves, so it is not asked about any more. "+
		"Carry it out as far as that mode allows.", mode)
	p.tellEdit(&b)
	return &tool.Output{Text: b.String(), Summary: mode + " mode"}
}

// tellEdit gives the model the plan as the person left it.
func (p *shownPlan) tellEdit(b *strings.Builder) {
	if p.edited {
		b.WriteString("\nThe user edited the plan; it is now:\n\n" + p.text)
	}
}
