package modelserver

import "fmt"

// responses speaks the Responses API.
func (a *answer) responses(e *events) any {
	seq := 0
	send := func(typ string, fields obj) {
		fields["type"], fields["sequence_number"] = typ, seq
		seq++
		e.add(typ, fields)
	}
	response := func(status string, output []any, usage any, incomplete any) obj {
		return obj{"id": a.id("resp"), "object": "response", "created_at": created, "model": a.model, "status": status,
			"output": output, "usage": usage, "incomplete_details": incomplete, "error": nil}
	}
	send("response.created", obj{"response": response("in_progress", []any{}, nil, nil)})
	send("response.in_progress", obj{"response": response("in_progress", []any{}, nil, nil)})

	output := []any{}
	item := func(start, done obj, parts func(at obj)) {
		index := len(output)
		send("response.output_item.added", obj{"output_index": index, "item": start})
		parts(obj{"item_id": start["id"], "output_index": index})
		send("response.output_item.done", obj{"output_index": index, "item": done})
		output = append(output, done)
	}
	// with adds fields to those that say where in the output an event belongs.
	with := func(at, more obj) obj {
		out := obj{}
		for _, m := range []obj{at, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	if a.step.Thinking != "" {
		a.reasoning(item, with, send)
	}
	if a.step.Text != "" {
		a.responsesText(item, with, send)
	}
	for i, c := range a.step.Calls {
		id, args := fmt.Sprintf("fc_%04d%02d", a.n, i), c.arguments()
		call := func(status, args string) obj {
			return obj{"id": id, "type": "function_call", "status": status, "name": c.Name, "call_id": a.callID(i), "arguments": args}
		}
		item(call("in_progress", ""), call("completed", args), func(at obj) {
			for _, f := range a.wire.fragments(args) {
				send("response.function_call_arguments.delta", with(at, obj{"delta": f}))
			}
			send("response.function_call_arguments.done", with(at, obj{"arguments": args, "name": c.Name}))
		})
	}
	var usage any
	if u := a.counts(); !a.step.NoUsage {
		in := u.Input + u.CacheRead + u.CacheWrite
		usage = obj{"input_tokens": in, "input_tokens_details": obj{"cached_tokens": u.CacheRead}, "output_tokens": u.Output,
			"output_tokens_details": obj{"reasoning_tokens": u.Reasoning}, "total_tokens": in + u.Output}
	}
	if a.stop(nil) == "max_tokens" {
		whole := response("incomplete", output, usage, obj{"reason": "max_output_tokens"})
		send("response.incomplete", obj{"response": whole})
		return whole
	}
	whole := response("completed", output, usage, nil)
	send("response.completed", obj{"response": whole})
	return whole
}

type (
	itemFunc func(start, done obj, parts func(at obj))
	withFunc func(at, more obj) obj
	sendFunc func(typ string, fields obj)
)

func (a *answer) reasoning(item itemFunc, with withFunc, send sendFunc) {
	id, text := a.id("rs"), a.step.Thinking
	part := obj{"type": "summary_text", "text": text}
	item(obj{"id": id, "type": "reasoning", "summary": []any{}},
		obj{"id": id, "type": "reasoning", "summary": []any{part}, "encrypted_content": a.signature()}, func(at obj) {
			at = with(at, obj{"summary_index": 0})
			send("response.reasoning_summary_part.added", with(at, obj{"part": obj{"type": "summary_text", "text": ""}}))
			for _, f := range a.wire.fragments(text) {
				send("response.reasoning_summary_text.delta", with(at, obj{"delta": f}))
			}
			send("response.reasoning_summary_text.done", with(at, obj{"text": text}))
			send("response.reasoning_summary_part.done", with(at, obj{"part": part}))
		})
}

// responsesText sends the message; a refusal is one in a part of its own kind.
func (a *answer) responsesText(item itemFunc, with withFunc, send sendFunc) {
	id, text := a.id("msg"), a.step.Text
	kind, name, field := "output_text", "response.output_text", "text"
	if a.stop(nil) == "refusal" {
		kind, name, field = "refusal", "response.refusal", "refusal"
	}
	part := func(text string) obj {
		p := obj{"type": kind, field: text}
		if kind == "output_text" {
			p["annotations"] = []any{}
		}
		return p
	}
	message := func(status string, content ...any) obj {
		if content == nil {
			content = []any{}
		}
		return obj{"id": id, "type": "message", "status": status, "role": "assistant", "content": content}
	}
	item(message("in_progress"), message("completed", part(text)), func(at obj) {
		at = with(at, obj{"content_index": 0})
		send("response.content_part.added", with(at, obj{"part": part("")}))
		for _, f := range a.wire.fragments(text) {
			send(name+".delta", with(at, obj{"delta": f}))
		}
		send(name+".done", with(at, obj{field: text}))
		send("response.content_part.done", with(at, obj{"part": part(text)}))
	})
}
