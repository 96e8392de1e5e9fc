package llmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// deltas is how many a stream has by which a client's cost is measured.
const deltas = 100_000

// BenchmarkDeltas decodes a stream of 100,000 deltas: thinking, text and a call's
// arguments. Its metric is the CPU time that a delta costs, the collection of its
// garbage with it; the bar is 15 µs.
func BenchmarkDeltas(b *testing.B, d Dialect, decode func(*wire.Reply, func(llm.Event)) (*llm.Response, error)) {
	words := make([]string, deltas/3)
	for i := range words {
		words[i] = fmt.Sprintf(" word%d", i%1000)
	}
	whole := strings.Join(d.Frames(Reply{
		Thinking: words, Signature: "c2ln", Text: words,
		Calls: []Call{{ID: "c1", Name: "bash", Args: append(append([]string{`{"command":"`}, words...), `"}`)}},
	}), "")
	info := &llm.Info{Spec: "test/m", ID: "m"}
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		reply := wire.Recorded(b.Context(), info, strings.NewReader(whole))
		if _, err := decode(reply, func(llm.Event) {}); err != nil {
			b.Fatal(err)
		}
		reply.Close()
	}
	if spent := cpuTime() - before; spent > 0 {
		b.ReportMetric(float64(spent.Nanoseconds())/1000/float64(b.N)/deltas, "µs-CPU/delta")
	}
}

// BenchmarkBuild builds the request of step 20 and of step 200 of one
// conversation; both add the same, so the bar is that the later costs at most
// twice as much. Run it with -benchtime=200x: each turn of it needs a conversation
// of its own, which takes longer to make than what is measured.
func BenchmarkBuild(b *testing.B, format string, fresh func() *wire.Transcript) {
	step := func(n int) []*core.Message {
		id := fmt.Sprintf("c%d", n)
		return []*core.Message{
			{Role: core.RoleAssistant, Blocks: []core.Block{
				{Type: core.BlockThinking, Provider: format, Text: "why", Opaque: `{"type":"reasoning","reasoning_content":"why"}`},
				core.Text("I look."),
				{Type: core.BlockToolUse, ID: id, Name: "bash", Input: `{"command":"ls -l"}`},
				{Type: core.BlockToolUse, ID: id + "b", Name: "read_file", Input: `{"path":"a.go"}`},
			}},
			{Role: core.RoleUser, Blocks: []core.Block{
				core.ToolResult(id, false, core.Text(strings.Repeat("a line of code;\n", 320))),
				core.ToolResult(id+"b", false, core.Text(strings.Repeat("\tü <&>\n", 640))),
			}},
		}
	}
	for _, n := range []int{20, 200} {
		b.Run(fmt.Sprintf("step=%d", n), func(b *testing.B) {
			msgs := []*core.Message{core.UserText("go")}
			for i := range n - 1 {
				msgs = append(msgs, step(i)...)
			}
			transcripts := make([]*wire.Transcript, 0, 64)
			last := slices.Concat(msgs, step(n))
			b.ReportAllocs()
			for b.Loop() {
				if len(transcripts) == 0 {
					b.StopTimer()
					for range cap(transcripts) {
						t := fresh()
						if _, err := t.Body(Request(msgs...)); err != nil {
							b.Fatal(err)
						}
						transcripts = append(transcripts, t)
					}
					b.StartTimer()
				}
				t := transcripts[len(transcripts)-1]
				transcripts = transcripts[:len(transcripts)-1]
				if _, err := t.Body(Request(last...)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
