package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/state"
	"garuda/internal/tool"
)

// TestRandomUse drives a session from several goroutines in any order against a
// model that does anything, and checks what must hold all the same:
//
//   - every message that was taken ends in exactly one TurnEnded, or was taken back;
//   - every conversation that is sent is one that may be sent, and continues the
//     one before;
//   - the journal has what was sent, before it was sent, also after the model was
//     switched and after the conversation was made smaller;
//   - the journal loads as the conversation and the sums that the session had;
//   - all subscribers see the same events in the same order;
//   - sums of turns are the session's;
//   - Close returns, and nothing is left running (TestMain looks).
func TestRandomUse(t *testing.T) {
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dir.Close)
	store, runs := session.NewStore(dir, session.Options{}), 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.run(t)
		w.settle(t)
		w.check(t)
		runs++
		w.checkLoaded(t, store, fmt.Sprint("run", runs))
	})
}

// world is a session with all that is random around it, drawn beforehand.
type world struct {
	s       *Session
	model   *fakeModel
	small   llm.Model // the same with another name and a small window
	journal *memoryJournal
	actions [][]action

	mu        sync.Mutex
	asked     []int // questions that were put
	submitted int
	unqueued  int
	lost      []string // what was sent before it was kept
	watchers  []*watcher
	watching  sync.WaitGroup
}

// action is one thing that a surface does.
type action func(*world)

func newWorld(t *rapid.T) *world {
	w := &world{journal: &memoryJournal{}}
	replies := rapid.SliceOfN(replyGen(), 0, 25).Draw(t, "replies")
	w.model = &fakeModel{
		info:    llm.Info{Spec: "fake/m", Format: "anthropic", MaxOutput: 64_000, Price: core.Price{Input: 1, Output: 1, Known: true}},
		replies: append(replies, make([]reply, 0, 1)...),
	}
	w.small = &namedModel{fakeModel: w.model, info: llm.Info{Spec: "fake/small", Format: "anthropic", ContextWindow: 10_000, Known: true}}
	for range rapid.IntRange(1, 3).Draw(t, "surfaces") {
		w.actions = append(w.actions, rapid.SliceOfN(actionGen(), 1, 12).Draw(t, "actions"))
	}
	registry, err := tool.NewRegistry(looker(), pages(), writer(), anyEnd("wait", tool.Plan{RunsCommands: true}), broken())
	if err != nil {
		t.Fatal(err)
	}
	w.model.onRequest = w.onDisk
	clock := &instantClock{}
	w.s = New(Config{
		ID: "20260101-000000-abcd", Model: w.model, Modes: &lockedModes{}, CanAsk: true, Clock: clock,
		Jitter:       func() float64 { return 0 },
		DropThinking: rapid.Bool().Draw(t, "drop thinking"),
		Limits:       Limits{MaxSteps: 6, TokenBudget: rapid.SampledFrom([]int{0, 0, 60_000}).Draw(t, "budget")},
		Pipeline: &tool.Pipeline{Registry: registry, Env: &tool.Env{Clock: clock},
			Decider: &fakeDecider{ask: map[string]bool{"change": true}, deny: map[string]bool{}}},
		OpenJournal: func() (Journal, error) { return w.journal, nil },
	})
	w.watch(true)
	return w
}

// namedModel is a model under another name.
type namedModel struct {
	*fakeModel
	info llm.Info
}

func (m *namedModel) Info() *llm.Info { return &m.info }

// replyGen draws what a model may answer, sound or not.
func replyGen() *rapid.Generator[reply] {
	tools := rapid.SampledFrom([]string{"look", "look", "page", "page", "change", "wait", "broken", "unknown", ""})
	inputs := rapid.SampledFrom([]string{`{}`, `{"path":"9 pages"}`, `{"path":"a"}`, `{"path":"b"}`, `{"path"`, `{"other":1}`, ``})
	block := rapid.Custom(func(t *rapid.T) core.Block {
		switch rapid.IntRange(0, 6).Draw(t, "block") {
		case 0:
			return core.Text(rapid.SampledFrom([]string{"words", "", " "}).Draw(t, "text"))
		case 1:
			return core.Block{Type: core.BlockThinking, Text: "hm", Provider: "fake", Opaque: `{}`}
		default:
			return use(rapid.SampledFrom([]string{"1", "2", "3", "4", ""}).Draw(t, "id"), tools.Draw(t, "tool"), inputs.Draw(t, "input"))
		}
	})
	return rapid.Custom(func(t *rapid.T) reply {
		if kind := rapid.IntRange(0, 9).Draw(t, "kind"); kind < 3 {
			return failureGen().Draw(t, "failure")
		}
		stop := rapid.SampledFrom([]core.StopReason{core.StopToolUse, core.StopToolUse, core.StopToolUse,
			core.StopEndTurn, core.StopEndTurn, core.StopMaxTokens, core.StopRefusal, core.StopPause}).Draw(t, "stop")
		blocks := rapid.SliceOfN(block, 0, 4).Draw(t, "blocks")
		reported := rapid.Bool().Draw(t, "reported")
		return func(_ context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
			for _, b := range blocks {
				switch b.Type {
				case core.BlockText:
					emit(llm.TextDelta{Text: b.Text})
				case core.BlockThinking:
					emit(llm.ThinkingDelta{Text: b.Text})
				default:
					emit(llm.ToolCallStarted{ID: b.ID, Name: b.Name})
				}
			}
			r := response(stop, append([]core.Block(nil), blocks...)...)
			if r.UsageReported = reported; !reported {
				r.Usage = core.Usage{}
			}
			return r, nil
		}
	})
}

func failureGen() *rapid.Generator[reply] {
	return rapid.Map(rapid.IntRange(0, 6), func(kind int) reply {
		return func(ctx context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
			switch kind {
			case 0:
				emit(llm.TextDelta{Text: "broken off"})
				return nil, &llm.Error{Kind: llm.ErrNetwork, Model: "fake/m", Message: "reset", Streaming: true}
			case 1:
				return nil, &llm.Error{Kind: llm.ErrAuth, Model: "fake/m", Message: "no such key"}
			case 2:
				return nil, errors.New("an error of no kind")
			case 3:
				return nil, &llm.Error{Kind: llm.ErrContextOverflow, Model: "fake/m", Message: "too long", Window: 12_000}
			case 4:
				return nil, &llm.Error{Kind: llm.ErrTooLarge, Model: "fake/m", Message: "too large"}
			case 5:
				return nil, &llm.Error{Kind: llm.ErrBadRequest, Image: true, Model: "fake/m", Message: "bad image", Block: "messages.0.content.1"}
			}
			emit(llm.ThinkingDelta{Text: "for ever"})
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
}

// anyEnd is a command that ends when its context does, and at once when asked to
// work on "a".
func anyEnd(name string, plan tool.Plan) *fakeTool {
	return newTool(name, plan, func(ctx context.Context, c *tool.Call, in map[string]any) (*tool.Output, error) {
		c.Emit(false, []byte("out\n"))
		c.Emit(true, []byte("err\n"))
		if in["path"] == "a" {
			return &tool.Output{Text: "ended"}, nil
		}
		<-ctx.Done()
		return &tool.Output{Text: "stopped", IsError: true}, context.Cause(ctx)
	})
}

// broken fails in every way that a tool can.
func broken() *fakeTool {
	return newTool("broken", tool.Plan{ReadOnly: true, Parallel: true}, func(_ context.Context, _ *tool.Call, in map[string]any) (*tool.Output, error) {
		switch in["path"] {
		case "a":
			panic("a fault in a tool")
		case "b":
			return &tool.Output{}, nil // says nothing at all
		}
		return nil, errors.New("cannot")
	})
}

// lockedModes is the mode as a real policy keeps it.
type lockedModes struct {
	mu sync.Mutex
	fakeModes
}

func (m *lockedModes) Mode() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fakeModes.Mode()
}

func (m *lockedModes) SetMode(s string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fakeModes.SetMode(s)
}

func actionGen() *rapid.Generator[action] {
	return rapid.Custom(func(t *rapid.T) action {
		switch rapid.IntRange(0, 15).Draw(t, "action") {
		case 0, 1, 2:
			text := rapid.SampledFrom([]string{"do it", "and that", " ", ""}).Draw(t, "prompt")
			return func(w *world) { w.submit(text) }
		case 3:
			return func(w *world) { w.s.Interrupt(StopCommand) }
		case 4:
			return func(w *world) { w.s.Interrupt(StopTurn) }
		case 5, 6, 7:
			choice := rapid.SampledFrom([]tool.Choice{tool.AnswerOnce, tool.AnswerDeny}).Draw(t, "choice")
			return func(w *world) { w.answer(choice) }
		case 8:
			mode := rapid.SampledFrom([]string{"plan", "build"}).Draw(t, "mode")
			return func(w *world) { _ = w.s.SetMode(mode) }
		case 9:
			return (*world).unqueue
		case 10:
			return func(w *world) { w.watch(false) }
		case 11:
			return func(*world) { <-time.After(time.Millisecond) }
		case 12:
			small := rapid.Bool().Draw(t, "small")
			return func(w *world) { w.switchModel(small) }
		case 13:
			level := rapid.SampledFrom([]llm.ThinkingLevel{llm.ThinkDefault, llm.ThinkOff, llm.ThinkMax, "sideways"}).Draw(t, "level")
			return func(w *world) { _ = w.s.SetThinking(level) }
		}
		if rapid.Bool().Draw(t, "note") {
			return func(w *world) { w.s.cfg.Pipeline.Env.Notes.Add(note("b1 ended")) }
		}
		return func(w *world) { _, _ = w.s.Busy(), w.s.Totals() }
	})
}

func (w *world) submit(text string) {
	w.mu.Lock()
	w.submitted++
	w.mu.Unlock()
	p := Prompt{Text: text}
	if text == "and that" {
		p.Attachments = []core.Block{{Type: core.BlockImage, MediaType: "image/png", Data: []byte("png")}}
	}
	w.s.Submit(p)
}

// switchModel is refused while a turn runs.
func (w *world) switchModel(small bool) {
	var to llm.Model = w.model
	if small {
		to = w.small
	}
	_ = w.s.SetModel(to, 0)
}

func (w *world) unqueue() {
	n := len(w.s.Unqueue())
	w.mu.Lock()
	w.unqueued += n
	w.mu.Unlock()
}

// answer answers the newest question, which may be answered or withdrawn by now.
func (w *world) answer(choice tool.Choice) {
	w.mu.Lock()
	id := 1
	if n := len(w.asked); n > 0 {
		id = w.asked[n-1]
	}
	w.mu.Unlock()
	w.s.Answer(id, tool.Answer{Choice: choice})
}

// run lets every surface act, all at the same time.
func (w *world) run(*rapid.T) {
	var wg sync.WaitGroup
	for _, list := range w.actions {
		wg.Go(func() {
			for _, act := range list {
				act(w)
			}
		})
	}
	wg.Wait()
}

// settle lets turns go on for as long as they move, stops them where they wait
// for something that never comes, and closes.
func (w *world) settle(t *rapid.T) {
	limit := time.Now().Add(30 * time.Second)
	for still := 0; w.s.Busy(); still++ {
		w.answer(tool.AnswerOnce)
		before := w.s.log.last()
		<-time.After(200 * time.Microsecond)
		if w.s.log.last() != before {
			still = 0
		}
		switch {
		case still > 2 && w.s.Interrupt(StopCommand):
		case still > 4:
			w.s.Interrupt(StopTurn)
		}
		if time.Now().After(limit) {
			t.Fatal("turns do not end")
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- w.s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Fatalf("close: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Close does not return")
	}
	w.watching.Wait()
}

func (w *world) check(t *rapid.T) {
	first := w.watchers[0]
	for _, problem := range first.problems {
		t.Error(problem)
	}
	if first.ended != w.submitted-w.unqueued {
		t.Errorf("%d messages, %d taken back, %d turns ended", w.submitted, w.unqueued, first.ended)
	}
	for _, late := range w.watchers[1:] {
		if len(late.whole) > len(first.whole) {
			t.Fatalf("a late subscriber saw %d events, the first %d", len(late.whole), len(first.whole))
		}
		if d := cmp.Diff(first.whole[len(first.whole)-len(late.whole):], late.whole); d != "" {
			t.Errorf("a late subscriber saw other events (-first +late):\n%s", d)
		}
	}
	w.checkConversation(t)
	total := w.s.Totals() // nothing: the session is closed
	if d := cmp.Diff(Totals{}, total); d != "" {
		t.Errorf("a closed session answered %s", d)
	}
	if first.last != nil && first.last.Session.Usage != first.usage {
		t.Errorf("the turns' usage is %+v, the session's %+v", first.usage, first.last.Session.Usage)
	}
}

// checkConversation compares what was sent with the journal.
func (w *world) checkConversation(t *rapid.T) {
	kept := messagesOf(w.journal.records)
	if _, mends := core.Validate(kept); len(mends) > 0 {
		t.Errorf("the journal's conversation needs mending: %q", mends)
	}
	for n, req := range w.model.sent() {
		if _, mends := core.Validate(req.Messages); len(mends) > 0 {
			t.Errorf("request %d needs mending: %q", n, mends)
		}
	}
	for _, problem := range w.lost {
		t.Error(problem)
	}
	if n := len(w.journal.records); n > 0 && w.journal.flushed != n {
		last := w.journal.records[n-1].RecordType()
		if last != "mode" && last != "model" && last != "thinking" { // they wait for the next message
			t.Errorf("%d of %d records were flushed, the last is %s", w.journal.flushed, n, last)
		}
	}
}

// checkLoaded writes the session's records into a real journal and reads them back.
func (w *world) checkLoaded(t *rapid.T, store *session.Store, id string) {
	j, err := store.Create(id, &session.Start{SessionID: id, Model: w.model.info.Spec})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range w.journal.records {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := store.Load(id)
	if errors.Is(err, session.ErrNotFound) {
		return // nothing was said
	}
	if err != nil || len(h.Notices) > 0 {
		t.Fatalf("load: %v, %q", err, h.Notices)
	}
	if d := cmp.Diff(messagesOf(w.journal.records), h.Messages, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the journal loads as another conversation (-had +loaded):\n%s", d)
	}
	if last := w.watchers[0].last; last != nil {
		if d := cmp.Diff(last.Session.Models, h.Models, cmpopts.EquateApprox(0, 1e-9), ofTheModel); d != "" {
			t.Errorf("the journal sums up otherwise (-had +loaded):\n%s", d)
		}
	}
}

// onDisk checks that nothing is sent that the journal does not keep.
func (w *world) onDisk(req *llm.Request) {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	kept := messagesOf(w.journal.records[:w.journal.flushed])
	for i, m := range req.Messages {
		if i < len(kept) && (kept[i] == m || cmp.Equal(w.bare(kept[i]), w.bare(m))) {
			continue
		}
		w.mu.Lock()
		w.lost = append(w.lost, fmt.Sprintf("message %d of a request was sent before it was on disk", i))
		w.mu.Unlock()
		return
	}
}

// bare is a message as it is compared with what was sent: where earlier thinking
// is dropped, without it.
func (w *world) bare(m *core.Message) *core.Message {
	if !w.s.cfg.DropThinking {
		return m
	}
	if got := session.WithoutThinking([]*core.Message{m}); len(got) == 1 {
		return got[0]
	}
	return nil
}

// messagesOf is the conversation that records hold.
func messagesOf(records []session.Record) []*core.Message {
	var kept []*core.Message
	for _, r := range records {
		var m *core.Message
		switch r := r.(type) {
		case *session.User:
			m = r.Message
		case *session.Assistant:
			m = r.Message
		case *session.ToolResults:
			m = r.Message
		case *session.Continue:
			m = r.Message
		case *session.Model:
			kept = session.WithoutThinking(kept)
		case *session.Compaction:
			for _, p := range r.Messages {
				kept[p.At] = p.Message
			}
		}
		if m != nil {
			kept = append(kept, m)
		}
	}
	return kept
}
