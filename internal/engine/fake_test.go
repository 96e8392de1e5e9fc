package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// reply is one scripted answer of a model.
type reply func(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error)

// fakeModel plays replies in order and remembers the requests.
type fakeModel struct {
	info     llm.Info
	mu       sync.Mutex
	replies  []reply
	requests []llm.Request
	// onRequest, when set, looks at each request before it is answered.
	onRequest func(*llm.Request)
}

func (m *fakeModel) Info() *llm.Info { return &m.info }

func (m *fakeModel) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	if m.onRequest != nil {
		m.onRequest(req)
	}
	m.mu.Lock()
	kept := *req
	kept.Messages = append([]*core.Message(nil), req.Messages...)
	m.requests = append(m.requests, kept)
	if len(m.replies) == 0 {
		m.mu.Unlock()
		return nil, errors.New("the script is at its end")
	}
	next := m.replies[0]
	m.replies = m.replies[1:]
	m.mu.Unlock()
	return next(ctx, req, emit)
}

func (m *fakeModel) sent() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

func response(stop core.StopReason, blocks ...core.Block) *llm.Response {
	return &llm.Response{
		Message: &core.Message{Role: core.RoleAssistant, Blocks: blocks}, Stop: stop, RawStop: string(stop),
		Usage: core.Usage{Input: 10, Output: 5}, UsageReported: true,
	}
}

func says(text string) reply {
	return func(_ context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
		for _, r := range text {
			emit(llm.TextDelta{Text: string(r)})
		}
		return response(core.StopEndTurn, core.Text(text)), nil
	}
}

func use(id, name, input string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: name, Input: input}
}

func calls(uses ...core.Block) reply {
	return func(_ context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
		for _, u := range uses {
			emit(llm.ToolCallStarted{ID: u.ID, Name: u.Name})
		}
		return response(core.StopToolUse, uses...), nil
	}
}

func fails(err error) reply {
	return func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) { return nil, err }
}

// fakeTool is a tool made of a function.
type fakeTool struct {
	spec tool.Spec
	plan tool.Plan
	run  func(ctx context.Context, c *tool.Call, input map[string]any) (*tool.Output, error)
}

func (f *fakeTool) Spec() *tool.Spec { return &f.spec }

func (f *fakeTool) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	p := f.plan
	var fields map[string]any
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, err
	}
	p.Input = fields
	p.Target = fmt.Sprint(fields["path"])
	return &p, nil
}

func (f *fakeTool) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	return f.run(ctx, c, c.Plan.Input.(map[string]any))
}

const fakeSchema = `{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`

func newTool(name string, plan tool.Plan, run func(context.Context, *tool.Call, map[string]any) (*tool.Output, error)) *fakeTool {
	class := tool.ClassPath
	if plan.ReadOnly {
		class = tool.ClassRead
	}
	return &fakeTool{spec: tool.Spec{Name: name, Class: class, Schema: json.RawMessage(fakeSchema)}, plan: plan, run: run}
}

// looker answers with its path; writer too, but changes something.
func looker() *fakeTool {
	return newTool("look", tool.Plan{ReadOnly: true, Parallel: true}, echo)
}

func writer() *fakeTool { return newTool("change", tool.Plan{}, echo) }

func echo(_ context.Context, _ *tool.Call, in map[string]any) (*tool.Output, error) {
	return &tool.Output{Text: fmt.Sprint("seen ", in["path"])}, nil
}

// waiter runs until its context ends, like a command.
func waiter(started chan<- string) *fakeTool {
	return newTool("wait", tool.Plan{RunsCommands: true}, func(ctx context.Context, c *tool.Call, in map[string]any) (*tool.Output, error) {
		c.Emit(false, []byte("working\n"))
		started <- c.ID
		<-ctx.Done()
		return &tool.Output{Text: "interrupted, did not finish, effects unknown", IsError: true}, context.Cause(ctx)
	})
}

// fakeDecider allows everything but what it is told to ask about or deny.
type fakeDecider struct{ ask, deny map[string]bool }

func (d *fakeDecider) Decide(req *tool.DecisionRequest) *tool.Decision {
	switch {
	case d.deny[req.Tool]:
		return &tool.Decision{Outcome: tool.Deny, Row: 4, By: "rule", Reason: "a rule says no"}
	case d.ask[req.Tool]:
		return &tool.Decision{Outcome: tool.Ask, Row: 13, By: "user", Question: &tool.Question{CallID: req.CallID, Tool: req.Tool}}
	}
	return &tool.Decision{Outcome: tool.Allow, Grant: tool.NewGrant(req.CallID)}
}

func (d *fakeDecider) Resolve(req *tool.DecisionRequest, _ *tool.Decision, a tool.Answer) *tool.Decision {
	if a.Choice == tool.AnswerDeny {
		return &tool.Decision{Outcome: tool.Deny, By: "user", Reason: "the user said no: " + a.Comment}
	}
	return &tool.Decision{Outcome: tool.Allow, By: "user", Grant: tool.NewGrant(req.CallID)}
}

type fakeModes struct {
	mode string
	// turns counts those that a person began.
	turns atomic.Int32
}

func (m *fakeModes) Mode() string           { return m.mode }
func (m *fakeModes) SetMode(s string) error { m.mode = s; return nil }
func (m *fakeModes) BeginTurn()             { m.turns.Add(1) }

// memoryJournal keeps records, and knows which of them are flushed.
type memoryJournal struct {
	mu      sync.Mutex
	records []session.Record
	flushed int
	failAt  int // the number of the append that fails, from 1; 0 never
	err     error
}

func (j *memoryJournal) Append(r session.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failAt > 0 && len(j.records)+1 >= j.failAt {
		j.err = errors.New("no space left on device")
		return j.err
	}
	j.records = append(j.records, r)
	return nil
}

func (j *memoryJournal) Flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flushed = len(j.records)
	return nil
}

func (j *memoryJournal) Err() error   { return j.err }
func (j *memoryJournal) Close() error { return nil }

// onDisk is how many records are flushed.
func (j *memoryJournal) onDisk() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.flushed
}

func (j *memoryJournal) types() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, r := range j.records {
		out = append(out, r.RecordType())
	}
	return out
}

// bench is a session with everything around it faked.
type bench struct {
	t       *testing.T
	model   *fakeModel
	decider *fakeDecider
	journal *memoryJournal
	clock   *instantClock
	tracker *workspace.Tracker
	s       *Session
	sub     *Subscription
	// store holds the journal of a storedBench.
	store *session.Store
}

func newBench(t *testing.T, cfg Config, tools []tool.Tool, replies ...reply) *bench {
	t.Helper()
	b := &bench{
		t: t, decider: &fakeDecider{ask: map[string]bool{}, deny: map[string]bool{}},
		model:   &fakeModel{info: llm.Info{Spec: "fake/m", MaxOutput: 64_000, Price: core.Price{Input: 1, Output: 1, Known: true}}, replies: replies},
		journal: &memoryJournal{}, clock: &instantClock{}, tracker: workspace.NewTracker(),
	}
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ID, cfg.Model, cfg.Modes, cfg.CanAsk = "20260101-000000-abcd", b.model, &fakeModes{}, true
	cfg.Clock, cfg.Jitter = b.clock, func() float64 { return 0 }
	cfg.Pipeline = &tool.Pipeline{Registry: registry, Decider: b.decider, Env: &tool.Env{Clock: b.clock, Tracker: b.tracker}}
	if cfg.OpenJournal == nil {
		cfg.OpenJournal = func() (Journal, error) { return b.journal, nil }
	}
	b.s = New(cfg)
	b.sub = b.s.Subscribe(0)
	t.Cleanup(func() {
		b.sub.Close()
		if err := b.s.Close(); err != nil && b.journal.err == nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// until reads events up to and with the first that stop says yes to.
func (b *bench) until(stop func(Event) bool) []Event {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	var out []Event
	for {
		_, e, err := b.sub.Next(ctx)
		if err != nil {
			b.t.Fatalf("waiting for an event: %v; had %d", err, len(out))
		}
		out = append(out, e)
		if stop(e) {
			return out
		}
	}
}

func (b *bench) turn(text string) *TurnResult {
	b.t.Helper()
	b.s.Submit(Prompt{Text: text})
	return b.ended()
}

func (b *bench) ended() *TurnResult {
	b.t.Helper()
	events := b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok })
	return events[len(events)-1].(TurnEnded).Result
}

// mustSend checks that a conversation is one that may be sent.
func mustSend(t *testing.T, msgs []*core.Message) {
	t.Helper()
	if _, mends := core.Validate(msgs); len(mends) > 0 {
		t.Errorf("the conversation needs mending: %q", mends)
	}
}

// instantClock never waits, and remembers how long it should have.
type instantClock struct {
	mu    sync.Mutex
	slept []time.Duration
	block bool
}

func (c *instantClock) Now() time.Time { return time.Unix(0, 0) }

func (c *instantClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.slept = append(c.slept, d)
	block := c.block
	c.mu.Unlock()
	if block {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (c *instantClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
