package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/tool"
)

// steers is an answer before whose end the user sends something.
func steers(b **bench, text string, then reply) reply {
	return func(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
		(*b).s.Steer(Prompt{Text: text})
		return then(ctx, req, emit)
	}
}

// saidByUser are the texts of the user in a message, without the results.
func saidByUser(m *core.Message) string {
	var out []string
	for _, block := range m.Blocks {
		if block.Type == core.BlockText {
			out = append(out, block.Text)
		}
	}
	return strings.Join(out, "|")
}

// What the user sends while the turn runs goes with the next step: behind the results,
// or in place of the turn's end; and a resume has it.
func TestSteering(t *testing.T) {
	for name, first := range map[string]reply{
		"behind results":      calls(use("1", "look", `{"path":"a"}`)),
		"instead of the end":  says("done"),
		"cut at the end":      gives(core.Text("half an ans")),
		"nothing in the text": gives(),
	} {
		t.Run(name, func(t *testing.T) {
			var b *bench
			b = storedBench(t, Config{}, []tool.Tool{looker()}, steers(&b, "leave the tests", first), says("as you say"))
			b.s.Submit(Prompt{Text: "go"})
			var taken []string
			var r *TurnResult
			for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
				switch e := e.(type) {
				case Steered:
					taken = append(taken, e.Prompts[0].Text)
				case TurnEnded:
					r = e.Result
				}
			}
			if d := cmp.Diff([]string{"leave the tests"}, taken); d != "" {
				t.Error(d)
			}
			if r.End != core.EndDone || r.Steps != 2 || len(r.Unsent) > 0 || r.Text != "as you say" {
				t.Errorf("ended %+v", r)
			}
			sent := b.model.sent()
			last := sent[len(sent)-1].Messages
			if got := saidByUser(last[len(last)-1]); !strings.Contains(got, "while you worked") || !strings.HasSuffix(got, "\nleave the tests") {
				t.Errorf("the last message says %q", got)
			}
			mustSend(t, last)
			if d := cmp.Diff(last, b.loadAgain().Messages[:len(last)]); d != "" {
				t.Errorf("a resume has (-sent +loaded):\n%s", d)
			}
		})
	}
}

// What comes too late for a turn that did not end by itself is given back; nothing
// starts by itself then.
func TestSteeringThatComesTooLate(t *testing.T) {
	auth := fails(&llm.Error{Kind: llm.ErrAuth, Model: "fake/m"})
	stop := func(ctx context.Context, _ *llm.Request, _ func(llm.Event)) (*llm.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, first := range map[string]reply{"failed": auth, "stopped": stop} {
		t.Run(name, func(t *testing.T) {
			var b *bench
			steered := make(chan struct{})
			b = newBench(t, Config{}, nil, func(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
				b.s.Steer(Prompt{Text: "too late"})
				close(steered)
				return first(ctx, req, emit)
			}, says("fine"))
			b.s.Submit(Prompt{Text: "go"})
			<-steered
			if name == "stopped" {
				b.s.Interrupt(StopTurn)
			}
			if r := b.ended(); len(r.Unsent) != 1 || r.Unsent[0].Text != "too late" || b.s.Busy() {
				t.Errorf("ended %s with %+v unsent", r.End, r.Unsent)
			}
			if r := b.turn("next"); r.End != core.EndDone || strings.Contains(saidByUser(b.model.sent()[1].Messages[0]), "too late") {
				t.Errorf("the next turn ended %s", r.End)
			}
		})
	}
}

// Without a turn, and for a turn that has just ended by itself, it is a prompt.
func TestSteeringIsAPromptOtherwise(t *testing.T) {
	b := newBench(t, Config{}, nil, says("one"), says("two"))
	b.s.Steer(Prompt{Text: "hello"})
	if r := b.ended(); r.Text != "one" {
		t.Errorf("%+v", r)
	}
	b.s.do(func(a *actor) { // as if it had come after the last look
		a.steering.put(Prompt{Text: "late"})
		a.turnEnded(&TurnResult{End: core.EndDone})
	})
	b.ended()
	if r := b.ended(); r.Text != "two" {
		t.Errorf("%+v", r)
	}
}
