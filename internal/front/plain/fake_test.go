package plain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"garuda/internal/audit"
	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/front/plain"
	"garuda/internal/llm"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
	"garuda/internal/tools/consult"
)

// fakeTool is a tool made of two functions.
type fakeTool struct {
	spec tool.Spec
	plan func(in callInput) *tool.Plan
	run  func(ctx context.Context, c *tool.Call, in callInput) (*tool.Output, error)
}

// callInput is what every fake tool takes.
type callInput struct {
	Target string `json:"target"`
	// Print is what a command prints, Lines how many numbered lines.
	Print string `json:"print"`
	Lines int    `json:"lines"`
	Hang  bool   `json:"hang"`
	Fail  string `json:"fail"`
	Diff  string `json:"diff"`
	// Todos is the list that the call sets.
	Todos []core.Todo `json:"todos"`
}

const fakeSchema = `{"type":"object","properties":{"target":{"type":"string"},"print":{"type":"string"},` +
	`"lines":{"type":"integer"},"hang":{"type":"boolean"},"fail":{"type":"string"},"diff":{"type":"string"},"todos":{"type":"array"}}}`

func (f *fakeTool) Spec() *tool.Spec { return &f.spec }

func (f *fakeTool) Plan(_ context.Context, _ *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var in callInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	p := f.plan(in)
	p.Input = in
	return p, nil
}

func (f *fakeTool) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	return f.run(ctx, c, c.Plan.Input.(callInput))
}

// fakeTools are one that looks, one that changes a file and one that runs commands.
func fakeTools() []tool.Tool {
	look := &fakeTool{
		spec: tool.Spec{Name: "look", Class: tool.ClassRead, Schema: json.RawMessage(fakeSchema)},
		plan: func(in callInput) *tool.Plan {
			return &tool.Plan{Target: in.Target, ReadOnly: true}
		},
		run: func(_ context.Context, _ *tool.Call, in callInput) (*tool.Output, error) {
			if in.Fail != "" {
				return nil, errors.New(in.Fail)
			}
			return &tool.Output{Text: "one\ntwo\nthree\n", Todos: in.Todos}, nil
		},
	}
	change := &fakeTool{
		spec: tool.Spec{Name: "change", Class: tool.ClassPath, Schema: json.RawMessage(fakeSchema)},
		plan: func(in callInput) *tool.Plan { return &tool.Plan{Target: in.Target, Preview: in.Diff} },
		run: func(_ context.Context, _ *tool.Call, in callInput) (*tool.Output, error) {
			return &tool.Output{Text: "changed", Summary: "changed 1 line", Diff: in.Diff}, nil
		},
	}
	command := &fakeTool{
		spec: tool.Spec{Name: "cmd", Class: tool.ClassCommand, Schema: json.RawMessage(fakeSchema)},
		plan: func(in callInput) *tool.Plan {
			return &tool.Plan{Target: in.Target, Preview: in.Target, RunsCommands: true}
		},
		run: runCommand,
	}
	return []tool.Tool{look, change, command}
}

func runCommand(ctx context.Context, c *tool.Call, in callInput) (*tool.Output, error) {
	c.Emit(false, []byte(in.Print))
	for i := range in.Lines {
		c.Emit(false, fmt.Appendf(nil, "line %d\n", i+1))
	}
	if in.Hang {
		<-ctx.Done()
		return &tool.Output{Text: "stopped", Summary: "interrupted", IsError: true}, context.Cause(ctx)
	}
	if in.Fail != "" {
		return &tool.Output{Text: in.Fail, Summary: in.Fail, IsError: true}, nil
	}
	return &tool.Output{Text: "ok", Summary: "exit 0"}, nil
}

// asksDecider asks about what changes something, but for targets that begin with "free".
type asksDecider struct{}

func (asksDecider) Decide(req *tool.DecisionRequest) *tool.Decision {
	if req.Class == tool.ClassRead || req.Class == tool.ClassSession || strings.HasPrefix(req.Plan.Target, "free") {
		return &tool.Decision{Outcome: tool.Allow, Grant: tool.NewGrant(req.CallID)}
	}
	q := &tool.Question{
		CallID: req.CallID, Tool: req.Tool, Title: "change a file", Target: req.Plan.Target, Preview: req.Plan.Preview,
		Where: "on this machine", Why: "no rule covers it", SessionRule: req.Tool + "(" + req.Plan.Target + ")",
	}
	if req.Class == tool.ClassCommand {
		q.Title, q.Where = "run a command", "on this machine, without a sandbox"
		q.ProjectRule = q.SessionRule
	}
	if strings.Contains(req.Plan.Target, "locked") {
		q.SessionRule, q.ProjectRule = "", ""
	}
	if core.Visible(req.Plan.Preview) != req.Plan.Preview {
		q.Warning = "it holds hidden characters, shown here as [U+…] and the like"
	}
	return &tool.Decision{Outcome: tool.Ask, By: "user", Question: q}
}

func (asksDecider) Resolve(req *tool.DecisionRequest, _ *tool.Decision, a tool.Answer) *tool.Decision {
	if a.Choice == tool.AnswerDeny {
		return &tool.Decision{Outcome: tool.Deny, By: "user", Reason: strings.TrimSuffix("the user said no: "+a.Comment, ": ")}
	}
	return &tool.Decision{Outcome: tool.Allow, By: "user", Rule: string(a.Choice), Grant: tool.NewGrant(req.CallID)}
}

type fakeModes struct {
	mu   sync.Mutex
	mode string
}

func (m *fakeModes) Mode() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mode
}

func (m *fakeModes) SetMode(s string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mode = s
	return nil
}

func (m *fakeModes) BeginTurn() {}

// namedModel is a model under another name.
type namedModel struct {
	llm.Model
	info llm.Info
}

func (m *namedModel) Info() *llm.Info { return &m.info }

// fakeHost keeps sessions in memory.
type fakeHost struct {
	fakeUndo
	clock   core.Clock
	model   llm.Model
	current *engine.Session
	modes   *fakeModes
	opened  int
	list    []plain.SessionInfo
	facts   []plain.Fact
	extra   []tool.Tool // what sessions opened from now on have besides
	hangs   func()      // when set, New calls it and waits for its context
}

func newFakeHost(clock core.Clock, model llm.Model) *fakeHost {
	h := &fakeHost{clock: clock, model: model, facts: []plain.Fact{
		{Kind: "command", Text: "make check runs all tests", Hits: 2, Trusted: true},
		{Kind: "decision", Text: "no ORM", Trusted: true},
		{Kind: "fact", Text: "came with the clone"},
	}}
	h.open("")
	return h
}

func (h *fakeHost) open(id string) {
	h.opened++
	if id == "" {
		id = fmt.Sprintf("20260301-120000-000%d", h.opened)
	}
	registry, err := tool.NewRegistry(slices.Concat(fakeTools(), h.extra, consult.New())...)
	if err != nil {
		panic(err)
	}
	h.modes = &fakeModes{mode: "build"}
	h.current = engine.New(engine.Config{
		ID: id, Model: h.model, Modes: h.modes, CanAsk: true, Clock: h.clock, Jitter: func() float64 { return 0 },
		Pipeline: &tool.Pipeline{Registry: registry, Decider: asksDecider{}, Env: &tool.Env{Clock: h.clock}},
	})
}

func (h *fakeHost) Banner() plain.Banner {
	return plain.Banner{Name: "Garuda", Version: "0.0.1", Sandbox: "commands run on this machine, each asked for", Folder: "~/project"}
}
func (h *fakeHost) Current() *engine.Session { return h.current }
func (h *fakeHost) Mode() string             { return h.modes.Mode() }

func (h *fakeHost) Permissions() []lines.Rule {
	return []lines.Rule{
		{List: "deny", Text: "bash(rm *)", Source: "user"},
		{List: "allow", Text: "bash(make\u202e *)", Source: "this session", Findings: []string{"it covers more than it looks"}},
	}
}

func (h *fakeHost) Explain(_ context.Context, name, input string) (*tool.Decision, error) {
	if name != "bash" {
		return nil, errors.New("there is no tool " + name)
	}
	return &tool.Decision{Outcome: tool.Deny, Row: 4, By: "rule", Rule: "bash(rm *)", Source: "user", Reason: "the rule forbids " + input,
		Commands: []tool.CommandInfo{{Argv: []string{"rm", "a b"}, Known: true}}}, nil
}

func (h *fakeHost) Audit() (*audit.Reader, error) { return audit.Open("testdata/none", "/project") }

func (h *fakeHost) replace(id string) error {
	if err := h.current.Close(); err != nil {
		return err
	}
	h.open(id)
	return nil
}

func (h *fakeHost) New(ctx context.Context) error {
	if h.hangs != nil {
		h.hangs()
		<-ctx.Done()
		return ctx.Err()
	}
	return h.replace("")
}

func (h *fakeHost) Sessions(context.Context) ([]plain.SessionInfo, error) {
	return slices.Clone(h.list), nil
}

func (h *fakeHost) Find(_ context.Context, ref string) (plain.SessionInfo, error) {
	for _, info := range h.list {
		if strings.HasPrefix(info.ID, ref) || info.Title == ref {
			return info, nil
		}
	}
	return plain.SessionInfo{}, errors.New("there is none")
}

func (h *fakeHost) Resume(_ context.Context, id string) ([]string, error) {
	return []string{"the last line of the journal was torn and is left out"}, h.replace(id)
}

func (h *fakeHost) Fork(_ context.Context, step int) ([]string, error) {
	if step > 2 {
		return nil, errors.New("no such step")
	}
	return nil, h.replace("")
}

func (h *fakeHost) Export(_ context.Context, name string) error {
	if name == "there.md" {
		return fs.ErrExist
	}
	return nil
}

func (h *fakeHost) Rename(_ context.Context, id, title string) error {
	for i := range h.list {
		if h.list[i].ID == id {
			h.list[i].Title = title
		}
	}
	return nil
}

func (h *fakeHost) Delete(_ context.Context, id string) error {
	h.list = slices.DeleteFunc(h.list, func(i plain.SessionInfo) bool { return i.ID == id })
	return nil
}

// Tools are the fake ones, and one that tool_search found.
func (h *fakeHost) Tools() []toolset.Row {
	rows := []toolset.Row{
		{Spec: &tool.Spec{Name: "later", Set: "more", Description: "Wait."}, State: toolset.On, Why: "loaded by tool_search"},
		{Spec: &tool.Spec{Name: "never", Set: "web", Description: "Not here."}, State: toolset.Off, Why: "toolSets has -web"},
		{Spec: &tool.Spec{Name: "once", Set: "more", Description: "Only when found."}, State: toolset.Deferred, Why: "toolSets has no more"},
	}
	for _, t := range fakeTools() {
		rows = append(rows, toolset.Row{Spec: t.Spec(), State: toolset.On, Why: "of the session"})
	}
	return rows
}

func (h *fakeHost) Models(context.Context) ([]*llm.Info, error) {
	return []*llm.Info{
		{
			Spec: "fake/big", ID: "big", ContextWindow: 200_000, Known: true, Price: core.Price{Input: 300, Output: 1500, Known: true},
			KeySource: "FAKE_KEY", Thinks: true, Efforts: []string{"low", "high"},
		},
		{Spec: "fake/local", ID: "local", ContextWindow: 60, Known: true, Price: core.Price{Known: true}, KeySource: "none"},
		{Spec: "fake/new", ID: "new", ContextWindow: 32_768, KeySource: "credentials"},
	}, nil
}

func (h *fakeHost) Memory(context.Context) ([]plain.Fact, error) { return slices.Clone(h.facts), nil }

func (h *fakeHost) TrustMemory(_ context.Context, facts []plain.Fact) (bool, error) {
	for i := range h.facts {
		h.facts[i].Trusted = h.facts[i].Trusted || slices.Contains(facts, h.facts[i])
	}
	if h.current.Totals().Turns > 0 {
		return false, nil
	}
	return true, h.replace("")
}

func (h *fakeHost) IsAlias(word string) bool { return word == "big" }

// SwitchModel goes on in the same session.
func (h *fakeHost) SwitchModel(ctx context.Context, spec string) ([]string, error) {
	if spec == "big" {
		spec = "fake/big"
	}
	models, _ := h.Models(ctx)
	for _, m := range models {
		if m.Spec == spec {
			h.model = &namedModel{Model: h.model, info: *m}
			var notices []string
			if !m.Known {
				notices = []string{m.Spec + " is not in the catalogue"}
			}
			return notices, h.current.SetModel(h.model, 0)
		}
	}
	return nil, errors.New("it is not known; set its address in models.json")
}
