package engine

import (
	"context"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/tool"
)

// A server that gives every call the same id does not make two calls one.
func TestCallIDsOfEarlierAnswers(t *testing.T) {
	b := newBench(t, Config{}, []tool.Tool{looker()},
		calls(use("c", "look", `{"path":"a"}`)), calls(use("c", "look", `{"path":"b"}`), use("d", "look", `{"path":"c"}`)), says("ok"))
	if r := b.turn("go"); r.End != core.EndDone || r.Steps != 3 {
		t.Fatalf("ended %s after %d steps: %v", r.End, r.Steps, r.Err)
	}
	msgs := b.model.sent()[2].Messages
	mustSend(t, msgs)
	seen := map[string]string{}
	for _, m := range msgs {
		for _, c := range m.ToolUses() {
			if seen[c.ID] != "" {
				t.Errorf("the id %q is that of %s and of %s", c.ID, seen[c.ID], c.Input)
			}
			seen[c.ID] = c.Input
		}
	}
	if len(seen) != 3 || seen["c"] != `{"path":"a"}` || seen["d"] != `{"path":"c"}` {
		t.Errorf("%v", seen)
	}
}

// A pause with something in it goes on; one that brought nothing would only be
// asked for again, with the same bytes.
func TestPauses(t *testing.T) {
	paused := func(blocks ...core.Block) reply {
		return func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
			return response(core.StopPause, blocks...), nil
		}
	}
	b := newBench(t, Config{}, nil, paused(core.Text("I look further.")), paused(), says("never asked for"))
	if r := b.turn("go"); r.End != core.EndDone || r.Steps != 2 || r.Err != nil {
		t.Errorf("ended %s after %d steps: %v", r.End, r.Steps, r.Err)
	}
}
