package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/engine/compact"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/state"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// pages answers with as many thousand characters as its path says.
func pages() *fakeTool {
	return newTool("page", tool.Plan{ReadOnly: true}, func(_ context.Context, _ *tool.Call, in map[string]any) (*tool.Output, error) {
		n := 0
		_, err := fmt.Sscan(fmt.Sprint(in["path"]), &n)
		return &tool.Output{Text: strings.Repeat("0123456789", 100*n)}, err
	})
}

// reading are answers that read pages of these sizes, a step each.
func reading(sizes ...int) []reply {
	var out []reply
	for i, n := range sizes {
		out = append(out, calls(use(fmt.Sprint("c", i), "page", fmt.Sprintf(`{"path":"%d %d"}`, n, i))))
	}
	return out
}

func refused(kind llm.ErrorKind, window int) reply {
	return fails(&llm.Error{Kind: kind, Model: "fake/m", Status: 400, Message: "too much", Window: window})
}

// loadAgain closes the session and reads what its journal holds.
func (b *bench) loadAgain() *session.History {
	b.t.Helper()
	if err := b.s.Close(); err != nil {
		b.t.Fatal(err)
	}
	h, err := b.store.Load("20260101-000000-abcd")
	if err != nil {
		b.t.Fatal(err)
	}
	if len(h.Notices) > 0 {
		b.t.Errorf("loading says %q", h.Notices)
	}
	return h
}

// storedBench is a bench with a real journal.
func storedBench(t *testing.T, cfg Config, tools []tool.Tool, replies ...reply) *bench {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dir.Close)
	store := session.NewStore(dir, session.Options{})
	cfg.OpenJournal = func() (Journal, error) {
		return store.Create("20260101-000000-abcd", &session.Start{SessionID: "20260101-000000-abcd", Model: "fake/m"})
	}
	b := newBench(t, cfg, tools, replies...)
	b.store = store
	return b
}

func TestTooLargeIsMadeSmallerOnce(t *testing.T) {
	for _, kind := range []llm.ErrorKind{llm.ErrContextOverflow, llm.ErrTooLarge} {
		t.Run(string(kind), func(t *testing.T) {
			replies := append(reading(3, 40, 2, 5, 5, 5, 5), refused(kind, 24_000), says("done"))
			b := storedBench(t, Config{}, []tool.Tool{pages()}, replies...)
			b.tracker.Record("/x", workspace.Read{Asked: workspace.Lines{From: 1, To: 2}})
			b.s.Submit(Prompt{Text: "go"})
			events := b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok })
			r := events[len(events)-1].(TurnEnded).Result
			if r.End != core.EndDone || r.Steps != 8 {
				t.Fatalf("ended %s after %d steps: %v", r.End, r.Steps, r.Err)
			}
			sent := b.model.sent()
			first, second := sent[len(sent)-2].Messages, sent[len(sent)-1].Messages
			var changed []int
			for i := range first {
				if first[i] != second[i] {
					changed = append(changed, i)
				}
			}
			if d := cmp.Diff([]int{4}, changed); d != "" { // the 40 pages
				t.Errorf("other messages than the largest result changed: %s", d)
			}
			if text := second[4].Blocks[0].ResultText(); !strings.Contains(text, `call page again: {"path":"40 1"}`) {
				t.Errorf("instead of the result stands %q", text)
			}
			mustSend(t, second)
			if b.tracker.Shown("/x", workspace.Lines{From: 1, To: 2}, workspace.Snapshot{}) {
				t.Error("what was left out still counts as shown")
			}
			checkCompacted(t, events, string(kind))
			if r.Usage.Unreported == 0 || len(r.Models) != 1 || r.Models[0].Requests != 9 {
				t.Errorf("the refused request has no reservation of its own: %+v", r.Models)
			}
			h := b.loadAgain()
			if d := cmp.Diff(second, h.Messages[:len(second)]); d != "" {
				t.Errorf("a resume goes on with another conversation (-sent +loaded):\n%s", d)
			}
		})
	}
}

func checkCompacted(t *testing.T, events []Event, reason string) {
	t.Helper()
	said := ""
	for _, e := range events {
		switch e := e.(type) {
		case Notice:
			said = e.Text
		case Compacted:
			if e.Reason != reason || e.Stage != 1 || e.Changed != 1 || e.After >= e.Before || e.After <= 0 {
				t.Errorf("%+v", e)
			}
			if !strings.Contains(said, "; sending it again with 1 old tool result cut short") ||
				strings.Contains(said, "window of 24000 tokens") != (reason == string(llm.ErrContextOverflow)) {
				t.Errorf("the notice says %q", said)
			}
			return
		}
	}
	t.Error("nobody says that the conversation was made smaller")
}

func TestRecoveryEnds(t *testing.T) {
	overflow := refused(llm.ErrContextOverflow, 0)
	image := fails(&llm.Error{Kind: llm.ErrBadRequest, Image: true, Model: "fake/m", Message: "bad image"})
	for _, tc := range []struct {
		name     string
		replies  []reply
		images   int
		requests int
		says     string
	}{
		{"refused again", append(reading(9, 9, 1, 1, 1, 1), overflow, overflow, says("never")), 0, 8, "still too large"},
		{"nothing to leave out", []reply{overflow, says("never")}, 0, 1, "there is nothing old to cut short"},
		{"image refused again", []reply{image, image, says("never")}, 1, 2, "the newest image was left out"},
		{"no image at all", []reply{image, says("never")}, 0, 1, "no image that could be left out"},
		{"too large after an image", append(reading(9), image, overflow, says("never")), 1, 3, "still too large"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Config{}, []tool.Tool{pages()}, tc.replies...)
			p := Prompt{Text: "go"}
			for range tc.images {
				p.Attachments = append(p.Attachments, core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("png")})
			}
			b.s.Submit(p)
			r := b.ended()
			var e *llm.Error
			if r.End != core.EndError || !errors.As(r.Err, &e) || !strings.Contains(r.Err.Error(), tc.says) {
				t.Errorf("ended %s: %v", r.End, r.Err)
			}
			if n := len(b.model.sent()); n != tc.requests {
				t.Errorf("%d requests, want %d", n, tc.requests)
			}
		})
	}
}

// An attachment that no server takes does not stand in the way for ever: it fails
// its own message, and gives way with the next one.
func TestTooLargeAttachmentFailsOneMessage(t *testing.T) {
	tooLarge := refused(llm.ErrTooLarge, 0)
	b := newBench(t, Config{}, nil, tooLarge, tooLarge, says("fine"))
	b.s.Submit(Prompt{Text: "see", Attachments: []core.Block{{Type: core.BlockImage, MediaType: "image/png", Data: make([]byte, 1<<20)}}})
	if r := b.ended(); r.End != core.EndError || !strings.Contains(r.Err.Error(), "nothing old to cut short") {
		t.Fatalf("ended %s: %v", r.End, r.Err)
	}
	if r := b.turn("never mind"); r.End != core.EndDone || hasImage(b.model.sent()[2].Messages[0]) {
		t.Errorf("ended %s: %v", r.End, r.Err)
	}
}

// A smaller conversation is a request of its own: where the budget has no room for
// another one, none is sent.
func TestRecoveryNeedsABudget(t *testing.T) {
	replies := append(reading(9), refused(llm.ErrContextOverflow, 0), says("never"))
	b := newBench(t, Config{Limits: Limits{TokenBudget: 17_000}}, []tool.Tool{pages()}, replies...)
	if r := b.turn("go"); r.End != core.EndTokenBudget || len(b.model.sent()) != 2 {
		t.Errorf("ended %s after %d requests: %v", r.End, len(b.model.sent()), r.Err)
	}
}

func TestRefusedImageGivesWay(t *testing.T) {
	image := func(name string) core.Block {
		return core.Block{Type: core.BlockImage, MediaType: "image/png", Name: name, Data: []byte(name)}
	}
	for _, tc := range []struct {
		name, format, block string
		want                []int // places in the message of what gave way
	}{
		{"named", "anthropic", "messages.0.content.1", []int{1}},
		{"not named", "anthropic", "", []int{1, 2}},
		{"numbers of another format", "chat", "messages.0.content.1", []int{1, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &llm.Error{Kind: llm.ErrBadRequest, Image: true, Block: tc.block, Model: "fake/m", Message: "bad image"}
			b := storedBench(t, Config{}, nil, fails(e), says("fine"))
			b.model.info.Format = tc.format
			b.s.Submit(Prompt{Text: "see", Attachments: []core.Block{image("a"), image("b")}})
			if r := b.ended(); r.End != core.EndDone || r.Steps != 1 {
				t.Fatalf("ended %s after %d steps: %v", r.End, r.Steps, r.Err)
			}
			last := b.model.sent()[1].Messages
			var got []int
			for i, block := range last[0].Blocks {
				if block.Note == compact.Note {
					got = append(got, i)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(last, b.loadAgain().Messages[:1]); d != "" {
				t.Errorf("a resume goes on with another conversation (-sent +loaded):\n%s", d)
			}
		})
	}
}

// A model that cannot see gets notes; one that can, afterwards, the images.
func TestBlindModel(t *testing.T) {
	image := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("png")}
	b := storedBench(t, Config{}, nil, says("seen"))
	b.s.Submit(Prompt{Text: "see", Attachments: []core.Block{image}})
	b.ended()
	blind := &fakeModel{info: llm.Info{Spec: "fake/blind", VisionKnown: true}, replies: []reply{says("a"), says("b")}}
	if err := b.s.SetModel(blind, 0); err != nil {
		t.Fatal(err)
	}
	notices := 0
	b.s.Submit(Prompt{Text: "and this?", Attachments: []core.Block{image}})
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		if n, ok := e.(Notice); ok && strings.Contains(n.Text, "fake/blind cannot see images") {
			notices++
		}
	}
	b.turn("again")
	sent := blind.sent()
	for _, at := range []int{0, 2} {
		if hasImage(sent[0].Messages[at]) {
			t.Errorf("the blind model got an image in message %d", at)
		}
		if sent[0].Messages[at] != sent[1].Messages[at] {
			t.Errorf("message %d is encoded twice", at)
		}
	}
	if notices != 2 {
		t.Errorf("%d notices, want one for the switch and one for the attachment", notices)
	}
	seeing := &fakeModel{info: llm.Info{Spec: "fake/seeing", Vision: true, VisionKnown: true}, replies: []reply{says("c")}}
	if err := b.s.SetModel(seeing, 0); err != nil {
		t.Fatal(err)
	}
	b.turn("and you?")
	if got := seeing.sent()[0].Messages; !hasImage(got[0]) || !hasImage(got[2]) {
		t.Error("a model that sees does not get the images back")
	}
	if h := b.loadAgain(); !hasImage(h.Messages[0]) {
		t.Error("the journal lost an image")
	}
}

func hasImage(m *core.Message) bool {
	for _, b := range m.Blocks {
		if b.Type == core.BlockImage {
			return true
		}
	}
	return false
}

// A conversation that is larger than the window of the model it goes on with is
// made to fit before it is sent.
func TestSmallerModel(t *testing.T) {
	b := storedBench(t, Config{}, []tool.Tool{pages()}, append(reading(30, 40, 1, 1, 1, 1), says("read"))...)
	b.turn("go")
	small := &fakeModel{info: llm.Info{Spec: "fake/small", ContextWindow: 20_000, Known: true}, replies: []reply{says("fine"), says("more")}}
	if err := b.s.SetModel(small, 4096); err != nil {
		t.Fatal(err)
	}
	said := ""
	b.s.Submit(Prompt{Text: "next"})
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		if n, ok := e.(Notice); ok {
			said += n.Text + "\n"
		}
	}
	b.turn("and next")
	for _, want := range []string{"nothing of this conversation in its cache", "window of 20000 tokens, so what is old will be cut short", "is about to fill the model's window; going on with 2 old tool results cut short"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said in\n%s", want, said)
		}
	}
	sent := small.sent()
	size := 0
	for _, m := range sent[0].Messages {
		size += compact.Context.Size(m)
	}
	if size/4 > 20_000-4096 {
		t.Errorf("about %d tokens were sent", size/4)
	}
	if d := cmp.Diff(sent[1].Messages[:len(sent[0].Messages)], sent[0].Messages); d != "" {
		t.Errorf("the second request does not continue the first: %s", d)
	}
	h := b.loadAgain()
	if d := cmp.Diff(sent[1].Messages, h.Messages[:len(sent[1].Messages)]); d != "" {
		t.Errorf("a resume goes on with another conversation (-sent +loaded):\n%s", d)
	}
}

// cutShort is an answer that met the output limit.
func cutShort(text string) reply {
	return func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		return response(core.StopMaxTokens, core.Text(text)), nil
	}
}

// A window that has no room for the output limit beside the input is no matter of
// the conversation: less is asked for, and the answer, the next turn and what goes
// on after a cut answer keep to it.
func TestOutputLimitGivesWay(t *testing.T) {
	cut := cutShort("half")
	b := newBench(t, Config{Limits: Limits{MaxOutput: 8192}}, nil, refused(llm.ErrContextOverflow, 8192), says("fine"), cut, says("whole"))
	b.s.Submit(Prompt{Text: "go"})
	said := ""
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		if n, ok := e.(Notice); ok {
			said += n.Text + "\n"
		}
	}
	if want := "window of 8192 tokens has no room for an answer of 8192; asking for at most 4096"; !strings.Contains(said, want) {
		t.Errorf("%q is not said in %q", want, said)
	}
	if r := b.turn("next"); r.End != core.EndDone {
		t.Errorf("ended %s: %v", r.End, r.Err)
	}
	var limits []int
	for _, q := range b.model.sent() {
		limits = append(limits, q.MaxTokens)
	}
	if d := cmp.Diff([]int{8192, 4096, 4096, 4096}, limits); d != "" {
		t.Errorf("output limits (-want +got):\n%s", d)
	}
}

// A cut answer goes on with no more than the window has room for.
func TestCutAnswerGoesOnInSmallWindow(t *testing.T) {
	cut := cutShort("half")
	small := &fakeModel{info: llm.Info{Spec: "fake/small", ContextWindow: 32_768, Known: true}, replies: []reply{cut, says("whole")}}
	b := newBench(t, Config{}, nil)
	if err := b.s.SetModel(small, 0); err != nil {
		t.Fatal(err)
	}
	b.turn("go")
	sent := small.sent()
	if len(sent) != 2 || sent[0].MaxTokens != 8192 || sent[1].MaxTokens != 16_384 {
		t.Errorf("%d requests, the last with %d tokens", len(sent), sent[len(sent)-1].MaxTokens)
	}
}

// A server on this machine may cut a request that is larger than its context and say
// nothing, so Garuda does, once.
func TestRequestLargerThanLocalWindow(t *testing.T) {
	long := strings.Repeat("many words ", 2000) // about 5,500 tokens
	silent := func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		r := response(core.StopEndTurn, core.Text("fine"))
		r.UsageReported = false // so that the estimate stays what it is
		return r, nil
	}
	for _, tc := range []struct {
		name string
		info llm.Info
		want int
	}{
		{"told", llm.Info{Local: true, Known: true, ContextWindow: 8192}, 1},
		{"assumed of its program", llm.Info{Local: true, ContextWindow: 8192, WindowSetting: "make it larger"}, 1},
		{"assumed", llm.Info{Local: true, ContextWindow: 8192}, 0},
		{"large enough", llm.Info{Local: true, Known: true, ContextWindow: 1 << 20}, 0},
		{"elsewhere", llm.Info{Known: true, ContextWindow: 8192}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.info.Spec = "fake/local"
			local := &fakeModel{info: tc.info, replies: []reply{silent, silent, silent}}
			b := newBench(t, Config{}, nil)
			if err := b.s.SetModel(local, 0); err != nil {
				t.Fatal(err)
			}
			var said []string
			for range 3 {
				b.s.Submit(Prompt{Text: long})
				for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
					if n, ok := e.(Notice); ok && strings.Contains(n.Text, "may cut the beginning") {
						said = append(said, n.Text)
					}
				}
			}
			if len(said) != tc.want {
				t.Fatalf("said %q, want %d", said, tc.want)
			}
			if tc.want > 0 && (!strings.Contains(said[0], "fake/local has a window of 8192") || !strings.Contains(said[0], tc.info.WindowSetting)) {
				t.Errorf("said %q", said[0])
			}
		})
	}
}

// A conversation that is by its size too large for the window is made smaller as
// well, whatever a server reported of it before.
func TestOutputLimitAloneDoesNotHelp(t *testing.T) {
	replies := append(reading(3, 40, 2, 5, 5, 5, 5), refused(llm.ErrContextOverflow, 8192), says("done"))
	b := newBench(t, Config{Limits: Limits{MaxOutput: 8192}}, []tool.Tool{pages()}, replies...)
	r := b.turn("go")
	sent := b.model.sent()
	if r.End != core.EndDone || len(sent) != 9 || sent[8].MaxTokens != 4096 {
		t.Fatalf("ended %s after %d requests: %v", r.End, len(sent), r.Err)
	}
	size := func(q llm.Request) (n int) {
		for _, m := range q.Messages {
			n += compact.Context.Size(m)
		}
		return n
	}
	if before, after := size(sent[7]), size(sent[8]); after > before/2 {
		t.Errorf("%d bytes were refused and %d sent again", before, after)
	}
}
