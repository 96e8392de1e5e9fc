package session

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

// shorter is what stands for a result after a compaction.
func shorter(id string) *core.Message {
	return &core.Message{Role: core.RoleUser, Blocks: []core.Block{
		core.ToolResult(id, false, core.Block{Type: core.BlockText, Text: "cont… [left out]", Note: "left_out"}),
	}}
}

func compacted(placed ...Placed) *Compaction {
	return &Compaction{Stage: 1, Reason: "context_overflow", Before: 900, After: 100, Messages: placed, Cost: core.Cost{Known: true}}
}

func TestCompactionIsRebuilt(t *testing.T) {
	f := newFixture(t)
	recs := append(turn(1), user("next"), answer(call("call_2")), results("call_2"),
		compacted(Placed{At: 2, Message: shorter("call_1")}), answer(core.Text("on we go")))
	f.write(t, testID, recs...)
	h := f.load(t, testID)
	want := []*core.Message{
		core.UserText("prompt 1"), answer(think("hm"), call("call_1")).Message, shorter("call_1"), answer(core.Text("done")).Message,
		core.UserText("next"), answer(call("call_2")).Message, results("call_2").Message, answer(core.Text("on we go")).Message,
	}
	if d := cmp.Diff(want, h.Messages); d != "" || len(h.Notices) > 0 {
		t.Errorf("%q %s", h.Notices, d)
	}
	if !strings.Contains(read(t, f.path(testID)), "content of call_1") {
		t.Error("the journal lost what was left out")
	}
}

// A compaction counts in the conversation as it was sent: with the result that was
// made for a call which a crash left open.
func TestCompactionAfterAMend(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, user("a"), answer(call("open")), &Resume{Model: "anthropic/a"}, user("b"), answer(call("c")), results("c"),
		compacted(Placed{At: 5, Message: shorter("c")}), user("end"))
	h := f.load(t, testID)
	if got := h.Messages[5]; !cmp.Equal(got, shorter("c")) || len(h.Messages) != 7 {
		t.Errorf("message 5 of %d is %+v", len(h.Messages), got)
	}
}

// Where a damaged journal or a foreign one has other messages, a compaction finds
// its own, and touches none that it does not stand for.
func TestCompactionOfLostMessages(t *testing.T) {
	for _, tc := range []struct {
		name   string
		placed Placed
		at     int // of the shorter message; -1 for none
	}{
		{"moved", Placed{At: 9, Message: shorter("call_1")}, 2},
		{"far below", Placed{At: -1 << 62, Message: shorter("call_1")}, 2},
		{"another call", Placed{At: 2, Message: shorter("other")}, -1},
		{"no message", Placed{At: 2}, -1},
		{"an answer", Placed{At: 1, Message: answer(core.Text("x"), core.Text("y")).Message}, -1},
		{"more blocks", Placed{At: 2, Message: &core.Message{Role: core.RoleUser, Blocks: append(shorter("call_1").Blocks, core.Text("and do this"))}}, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, testID, append(turn(1), compacted(tc.placed))...)
			plain := newFixture(t)
			plain.write(t, testID, turn(1)...)
			h, want := f.load(t, testID), plain.load(t, testID).Messages
			if tc.at >= 0 {
				want[tc.at] = tc.placed.Message
			}
			if d := cmp.Diff(want, h.Messages); d != "" {
				t.Error(d)
			}
			if said := strings.Contains(strings.Join(h.Notices, "\n"), "is not where it was"); said != (tc.at < 0) {
				t.Errorf("notices: %q", h.Notices)
			}
		})
	}
}

// A record that an older Garuda does not know is skipped by it with a notice, and
// the journals that it wrote have none: both read.
func TestNewRecordsAndOldJournals(t *testing.T) {
	for _, kind := range []string{"compaction", "thinking"} {
		if newRecord(kind) == nil {
			t.Errorf("%s is unknown", kind)
		}
	}
	f := newFixture(t)
	f.write(t, testID, append(turn(1), &Unreported{Tokens: 7, Reason: "abort"})...)
	f.edit(t, func(s string) string {
		return s + string(appendLine(nil, 8, time.Now(), "end", false, []byte(`{"stopReason":"done","steps":1,"totals":{"turns":1,"steps":2,"usage":{"input":20,"output":10},"cost":{"usd":1,"known":true},"model":"anthropic/a"}}`)))
	})
	h := f.load(t, testID)
	want := core.ByModel{{Spec: "anthropic/a", Usage: core.Usage{Input: 20, Output: 10, Unreported: 7}, Cost: core.Cost{USD: 1, Known: true}, Requests: 3}}
	if d := cmp.Diff(want, h.Models); d != "" || h.Thinking != nil || h.Told != "anthropic/a" {
		t.Errorf("%v %q %s", h.Thinking, h.Told, d)
	}
}

// A model counts as told of with the next message, not with the switch.
func TestToldModel(t *testing.T) {
	for _, tc := range []struct {
		name string
		recs []Record
		told string
	}{
		{"never switched", turn(1), "anthropic/a"},
		{"switched, and nothing said since", append(turn(1), &Model{Model: "openai/b"}), "anthropic/a"},
		{"switched and said", append(turn(1), &Model{Model: "openai/b"}, user("x")), "openai/b"},
		{"resumed with another, and nothing said", append(turn(1), &Resume{Model: "openai/b"}), "anthropic/a"},
	} {
		f := newFixture(t)
		f.write(t, testID, tc.recs...)
		if h := f.load(t, testID); h.Told != tc.told {
			t.Errorf("%s: told of %q, want %q", tc.name, h.Told, tc.told)
		}
	}
}

// What one provider has bound to words, calls and images does not go to another
// model, nor on from where redaction changed the conversation.
func TestBoundBytes(t *testing.T) {
	bind := func(b core.Block) core.Block {
		b.Provider, b.Opaque = "gemini", `{"thoughtSignature":"c2ln"}`
		return b
	}
	image := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("png")}
	said := []core.Block{bind(core.Text("words")), bind(core.Block{Type: core.BlockText, Text: " "}), bind(image), bind(call("c"))}
	said[1].Text = "\n"
	bare := []core.Block{core.Text("words"), core.Text("[an image stood here]"), call("c")}
	for name, recs := range map[string][]Record{
		"switch":    {user("a"), answer(said...), results("c"), &Model{Model: "openai/b"}, user("b")},
		"redaction": {user("key " + secret), answer(said...), results("c")},
	} {
		f := newFixture(t)
		f.write(t, testID, recs...)
		if d := cmp.Diff(bare, f.load(t, testID).Messages[1].Blocks); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Where redaction changes a block, the bytes that repeat it are not kept: what was
// seen as a secret in the words may not be seen in them.
func TestNoSecretInBoundBytes(t *testing.T) {
	const word = "correct-horse-battery"
	hidden := `{"parts":["` + word + `"]}`
	for name, b := range map[string]core.Block{
		"text":     {Type: core.BlockText, Text: "password=" + word, Provider: "gemini", Opaque: hidden},
		"call":     {Type: core.BlockToolUse, ID: "1", Name: "bash", Input: `{"command":"password=` + word + `"}`, Provider: "gemini", Opaque: hidden},
		"thinking": {Type: core.BlockThinking, Text: "password=" + word, Provider: "gemini", Opaque: hidden},
	} {
		f := newFixture(t)
		f.write(t, testID, user("a"), answer(b, core.Text("x")))
		if strings.Contains(read(t, f.path(testID)), word) {
			t.Errorf("%s: the secret is in the journal", name)
		}
	}
}
