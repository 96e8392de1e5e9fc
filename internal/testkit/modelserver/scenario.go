// Package modelserver is a scripted model server for tests. One scenario is
// spoken in whichever of four wire formats a request asks for (Anthropic
// Messages, OpenAI Chat Completions, OpenAI Responses, Gemini), streamed or whole,
// with the faults that real servers have; every request is recorded with its times.
//
// It answers as documented APIs and common servers do, knows nothing of
// Garuda's own clients, and never asks any network.
package modelserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Version is the scenario format that this package reads.
const Version = 1

// Scenario is what the server says, a step for each request in order of
// arrival. As a file it is a JSON object with these fields, and version 1.
type Scenario struct {
	Version int `json:"version"`
	// Models are the ids that /v1/models lists; default "scripted".
	Models []string `json:"models,omitempty"`
	// Wire is how steps are sent that do not say it themselves.
	Wire  Wire   `json:"wire,omitzero"`
	Steps []Step `json:"steps"`
}

// Step is one answer.
type Step struct {
	// Require are texts that the request's body must contain (as JSON has them,
	// quotes and line breaks escaped); else the answer is a 400 that says which is missing.
	Require []string `json:"require,omitempty"`
	// Thinking comes first. Signature is what binds it (Anthropic's signature, the
	// encrypted content of Responses, Gemini's thought signature); one is made when
	// there is none.
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Redacted is the data of an Anthropic redacted_thinking block.
	Redacted string `json:"redacted,omitempty"`
	Text     string `json:"text,omitempty"`
	Calls    []Call `json:"calls,omitempty"`
	// Stop is end_turn, tool_use, max_tokens, refusal, pause_turn, put into the
	// format's own words; another word is sent as it is. Default: tool_use with
	// calls, end_turn without.
	Stop string `json:"stop,omitempty"`
	// Usage is reported; default 1000 in, 20 out. NoUsage reports none.
	Usage   *Usage `json:"usage,omitempty"`
	NoUsage bool   `json:"noUsage,omitempty"`
	Fault   *Fault `json:"fault,omitempty"`
	// Wire replaces the scenario's, whole.
	Wire *Wire `json:"wire,omitempty"`
}

// Call is one tool call. Input is its arguments; Raw, in its place, is argument
// text that may be broken JSON. ID is made when there is none.
type Call struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
	Raw   string          `json:"raw,omitempty"`
}

// Usage in tokens; Input leaves out what was read from and written to the cache.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead,omitempty"`
	CacheWrite int `json:"cacheWrite,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"`
}

// Wire is how an answer goes over the wire. The zero value is what OpenAI and
// Anthropic do.
type Wire struct {
	// Fragment is the size of a delta, in Unit; default 24.
	Fragment int `json:"fragment,omitempty"`
	// Unit is rune (default), byte (deltas cut inside a rune, which is then no
	// valid UTF-8), or utf16 (deltas in \u escapes, cut inside a surrogate pair).
	Unit string `json:"unit,omitempty"`
	// Chunk is how many bytes go into one network write; default: an event.
	Chunk int `json:"chunk,omitempty"`
	// Newline is lf (default), crlf or cr.
	Newline string `json:"newline,omitempty"`
	// Comments puts a comment line before each event; Multiline spreads each
	// event's data over several data lines.
	Comments  bool `json:"comments,omitempty"`
	Multiline bool `json:"multiline,omitempty"`
	// Interleave mixes the argument fragments of several calls (Chat Completions).
	Interleave bool `json:"interleave,omitempty"`
	// NoIDs leaves the ids of calls out (Chat Completions, Gemini).
	NoIDs bool `json:"noIds,omitempty"`
	// Reasoning is how Chat Completions gives thinking: reasoning_content
	// (default), reasoning, or think (tags in the text).
	Reasoning string `json:"reasoning,omitempty"`
	// DripMs waits before each event, in milliseconds.
	DripMs int `json:"dripMs,omitempty"`
}

// ReadFile reads a scenario file.
func ReadFile(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", path, err)
	}
	return s, nil
}

// Parse reads a scenario's JSON. Unknown keys, words and faults are errors.
func Parse(data []byte) (*Scenario, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	s := &Scenario{}
	if err := dec.Decode(s); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the object")
	}
	if s.Version != Version {
		return nil, fmt.Errorf("version %d; this server reads version %d", s.Version, Version)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Scenario) check() error {
	if err := s.Wire.check(); err != nil {
		return err
	}
	for i, step := range s.Steps {
		fail := func(err error) error { return fmt.Errorf("step %d: %w", i+1, err) }
		if step.Wire != nil {
			if err := step.Wire.check(); err != nil {
				return fail(err)
			}
		}
		if f := step.Fault; f != nil && !slices.Contains(faultKinds, f.Kind) {
			return fail(fmt.Errorf("there is no fault %q; there are %q", f.Kind, faultKinds))
		}
		for _, c := range step.Calls {
			if c.Name == "" || len(c.Input) > 0 && c.Raw != "" {
				return fail(errors.New("a call needs a name, and input or raw"))
			}
		}
	}
	return nil
}

func (w Wire) check() error {
	for _, word := range []struct {
		key, value string
		of         []string
	}{
		{"unit", w.Unit, []string{"", "rune", "byte", "utf16"}},
		{"newline", w.Newline, []string{"", "lf", "crlf", "cr"}},
		{"reasoning", w.Reasoning, []string{"", "reasoning_content", "reasoning", "think"}},
	} {
		if !slices.Contains(word.of, word.value) {
			return fmt.Errorf("%s cannot be %q; it is one of %q", word.key, word.value, word.of[1:])
		}
	}
	if w.Fragment < 0 || w.Chunk < 0 || w.DripMs < 0 {
		return errors.New("fragment, chunk and dripMs cannot be negative")
	}
	return nil
}

// arguments is the text of a call's arguments.
func (c Call) arguments() string {
	switch {
	case c.Raw != "":
		return c.Raw
	case len(c.Input) == 0:
		return "{}"
	}
	var b bytes.Buffer
	if json.Compact(&b, c.Input) != nil {
		return string(c.Input)
	}
	return b.String()
}
