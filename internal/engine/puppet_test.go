package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/engine/compact"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/state"
	"garuda/internal/tool"
)

// held is something that waits for an event: a model, a tool, a question, a clock.
type held struct {
	what    string
	gone    atomic.Bool
	release func(*life)
}

// pump gathers what waits, and how turns ended.
type pump struct {
	mu      sync.Mutex
	arrived []*held
	ends    []*TurnResult
	woken   chan struct{}
	// seen is the number of the newest event.
	seen atomic.Int64
	sub  *Subscription
	done chan struct{}
}

func newPump() *pump { return &pump{woken: make(chan struct{}, 1), done: make(chan struct{})} }

// follow reads the session's events until it is closed.
func (p *pump) follow(s *Session) {
	p.sub = s.Subscribe(0)
	go func() {
		defer close(p.done)
		for {
			seq, e, err := p.sub.Next(context.Background())
			if err != nil {
				return
			}
			switch e := e.(type) {
			case Asked:
				p.add(&held{what: "answer", release: func(l *life) {
					choice := []tool.Choice{tool.AnswerOnce, tool.AnswerDeny}[l.rng.IntN(2)]
					s.Answer(e.ID, tool.Answer{Choice: choice})
				}})
			case TurnEnded:
				p.mu.Lock()
				p.ends = append(p.ends, e.Result)
				p.mu.Unlock()
			}
			p.seen.Store(seq)
			p.wake()
		}
	}()
}

func (p *pump) stop() {
	<-p.done
	p.sub.Close()
}

func (p *pump) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

func (p *pump) add(h *held) {
	p.mu.Lock()
	p.arrived = append(p.arrived, h)
	p.mu.Unlock()
	p.wake()
}

// ended takes how turns ended since the last time.
func (p *pump) ended() []*TurnResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.ends
	p.ends = nil
	return out
}

// collect adds what has arrived to what waits, and drops what waits no more.
func (p *pump) collect(waiting []*held) []*held {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Concat(waiting, p.arrived)
	p.arrived = nil
	var out []*held
	for _, h := range all {
		if !h.gone.Load() {
			out = append(out, h)
		}
	}
	return out
}

// wait returns when something happened, or false after a time.
func (p *pump) wait(limit time.Duration) bool {
	select {
	case <-p.woken:
		return true
	case <-time.After(limit):
		return false
	}
}

// hold waits for an event, whose outcome is drawn then.
func hold[T any](ctx context.Context, p *pump, what string, draw func(*life) T) (T, error) {
	out := make(chan T, 1)
	h := &held{what: what, release: func(l *life) { out <- draw(l) }}
	p.add(h)
	defer p.wake()
	defer h.gone.Store(true)
	select {
	case v := <-out:
		return v, nil
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// heldClock lets sleepers wait for an event.
type heldClock struct{ p *pump }

func (c heldClock) Now() time.Time { return time.Unix(0, 0) }

func (c heldClock) Sleep(ctx context.Context, _ time.Duration) error {
	if _, err := hold(ctx, c.p, "wait over", func(*life) bool { return true }); err != nil {
		return ctx.Err()
	}
	return nil
}

func (c heldClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// puppetModel answers when it is told to.
type puppetModel struct {
	info llm.Info
	p    *pump
	look func(*llm.Request)
	easy atomic.Bool
}

func (m *puppetModel) Info() *llm.Info { return &m.info }

func (m *puppetModel) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	m.look(req)
	if m.easy.Load() {
		return summarised(req, "fine"), nil
	}
	emit(llm.TextDelta{Text: "so"})
	answer, err := hold(ctx, m.p, "model", func(l *life) reply {
		if req.System != systemOfLife {
			return l.drawSummary()
		}
		return l.drawReply()
	})
	if err != nil {
		return nil, ctx.Err()
	}
	return answer(ctx, req, emit)
}

const systemOfLife = "You are a puppet."

// summarised is a summary where one is asked for, and else this text.
func summarised(req *llm.Request, text string) *llm.Response {
	if req.System != systemOfLife {
		text = ""
		for line := range strings.Lines(req.System) {
			if strings.HasPrefix(line, "## ") {
				text += line + "something\n"
			}
		}
	}
	return response(core.StopEndTurn, core.Text(text))
}

// tokensOf is what a request counts as: a bit less than what is reserved for it.
func tokensOf(req *llm.Request) int {
	const bytesAToken = 5
	n := len(req.System)
	for _, m := range req.Messages {
		n += compact.Context.Size(m)
	}
	return n / bytesAToken
}

func (l *life) drawSummary() reply {
	switch l.rng.IntN(4) {
	case 0:
		return fails(&llm.Error{Kind: llm.ErrOverloaded, Model: "fake/m"})
	case 1:
		return gives(core.Text("no summary at all"))
	}
	return func(_ context.Context, req *llm.Request, _ func(llm.Event)) (*llm.Response, error) {
		return summarised(req, ""), nil
	}
}

func (l *life) drawReply() reply {
	n := l.rng.IntN(100)
	output := 1 + l.rng.IntN(100)
	reported := l.chance(85)
	answer := func(stop core.StopReason, blocks ...core.Block) reply {
		return func(_ context.Context, req *llm.Request, _ func(llm.Event)) (*llm.Response, error) {
			r := response(stop, blocks...)
			if r.Usage, r.UsageReported = (core.Usage{Input: tokensOf(req), Output: output}), reported; !reported {
				r.Usage = core.Usage{}
			}
			return r, nil
		}
	}
	text := core.Text("words " + strings.Repeat("and more ", l.rng.IntN(40)))
	switch {
	case n < 25:
		return answer(core.StopEndTurn, text)
	case n < 70:
		blocks := []core.Block{{Type: core.BlockThinking, Text: "hm", Provider: "fake", Opaque: `{}`}, text}[l.rng.IntN(2):]
		same := []string{"look", "look", "change", "wait", "task", "unknown"}[l.rng.IntN(6)]
		for i := range 1 + l.rng.IntN(4) {
			name := same
			if l.chance(30) {
				name = []string{"look", "change", "wait", "task"}[l.rng.IntN(4)]
			}
			blocks = append(blocks, use(fmt.Sprint("c", i), name, fmt.Sprintf(`{"path":"%d"}`, l.rng.IntN(3))))
		}
		return answer(core.StopToolUse, blocks...)
	case n < 78:
		return fails(&llm.Error{Kind: llm.ErrNetwork, Model: "fake/m", Message: "reset", Streaming: true})
	case n < 82:
		return fails(&llm.Error{Kind: llm.ErrAuth, Model: "fake/m", Message: "no such key"})
	case n < 87:
		return answer(core.StopMaxTokens, text, use("cut", "change", `{"path":"`))
	case n < 91:
		return answer(core.StopPause, text)
	case n < 94:
		return answer(core.StopRefusal, text)
	case n < 98:
		return fails(&llm.Error{Kind: llm.ErrContextOverflow, Model: "fake/m", Message: "too long", Window: 6_000})
	}
	return answer(core.StopEndTurn)
}

// puppetTools are tools of every kind, which end when they are told to.
func (l *life) puppetTools(p *pump) []tool.Tool {
	ends := func(ctx context.Context, c *tool.Call, _ map[string]any) (*tool.Output, error) {
		c.Emit(false, []byte("printed\n"))
		return heldOutput(hold(ctx, p, "tool", (*life).drawOutput))
	}
	task := func(ctx context.Context, c *tool.Call, _ map[string]any) (*tool.Output, error) {
		account := l.s.ChildBudget(c.ID, Limits{TokenBudget: 20_000})
		defer account.Close() // with what is still on its way
		for range 3 {
			r, err := account.Reserve(budget.Request{Model: "fake/small", Tokens: 3_000, USD: 0.003, PriceKnown: true})
			if err != nil {
				return &tool.Output{Text: err.Error(), IsError: true}, nil
			}
			used, err := hold(ctx, p, "agent", func(l *life) int { return l.rng.IntN(4_000) })
			switch {
			case err != nil:
				return nil, err
			case used > r.Tokens:
				r.Lose()
			default:
				r.Settle(core.ModelUsage{Spec: "fake/small", Usage: core.Usage{Input: used}, Cost: core.Cost{USD: float64(used) / 1e6, Known: true}, Requests: 1})
			}
		}
		return &tool.Output{Text: "found"}, nil
	}
	agent := newTool("task", tool.Plan{ReadOnly: true}, task)
	agent.spec.MaxResult = 500
	return []tool.Tool{
		newTool("look", tool.Plan{ReadOnly: true, Parallel: true}, ends), newTool("change", tool.Plan{}, ends),
		newTool("wait", tool.Plan{RunsCommands: true}, ends), agent,
	}
}

func heldOutput(o *tool.Output, err error) (*tool.Output, error) {
	if err != nil {
		return &tool.Output{Text: "interrupted, effects unknown\nprinted", IsError: true}, err
	}
	return o, nil
}

func (l *life) drawOutput() *tool.Output {
	text := "seen"
	if l.chance(50) {
		text = strings.Repeat(fmt.Sprint("line ", l.rng.IntN(1000), "\n"), 1+l.rng.IntN(900))
	}
	return &tool.Output{Text: text, IsError: l.chance(20)}
}

// watchedJournal is a journal on disk that knows what it was given and how much of
// its file is flushed.
type watchedJournal struct {
	Journal
	root string

	mu      sync.Mutex
	given   []session.Record
	flushed int // records
	durable int // bytes
	path    string
}

func (j *watchedJournal) openIn(store *session.Store, resumed bool) (err error) {
	const model = "fake/m"
	if !resumed {
		j.Journal, err = store.Create(lifeID, &session.Start{SessionID: lifeID, Model: model})
		return err
	}
	if j.Journal, _, err = store.Resume(lifeID); err != nil {
		return err
	}
	j.durable = j.size()
	return j.Append(&session.Resume{Model: model})
}

func (j *watchedJournal) Append(r session.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.Journal.Append(r); err != nil {
		return err
	}
	j.given = append(j.given, r)
	return nil
}

func (j *watchedJournal) Flush() error {
	j.mu.Lock()
	given, size := len(j.given), j.size()
	j.mu.Unlock()
	err := j.Journal.Flush()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.flushed, j.durable = max(j.flushed, given), max(j.durable, size)
	}
	return err
}

// size of the file that has the records; the lock is held.
func (j *watchedJournal) size() int {
	if j.path == "" {
		j.path = journalIn(j.root)
	}
	info, err := os.Stat(filepath.Join(j.root, j.path))
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// journalIn finds the session's file below a folder; "" where there is none.
func journalIn(root string) string {
	found := ""
	_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == lifeID+".jsonl" {
			found, _ = filepath.Rel(root, path)
		}
		return nil
	})
	return found
}

// onDisk are the records that are flushed.
func (j *watchedJournal) onDisk() []session.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.given[:j.flushed:j.flushed]
}

func (j *watchedJournal) records() []session.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.given[:len(j.given):len(j.given)]
}

func (j *watchedJournal) safe() (bytes int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable
}

// begin opens the session; h is what it goes on with, or nil.
func (l *life) begin(h *session.History) {
	var err error
	if l.state, err = state.Open(l.dir); err != nil {
		l.Fatal(err)
	}
	store := session.NewStore(l.state, session.Options{})
	l.journal, l.pump = &watchedJournal{root: l.dir}, newPump()
	l.model = &puppetModel{p: l.pump, look: l.look, info: llm.Info{
		Spec: "fake/m", Format: "anthropic", ContextWindow: 7_000, MaxOutput: 4_000, Known: true, Price: core.Price{Input: 1, Output: 1, Known: true},
	}}
	clock := heldClock{l.pump}
	registry, err := tool.NewRegistry(l.puppetTools(l.pump)...)
	if err != nil {
		l.Fatal(err)
	}
	cfg := Config{
		ID: lifeID, System: systemOfLife, Model: l.model, Modes: &lockedModes{}, CanAsk: true, Clock: clock, Limits: l.limits, History: h,
		Jitter: func() float64 { return 0 },
		Pipeline: &tool.Pipeline{Registry: registry, Env: &tool.Env{Clock: clock},
			Decider: &fakeDecider{ask: map[string]bool{"change": l.chance(50)}, deny: map[string]bool{"wait": l.chance(10)}}},
	}
	journal := l.journal
	cfg.OpenJournal = func() (Journal, error) {
		err := journal.openIn(store, h != nil)
		return journal, err
	}
	l.s = New(cfg)
	l.pump.follow(l.s)
}

// look holds a request of the conversation against the one before it, and against the
// disk.
func (l *life) look(req *llm.Request) {
	if _, mends := core.Validate(req.Messages); len(mends) > 0 {
		l.Errorf("a request needs mending: %q", mends)
	}
	if req.System != systemOfLife {
		return
	}
	now := asJSON(req.Messages)
	onDisk := slices.Concat(l.past, l.journal.onDisk())
	kept := asJSON(conversationOf(onDisk))
	if len(kept) < len(now) {
		l.Errorf("of %d messages that are sent %d are on disk", len(now), len(kept))
		return
	}
	for i := range now {
		if kept[i] != now[i] {
			l.Errorf("message %d is sent as\n%s\nand kept as\n%s", i, now[i], kept[i])
			return
		}
	}
	if n := compactions(onDisk); n != l.compacted {
		l.compacted, l.last = n, nil
	}
	for i, before := range l.last {
		if i >= len(now) || now[i] != before {
			l.Errorf("a request does not begin with the one before it: message %d of %d", i, len(l.last))
			return
		}
	}
	l.last = now
}

func compactions(records []session.Record) (n int) {
	for _, r := range records {
		if _, ok := r.(*session.Compaction); ok {
			n++
		}
	}
	return n
}

// conversationOf is the conversation that records hold, ready to be sent.
func conversationOf(records []session.Record) []*core.Message {
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
		case *session.Compaction:
			if r.Stage >= session.StageSummary {
				kept = nil
				for _, p := range r.Messages {
					kept = append(kept, p.Message)
				}
				continue
			}
			kept, _ = core.Validate(kept)
			kept = append([]*core.Message(nil), kept...)
			for _, p := range r.Messages {
				kept[p.At] = p.Message
			}
		}
		if m != nil {
			kept = append(kept, m)
		}
	}
	kept, _ = core.Validate(kept)
	return kept
}

// copyOf copies the files of a session as they are now, for their owner only.
func copyOf(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
}

// linesIn counts whole lines.
func linesIn(data []byte) int { return bytes.Count(data, []byte("\n")) }
