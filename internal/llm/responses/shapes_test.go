package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm/llmtest"
)

type shape struct {
	frames []string
	want   []core.Block
	text   string
	stop   core.StopReason
}

func callBlock(id, input string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: "bash", Input: input}
}

// shapes are streams that differ from OpenAI's own.
func shapes() map[string]shape {
	added := func(index, item string) string {
		return frame(`{"type":"response.output_item.added","output_index":%s,"item":%s}`, index, item)
	}
	delta := func(kind, index, text string) string {
		return frame(`{"type":"response.%s.delta","output_index":%s,"delta":%s}`, kind, index, llmtest.Quote(text))
	}
	bash := `{"type":"function_call","id":"fc_1","call_id":"c1","name":"bash","arguments":""}`
	message := `{"type":"message","id":"m1","content":[{"type":"output_text","text":"hi"}]}`
	return map[string]shape{
		"items alone": {[]string{doneFrame("0", message), doneFrame("1", strings.Replace(bash, `""`, `"{\"a\":1}"`, 1)), frame(completed)},
			[]core.Block{core.Text("hi"), callBlock("c1", `{"a":1}`)}, "hi", core.StopToolUse},
		"deltas alone": {[]string{
			added("0", `{"type":"reasoning"}`), delta("reasoning_summary_text", "0", "hm"),
			frame(`{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}`), delta("reasoning_summary_text", "0", "m"),
			delta("output_text", "1", "h"), delta("output_text", "1", "i"),
			added("2", bash), delta("function_call_arguments", "2", `{"a"`), delta("function_call_arguments", "2", `:1}`), frame(completed)},
			[]core.Block{{Type: core.BlockThinking, Provider: Format, Text: "hm\n\nm"}, core.Text("hi"), callBlock("c1", `{"a":1}`)}, "hi", core.StopToolUse},
		"ends of texts": {[]string{
			added("0", `{"type":"message"}`), frame(`{"type":"response.output_text.done","output_index":0,"text":"hi"}`),
			added("1", bash), frame(`{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"a\":1}"}`), frame(completed)},
			[]core.Block{core.Text("hi"), callBlock("c1", `{"a":1}`)}, "hi", core.StopToolUse},
		"arguments in deltas, not in the item": {[]string{added("0", bash), delta("function_call_arguments", "0", `{"a":1}`), doneFrame("0", bash), frame(completed)},
			[]core.Block{callBlock("c1", `{"a":1}`)}, "", core.StopToolUse},
		"late deltas": {[]string{doneFrame("0", message), delta("output_text", "0", "hi"), frame(completed)},
			[]core.Block{core.Text("hi")}, "hi", core.StopEndTurn},
		"items out of order": {[]string{doneFrame("1", strings.Replace(bash, `""`, `"{}"`, 1)), delta("output_text", "0", "hi"), doneFrame("0", message), frame(completed)},
			[]core.Block{core.Text("hi"), callBlock("c1", `{}`)}, "hi", core.StopToolUse},
		"one index for all": {[]string{
			added("0", `{"type":"message","id":"m1"}`), delta("output_text", "0", "hi"), doneFrame("0", message),
			added("0", bash), delta("function_call_arguments", "0", `{"a":1}`), doneFrame("0", strings.Replace(bash, `""`, `"{\"a\":1}"`, 1)), frame(completed)},
			[]core.Block{core.Text("hi"), callBlock("c1", `{"a":1}`)}, "hi", core.StopToolUse},
		"the end fills in": {[]string{added("0", bash), delta("function_call_arguments", "0", `{"a"`),
			frame(`{"type":"response.completed","response":{"status":"completed","output":[%s]}}`, strings.Replace(bash, `""`, `"{\"a\":1}"`, 1))},
			[]core.Block{callBlock("c1", `{"a":1}`)}, "", core.StopToolUse},
		"the end alone": {[]string{frame(`{"type":"response.completed","response":{"status":"completed","output":[%s]}}`, message)},
			[]core.Block{core.Text("hi")}, "hi", core.StopEndTurn},
		"cut call": {[]string{delta("output_text", "0", "hi"), added("1", bash), delta("function_call_arguments", "1", `{"a"`),
			frame(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`)},
			[]core.Block{core.Text("hi"), callBlock("c1", `{"a"`)}, "hi", core.StopMaxTokens},
		"filtered": {[]string{delta("output_text", "0", "hi"),
			frame(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`)},
			[]core.Block{core.Text("hi")}, "hi", core.StopRefusal},
		"refusal": {[]string{frame(`{"type":"response.refusal.delta","output_index":0,"delta":"hi"}`), frame(completed)},
			[]core.Block{core.Text("hi")}, "hi", core.StopRefusal},
		"phases": {[]string{
			doneFrame("0", `{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"hi","annotations":[]}]}`),
			doneFrame("1", `{"type":"message","phase":null,"content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b","annotations":[{"x":1}]}]}`), frame(completed)},
			[]core.Block{{Type: core.BlockText, Text: "hi", Provider: Format, Opaque: `{"phase":"commentary"}`}, core.Text("ab")}, "hiab", core.StopEndTurn},
		"unknown item": {[]string{doneFrame("0", `{"type":"new_thing","x": [1]}`), doneFrame("1", message), frame(`{"type":"response.new_event","x":1}`), frame(completed)},
			[]core.Block{{Type: core.BlockOpaque, Provider: Format, Opaque: `{"type":"new_thing","x": [1]}`}, core.Text("hi")}, "hi", core.StopEndTurn},
	}
}

func TestShapes(t *testing.T) {
	for name, tt := range shapes() {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(tt.frames...))
			r := llmtest.MustAsk(t, s.Model, hello())
			if d := cmp.Diff(tt.want, r.Resp.Message.Blocks); d != "" {
				t.Error(d)
			}
			if r.Text() != tt.text || r.Resp.Stop != tt.stop {
				t.Errorf("shown %q, stop %s", r.Text(), r.Resp.Stop)
			}
			calls := r.Resp.Message.ToolUses()
			if len(calls) != len(r.Started()) || len(calls) > 0 && r.Started()[0].ID != calls[0].ID {
				t.Errorf("announced %v", r.Started())
			}
		})
	}
}

// TestCallWithoutID is announced with the id that it then has.
func TestCallWithoutID(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(doneFrame("0", `{"type":"function_call","name":"bash","arguments":"{}"}`), frame(completed)))
	r := llmtest.MustAsk(t, s.Model, hello())
	if b := r.Resp.Message.Blocks[0]; b.ID == "" || len(r.Started()) != 1 || r.Started()[0].ID != b.ID {
		t.Errorf("%+v, announced %v", b, r.Started())
	}
}

// TestReasoningGoesBack holds reasoning, with what the provider encrypted, to its
// bytes and its place.
func TestReasoningGoesBack(t *testing.T) {
	one := `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}], "encrypted_content":"gAAA=","status":null}`
	two := `{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"BBB="}`
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(
		doneFrame("0", one), doneFrame("1", `{"type":"function_call","call_id":"c1","name":"bash","arguments":"{}"}`),
		doneFrame("2", two), doneFrame("3", `{"type":"function_call","call_id":"c2","name":"bash","arguments":"{}"}`), frame(completed)),
		llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	req := hello()
	r := llmtest.MustAsk(t, s.Model, req)
	if r.Thinking() != "a\n\nb" || r.Resp.Message.Blocks[0].Text != "a\n\nb" {
		t.Errorf("%q, %+v", r.Thinking(), r.Resp.Message.Blocks)
	}
	req.Messages = append(req.Messages, r.Resp.Message, &core.Message{Role: core.RoleUser, Blocks: []core.Block{
		core.ToolResult("c1", false, core.Text("1")), core.ToolResult("c2", false, core.Text("2"))}})
	llmtest.MustAsk(t, s.Model, req)
	const call = `{"type":"function_call","call_id":"c%","name":"bash","arguments":"{}"}`
	want := one + "," + strings.Replace(call, "%", "1", 1) + "," + two + "," + strings.Replace(call, "%", "2", 1) + `,{"type":"function_call_output","call_id":"c1"`
	if !strings.Contains(s.Body(1), want) {
		t.Errorf("sent %s", s.Body(1))
	}
}

func TestCounts(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(frame(
		`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":15},"total_tokens":120,"cost":0.25}}}`)))
	r := llmtest.MustAsk(t, s.Model, hello())
	want := core.Usage{Input: 30, Output: 20, CacheRead: 60, CacheWrite: 10, Thinking: 15}
	if r.Resp.Usage != want || !r.Resp.UsageReported || r.Resp.BilledUSD != 0.25 {
		t.Errorf("%+v", r.Resp)
	}
}
