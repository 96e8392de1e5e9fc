package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
)

func use(id, name, input string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: name, Input: input}
}

func assistant(blocks ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleAssistant, Blocks: blocks}
}

func user(blocks ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleUser, Blocks: blocks}
}

func picture(name string) core.Block {
	return core.Block{Type: core.BlockImage, MediaType: "image/png", Name: name, Data: []byte(strings.Repeat("x", 3000))}
}

func reads(name string) bool { return name == "read_file" }

// talk is a conversation of steps whose results are this long, in characters.
func talk(sizes ...int) []*core.Message {
	msgs := []*core.Message{core.UserText(strings.Repeat("the task ", 500))}
	for i, n := range sizes {
		id := fmt.Sprint("c", i)
		msgs = append(msgs,
			assistant(use(id, "read_file", fmt.Sprintf(`{"path":"%d.go"}`, i))),
			user(core.ToolResult(id, false, core.Text(strings.Repeat("ä", n)))))
	}
	return msgs
}

func TestShrinkInOrder(t *testing.T) {
	for _, tc := range []struct {
		name  string
		sizes []int
		bytes int
		want  []int // the steps whose results gave way
	}{
		{"the largest old one first", []int{2000, 9000, 3000, 9, 9, 9, 9}, 10_000, []int{1}},
		{"as many as it takes", []int{2000, 9000, 3000, 9, 9, 9, 9}, 18_000, []int{1, 2}},
		{"new steps are spared", []int{2000, 9, 9, 9, 50_000}, 3_000, []int{0}},
		{"then new steps, the newest last", []int{2000, 3000, 3000, 3000, 50_000}, 14_000, []int{0, 1, 2}},
		{"the newest when nothing else is left", []int{9, 9, 50_000}, 1, []int{2}},
		{"short ones stay", []int{1000, 900, 9, 9, 9, 9}, 1_000_000, nil},
		{"nothing is wanted", []int{5000, 9, 9, 9, 9, 9}, 0, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			msgs := talk(tc.sizes...)
			c := Shrink(msgs, Wire, tc.bytes, reads)
			var got []int
			for _, p := range c.Placed {
				got = append(got, p.At/2-1)
				if c.Messages[p.At] != p.Message {
					t.Errorf("message %d is another one than was placed", p.At)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
			if c.Blocks != len(tc.want) {
				t.Errorf("counted %d", c.Blocks)
			}
		})
	}
}

func TestAttachmentsGiveWayLast(t *testing.T) {
	small := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("x")}
	msgs := append([]*core.Message{user(core.Text("first"), picture("a"), small), assistant(core.Text("ok")),
		user(core.Text("second"), picture("b")), assistant(core.Text("ok")), user(core.Text("newest"), picture("c"))}, talk(3000)[1:]...)
	for _, tc := range []struct {
		name        string
		bytes       int
		at          []int
		attachments int
	}{
		{"results are enough", 5_000, []int{6}, 0},
		{"the oldest attachment", 8_000, []int{0, 6}, 1},
		{"all but the newest message's", 1_000_000, []int{0, 2, 6}, 2},
	} {
		c := Shrink(msgs, Wire, tc.bytes, reads)
		var at []int
		for _, p := range c.Placed {
			at = append(at, p.At)
		}
		if d := cmp.Diff(tc.at, at); d != "" || c.Attachments != tc.attachments {
			t.Errorf("%s: %d attachments: %s", tc.name, c.Attachments, d)
		}
		if c.Messages[0].Blocks[2].Type != core.BlockImage {
			t.Errorf("%s: an image that is smaller than its note gave way", tc.name)
		}
	}
}

func TestWhatStandsForAResult(t *testing.T) {
	long := strings.Repeat("0123456789", 300)
	for _, tc := range []struct {
		name   string
		use    core.Block
		result core.Block
		want   string
	}{
		{
			"a file", use("1", "read_file", `{"path":"a.go"}`), core.ToolResult("1", false, core.Text(long)),
			long[:200] + "\n[Garuda: 2800 more characters of this result left out to make room. To see them, call read_file again: {\"path\":\"a.go\"}]",
		},
		{
			"a command whose output is kept", use("1", "bash", `{"command":"make"}`),
			core.ToolResult("1", true, core.Text(long+"\n[Garuda: cut; the whole is in .garuda/x.txt]")),
			long[:200] + "\n[Garuda: 2845 more characters of this result left out to make room. The call was bash: {\"command\":\"make\"}]\n" +
				"[Garuda: cut; the whole is in .garuda/x.txt]",
		},
		{
			"an image", use("1", "read_file", `{"path":"a.png"}`), core.ToolResult("1", false, core.Text("a picture"), picture("a.png")),
			"a picture\n[Garuda: 1 image or document of this result left out to make room. To see them, call read_file again: {\"path\":\"a.png\"}]",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			msgs := []*core.Message{core.UserText("go"), assistant(tc.use), user(tc.result)}
			c := Shrink(msgs, Wire, 1, reads)
			got := c.Messages[2].Blocks[0]
			if got.ResultText() != tc.want || got.IsError != tc.result.IsError || got.ID != "1" {
				t.Errorf("%v %q", got.IsError, got.ResultText())
			}
		})
	}
}

// Whatever a conversation holds: what is left can be sent, what need not change
// keeps its address, no words of a person or a model are lost, and what gave way
// once never gives way again.
func TestShrinkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs, wanted := anyTalk(t), rapid.IntRange(0, 60_000).Draw(t, "bytes")
		before := 0
		for _, m := range msgs {
			before += Wire.Size(m)
		}
		c := Shrink(msgs, Wire, wanted, reads)
		if _, mends := core.Validate(c.Messages); len(mends) > 0 {
			t.Fatalf("needs mending: %q", mends)
		}
		after, placed := 0, 0
		for i, m := range c.Messages {
			after += Wire.Size(m)
			if placed < len(c.Placed) && c.Placed[placed].At == i {
				placed++
			} else if m != msgs[i] {
				t.Fatalf("message %d is another one and nobody says so", i)
			}
			if !strings.HasPrefix(m.PlainText(), msgs[i].PlainText()) || len(m.Blocks) != len(msgs[i].Blocks) {
				t.Fatalf("message %d lost words", i)
			}
		}
		if before-after != c.Saved {
			t.Fatalf("saved %d bytes and says %d", before-after, c.Saved)
		}
		if c.Saved < wanted {
			if more := Shrink(c.Messages, Wire, wanted, reads); more.Blocks > 0 {
				t.Fatalf("%d results more could have given way, or gave way twice", more.Blocks)
			}
		}
	})
}

func anyTalk(t *rapid.T) []*core.Message {
	msgs := []*core.Message{core.UserText("go")}
	for i := range rapid.IntRange(0, 9).Draw(t, "steps") {
		var calls, results []core.Block
		for k := range rapid.IntRange(1, 3).Draw(t, "calls") {
			id := fmt.Sprint("c", i*rapid.IntRange(0, 1).Draw(t, "same ids"), "-", k)
			calls = append(calls, use(id, rapid.SampledFrom([]string{"read_file", "bash"}).Draw(t, "tool"), `{"path":"`+strings.Repeat("ü", 40*k*k)+`"}`))
			content := []core.Block{core.Text(strings.Repeat("x\n", rapid.IntRange(1, 8000).Draw(t, "size")))}
			if rapid.IntRange(0, 4).Draw(t, "image") == 0 {
				content = append(content, picture("a.png"))
			}
			results = append(results, core.ToolResult(id, false, content...))
		}
		msgs = append(msgs, assistant(append([]core.Block{core.Text("now")}, calls...)...), user(results...))
		if rapid.Bool().Draw(t, "more words") {
			m := core.UserText(strings.Repeat("words ", 1000))
			if rapid.Bool().Draw(t, "attached") {
				m.Blocks = append(m.Blocks, picture("b.png"))
			}
			msgs = append(msgs, m)
		}
	}
	return msgs
}

func TestRefusedImages(t *testing.T) {
	first, second := picture("1"), picture("2")
	doc := core.Block{Type: core.BlockDocument, MediaType: "application/pdf", Data: []byte("x"), Name: "d"}
	msgs := []*core.Message{
		user(core.Text("see"), first, doc),
		assistant(use("c", "read_file", `{}`)),
		user(core.ToolResult("c", false, core.Text("pictures"), first, second), second),
		assistant(core.Text("fine")), core.UserText("and now?"),
	}
	for _, tc := range []struct {
		name, path string
		want       []string // message.block[.content] of what gave way
	}{
		{"named", "messages.0.content.1", []string{"0.1"}},
		{"a document", "messages.0.content.2", []string{"0.2"}},
		{"in a result", "messages.2.content.0.content.2", []string{"2.0.2"}},
		{"the message only", "messages.0", []string{"0.1", "0.2"}},
		{"another block of that message", "messages.0.content.0", []string{"0.1", "0.2"}},
		{"unnamed: the newest", "", []string{"2.0.1", "2.0.2", "2.1"}},
		{"no such message", "messages.77.content.0", []string{"2.0.1", "2.0.2", "2.1"}},
		{"a message without", "messages.4.content.0", []string{"2.0.1", "2.0.2", "2.1"}},
		{"another format", "input.2.content.1", []string{"2.0.1", "2.0.2", "2.1"}},
		{"nonsense", "messages.0.content.99999999999999999999", []string{"2.0.1", "2.0.2", "2.1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Refused(msgs, tc.path)
			var got []string
			for i, m := range c.Messages {
				for k, b := range m.Blocks {
					if b.Note == Note {
						got = append(got, fmt.Sprintf("%d.%d", i, k))
					}
					for j, inner := range b.Content {
						if inner.Note == Note {
							got = append(got, fmt.Sprintf("%d.%d.%d", i, k, j))
						}
					}
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" || c.Blocks != len(tc.want) {
				t.Errorf("%d blocks: %s", c.Blocks, d)
			}
			if _, mends := core.Validate(c.Messages); len(mends) > 0 {
				t.Errorf("needs mending: %q", mends)
			}
		})
	}
	if c := Refused([]*core.Message{core.UserText("x")}, "messages.0.content.0"); c.Blocks != 0 || c.Placed != nil {
		t.Errorf("words gave way: %+v", c)
	}
}

// What fills a context is not what fills a request.
func TestMeasures(t *testing.T) {
	m := user(core.Block{Type: core.BlockImage, Data: make([]byte, 3_000_000)})
	if wire, context := Wire.Size(m), Context.Size(m); wire < 4_000_000 || context > 7_000 {
		t.Errorf("%d bytes on the wire, %d in the context", wire, context)
	}
	small, doc := user(core.Block{Type: core.BlockImage, Data: make([]byte, 30)}), user(core.Block{Type: core.BlockDocument, Data: make([]byte, 300_000)})
	for _, m := range []*core.Message{small, doc, core.UserText("words")} {
		if wire, context := Wire.Size(m), Context.Size(m); wire != context {
			t.Errorf("%s: %d bytes on the wire, %d in the context", m.Blocks[0].Type, wire, context)
		}
	}
}

func TestUnseen(t *testing.T) {
	doc := core.Block{Type: core.BlockDocument, MediaType: "application/pdf", Data: []byte("x")}
	m := user(core.Text("see"), picture("a\x1b.png"), doc)
	got, n := Unseen(m)
	want := user(core.Text("see"), core.Block{Type: core.BlockText, Note: Note, Text: "[image a␛.png left out: this model cannot see images]"}, doc)
	if d := cmp.Diff(want, got); d != "" || n != 1 {
		t.Errorf("%d: %s", n, d)
	}
	plain := core.UserText("x")
	if got, n := Unseen(plain); got != plain || n != 0 {
		t.Error("a message without images is another one now")
	}
}

func FuzzPlace(f *testing.F) {
	for _, s := range []string{"messages.3.content.0", "messages.3", "messages.2.content.0.content.1", "messages.-1", "messages", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		msgs := []*core.Message{user(core.Text("a"), picture("p")), assistant(core.Text("b"))}
		if c := Refused(msgs, path); c.Blocks != 1 || c.Messages[1] != msgs[1] {
			t.Errorf("%q let %d blocks give way", path, c.Blocks)
		}
	})
}
