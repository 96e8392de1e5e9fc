package tool

import (
	"context"
	"errors"
)

// QuestionKind says what the answer to a Question decides, and so which answers
// there are. An answer of another kind decides nothing: it counts as none.
type QuestionKind string

const (
	// QuestionApproval is whether a call may run: AnswerOnce, AnswerSession,
	// AnswerProject or AnswerDeny.
	QuestionApproval QuestionKind = ""
	// QuestionChoice is one of the model's own, with Options: AnswerGiven or
	// AnswerSkip.
	QuestionChoice QuestionKind = "choice"
	// QuestionPlan is whether the plan in Preview is carried out: AnswerBuild,
	// AnswerAcceptEdits, AnswerKeepPlanning or AnswerEditPlan.
	QuestionPlan QuestionKind = "plan"
)

// Answers to a QuestionChoice.
const (
	// AnswerGiven has the options in Picked, or words of the person's own in Text,
	// or both.
	AnswerGiven Choice = "given"
	AnswerSkip  Choice = "skip"
)

// Answers to a QuestionPlan.
const (
	AnswerBuild        Choice = "build"
	AnswerAcceptEdits  Choice = "build_accept_edits"
	AnswerKeepPlanning Choice = "keep_planning"
	// AnswerEditPlan has the plan as the person wrote it anew in Text.
	AnswerEditPlan Choice = "edit_plan"
)

// Option is one answer that a QuestionChoice offers.
type Option struct {
	Label string
	// Detail says what the option means; may be empty.
	Detail string
}

// The most characters that a person's own words, and a plan, may have.
const (
	AnswerLimit = 10_000
	PlanLimit   = 50_000
)

// Unanswered is the answer that counts where nobody can give one; why is for the
// model. It allows nothing.
func (q *Question) Unanswered(why string) Answer {
	switch q.Kind {
	case QuestionChoice:
		return Answer{Choice: AnswerSkip, Comment: why}
	case QuestionPlan:
		return Answer{Choice: AnswerKeepPlanning, Comment: why}
	case QuestionApproval:
	}
	return Answer{Choice: AnswerDeny, Comment: why}
}

// ErrModeChanged ends the wait for an answer that another permission mode makes
// void. What was asked is to be decided again.
var ErrModeChanged = errors.New("the permission mode was changed while the question waited")

// The permission modes that a person chooses between, and a plan goes from one to
// the other.
const (
	ModeBuild       = "build"
	ModeAcceptEdits = "accept_edits"
	ModePlan        = "plan"
)

// Consult is what a session gives the tools that need a person. It can be made
// stricter by the model, and looser only by a person's answer: no method sets a
// mode that a tool names.
type Consult interface {
	// Ask puts a question in line with the approvals, one at a time, and waits.
	// The error is non-nil only when the call was given up meanwhile.
	Asker
	// Mode is the permission mode now.
	Mode() string
	// EnterPlan switches the session, with all its agents, to plan mode, and gives
	// the rules of that mode, for the model.
	EnterPlan() (rules string, err error)
	// ApprovePlan shows a plan and waits for an answer of QuestionPlan. AnswerBuild
	// and AnswerAcceptEdits have changed the mode when it returns without an error;
	// nothing else does.
	ApprovePlan(ctx context.Context, q *Question) (Answer, error)
}
