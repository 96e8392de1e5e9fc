package chat

import (
	"strconv"
	"strings"
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// TestWrongTypes: what is of no use to the answer does not cost it, whatever type a
// server gives it.
func TestWrongTypes(t *testing.T) {
	for _, odd := range []string{`7`, `"x"`, `null`, `{}`, `[1]`, `true`, `1.5`, `-1`, `1e300`, `NaN`} {
		if odd == `7` { // an index that is another choice's
			odd = `"0"`
		}
		s := server(t, llm.Quirks{},
			llmtest.Data(`{"id":`+odd+`,"model":`+odd+`,"object":`+odd+`,"choices":[{"index":0,"delta":{"content":"ok"}}]}`),
			llmtest.Data(`{"choices":[{"index":`+strings.Replace(odd, "1e300", "0", 1)+`,"delta":{"tool_calls":[{"index":`+odd+`,"id":"c1","function":{"name":"bash","arguments":"{}"}}]}}]}`),
			llmtest.Data(`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`), done)
		r := llmtest.MustAsk(t, s.Model, hello())
		if calls := r.Resp.Message.ToolUses(); r.Text() != "ok" || len(calls) != 1 || calls[0].ID != "c1" || calls[0].Input != "{}" {
			t.Errorf("%s: %+v", odd, r.Resp.Message)
		}
	}
}

// TestHostileCalls: calls without end are given up, and one whose pieces look whole
// each time is not checked as a whole each time.
func TestHostileCalls(t *testing.T) {
	var frames []string
	for i := range maxCalls + 1 {
		frames = append(frames, piece(`"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"bash","arguments":"{}"}}]`, i, i))
	}
	s := server(t, llm.Quirks{}, append(frames, done)...)
	if e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, llm.ErrProtocol); !e.NoRetry {
		t.Errorf("%+v", e)
	}
	const pieces = 50_000
	frames = []string{piece(`"tool_calls":[{"id":"c1","function":{"name":"bash","arguments":"{\"a\":\""}}]`)}
	for range pieces {
		frames = append(frames, piece(`"tool_calls":[{"id":"c1","function":{"arguments":"}"}}]`))
	}
	frames = append(frames, piece(`"tool_calls":[{"id":"c1","function":{"arguments":"\"}"}}]`), finish("tool_calls"), done)
	s = server(t, llm.Quirks{}, strings.Join(frames, ""))
	calls := llmtest.MustAsk(t, s.Model, hello()).Resp.Message.ToolUses()
	if len(calls) != 1 || calls[0].Input != `{"a":"`+strings.Repeat("}", pieces)+`"}` {
		t.Errorf("%d calls", len(calls))
	}
}

func TestShapeOfPieces(t *testing.T) {
	for _, whole := range []string{`{}`, `{"a":"}\\\"{"}`, `{"a":[{},{"b":"]"}]}`, ` {"a":1}`} {
		for cut := range len(whole) {
			var k call
			for i, piece := range []string{whole[:cut], whole[cut:]} {
				k.input.WriteString(piece)
				k.shape.push(piece)
				if want := i == 1; k.whole() != want && (want || cut > 0) {
					t.Errorf("%s cut at %s: whole %v after piece %d", whole, strconv.Itoa(cut), k.whole(), i)
				}
			}
			k.shape.push(" x")
			if k.input.WriteString(" x"); k.whole() {
				t.Errorf("%s with more behind it is whole", whole)
			}
		}
	}
}
