package modelserver

import "encoding/json"

// anthropic speaks the Messages API.
func (a *answer) anthropic(e *events) any {
	u := a.counts()
	usage := obj{"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite, "output_tokens": u.Output}
	first := obj{"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite, "output_tokens": 1}
	last := obj{"output_tokens": u.Output}
	if a.step.NoUsage {
		usage, first, last = obj{}, obj{}, obj{}
	}
	message := func(content []any, stop any, usage obj) obj {
		return obj{"id": a.id("msg"), "type": "message", "role": "assistant", "model": a.model, "content": content,
			"stop_reason": stop, "stop_sequence": nil, "usage": usage}
	}
	e.add("message_start", obj{"type": "message_start", "message": message([]any{}, nil, first)})
	e.add("ping", obj{"type": "ping"})

	content := []any{}
	block := func(start, whole obj, deltas func(delta func(obj))) {
		i := len(content)
		e.add("content_block_start", obj{"type": "content_block_start", "index": i, "content_block": start})
		deltas(func(d obj) { e.add("content_block_delta", obj{"type": "content_block_delta", "index": i, "delta": d}) })
		e.add("content_block_stop", obj{"type": "content_block_stop", "index": i})
		content = append(content, whole)
	}
	if s := a.step; s.Thinking != "" {
		block(obj{"type": "thinking", "thinking": "", "signature": ""},
			obj{"type": "thinking", "thinking": s.Thinking, "signature": a.signature()}, func(delta func(obj)) {
				for _, f := range a.wire.fragments(s.Thinking) {
					delta(obj{"type": "thinking_delta", "thinking": f})
				}
				delta(obj{"type": "signature_delta", "signature": a.signature()})
			})
	}
	if s := a.step; s.Redacted != "" {
		b := obj{"type": "redacted_thinking", "data": s.Redacted}
		block(b, b, func(func(obj)) {})
	}
	if s := a.step; s.Text != "" {
		block(obj{"type": "text", "text": ""}, obj{"type": "text", "text": s.Text}, func(delta func(obj)) {
			for _, f := range a.wire.fragments(s.Text) {
				delta(obj{"type": "text_delta", "text": f})
			}
		})
	}
	for i, c := range a.step.Calls {
		args := c.arguments()
		var input any = json.RawMessage(args)
		if !json.Valid([]byte(args)) {
			input = args // only a stream can carry broken arguments
		}
		block(obj{"type": "tool_use", "id": a.callID(i), "name": c.Name, "input": obj{}},
			obj{"type": "tool_use", "id": a.callID(i), "name": c.Name, "input": input}, func(delta func(obj)) {
				delta(obj{"type": "input_json_delta", "partial_json": ""})
				for _, f := range a.wire.fragments(args) {
					delta(obj{"type": "input_json_delta", "partial_json": f})
				}
			})
	}
	stop := a.stop(nil)
	e.add("message_delta", obj{"type": "message_delta", "delta": obj{"stop_reason": stop, "stop_sequence": nil}, "usage": last})
	e.add("message_stop", obj{"type": "message_stop"})
	return message(content, stop, usage)
}
