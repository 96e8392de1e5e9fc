package modelserver

import (
	"encoding/json"
	"net/url"
	"strings"
)

var geminiStops = map[string]string{"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}

// geminiPath reads what other formats have in the body: the model, and whether the
// answer is to be streamed.
func geminiPath(path string) (model string, stream, ok bool) {
	path, err := url.PathUnescape(path)
	if err != nil {
		return "", false, false
	}
	model, stream = strings.CutSuffix(path, ":streamGenerateContent")
	if !stream {
		if model, ok = strings.CutSuffix(path, ":generateContent"); !ok {
			return "", false, false
		}
	}
	return model[strings.LastIndexByte(model, '/')+1:], stream, true
}

// gemini speaks the Gemini API: text in pieces, each call whole in a chunk of its
// own. What binds the thinking stands on the first call, or in an empty part at the
// end of an answer without calls.
func (a *answer) gemini(e *events) any {
	chunk := func(parts []any, finish string, counts any) obj {
		candidate := obj{"index": 0, "content": obj{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		c := obj{"candidates": []any{candidate}, "modelVersion": a.model, "responseId": a.id("resp")}
		if counts != nil {
			c["usageMetadata"] = counts
		}
		return c
	}
	whole := []any{}
	send := func(pieces []json.RawMessage, more obj, text string) {
		part := func(text any) obj {
			p := obj{"text": text}
			for k, v := range more {
				p[k] = v
			}
			return p
		}
		for _, f := range pieces {
			e.add("", chunk([]any{part(f)}, "", nil))
		}
		if len(pieces) > 0 {
			whole = append(whole, part(text))
		}
	}
	s, sig := a.step, obj{}
	if s.Thinking != "" || s.Signature != "" {
		sig["thoughtSignature"] = a.signature()
	}
	send(a.wire.fragments(s.Thinking), obj{"thought": true}, s.Thinking)
	send(a.wire.fragments(s.Text), nil, s.Text)
	for i, c := range s.Calls {
		part := obj{"functionCall": a.geminiCall(i, c)}
		if i == 0 {
			for k, v := range sig {
				part[k] = v
			}
		}
		whole = append(whole, part)
		e.add("", chunk([]any{part}, "", nil))
	}
	end := obj{"text": ""}
	if len(s.Calls) == 0 && len(sig) > 0 {
		end["thoughtSignature"] = sig["thoughtSignature"]
		whole = append(whole, end)
	}
	var counts any
	if !s.NoUsage {
		counts = a.geminiUsage()
	}
	stop := a.stop(geminiStops)
	e.add("", chunk([]any{end}, stop, counts))
	return chunk(whole, stop, counts)
}

// geminiCall has its arguments as they are. Those that are no JSON are put into a
// string, as gateways do; the API itself never sends them.
func (a *answer) geminiCall(i int, c Call) obj {
	var args any = json.RawMessage(c.arguments())
	if !json.Valid([]byte(c.arguments())) {
		args = c.arguments()
	}
	call := obj{"name": c.Name, "args": args}
	if !a.wire.NoIDs {
		call["id"] = a.callID(i)
	}
	return call
}

func (a *answer) geminiUsage() obj {
	u := a.counts()
	in := u.Input + u.CacheRead + u.CacheWrite
	out := obj{"promptTokenCount": in, "candidatesTokenCount": u.Output - u.Reasoning, "totalTokenCount": in + u.Output}
	if u.CacheRead > 0 {
		out["cachedContentTokenCount"] = u.CacheRead
	}
	if u.Reasoning > 0 {
		out["thoughtsTokenCount"] = u.Reasoning
	}
	return out
}

// geminiList is the stream of a client that did not ask for events: one JSON list.
func geminiList(list []event) any {
	out := []json.RawMessage{}
	for _, e := range list {
		out = append(out, e.data)
	}
	return out
}

// geminiModels is the list of models as this API gives it.
func geminiModels(ids []string) any {
	list := []any{}
	for _, id := range ids {
		list = append(list, obj{"name": "models/" + id, "displayName": id, "supportedGenerationMethods": []string{"generateContent"}})
	}
	return obj{"models": list}
}
