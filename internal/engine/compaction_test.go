package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/engine/compact"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// aSummary is an answer with every part that a summary has.
const aSummary = "## Goal\nread all pages\n## Constraints\nnever touch the lock </garuda_note>\n## Decisions\n- none -\n## Failed attempts\nnone\n" +
	"## Identifiers and paths\na.go:7\n## Commands that work\nmake\n## Files changed\nnone\n## Open items\nthe rest"

// isSummary reports whether a request asks for a summary.
func isSummary(r *llm.Request) bool { return r.System == compact.Instructions() }

// windowBench is a stored bench whose model has a window of so many tokens, and answers
// requests for a summary with those of summaries.
func windowBench(t *testing.T, window int, summaries []reply, replies ...reply) *bench {
	t.Helper()
	var b *bench
	for i, next := range replies {
		replies[i] = func(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
			if !isSummary(req) {
				return honest(next)(ctx, req, emit)
			}
			if len(summaries) == 0 {
				t.Error("a summary too many is asked for")
				return nil, errors.New("no")
			}
			b.model.mu.Lock() // it was not this reply's turn
			b.model.replies = append([]reply{replies[i]}, b.model.replies...)
			b.model.mu.Unlock()
			first := summaries[0]
			summaries = summaries[1:]
			return honest(first)(ctx, req, emit)
		}
	}
	b = storedBench(t, Config{System: "the system prompt", Limits: Limits{MaxOutput: 1000}}, []tool.Tool{pages()}, replies...)
	b.model.info.ContextWindow, b.model.info.Known = window, true
	return b
}

// honest lets a reply report about as many tokens as the request has.
func honest(next reply) reply {
	return func(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
		resp, err := next(ctx, req, emit)
		if err == nil {
			bytes := len(req.System)
			for _, m := range req.Messages {
				bytes += compact.Context.Size(m)
			}
			resp.Usage.Input = bytes / 4
		}
		return resp, err
	}
}

// talk is a turn with this prompt; it gives the notices with how the turn ended.
func (b *bench) talk(text string) (said string, compactions []Compacted, end *TurnResult) {
	b.t.Helper()
	b.s.Submit(Prompt{Text: text})
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		switch e := e.(type) {
		case Notice:
			said += e.Text + "\n"
		case Compacted:
			compactions = append(compactions, e)
		case TurnEnded:
			end = e.Result
		}
	}
	return said, compactions, end
}

// At stage 1 old results are cut short, and no model is asked.
func TestCompactionWithoutAModel(t *testing.T) {
	b := windowBench(t, 12_000, nil, append(reading(20, 1, 1, 5, 5, 5, 5), says("done"))...)
	said, compactions, end := b.talk("go")
	if end.End != core.EndDone || len(compactions) != 1 || compactions[0].Stage != 1 || compactions[0].Reason != reasonDue {
		t.Fatalf("%s %v: %+v\n%s", end.End, end.Err, compactions, said)
	}
	sent := b.model.sent()
	if len(sent) != 8 {
		t.Fatalf("%d requests", len(sent))
	}
	last := sent[len(sent)-1].Messages
	if n := len(last[2].Blocks[0].ResultText()); n > 700 {
		t.Errorf("the old result has %d characters left", n)
	}
	for i := len(last) - 8; i < len(last); i++ {
		if last[i].Role == core.RoleUser && len(last[i].Blocks[0].ResultText()) < 5000 {
			t.Errorf("message %d of the newest four steps is not whole", i)
		}
	}
	if !strings.Contains(said, "the model's cache starts anew") {
		t.Errorf("said %q", said)
	}
}

// At stage 2 a summary stands for what is old; the request, the list of steps and what
// was denied stay, and a resume goes on with the same conversation.
func TestCompactionWithASummary(t *testing.T) {
	words := strings.Repeat("mind the lock. ", 600)
	replies := append(reading(1, 1), says(strings.Repeat("thought ", 1200)))
	replies = append(replies, reading(4, 4, 4, 4, 4)...)
	b := windowBench(t, 13_000, []reply{says(aSummary)}, append(replies, says("done"))...)
	b.decider.deny["change"] = true
	b.s.do(func(a *actor) {
		a.journal.append(&session.DenialRecord{Tool: "write_file", Target: "go.lock", Reason: "a rule says\nno"})
		a.journal.append(&session.ToolResults{Calls: []session.CallInfo{{ID: "t", Name: "todo_write", Todos: []core.Todo{{Content: "read the rest", Status: core.TodoPending}}}}})
	})
	b.turn("the first request")
	said, compactions, end := b.talk(words)
	if end.End != core.EndDone || len(compactions) != 1 || compactions[0].Stage != session.StageSummary {
		t.Fatalf("%s %v: %+v\n%s", end.End, end.Err, compactions, said)
	}
	sent := b.model.sent()
	summary, last := sent[len(sent)-2], sent[len(sent)-1]
	if !isSummary(&summary) || len(summary.Tools) > 0 || summary.MaxTokens != compact.SummaryTokens {
		t.Errorf("the request before the last is no request for a summary: %+v", summary)
	}
	first := last.Messages[0]
	for _, want := range []string{
		"## Goal\nread all pages", "a.go:7", "[ ] read the rest", "write_file go.lock: a rule says no",
		"<garuda_request>\nthe first request\n</garuda_request>", words,
	} {
		if !strings.Contains(first.PlainText(), want) {
			t.Errorf("the conversation begins without %q:\n%s", want, first.PlainText())
		}
	}
	if n := strings.Count(first.Blocks[0].Text, "</garuda_note>"); n != 1 {
		t.Errorf("the summary closes its note: %d ends", n)
	}
	if n := len(last.Messages); n != 1+8 {
		t.Errorf("%d messages are left", n)
	}
	mustSend(t, last.Messages)
	totals := b.s.Totals()
	if totals.Models[0].Requests != 10 || totals.Usage.Output != 10*5 {
		t.Errorf("the summary is not counted: %+v", totals)
	}
	h := b.loadAgain()
	if d := cmp.Diff(last.Messages, h.Messages[:len(last.Messages)]); d != "" {
		t.Errorf("a resume goes on with another conversation (-sent +loaded):\n%s", d)
	}
	if d := cmp.Diff(totals.Usage, h.Usage); d != "" {
		t.Errorf("a resume counts otherwise: %s", d)
	}
}

// A summary that fails leaves the conversation as it was, is told once, and is tried
// again only when the conversation has grown.
func TestFailedCompaction(t *testing.T) {
	gone := fails(&llm.Error{Kind: llm.ErrBadRequest, Model: "fake/m", Message: "no"})
	for name, bad := range map[string]reply{"refused": gone, "no summary": says("I went on with the work."), "empty": calls(use("x", "page", "{}"))} {
		t.Run(name, func(t *testing.T) {
			b := windowBench(t, 12_000, []reply{bad}, append(reading(1, 1, 7, 7, 7, 7), says("done"), says("and on"))...)
			said, compactions, end := b.talk(strings.Repeat("word ", 1200))
			if end.End != core.EndDone || len(compactions) > 0 || strings.Count(said, "could not be summed up") != 1 {
				t.Fatalf("%s %v: %+v\n%s", end.End, end.Err, compactions, said)
			}
			sent := b.model.sent()
			before, after := sent[len(sent)-3].Messages, sent[len(sent)-1].Messages
			for i := range before {
				if before[i] != after[i] {
					t.Errorf("message %d is another one", i)
				}
			}
			if said, _, end := b.talk("more"); end.End != core.EndDone || strings.Contains(said, "summed up") {
				t.Errorf("%s: %q", end.End, said)
			}
		})
	}
}

// Each summary that was asked for in vain is told of; what to do then only the first time.
func TestCompactionFailsAgain(t *testing.T) {
	bad := says("I went on with the work.")
	b := windowBench(t, 12_000, []reply{bad, bad}, append(reading(1, 1, 7, 7, 7, 7, 7), says("done"))...)
	said, _, end := b.talk(strings.Repeat("word ", 1200))
	if end.End != core.EndDone || strings.Count(said, "summing up") != 2 || strings.Count(said, "could not be summed up: ") != 2 ||
		strings.Count(said, "begin a new session") != 1 {
		t.Errorf("%s %v:\n%s", end.End, end.Err, said)
	}
}

// A summary is sent again after a failure that passes, like any request.
func TestSummaryIsRetried(t *testing.T) {
	summaries := []reply{fails(&llm.Error{Kind: llm.ErrOverloaded, Model: "fake/m"}), says(aSummary)}
	b := windowBench(t, 12_000, summaries, append(reading(1, 1, 7, 7, 7, 7), says("done"))...)
	said, compactions, end := b.talk(strings.Repeat("word ", 1200))
	if end.End != core.EndDone || len(compactions) != 1 || end.Usage.Unreported == 0 || end.Models[0].Requests != 9 {
		t.Errorf("%s %v: %+v %+v\n%s", end.End, end.Err, compactions, end.Models, said)
	}
}

// What is too large for one request goes to the model in parts.
func TestSummaryInParts(t *testing.T) {
	parts := 0
	replies := append(reading(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1), says("read"))
	b := windowBench(t, 500_000, nil, replies...)
	b.turn(strings.Repeat("go on and on, ", 2500))
	small := &fakeModel{info: llm.Info{Spec: "fake/small", ContextWindow: 8_000, Known: true, Price: core.Price{Known: true}}}
	for range 9 {
		small.replies = append(small.replies, honest(says(aSummary)))
	}
	small.onRequest = func(r *llm.Request) {
		if isSummary(r) {
			if parts++; parts > 1 && !strings.Contains(r.Messages[0].PlainText(), "your summary of the record so far") {
				t.Error("a later part comes without the summary of those before")
			}
		}
	}
	if err := b.s.SetModel(small, 1000); err != nil {
		t.Fatal(err)
	}
	said, compactions, _ := b.talk("next")
	if parts < 2 || len(compactions) != 1 || compactions[0].Stage != session.StageSummary {
		t.Errorf("%d parts, %+v\n%s", parts, compactions, said)
	}
	for i, r := range small.sent() {
		if size := compact.Context.Size(r.Messages[0]) / 4; size > 8_000-compact.SummaryTokens {
			t.Errorf("request %d is of about %d tokens", i, size)
		}
	}
}

// asideEnded waits for the end of an aside.
func (b *bench) asideEnded() (AsideEnded, []Event) {
	b.t.Helper()
	events := b.until(func(e Event) bool { _, ok := e.(AsideEnded); return ok })
	return events[len(events)-1].(AsideEnded), events
}

func TestCompactByHand(t *testing.T) {
	b := windowBench(t, 500_000, []reply{says(aSummary)}, append(reading(3, 3, 3, 3, 3, 3), says("read"), says("on"))...)
	if err := b.s.Compact(""); err != nil {
		t.Fatal(err)
	}
	if end, _ := b.asideEnded(); !errors.Is(end.Err, errNothingOld) {
		t.Errorf("of nothing: %v", end.Err)
	}
	b.turn("go")
	if err := b.s.Compact("  the colours </garuda_user> "); err != nil {
		t.Fatal(err)
	}
	end, events := b.asideEnded()
	if end.Err != nil || end.Usage.Output != 5 {
		t.Errorf("%+v", end)
	}
	var got Compacted
	for _, e := range events {
		if c, ok := e.(Compacted); ok {
			got = c
		}
	}
	if got.Reason != reasonUser || got.After >= got.Before {
		t.Errorf("%+v", got)
	}
	sent := b.model.sent()
	if text := sent[len(sent)-1].Messages[0].PlainText(); !strings.Contains(text, `this is kept: the colours <\/garuda_user>`) {
		t.Errorf("the focus is not told: %s", text[len(text)-300:])
	}
	if r := b.turn("next"); r.End != core.EndDone {
		t.Fatal(r.Err)
	}
	sent = b.model.sent()
	mustSend(t, sent[len(sent)-1].Messages)
	if totals := b.s.Totals(); totals.Turns != 2 || totals.Models[0].Requests != 9 {
		t.Errorf("%+v", totals)
	}
}

// Stopped in the middle, a compaction leaves the conversation as it was, and what was
// sent meanwhile begins afterwards.
func TestStoppedCompaction(t *testing.T) {
	asked := make(chan struct{})
	waits := func(ctx context.Context, _ *llm.Request, _ func(llm.Event)) (*llm.Response, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b := windowBench(t, 500_000, []reply{waits}, append(reading(3, 3, 3, 3, 3), says("read"), says("on"))...)
	b.turn("go")
	if err := b.s.Compact(""); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := b.s.Compact(""); !errors.Is(err, errBusy) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := b.s.Context(); !errors.Is(err, errBusy) {
		t.Errorf("the context meanwhile: %v", err)
	}
	b.s.Submit(Prompt{Text: "next"})
	b.s.Interrupt(StopTurn)
	if end, _ := b.asideEnded(); !end.Stopped || end.Err != nil || end.Usage.Unreported == 0 {
		t.Errorf("%+v", end)
	}
	b.ended()
	sent := b.model.sent()
	if d := cmp.Diff(sent[5].Messages, sent[7].Messages[:len(sent[5].Messages)]); d != "" {
		t.Errorf("the conversation is another one:\n%s", d)
	}
}

func TestContextUse(t *testing.T) {
	b := windowBench(t, 100_000, nil, append(reading(3), says(strings.Repeat("answer ", 100)))...)
	b.turn("go")
	use, err := b.s.Context()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, p := range use.Parts {
		sum += p.Tokens
	}
	if sum != use.Used || use.Used != b.s.ContextTokens() || use.Window != 100_000 || use.Output != 1000 || use.Free() != 99_000-use.Used || use.Assumed {
		t.Errorf("%+v; the parts are %d", use, sum)
	}
}
