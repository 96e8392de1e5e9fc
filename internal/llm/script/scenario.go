// Package script is a model that plays a scenario instead of asking a
// provider. `garuda demo` shows the real loop with it, and tests drive the
// engine with it.
//
// It never uses the network and never pretends: a step may demand what the
// last tool results must contain, and a scenario whose demand is not met ends
// with an error that says what came instead.
package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// Version is the scenario format that this package reads.
const Version = 1

// Scenario is what the model says, step by step. As a file it is JSON:
//
//	{
//	  "version": 1,
//	  "name": "fix a failing test",
//	  "steps": [
//	    {"text": "I run the test first.",
//	     "calls": [{"name": "bash", "input": {"command": "sh test.sh"}}],
//	     "usage": {"input": 1200, "output": 40}},
//	    {"require": [{"call": 0, "contains": "FAIL", "error": false}],
//	     "thinking": "The sum is off by one.",
//	     "text": "Found it."}
//	  ]
//	}
//
// {{name}} in a text, a thinking or any string of an input stands for the
// variable of that name (Options.Vars).
type Scenario struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Steps   []Step `json:"steps"`
}

// Step is one response.
type Step struct {
	// Require is checked against the tool results in the request's last message,
	// before anything is said.
	Require  []Requirement `json:"require,omitempty"`
	Thinking string        `json:"thinking,omitempty"`
	Text     string        `json:"text,omitempty"`
	Calls    []Call        `json:"calls,omitempty"`
	// Stop defaults to tool_use with calls and to end_turn without.
	Stop core.StopReason `json:"stop,omitempty"`
	// Usage is what the step reports; without it the response reports none.
	Usage *core.Usage `json:"usage,omitempty"`
	// Error ends the step after what it says, instead of a response.
	Error *Failure `json:"error,omitempty"`
	// Wait, in Go only, is called when everything has been said and before the
	// response is returned: a test holds the step there.
	Wait func(ctx context.Context) error `json:"-"`
}

// Call is one tool call. Its id is made from the step's and the call's number.
type Call struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Raw, in place of Input, is argument text that may be broken JSON.
	Raw string `json:"raw,omitempty"`
}

// Requirement is what a tool result must be.
type Requirement struct {
	// Call is the result's place in the last message, from 0.
	Call int `json:"call"`
	// Contains and Lacks are texts that it must and must not contain.
	Contains string `json:"contains,omitempty"`
	Lacks    string `json:"lacks,omitempty"`
	// Error, when given, says whether it must be an error.
	Error *bool `json:"error,omitempty"`
}

// Failure is an error that the step ends with.
type Failure struct {
	Kind    llm.ErrorKind `json:"kind"`
	Message string        `json:"message,omitempty"`
	Status  int           `json:"status,omitempty"`
	// RetryAfterMs is what the server asks to wait, in milliseconds.
	RetryAfterMs int `json:"retryAfterMs,omitempty"`
}

// Parse reads a scenario file; name is for errors.
func Parse(name string, data []byte) (*Scenario, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	s := &Scenario{}
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", name, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read scenario %s: there is something after the object", name)
	}
	if s.Version != Version {
		return nil, fmt.Errorf("read scenario %s: version %d; this Garuda reads version %d", name, s.Version, Version)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", name, err)
	}
	return s, nil
}

func (s *Scenario) check() error {
	if len(s.Steps) == 0 {
		return errors.New("it has no steps")
	}
	for i, step := range s.Steps {
		switch {
		case step.Text == "" && step.Thinking == "" && len(step.Calls) == 0 && step.Error == nil:
			return fmt.Errorf("step %d says nothing", i+1)
		case step.Error != nil && step.Error.Kind == "":
			return fmt.Errorf("step %d: the error has no kind", i+1)
		}
		for _, r := range step.Require {
			if r.Call < 0 || r.Contains == "" && r.Lacks == "" && r.Error == nil {
				return fmt.Errorf("step %d: a requirement that requires nothing", i+1)
			}
		}
		for _, c := range step.Calls {
			switch {
			case c.Name == "":
				return fmt.Errorf("step %d: a call has no name", i+1)
			case (c.Raw == "") == (len(c.Input) == 0):
				return fmt.Errorf("step %d: call of %s: give either input or raw", i+1, c.Name)
			case c.Raw == "" && (!json.Valid(c.Input) || bytes.TrimSpace(c.Input)[0] != '{'):
				return fmt.Errorf("step %d: call of %s: input is not a JSON object", i+1, c.Name)
			}
		}
	}
	return nil
}

// expand returns the scenario with its variables filled in.
func (s *Scenario) expand(vars map[string]string) (*Scenario, error) {
	out := &Scenario{Version: s.Version, Name: s.Name}
	for i, step := range s.Steps {
		var errs [2]error
		step.Text, errs[0] = fill(step.Text, vars, false)
		step.Thinking, errs[1] = fill(step.Thinking, vars, false)
		calls := make([]Call, len(step.Calls))
		for j, c := range step.Calls {
			text := c.Raw
			if text == "" {
				var compact bytes.Buffer
				if err := json.Compact(&compact, c.Input); err != nil {
					return nil, fmt.Errorf("scenario %q, step %d: %w", s.Name, i+1, err)
				}
				text = compact.String()
			}
			filled, err := fill(text, vars, true)
			if err != nil {
				return nil, fmt.Errorf("scenario %q, step %d: call of %s: %w", s.Name, i+1, c.Name, err)
			}
			calls[j] = Call{Name: c.Name, Raw: filled}
		}
		step.Calls = calls
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("scenario %q, step %d: %w", s.Name, i+1, err)
		}
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}

// fill replaces {{name}}; within JSON the value is escaped as a string's content.
func fill(text string, vars map[string]string, inJSON bool) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{{")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok || strings.ContainsFunc(name, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' }) || name == "" {
			b.WriteString("{") // no variable: braces of the text itself
			text = "{" + rest
			continue
		}
		value, ok := vars[name]
		if !ok {
			return "", fmt.Errorf("there is no variable {{%s}}", name)
		}
		if inJSON {
			quoted, err := json.Marshal(value)
			if err != nil {
				return "", err
			}
			value = string(quoted[1 : len(quoted)-1])
		}
		b.WriteString(value)
		text = after
	}
}
