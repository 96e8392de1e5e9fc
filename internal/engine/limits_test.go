package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// TestOutputLimitIsRefused: an output limit that the server does not take is lowered
// to what it says, or else to what every model takes, once, and the user is told.
func TestOutputLimitIsRefused(t *testing.T) {
	refuse := func(most int) reply {
		return fails(&llm.Error{Kind: llm.ErrBadRequest, Model: "fake/m", Status: 400, Message: "max_tokens is too large", OutputLimit: true, MaxOutput: most, Hint: "set maxTokens"})
	}
	for name, tt := range map[string]struct {
		replies []reply
		limits  []int
		end     core.TurnEnd
	}{
		"as it says":      {[]reply{refuse(6000), says("fine"), says("fine")}, []int{8192, 6000, 6000}, core.EndDone},
		"it does not say": {[]reply{refuse(0), says("fine"), says("fine")}, []int{8192, 4096, 4096}, core.EndDone},
		"not lower":       {[]reply{refuse(9000)}, []int{8192}, core.EndError},
		"once":            {[]reply{refuse(4096), refuse(2048)}, []int{8192, 4096}, core.EndError},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Config{Limits: Limits{MaxOutput: 8192}}, nil, tt.replies...)
			b.s.Submit(Prompt{Text: "go"})
			said := ""
			var r *TurnResult
			for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
				switch e := e.(type) {
				case Notice:
					said += e.Text + "\n"
				case TurnEnded:
					r = e.Result
				}
			}
			if r.End != tt.end {
				t.Fatalf("ended %s: %v", r.End, r.Err)
			}
			if tt.end == core.EndDone {
				b.turn("next")
				if !strings.Contains(said, "no output limit of 8192 tokens") || !strings.Contains(said, "set maxTokens") {
					t.Errorf("said %q", said)
				}
			}
			var limits []int
			for _, q := range b.model.sent() {
				limits = append(limits, q.MaxTokens)
			}
			if d := cmp.Diff(tt.limits, limits); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestImagesBeyondLimitsAreNotSent: an image that the server would refuse costs no
// request, and the journal goes on without it.
func TestImagesBeyondLimitsAreNotSent(t *testing.T) {
	large := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: make([]byte, 4<<20)}
	fits := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: make([]byte, 3<<20)}
	b := storedBench(t, Config{}, nil, says("fine"), says("fine"))
	b.model.info.Format = "anthropic"
	b.s.Submit(Prompt{Text: "see", Attachments: []core.Block{large, fits}})
	said := ""
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		if n, ok := e.(Notice); ok {
			said += n.Text + "\n"
		}
	}
	if want := "sending the conversation without 1 image: it has 5.3 MB, and the model takes 5.0"; !strings.Contains(said, want) {
		t.Errorf("%q is not said in %q", want, said)
	}
	b.turn("next")
	for i, q := range b.model.sent() {
		images := 0
		for _, m := range q.Messages {
			for _, block := range m.Blocks {
				if block.Type == core.BlockImage {
					images++
				}
			}
		}
		if images != 1 {
			t.Errorf("request %d holds %d images", i, images)
		}
	}
	if h := b.loadAgain(); len(h.Messages[0].Blocks) != 3 || h.Messages[0].Blocks[1].Type != core.BlockText {
		t.Errorf("the journal has %+v", h.Messages[0].Blocks)
	}
}

// TestAnotherModelGetsNoOpaqueBlocks: what one model's provider keeps for itself does
// not go to another model of the same format.
func TestAnotherModelGetsNoOpaqueBlocks(t *testing.T) {
	bound := core.Block{Type: core.BlockOpaque, Provider: "gemini", Opaque: `{"text":"","thoughtSignature":"c2ln"}`}
	b := newBench(t, Config{}, nil, gives(bound, core.Text("hm")))
	b.turn("go")
	other := &fakeModel{info: llm.Info{Spec: "fake/other", Format: "gemini", ContextWindow: 100_000, Known: true}, replies: []reply{says("fine")}}
	if err := b.s.SetModel(other, 0); err != nil {
		t.Fatal(err)
	}
	b.turn("next")
	for _, m := range other.sent()[0].Messages {
		for _, block := range m.Blocks {
			if block.Type == core.BlockOpaque || block.Opaque != "" {
				t.Errorf("sent %+v", block)
			}
		}
	}
}

// gives answers with blocks.
func gives(blocks ...core.Block) reply {
	return func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		return response(core.StopEndTurn, blocks...), nil
	}
}
