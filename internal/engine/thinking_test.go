package engine

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

func TestThinkingChangesBetweenTurns(t *testing.T) {
	b := storedBench(t, Config{}, nil, says("a"), says("b"), says("c"), says("d"))
	b.turn("one")
	for i, level := range []llm.ThinkingLevel{llm.ThinkMax, llm.ThinkMax, llm.ThinkOff} {
		if err := b.s.SetThinking(level); err != nil {
			t.Fatal(err)
		}
		if got := b.s.Thinking(); got != level {
			t.Errorf("the session says %q", got)
		}
		b.turn(string(rune('a' + i)))
	}
	if err := b.s.SetThinking("sideways"); err == nil {
		t.Error("an unknown level is taken")
	}
	type asked struct {
		Level llm.ThinkingLevel
		Max   int
	}
	var got []asked
	for _, r := range b.model.sent() {
		got = append(got, asked{r.Thinking, r.MaxTokens})
	}
	want := []asked{{llm.ThinkDefault, 8192}, {llm.ThinkMax, 32_000}, {llm.ThinkMax, 32_000}, {llm.ThinkOff, 8192}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	h := b.loadAgain()
	if h.Thinking == nil || *h.Thinking != "off" {
		t.Errorf("the journal's choice is %v", h.Thinking)
	}
}

// What was chosen in a session goes on with it; a level that nobody knows does not.
func TestThinkingIsResumed(t *testing.T) {
	for choice, want := range map[string]llm.ThinkingLevel{"max": llm.ThinkMax, "": llm.ThinkDefault, "sideways": llm.ThinkLow} {
		h := &session.History{Messages: []*core.Message{core.UserText("x")}, Model: "fake/m", Told: "fake/m", Thinking: &choice}
		b := newBench(t, Config{Thinking: llm.ThinkLow, History: h}, nil, says("a"))
		b.turn("go")
		if got := b.model.sent()[0].Thinking; got != want {
			t.Errorf("after %q the model is asked for %q, want %q", choice, got, want)
		}
	}
}

// A choice that comes while a turn runs counts from the next one on.
func TestThinkingOfARunningTurnStays(t *testing.T) {
	var b *bench
	change := newTool("choose", tool.Plan{ReadOnly: true}, func(context.Context, *tool.Call, map[string]any) (*tool.Output, error) {
		return &tool.Output{Text: "ok"}, b.s.SetThinking(llm.ThinkHigh)
	})
	b = newBench(t, Config{}, []tool.Tool{change}, calls(use("1", "choose", `{}`)), says("done"), says("next"))
	b.turn("go")
	b.turn("go on")
	var got []llm.ThinkingLevel
	for _, r := range b.model.sent() {
		got = append(got, r.Thinking)
	}
	if d := cmp.Diff([]llm.ThinkingLevel{"", "", llm.ThinkHigh}, got); d != "" {
		t.Error(d)
	}
}

// thinks is an answer with thinking before it.
func thinks(blocks ...core.Block) reply {
	return func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		thought := core.Block{Type: core.BlockThinking, Text: "hm", Provider: "fake", Opaque: `{"signature":"x"}`}
		stop := core.StopEndTurn
		if blocks[len(blocks)-1].Type == core.BlockToolUse {
			stop = core.StopToolUse
		}
		return response(stop, append([]core.Block{thought}, blocks...)...), nil
	}
}

// thinkingIn are the places of the messages that hold thinking.
func thinkingIn(msgs []*core.Message) []int {
	var out []int
	for i, m := range msgs {
		if slices.ContainsFunc(m.Blocks, func(b core.Block) bool { return b.Type == core.BlockThinking }) {
			out = append(out, i)
		}
	}
	return out
}

func TestDropThinking(t *testing.T) {
	turns := func(drop bool) []llm.Request {
		b := newBench(t, Config{DropThinking: drop}, []tool.Tool{looker()},
			thinks(use("1", "look", `{"path":"a"}`)), thinks(core.Text("first")),
			thinks(use("2", "look", `{"path":"b"}`)), thinks(core.Text("second")), says("third"))
		b.turn("one")
		b.turn("two")
		b.turn("three")
		for _, r := range b.model.sent() {
			mustSend(t, r.Messages)
		}
		return b.model.sent()
	}
	var kept, dropped [][]int
	for _, r := range turns(false) {
		kept = append(kept, thinkingIn(r.Messages))
	}
	for _, r := range turns(true) {
		dropped = append(dropped, thinkingIn(r.Messages))
	}
	if d := cmp.Diff([][]int{nil, {1}, {1, 3}, {1, 3, 5}, {1, 3, 5, 7}}, kept); d != "" {
		t.Errorf("kept: %s", d)
	}
	if d := cmp.Diff([][]int{nil, {1}, nil, {5}, nil}, dropped); d != "" {
		t.Errorf("dropped: %s", d)
	}
}

// The thinking of a turn that was stopped between call and answer goes back: its
// results are the last that was said.
func TestThinkingOfAnUnfinishedTurnStays(t *testing.T) {
	b := newBench(t, Config{DropThinking: true, Limits: Limits{MaxSteps: 1}}, []tool.Tool{looker()},
		thinks(use("1", "look", `{"path":"a"}`)), says("fine"))
	if r := b.turn("one"); r.End != core.EndMaxSteps {
		t.Fatalf("ended %s", r.End)
	}
	b.turn("two")
	if d := cmp.Diff([]int{1}, thinkingIn(b.model.sent()[1].Messages)); d != "" {
		t.Error(d)
	}
}
