package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/tool"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // tools that panic, which are many here
	goleak.VerifyTestMain(m)
}

func TestOneAnswer(t *testing.T) {
	b := newBench(t, Config{}, nil, says("Hello, wörld."))
	b.s.Submit(Prompt{Text: "hi"})
	var text strings.Builder
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		if d, ok := e.(TextDelta); ok {
			text.WriteString(d.Text)
		}
	}
	if text.String() != "Hello, wörld." {
		t.Errorf("streamed %q", text.String())
	}
	if diff := cmp.Diff([]string{"user", "assistant", "end"}, b.journal.types()); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestResultsKeepCallOrder(t *testing.T) {
	// The calls end in the reverse of their order: each waits for the next one.
	var mu sync.Mutex
	ended := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}
	waitsFor := map[string]string{"a": "b", "b": "c"}
	look := newTool("look", tool.Plan{ReadOnly: true, Parallel: true}, func(ctx context.Context, c *tool.Call, in map[string]any) (*tool.Output, error) {
		name := in["path"].(string)
		mu.Lock()
		wait, done := ended[waitsFor[name]], ended[name]
		mu.Unlock()
		if wait != nil {
			<-wait
		}
		close(done)
		return echo(ctx, c, in)
	})
	b := newBench(t, Config{}, []tool.Tool{look},
		calls(use("1", "look", `{"path":"a"}`), use("2", "look", `{"path":"b"}`), use("3", "look", `{"path":"c"}`)), says("ok"))
	if r := b.turn("go"); r.End != core.EndDone || r.Steps != 2 {
		t.Fatalf("ended %s after %d steps: %v", r.End, r.Steps, r.Err)
	}
	last := b.model.sent()[1].Messages
	var got []string
	for _, block := range last[len(last)-1].Blocks {
		got = append(got, block.ID+" "+block.ResultText())
	}
	if diff := cmp.Diff([]string{"1 seen a", "2 seen b", "3 seen c"}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	// A surface hears of them in that order too, before the first has ended.
	seen := b.s.Subscribe(0)
	defer seen.Close()
	var ready []string
	for {
		_, e, err := seen.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.(ToolReady); ok {
			ready = append(ready, r.ID)
		}
		if _, ok := e.(ToolEnded); ok {
			break
		}
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, ready); diff != "" {
		t.Errorf("calls told of (-want +got):\n%s", diff)
	}
}

// Calls that change something run alone and in order, and each has its intent on
// disk before it runs.
func TestChangesRunInOrderAfterTheirIntent(t *testing.T) {
	var b *bench
	var order []string
	change := newTool("change", tool.Plan{}, func(ctx context.Context, c *tool.Call, in map[string]any) (*tool.Output, error) {
		types := b.journal.types()
		if types[len(types)-1] != "intent" || b.journal.onDisk() != len(types) {
			t.Errorf("%s runs with the journal at %v, %d flushed", c.ID, types, b.journal.onDisk())
		}
		order = append(order, c.ID)
		return echo(ctx, c, in)
	})
	b = newBench(t, Config{}, []tool.Tool{looker(), change},
		calls(use("1", "change", `{"path":"x"}`), use("2", "look", `{}`), use("3", "change", `{"path":"y"}`)), says("ok"))
	b.turn("go")
	if diff := cmp.Diff([]string{"1", "3"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	want := []string{"user", "assistant", "intent", "intent", "tool_results", "assistant", "end"}
	if diff := cmp.Diff(want, b.journal.types()); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestLimitsEndATurn(t *testing.T) {
	loop := func(n int) []reply {
		var out []reply
		for i := range n {
			out = append(out, calls(use(fmt.Sprint(i), "look", fmt.Sprintf(`{"path":"%d"}`, i))))
		}
		return out
	}
	same := func(n int) []reply {
		var out []reply
		for i := range n {
			out = append(out, calls(use(fmt.Sprint(i), "look", `{"path":"same"}`)))
		}
		return out
	}
	for _, tc := range []struct {
		name    string
		limits  Limits
		replies []reply
		end     core.TurnEnd
		steps   int
	}{
		{"steps", Limits{MaxSteps: 4}, loop(9), core.EndMaxSteps, 4},
		{"repeats", Limits{}, same(9), core.EndRepeatedCalls, 3},
		{"tokens", Limits{TokenBudget: 8250, MaxOutput: 8192}, loop(9), core.EndTokenBudget, 2},
		{"money", Limits{SpendUSD: 0.00822, MaxOutput: 8192}, loop(9), core.EndSpend, 1},
		{"refusal", Limits{}, []reply{func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
			return response(core.StopRefusal, core.Text("no")), nil
		}}, core.EndRefusal, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Config{Limits: tc.limits}, []tool.Tool{looker()}, tc.replies...)
			r := b.turn("go")
			if r.End != tc.end || r.Steps != tc.steps {
				t.Errorf("ended %s after %d steps (%v); want %s after %d", r.End, r.Steps, r.Err, tc.end, tc.steps)
			}
			// Whatever ended it, the next message must be one that can be sent.
			b.model.mu.Lock()
			b.model.replies = []reply{says("fine")}
			b.model.mu.Unlock()
			b.turn("and now?")
			for _, req := range b.model.sent() {
				mustSend(t, req.Messages)
			}
		})
	}
}

func TestCutResponseIsContinued(t *testing.T) {
	cut := func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		return response(core.StopMaxTokens, core.Text("half"), use("1", "change", `{"path":"x`)), nil
	}
	b := newBench(t, Config{}, []tool.Tool{writer()}, cut, says("whole"))
	r := b.turn("go")
	if r.End != core.EndDone || r.Steps != 2 {
		t.Fatalf("ended %s after %d steps: %v", r.End, r.Steps, r.Err)
	}
	second := b.model.sent()[1]
	if second.MaxTokens != 32_000 {
		t.Errorf("the second limit is %d, want 32000", second.MaxTokens)
	}
	kept := second.Messages[1]
	if len(kept.Blocks) != 1 || kept.Blocks[0].Text != "half" {
		t.Errorf("kept %+v, want the text alone", kept.Blocks)
	}
	if diff := cmp.Diff([]string{"user", "assistant", "continue", "assistant", "end"}, b.journal.types()); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}

	b = newBench(t, Config{}, nil, cut, cut, cut, cut)
	if r := b.turn("go"); r.End != core.EndMaxTokens || r.Steps != 4 {
		t.Errorf("ended %s after %d steps, want max_tokens after 4", r.End, r.Steps)
	}
}

func TestRetries(t *testing.T) {
	overloaded := &llm.Error{Kind: llm.ErrOverloaded, Model: "fake/m", Status: 529, Message: "overloaded"}
	broken := func(_ context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
		emit(llm.TextDelta{Text: "never happened"})
		return nil, &llm.Error{Kind: llm.ErrNetwork, Model: "fake/m", Message: "connection reset", Streaming: true}
	}
	b := newBench(t, Config{}, nil, fails(overloaded), broken, says("there"))
	b.s.Submit(Prompt{Text: "go"})
	events := b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok })
	r := events[len(events)-1].(TurnEnded).Result
	if r.End != core.EndDone || r.Text != "there" || r.Steps != 1 {
		t.Fatalf("ended %s with %q after %d steps: %v", r.End, r.Text, r.Steps, r.Err)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second}, b.clock.slept); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	discarded := 0
	for _, e := range events {
		if end, ok := e.(BlockEnd); ok && end.Discarded {
			discarded++
		}
	}
	if discarded != 1 {
		t.Errorf("%d blocks were taken back, want the one that broke off", discarded)
	}
	if r.Usage.Unreported == 0 {
		t.Error("the failed attempts cost nothing; their reservations must stay spent")
	}

	b = newBench(t, Config{}, nil, fails(overloaded), fails(overloaded), fails(overloaded), fails(overloaded), says("never"))
	if r := b.turn("go"); r.End != core.EndError || !strings.Contains(r.Err.Error(), "after 4 tries") {
		t.Errorf("ended %s: %v; want an error after 4 tries", r.End, r.Err)
	}
}

func TestStopWhileStreaming(t *testing.T) {
	streaming := make(chan struct{})
	b := newBench(t, Config{}, nil, func(ctx context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
		emit(llm.TextDelta{Text: "so far"})
		close(streaming)
		<-ctx.Done()
		return nil, ctx.Err()
	}, says("fresh"))
	b.s.Submit(Prompt{Text: "go"})
	<-streaming
	if !b.s.Interrupt(StopTurn) {
		t.Fatal("there was no turn to stop")
	}
	if r := b.ended(); r.End != core.EndInterrupted {
		t.Fatalf("ended %s: %v", r.End, r.Err)
	}
	b.turn("next")
	req := b.model.sent()[1]
	mustSend(t, req.Messages)
	last := req.Messages[len(req.Messages)-1]
	if len(last.Blocks) != 2 || last.Blocks[1].Note != "stopped" {
		t.Errorf("the next message does not say that the turn was stopped: %+v", last.Blocks)
	}
	if b.s.Interrupt(StopTurn) {
		t.Error("an idle session had a turn to stop")
	}
}

func TestStopWhileCallsRun(t *testing.T) {
	started := make(chan string, 1)
	b := newBench(t, Config{}, []tool.Tool{waiter(started), writer()},
		calls(use("1", "wait", `{}`), use("2", "change", `{"path":"x"}`)), says("fresh"))
	b.s.Submit(Prompt{Text: "go"})
	<-started
	b.s.Interrupt(StopTurn)
	if r := b.ended(); r.End != core.EndInterrupted {
		t.Fatalf("ended %s: %v", r.End, r.Err)
	}
	b.turn("next")
	req := b.model.sent()[1]
	mustSend(t, req.Messages)
	results := req.Messages[2]
	if got := results.Blocks[0].ResultText(); !strings.Contains(got, "effects unknown") {
		t.Errorf("the running call ended with %q", got)
	}
	if got := results.Blocks[1].ResultText(); !strings.Contains(got, "before it ran") {
		t.Errorf("the call after it ended with %q", got)
	}
}

// Ctrl-C while a command runs ends that command; the turn goes on.
func TestStopCommandOnly(t *testing.T) {
	started := make(chan string, 1)
	b := newBench(t, Config{}, []tool.Tool{waiter(started)}, calls(use("1", "wait", `{}`)), says("went on"))
	if b.s.Interrupt(StopCommand) {
		t.Fatal("an idle session had a command to stop")
	}
	b.s.Submit(Prompt{Text: "go"})
	<-started
	if !b.s.Interrupt(StopCommand) {
		t.Fatal("there was no command to stop")
	}
	if r := b.ended(); r.End != core.EndDone || r.Text != "went on" {
		t.Errorf("ended %s with %q: %v", r.End, r.Text, r.Err)
	}
}

func TestStopWhileAQuestionWaits(t *testing.T) {
	b := newBench(t, Config{}, []tool.Tool{writer()}, calls(use("1", "change", `{"path":"x"}`)), says("fresh"))
	b.decider.ask["change"] = true
	b.s.Submit(Prompt{Text: "go"})
	events := b.until(func(e Event) bool { _, ok := e.(Asked); return ok })
	asked := events[len(events)-1].(Asked)
	b.s.Interrupt(StopTurn)
	if r := b.ended(); r.End != core.EndInterrupted {
		t.Fatalf("ended %s: %v", r.End, r.Err)
	}
	b.s.Answer(asked.ID, tool.Answer{Choice: tool.AnswerOnce}) // too late: it must do nothing
	b.turn("next")
	mustSend(t, b.model.sent()[1].Messages)
}

func TestQuestionsAreAnswered(t *testing.T) {
	for _, tc := range []struct {
		answer tool.Answer
		want   string
	}{
		{tool.Answer{Choice: tool.AnswerOnce}, "seen x"},
		{tool.Answer{Choice: tool.AnswerDeny, Comment: "use y"}, "Permission denied: the user said no: use y"},
		{tool.Answer{Choice: tool.AnswerOnce, Comment: "careful"}, "seen x\nThe user allowed this with a comment: careful"},
	} {
		b := newBench(t, Config{}, []tool.Tool{writer()}, calls(use("1", "change", `{"path":"x"}`)), says("ok"))
		b.decider.ask["change"] = true
		b.s.Submit(Prompt{Text: "go"})
		events := b.until(func(e Event) bool { _, ok := e.(Asked); return ok })
		b.s.Answer(events[len(events)-1].(Asked).ID, tc.answer)
		r := b.ended()
		msgs := b.model.sent()[1].Messages
		if got := msgs[2].Blocks[0].ResultText(); got != tc.want {
			t.Errorf("result %q, want %q", got, tc.want)
		}
		if denied := tc.answer.Choice == tool.AnswerDeny; denied != (len(r.Denials) == 1) {
			t.Errorf("denials %+v", r.Denials)
		}
	}
}

func TestQueuedMessagesRunInOrder(t *testing.T) {
	release := make(chan struct{})
	b := newBench(t, Config{}, nil, func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		<-release
		return response(core.StopEndTurn, core.Text("one")), nil
	}, says("two"), says("three"))
	for _, text := range []string{"1", "2", "3"} {
		b.s.Submit(Prompt{Text: text})
	}
	close(release)
	var got []string
	for range 3 {
		got = append(got, b.ended().Text)
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestTimeout(t *testing.T) {
	b := newBench(t, Config{}, nil, func(ctx context.Context, _ *llm.Request, _ func(llm.Event)) (*llm.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	b.s.Submit(Prompt{Text: "go", Timeout: time.Millisecond})
	if r := b.ended(); r.End != core.EndTimeout {
		t.Errorf("ended %s: %v", r.End, r.Err)
	}
}

// A surface that reads late sees every event, in order, and all of the text.
func TestLateSubscriberMissesNothing(t *testing.T) {
	b := newBench(t, Config{}, []tool.Tool{looker()}, calls(use("1", "look", `{}`)), says("all of it"))
	b.turn("go")
	late := b.s.Subscribe(0)
	defer late.Close()
	var kinds []string
	var text string
	for {
		_, e, err := late.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(TextDelta); ok {
			text += d.Text
			continue
		}
		kinds = append(kinds, fmt.Sprintf("%T", e))
		if _, ok := e.(TurnEnded); ok {
			break
		}
	}
	want := "engine.TurnStarted engine.ToolStarted engine.Answered engine.ToolReady engine.ToolEnded engine.Results " +
		"engine.StepEnded engine.BlockEnd engine.Answered engine.StepEnded engine.TurnEnded"
	if got := strings.Join(kinds, " "); got != want || text != "all of it" {
		t.Errorf("events\n%s\nwant\n%s\ntext %q", got, want, text)
	}
}

// What was sent never changes: each request begins with the very messages of the
// one before.
func TestMessagesOnlyGrow(t *testing.T) {
	var replies []reply
	for i := range 20 {
		replies = append(replies, calls(use(fmt.Sprint(i), "look", fmt.Sprintf(`{"path":"%d"}`, i))))
	}
	b := newBench(t, Config{System: "system"}, []tool.Tool{looker()}, append(replies, says("done"))...)
	b.turn("go")
	sent := b.model.sent()
	if len(sent) != 21 {
		t.Fatalf("%d requests, want 21", len(sent))
	}
	for i := 1; i < len(sent); i++ {
		for j, m := range sent[i-1].Messages {
			if sent[i].Messages[j] != m {
				t.Fatalf("request %d: message %d is another one than before", i, j)
			}
		}
	}
}

func TestPlanModeIsANoteNotAnotherPrompt(t *testing.T) {
	b := newBench(t, Config{System: "fixed"}, nil, says("a"), says("b"))
	b.turn("build")
	if err := b.s.SetMode("plan"); err != nil {
		t.Fatal(err)
	}
	b.turn("plan")
	sent := b.model.sent()
	if sent[0].System != sent[1].System {
		t.Error("the system prompt changed with the mode")
	}
	last := sent[1].Messages[2]
	if len(last.Blocks) != 2 || last.Blocks[1].Note != "plan" {
		t.Errorf("no plan note in %+v", last.Blocks)
	}
}

func TestOutputWindowSkipsAndCounts(t *testing.T) {
	l := newEventLog()
	s := l.subscribe(0)
	g := l.open(&growing{kind: growOutput, window: 8})
	l.grow(g, []byte("0123456789"))
	l.grow(g, []byte("ab"))
	l.finish(g, false)
	l.close()
	_, e, err := s.Next(t.Context())
	want := ToolOutput{Skipped: 4, Data: []byte("456789ab")}
	if diff := cmp.Diff(want, e); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	if _, _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestLogForgetsWhatEveryoneHasSeen(t *testing.T) {
	l := newEventLog()
	s := l.subscribe(0)
	for i := range 10 * keptEntries {
		l.publish(Notice{Text: fmt.Sprint(i)})
		if _, e, _ := s.Next(t.Context()); e.(Notice).Text != fmt.Sprint(i) {
			t.Fatalf("event %d is %v", i, e)
		}
	}
	if n := len(l.entries); n > 2*keptEntries {
		t.Errorf("%d entries are kept, want at most %d", n, 2*keptEntries)
	}
}

func TestModelSwitch(t *testing.T) {
	thought := func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		return response(core.StopEndTurn,
			core.Block{Type: core.BlockThinking, Text: "hm", Provider: "fake", Opaque: `{"signature":"x"}`}, core.Text("one")), nil
	}
	b := newBench(t, Config{}, nil, thought)
	b.turn("go")
	other := &fakeModel{info: llm.Info{Spec: "fake/other"}, replies: []reply{says("two"), says("three")}}
	if err := b.s.SetModel(other, 4096); err != nil {
		t.Fatal(err)
	}
	if got := b.s.Model().Spec; got != "fake/other" {
		t.Errorf("the session says it talks to %s", got)
	}
	b.turn("next")
	b.turn("and next")
	sent := other.sent()
	if n := len(sent[0].Messages[1].Blocks); n != 1 {
		t.Errorf("the other model got %d blocks of the answer before, want the text alone", n)
	}
	first, second := sent[0].Messages[2], sent[1].Messages[4]
	if len(first.Blocks) != 2 || first.Blocks[1].Note != "model" || len(second.Blocks) != 1 {
		t.Errorf("the switch must be told once; got %+v and %+v", first.Blocks, second.Blocks)
	}
	if sent[0].MaxTokens != 4096 {
		t.Errorf("output limit %d, want the new one", sent[0].MaxTokens)
	}
	if diff := cmp.Diff([]string{"user", "assistant", "end", "model", "user", "assistant", "end", "user", "assistant", "end"}, b.journal.types()); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

// An answer that holds nothing ends the turn, is paid for, and is not sent again.
func TestEmptyAnswer(t *testing.T) {
	empty := func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		return response(core.StopEndTurn), nil
	}
	b := newBench(t, Config{}, nil, empty, says("there"))
	if r := b.turn("go"); r.End != core.EndDone || r.Usage.Input != 10 {
		t.Errorf("ended %s with %d tokens in: %v", r.End, r.Usage.Input, r.Err)
	}
	b.turn("again")
	mustSend(t, b.model.sent()[1].Messages)
}
