package modelserver

var chatStops = map[string]string{"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}

// chat speaks Chat Completions, with the habits that Wire asks for.
func (a *answer) chat(e *events) any {
	chunk := func(choices []any, usage any) {
		c := obj{"id": a.id("chatcmpl"), "object": "chat.completion.chunk", "created": created, "model": a.model, "choices": choices}
		if usage != nil {
			c["usage"] = usage
		}
		e.add("", c)
	}
	delta := func(d obj, finish any) { chunk([]any{obj{"index": 0, "delta": d, "finish_reason": finish}}, nil) }

	s, message := a.step, obj{"role": "assistant", "content": nil}
	delta(obj{"role": "assistant", "content": ""}, nil)
	text, field := s.Text, a.wire.Reasoning
	if s.Thinking != "" {
		if field == "" {
			field = "reasoning_content"
		}
		if field == "think" {
			text = "<think>" + s.Thinking + "</think>\n\n" + text
		} else {
			message[field] = s.Thinking
			for _, f := range a.wire.fragments(s.Thinking) {
				delta(obj{field: f}, nil)
			}
		}
	}
	if text != "" {
		message["content"] = text
	}
	for _, f := range a.wire.fragments(text) {
		delta(obj{"content": f}, nil)
	}
	if len(s.Calls) > 0 {
		message["tool_calls"] = a.chatCalls(func(call obj) { delta(obj{"tool_calls": []any{call}}, nil) })
	}
	stop := a.stop(chatStops)
	delta(obj{}, stop)
	whole := obj{"id": a.id("chatcmpl"), "object": "chat.completion", "created": created, "model": a.model,
		"choices": []any{obj{"index": 0, "message": message, "finish_reason": stop}}}
	if !s.NoUsage {
		whole["usage"] = a.chatUsage()
		if a.usage {
			chunk([]any{}, a.chatUsage())
		}
	}
	return whole
}

// chatCalls sends the calls' deltas and returns the calls whole.
func (a *answer) chatCalls(send func(obj)) []any {
	var whole []any
	var deltas [][]obj
	for i, c := range a.step.Calls {
		first := obj{"index": i, "type": "function", "function": obj{"name": c.Name, "arguments": ""}}
		call := obj{"type": "function", "function": obj{"name": c.Name, "arguments": c.arguments()}}
		if !a.wire.NoIDs {
			first["id"], call["id"] = a.callID(i), a.callID(i)
		}
		whole = append(whole, call)
		list := []obj{first}
		for _, f := range a.wire.fragments(c.arguments()) {
			list = append(list, obj{"index": i, "function": obj{"arguments": f}})
		}
		deltas = append(deltas, list)
	}
	if !a.wire.Interleave {
		for _, list := range deltas {
			for _, d := range list {
				send(d)
			}
		}
		return whole
	}
	for row, more := 0, true; more; row++ {
		more = false
		for _, list := range deltas {
			if row < len(list) {
				send(list[row])
				more = true
			}
		}
	}
	return whole
}

func (a *answer) chatUsage() obj {
	u := a.counts()
	in := u.Input + u.CacheRead + u.CacheWrite
	return obj{"prompt_tokens": in, "completion_tokens": u.Output, "total_tokens": in + u.Output,
		"prompt_tokens_details": obj{"cached_tokens": u.CacheRead}, "completion_tokens_details": obj{"reasoning_tokens": u.Reasoning}}
}
