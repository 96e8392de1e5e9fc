// Package anthropictest renders scripted answers as the events of the Messages
// API, for the tests of the clients that speak it, at whatever host.
//
// It is for tests only.
package anthropictest

import (
	"fmt"
	"strings"

	"garuda/internal/llm/llmtest"
)

// Frame is one event, named by its type.
func Frame(format string, args ...any) string {
	data := fmt.Sprintf(format, args...)
	name, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
	return llmtest.Event(name, data)
}

// Frames are the events of an answer. All but the last make it complete.
func Frames(r llmtest.Reply) []string {
	q := llmtest.Quote
	out := []string{
		Frame(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":0,"output_tokens":1}}}`, r.Usage.Input, r.Usage.CacheRead),
		Frame(`{"type":"ping"}`),
	}
	index := 0
	block := func(start string, deltas ...string) {
		out = append(out, Frame(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, start))
		for _, d := range deltas {
			out = append(out, Frame(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, d))
		}
		out = append(out, Frame(`{"type":"content_block_stop","index":%d}`, index))
		index++
	}
	each := func(kind, key string, pieces ...string) []string {
		var deltas []string
		for _, s := range pieces {
			deltas = append(deltas, `{"type":"`+kind+`","`+key+`":`+q(s)+`}`)
		}
		return deltas
	}
	if len(r.Thinking) > 0 {
		block(`{"type":"thinking","thinking":"","signature":""}`,
			append(each("thinking_delta", "thinking", r.Thinking...), each("signature_delta", "signature", r.Signature)...)...)
	}
	if len(r.Text) > 0 {
		block(`{"type":"text","text":""}`, each("text_delta", "text", r.Text...)...)
	}
	for _, c := range r.Calls {
		block(`{"type":"tool_use","id":`+q(c.ID)+`,"name":`+q(c.Name)+`,"input":{}}`,
			append(each("input_json_delta", "partial_json", ""), each("input_json_delta", "partial_json", c.Args...)...)...)
	}
	stop := r.RawStop
	if stop == "" {
		stop = "end_turn"
		if len(r.Calls) > 0 {
			stop = "tool_use"
		}
	}
	return append(out,
		Frame(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}}`, stop, r.Usage.Output),
		Frame(`{"type":"message_stop"}`))
}
