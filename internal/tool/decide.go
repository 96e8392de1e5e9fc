package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// Outcome of a decision.
type Outcome string

const (
	Allow Outcome = "allow"
	Ask   Outcome = "ask"
	Deny  Outcome = "deny"
)

// DecisionRequest is one call, or one effect of a running call, to be decided.
type DecisionRequest struct {
	CallID, Tool string
	Class        Class
	Plan         *Plan
	Input        json.RawMessage
	// Agent names who asks; empty for the main agent.
	Agent string
	// Repeat is how many times an equal call was already made in this turn.
	Repeat int
	// Hook is what the hooks before the call said, all together; nil where none did.
	Hook *HookVerdict
}

// HookVerdict is what a hook says of a call, as one more thing that the decision looks
// at: whatever it says, what is forbidden stays so.
type HookVerdict struct {
	// Outcome: a denial counts like a deny rule, an ask like an ask rule, and an
	// allowance, of the user's own hooks only, like an allow rule.
	Outcome Outcome
	// Name says which hook, Reason what it gave for one; may be empty.
	Name, Reason string
	// OfUser is true for a hook of the user's own settings, and false for one that came
	// with the project.
	OfUser bool
}

// Decision says what may happen, and which row, rule and source said so.
type Decision struct {
	Outcome Outcome `json:"decision"`
	// Row is the number in the decision table, By its word ("rule", "sensitive").
	Row    int    `json:"row"`
	By     string `json:"by"`
	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
	Reason string `json:"reason"`
	// Commands are the simple commands that were found, for explanations.
	Commands []CommandInfo `json:"commands,omitempty"`
	// Grant is set when the outcome is allow.
	Grant *Grant `json:"-"`
	// Question is set when the outcome is ask, and Scripts then are the hashes of the
	// files that the call's commands would run, as they were at that moment; "" of one
	// that could not be read. An answer is to these.
	Question *Question         `json:"-"`
	Scripts  map[string]string `json:"-"`
}

// CommandInfo is one simple command as the analysis saw it.
type CommandInfo struct {
	Argv        []string `json:"argv"`
	Assignments []string `json:"assignments"`
	Redirects   []string `json:"redirects"`
	// Known is false when a word's value cannot be known before it runs.
	Known bool `json:"known"`
}

// Question is what a person is asked.
type Question struct {
	// Kind says what the answer decides; the zero value is an approval.
	Kind QuestionKind
	// Hunks is how many hunks of Preview may be approved one by one; 0 for none.
	Hunks int
	// Options and Multiple (more than one may be picked) are a QuestionChoice's.
	Options  []Option
	Multiple bool

	CallID, Tool, Agent string
	// Title says in words what will happen; Target and Preview say it in full.
	Title, Target, Preview string
	// Where says in words where it runs: "on this machine, without a sandbox".
	Where string
	// Why is the reason for asking; Warning marks hidden characters and the like.
	Why, Warning string
	// SessionRule is the exact rule that the answer "session" adds; empty when
	// that answer is not offered. ProjectRule the same for "always in this project".
	SessionRule, ProjectRule string
}

// Choice is a person's answer.
type Choice string

const (
	AnswerOnce    Choice = "once"
	AnswerSession Choice = "session"
	AnswerProject Choice = "project"
	AnswerDeny    Choice = "deny"
)

// Answer to a Question; Comment goes to the model.
type Answer struct {
	Choice  Choice
	Comment string
	// Hunks are the only hunks of Preview that may be written, counted from 1; they
	// go with AnswerOnce. nil is all of them.
	Hunks []int
	// Picked counts from 0 among the question's Options; Text is the person's own
	// words, or their plan. See the Choices of each QuestionKind.
	Picked []int
	Text   string
}

// Decider is the one decision function. Package policy implements it.
type Decider interface {
	// Decide has no side effects but counting; it never blocks.
	Decide(req *DecisionRequest) *Decision
	// Resolve turns the answer to an ask into an allow or a deny, and remembers
	// what the answer said for the session.
	Resolve(req *DecisionRequest, asked *Decision, a Answer) *Decision
}

// Asker puts a question to a person and waits for the answer.
type Asker interface {
	Ask(ctx context.Context, q *Question) (Answer, error)
}

// Grant lets one call run, once.
type Grant struct {
	// CommandEnv are variables that the decision adds to the environment of the
	// call's commands: a git command that is allowed because it only reads runs
	// with configuration neutralised.
	CommandEnv []string
	// ReadOnlyRoot takes the project out of what the call's commands may write: it
	// was allowed in plan mode. Outside lets them run without the sandbox.
	ReadOnlyRoot, Outside bool

	// Hunks are the only hunks of the preview that may be written; nil is all.
	Hunks []int

	callID string
	used   atomic.Bool
}

// ApprovedHunks are the only hunks that may be written, counted from 1; nil is all.
func (g *Grant) ApprovedHunks() []int {
	if g == nil {
		return nil
	}
	return g.Hunks
}

// NewGrant makes a grant for one call id. Only package policy may call it; a
// test reads the sources for other callers.
func NewGrant(callID string) *Grant { return &Grant{callID: callID} }

// Use spends the grant for this call; every other use is an error.
func (g *Grant) Use(callID string) error {
	switch {
	case g == nil:
		return fmt.Errorf("call %s has no grant", callID)
	case g.callID != callID:
		return fmt.Errorf("the grant for call %s was used for call %s", g.callID, callID)
	case g.used.Swap(true):
		return fmt.Errorf("the grant for call %s was used twice", callID)
	}
	return nil
}
