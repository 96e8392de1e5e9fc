package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// Format is llm.Info.Format of a scripted model.
const Format = "script"

// ErrScenario is what Stream's error is when the run did not go as the scenario
// demands: a requirement not met, or more steps asked for than there are. It
// comes as an *llm.Error of a kind that is never retried.
var ErrScenario = errors.New("the run left the scenario")

// pieces is how many deltas a text is told in.
const pieces = 4

// Options of New.
type Options struct {
	// Spec is the model's name; default script/demo.
	Spec string
	// Vars fill in {{name}}.
	Vars map[string]string
	// Info, when set, is returned by Info; default a known model with a window of
	// 200,000 tokens that costs nothing.
	Info *llm.Info
}

// Model plays one scenario once. Requests may be called at any time, Stream one
// call at a time.
type Model struct {
	scenario *Scenario
	info     *llm.Info

	mu       sync.Mutex
	requests []*llm.Request
}

var _ llm.Model = (*Model)(nil)

// New makes a model that plays s, which Parse has read or a test has built.
func New(s *Scenario, o Options) (*Model, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	filled, err := s.expand(o.Vars)
	if err != nil {
		return nil, err
	}
	if o.Spec == "" {
		o.Spec = "script/demo"
	}
	info := o.Info
	if info == nil {
		provider, id, _ := strings.Cut(o.Spec, "/")
		info = &llm.Info{Spec: o.Spec, Provider: provider, ID: id, Format: Format, ContextWindow: 200_000, Known: true,
			Price: core.Price{Known: true}, Local: true, KeySource: "none"}
	}
	return &Model{scenario: filled, info: info}, nil
}

// Info describes the model.
func (m *Model) Info() *llm.Info { return m.info }

// Requests returns what was asked so far. The messages are those of the caller,
// which never changes them.
func (m *Model) Requests() []*llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Stream plays the next step. A step that ends in an error counts as played, so
// that a retry meets the one after it.
func (m *Model) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	n := len(m.requests)
	kept := *req
	kept.Messages = slices.Clone(req.Messages)
	m.requests = append(m.requests, &kept)
	m.mu.Unlock()
	if n >= len(m.scenario.Steps) {
		return nil, m.left(n, fmt.Sprintf("the scenario has %d steps, and one more was asked for", len(m.scenario.Steps)))
	}
	step := &m.scenario.Steps[n]
	if problem := unmet(step.Require, req.Messages); problem != "" {
		return nil, m.left(n, problem)
	}
	msg, err := m.say(ctx, n, step, emit)
	if err != nil {
		return nil, err
	}
	if step.Error != nil {
		return nil, &llm.Error{Kind: step.Error.Kind, Model: m.info.Spec, Status: step.Error.Status,
			Message: step.Error.message(), RetryAfter: time.Duration(step.Error.RetryAfterMs) * time.Millisecond,
			Streaming: len(msg.Blocks) > 0}
	}
	return m.response(n, step, req, msg)
}

func (f *Failure) message() string {
	if f.Message != "" {
		return f.Message
	}
	return "the scenario ends this step with an error"
}

// say emits a step's events and returns its message.
func (m *Model) say(ctx context.Context, n int, step *Step, emit func(llm.Event)) (*core.Message, error) {
	msg := &core.Message{Role: core.RoleAssistant}
	if step.Thinking != "" {
		for _, piece := range split(step.Thinking) {
			emit(llm.ThinkingDelta{Text: piece})
		}
		msg.Blocks = append(msg.Blocks, core.Block{Type: core.BlockThinking, Text: step.Thinking, Provider: Format})
	}
	if step.Text != "" {
		for _, piece := range split(step.Text) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			emit(llm.TextDelta{Text: piece})
		}
		msg.Blocks = append(msg.Blocks, core.Text(step.Text))
	}
	for i, c := range step.Calls {
		id := fmt.Sprintf("call_%d_%d", n+1, i+1)
		emit(llm.ToolCallStarted{ID: id, Name: c.Name})
		msg.Blocks = append(msg.Blocks, core.Block{Type: core.BlockToolUse, ID: id, Name: c.Name, Input: c.Raw})
	}
	if step.Wait != nil {
		if err := step.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return msg, ctx.Err()
}

func (m *Model) response(n int, step *Step, req *llm.Request, msg *core.Message) (*llm.Response, error) {
	hash, size, err := Hash(req)
	if err != nil {
		return nil, err
	}
	r := &llm.Response{ID: fmt.Sprintf("script_%d", n+1), Model: m.info.ID, Message: msg, Stop: step.Stop,
		RequestHash: hash, RequestBytes: size}
	if r.Stop == "" {
		r.Stop = core.StopEndTurn
		if len(step.Calls) > 0 {
			r.Stop = core.StopToolUse
		}
	}
	r.RawStop = string(r.Stop)
	if step.Usage != nil {
		r.Usage, r.UsageReported = *step.Usage, true
	}
	return r, nil
}

// Hash is the hex SHA-256 of a request as a scripted model takes it, and its size in
// bytes.
func Hash(req *llm.Request) (hash string, size int, err error) {
	sent, err := json.Marshal(struct {
		System   string
		Tools    []llm.ToolSpec
		Messages []*core.Message
	}{req.System, req.Tools, req.Messages})
	if err != nil {
		return "", 0, fmt.Errorf("encode the request: %w", err)
	}
	sum := sha256.Sum256(sent)
	return hex.EncodeToString(sum[:]), len(sent), nil
}

// left is the error of a run that left the scenario.
func (m *Model) left(n int, problem string) error {
	return &llm.Error{Kind: llm.ErrBadRequest, Model: m.info.Spec, Err: ErrScenario,
		Message: fmt.Sprintf("scenario %q, step %d: %s", m.scenario.Name, n+1, problem)}
}

// unmet returns what a requirement misses in the last message, or "".
func unmet(require []Requirement, messages []*core.Message) string {
	if len(require) == 0 {
		return ""
	}
	var results []core.Block
	if len(messages) > 0 {
		for _, b := range messages[len(messages)-1].Blocks {
			if b.Type == core.BlockToolResult {
				results = append(results, b)
			}
		}
	}
	for _, r := range require {
		if r.Call >= len(results) {
			return fmt.Sprintf("a result of call %d was expected; the last message has %d results", r.Call, len(results))
		}
		result := results[r.Call]
		text := result.ResultText()
		switch {
		case r.Contains != "" && !strings.Contains(text, r.Contains):
			return fmt.Sprintf("the result of call %d was expected to contain %q; it is %q", r.Call, r.Contains, cut(text))
		case r.Lacks != "" && strings.Contains(text, r.Lacks):
			return fmt.Sprintf("the result of call %d was expected not to contain %q; it is %q", r.Call, r.Lacks, cut(text))
		case r.Error != nil && *r.Error != result.IsError:
			return fmt.Sprintf("the result of call %d: error was expected to be %v; the result is %q", r.Call, *r.Error, cut(text))
		}
	}
	return ""
}

// cut keeps an error to one readable line.
func cut(s string) string { return core.Cut(s, 300) }

// split cuts a text into a few pieces, between runes.
func split(s string) []string {
	r := []rune(s)
	size := max(1, (len(r)+pieces-1)/pieces)
	var out []string
	for part := range slices.Chunk(r, size) {
		out = append(out, string(part))
	}
	return out
}
