package core_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
)

func use(id string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: "read_file", Input: "{}"}
}

func res(id, text string) core.Block { return core.ToolResult(id, false, core.Text(text)) }

func user(b ...core.Block) *core.Message { return &core.Message{Role: core.RoleUser, Blocks: b} }
func assistant(b ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleAssistant, Blocks: b}
}

var interrupted = func(id string) core.Block { return core.ToolResult(id, true, core.Text(core.Interrupted)) }

func TestValidateMends(t *testing.T) {
	thinking := core.Block{Type: core.BlockThinking, Text: "hm", Provider: "anthropic", Opaque: "{}"}
	tests := map[string]struct{ in, want []*core.Message }{
		"open call at the end": {
			[]*core.Message{core.UserText("go"), assistant(use("a"))},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(interrupted("a"))},
		},
		"prompt after an open call keeps its own message": {
			[]*core.Message{core.UserText("go"), assistant(use("a")), core.UserText("next")},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(interrupted("a")), core.UserText("next")},
		},
		"one of two results is missing": {
			[]*core.Message{core.UserText("go"), assistant(use("a"), use("b")), user(res("b", "B"))},
			[]*core.Message{core.UserText("go"), assistant(use("a"), use("b")), user(interrupted("a"), res("b", "B"))},
		},
		"results in call order": {
			[]*core.Message{core.UserText("go"), assistant(use("a"), use("b")), user(res("b", "B"), res("a", "A"))},
			[]*core.Message{core.UserText("go"), assistant(use("a"), use("b")), user(res("a", "A"), res("b", "B"))},
		},
		"a late result moves to its call": {
			[]*core.Message{core.UserText("go"), assistant(use("a")), core.UserText("hey"), user(res("a", "A"))},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(res("a", "A")), core.UserText("hey")},
		},
		"text before a result goes after it": {
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(core.Text("hey"), res("a", "A"))},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(res("a", "A")), user(core.Text("hey"))},
		},
		"orphan and second results": {
			[]*core.Message{user(core.Text("go"), res("x", "X")), assistant(use("a")), user(res("a", "1"), res("a", "2"))},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(res("a", "1"))},
		},
		"two calls with one id": {
			[]*core.Message{core.UserText("go"), assistant(use("a"), use("a")), user(res("a", "1"), res("a", "2"))},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(res("a", "1"))},
		},
		"empty content": {
			[]*core.Message{user(core.Text("go"), core.Text(" \n")), assistant(), assistant(use("a")), user(core.ToolResult("a", false))},
			[]*core.Message{core.UserText("go"), assistant(use("a")), user(res("a", "(no output)"))},
		},
		"an answer of thinking alone": {
			[]*core.Message{core.UserText("go"), assistant(thinking), core.UserText("well?")},
			[]*core.Message{core.UserText("go"), core.UserText("well?")},
		},
		"an answer that ends in thinking": {
			[]*core.Message{core.UserText("go"), assistant(thinking, core.Text("so"), thinking)},
			[]*core.Message{core.UserText("go"), assistant(thinking, core.Text("so"))},
		},
		"the assistant speaks first": {
			[]*core.Message{assistant(core.Text("hi"))},
			[]*core.Message{core.UserText("(The start of this conversation is missing.)"), assistant(core.Text("hi"))},
		},
		"blocks of the wrong role": {
			[]*core.Message{user(core.Text("go"), use("u"), thinking), assistant(core.Text("ok"), res("u", "x"))},
			[]*core.Message{core.UserText("go"), assistant(core.Text("ok"))},
		},
		"an answer's image that nothing binds any more": {
			[]*core.Message{core.UserText("go"), assistant(core.Text("ok"), core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("x")})},
			[]*core.Message{core.UserText("go"), assistant(core.Text("ok"))},
		},
		"unknown role and nil": {
			[]*core.Message{nil, {Role: "system", Blocks: []core.Block{core.Text("x")}}, core.UserText("go")},
			[]*core.Message{core.UserText("go")},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, mends := core.Validate(tt.in)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if len(mends) == 0 {
				t.Error("mended silently")
			}
			if _, again := core.Validate(got); len(again) != 0 {
				t.Errorf("mended twice: %q", again)
			}
		})
	}
}

func TestValidateLeavesSoundAlone(t *testing.T) {
	msgs := []*core.Message{
		core.UserText("go"), core.UserText("and"),
		assistant(core.Text("ok"), use("a"), use("b")),
		user(res("a", "A"), res("b", "B"), core.Text("note")),
		core.UserText("more"), assistant(core.Text("half")), assistant(core.Text("done")),
		assistant(core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("x"), Provider: "gemini", Opaque: "{}"}),
	}
	got, mends := core.Validate(msgs)
	if len(mends) != 0 || &got[0] != &msgs[0] {
		t.Fatalf("touched a sound conversation: %q", mends)
	}
	if n := testing.AllocsPerRun(100, func() { core.Validate(msgs) }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}

// drawMessages makes conversations of every wrong shape, from few ids so that they collide.
func drawMessages(t *rapid.T) []*core.Message {
	id := rapid.SampledFrom([]string{"", "a", "b", "c"})
	text := rapid.SampledFrom([]string{"", " ", "x", "yy"})
	kind := rapid.SampledFrom([]core.BlockType{
		core.BlockText, core.BlockThinking, core.BlockToolUse, core.BlockToolResult, core.BlockImage, core.BlockOpaque, "odd",
	})
	block := rapid.Custom(func(t *rapid.T) core.Block {
		b := core.Block{Type: kind.Draw(t, "type"), ID: id.Draw(t, "id"), Text: text.Draw(t, "text"), Opaque: text.Draw(t, "opaque")}
		b.Name = rapid.SampledFrom([]string{"", "bash"}).Draw(t, "name")
		if b.Type == core.BlockToolResult {
			b.Content = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Block {
				return core.Block{Type: kind.Draw(t, "inner"), Text: text.Draw(t, "inner text")}
			}), 0, 2).Draw(t, "content")
		}
		return b
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *core.Message {
		role := rapid.SampledFrom([]core.Role{core.RoleUser, core.RoleAssistant, core.RoleAssistant, "system"}).Draw(t, "role")
		return &core.Message{Role: role, Blocks: rapid.SliceOfN(block, 0, 4).Draw(t, "blocks")}
	}), 0, 8).Draw(t, "messages")
}

func TestValidateIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := drawMessages(t)
		once, _ := core.Validate(msgs)
		twice, mends := core.Validate(once)
		if len(mends) != 0 {
			t.Fatalf("not idempotent: %q\n%s", mends, cmp.Diff(once, twice))
		}
		checkPairs(t, once)
	})
}

// checkPairs states the rules a second time, in the plainest words.
func checkPairs(t *rapid.T, msgs []*core.Message) {
	for i, m := range msgs {
		if len(m.Blocks) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		var want, got []string
		if i > 0 && msgs[i-1].Role == core.RoleAssistant {
			for _, c := range msgs[i-1].ToolUses() {
				want = append(want, c.ID)
			}
		}
		for _, b := range m.Blocks {
			if b.Type == core.BlockToolResult {
				got = append(got, b.ID)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("results of message %d: %s", i, d)
		}
	}
	if n := len(msgs); n > 0 && len(msgs[n-1].ToolUses()) > 0 {
		t.Fatal("ends in an open call")
	}
	if len(msgs) > 0 && msgs[0].Role != core.RoleUser {
		t.Fatal("does not begin with the user")
	}
}

func BenchmarkValidate400(b *testing.B) {
	msgs := []*core.Message{core.UserText("go")}
	for i := range 200 {
		id := strconv.Itoa(i)
		msgs = append(msgs, assistant(core.Text("reading"), use(id)), user(res(id, "text")))
	}
	b.ReportAllocs()
	for b.Loop() {
		core.Validate(msgs)
	}
}
