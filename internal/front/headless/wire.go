package headless

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/llm"
)

// The lines of the json and stream-json formats. Names are those of Claude
// Code's headless format, so that scripts written for it work.

type object = map[string]any

// encodeLine writes an object on one line, its type and subtype first, as people
// look for them.
func encodeLine(o object) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for _, name := range []string{"type", "subtype"} {
		if v, ok := o[name]; ok {
			fmt.Fprintf(&b, "%q:%q,", name, v)
			delete(o, name)
		}
	}
	at := b.Len()
	if err := enc.Encode(o); err != nil {
		return nil, err
	}
	line := b.Bytes()
	return append(line[:at], line[at+1:]...), nil // without the second brace
}

// assistantMessage is a response in the shape of the Messages API.
func assistantMessage(r *llm.Response, info *llm.Info) object {
	id, model := r.ID, r.Model
	if model == "" {
		model = info.ID
	}
	return object{
		"id": id, "type": "message", "role": "assistant", "model": model,
		"content":     contentBlocks(r.Message.Blocks),
		"stop_reason": string(r.Stop), "stop_sequence": nil, "usage": usage(r.Usage),
	}
}

func contentBlocks(blocks []core.Block) []any {
	out := make([]any, 0, len(blocks))
	for _, b := range blocks {
		own, isOwn := messagesBlock(b)
		switch b.Type {
		case core.BlockText, core.BlockThinking, core.BlockOpaque:
			if isOwn {
				out = append(out, own)
				continue
			}
		}
		switch b.Type {
		case core.BlockText:
			out = append(out, object{"type": "text", "text": b.Text})
		case core.BlockThinking:
			out = append(out, object{"type": "thinking", "thinking": b.Text, "signature": signature(b)})
		case core.BlockToolUse:
			out = append(out, object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": rawInput(b.Input)})
		case core.BlockToolResult:
			out = append(out, toolResult(b))
		case core.BlockImage, core.BlockDocument:
			out = append(out, object{"type": string(b.Type), "source": object{
				"type": "base64", "media_type": b.MediaType, "data": base64.StdEncoding.EncodeToString(b.Data),
			}})
		case core.BlockOpaque:
			if raw := json.RawMessage(b.Opaque); json.Valid(raw) {
				out = append(out, object{"type": "opaque", "provider": b.Provider, "block": raw})
			}
		}
	}
	return out
}

// messagesBlock is a block as a provider that speaks the Messages API wrote it:
// citations, searches and hidden thinking have a shape in that API already.
func messagesBlock(b core.Block) (json.RawMessage, bool) {
	raw := json.RawMessage(b.Opaque)
	return raw, b.Provider == "anthropic" && json.Valid(raw)
}

// signature is the provider's own, where the thinking block carries one.
func signature(b core.Block) string {
	var opaque struct {
		Signature string `json:"signature"`
	}
	if json.Unmarshal([]byte(b.Opaque), &opaque) != nil {
		return "" // not every provider signs its thinking
	}
	return opaque.Signature
}

// rawInput is a call's input as JSON; a broken one is shown as the string it is.
func rawInput(input string) any {
	if raw := json.RawMessage(input); json.Valid(raw) {
		return raw
	}
	return input
}

func toolResult(b core.Block) object {
	out := object{"type": "tool_result", "tool_use_id": b.ID, "is_error": b.IsError}
	if len(b.Content) == 1 && b.Content[0].Type == core.BlockText {
		out["content"] = b.Content[0].Text
	} else {
		out["content"] = contentBlocks(b.Content)
	}
	return out
}

func usage(u core.Usage) object {
	return object{
		"input_tokens": u.Input, "output_tokens": u.Output, "thinking_tokens": u.Thinking,
		"cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
		"server_tool_use": object{"web_search_requests": u.Searches, "web_fetch_requests": 0},
	}
}

// retryLine says that a request is sent again after a wait.
func retryLine(e engine.Retrying) object {
	o := object{
		"type": "system", "subtype": "api_retry", "attempt": e.Attempt, "max_retries": e.Max,
		"retry_delay_ms": e.Wait.Milliseconds(), "error": errorWord(e.Err.Kind), "error_status": nil, "message": e.Err.Error(),
	}
	if e.Err.Status != 0 {
		o["error_status"] = e.Err.Status
	}
	return o
}

// errorWord is a kind of failure in the words of Claude Code's format, which has
// fewer of them.
func errorWord(kind llm.ErrorKind) string {
	switch kind {
	case llm.ErrAuth:
		return "authentication_failed"
	case llm.ErrQuota:
		return "billing_error"
	case llm.ErrRateLimit:
		return "rate_limit"
	case llm.ErrBadRequest, llm.ErrContextOverflow, llm.ErrTooLarge:
		return "invalid_request"
	case llm.ErrServer, llm.ErrOverloaded:
		return "server_error"
	case llm.ErrRefused, llm.ErrNetwork, llm.ErrIdle, llm.ErrProtocol: // it has no words for these
	}
	return "unknown"
}

// ending is how a turn's end is told: subtype, terminal_reason, exit code.
type ending struct {
	subtype, reason string
	exit            int
	isError         bool
}

func endingOf(end core.TurnEnd) ending {
	switch end {
	case core.EndDone:
		return ending{"success", "completed", 0, false}
	case core.EndMaxSteps:
		return ending{"error_max_turns", "max_turns", 2, true}
	case core.EndTokenBudget:
		return ending{"error_max_budget_usd", "budget_exhausted", 2, true}
	case core.EndSpend:
		return ending{"error_max_budget_usd", "spend_exhausted", 2, true}
	case core.EndRepeatedCalls:
		return ending{"error_during_execution", "repeated_calls", 2, true}
	case core.EndNoAnswer:
		return ending{"error_max_structured_output_retries", "error", 1, true}
	case core.EndMaxTokens:
		return ending{"success", "max_tokens", 2, true}
	case core.EndRefusal:
		return ending{"success", "refusal", 2, true}
	case core.EndTimeout:
		return ending{"error_during_execution", "timeout", 2, true}
	case core.EndInterrupted:
		return ending{"error_during_execution", "interrupted", 130, true}
	case core.EndError:
	}
	return ending{"error_during_execution", "error", 1, true}
}

// resultLine is the last line of a turn.
func resultLine(r *engine.TurnResult, info *llm.Info) object {
	e := endingOf(r.End)
	errs := []string{}
	if r.Err != nil {
		errs = append(errs, r.Err.Error())
	} else if r.End == core.EndInterrupted {
		errs = append(errs, "Interrupted.")
	} else if r.End != core.EndDone {
		errs = append(errs, lines.EndInWords(r))
	}
	if r.JournalErr != nil {
		errs = append(errs, r.JournalErr.Error())
	}
	out := object{
		"type": "result", "subtype": e.subtype, "is_error": e.isError || exitCode(r) != 0,
		"duration_ms": r.Duration.Milliseconds(), "duration_api_ms": r.APITime.Milliseconds(),
		"num_turns": r.Steps, "stop_reason": nullable(r.RawStop), "total_cost_usd": r.Session.Cost.USD,
		"usage": usage(r.Usage), "modelUsage": modelUsage(r.Models, info),
		"permission_denials": denials(r.Denials), "errors": errs, "terminal_reason": e.reason,
		// Of the whole session, as the cost is.
		"unreported_tokens": r.Session.Usage.Unreported,
		// Where it is false the cost is only what is known of it, or 0.
		"cost_known": costKnown(r.Session),
	}
	if e.subtype == "success" {
		out["result"] = r.Text
	}
	if r.Answer != nil {
		out["structured_output"] = r.Answer
	}
	return out
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// costKnown reports whether the session's cost is all of it: every request was
// reported, and at a price that is known.
func costKnown(t engine.Totals) bool { return t.Cost.Known && t.Usage.Unreported == 0 }

// modelUsage is what each model used in this turn; the one in use is always there.
func modelUsage(models core.ByModel, info *llm.Info) object {
	out := object{info.Spec: oneModel(core.ModelUsage{Spec: info.Spec, ContextWindow: info.ContextWindow, MaxOutput: info.MaxOutput})}
	for _, m := range models {
		if m.Spec == info.Spec {
			m.ContextWindow, m.MaxOutput = info.ContextWindow, info.MaxOutput
		}
		out[m.Spec] = oneModel(m)
	}
	return out
}

func oneModel(m core.ModelUsage) object {
	return object{
		"inputTokens": m.Usage.Input, "outputTokens": m.Usage.Output,
		"cacheReadInputTokens": m.Usage.CacheRead, "cacheCreationInputTokens": m.Usage.CacheWrite,
		"webSearchRequests": m.Usage.Searches, "costUSD": m.Cost.USD,
		"contextWindow": m.ContextWindow, "maxOutputTokens": m.MaxOutput,
	}
}

func denials(list []engine.Denial) []object {
	out := make([]object, len(list))
	for i, d := range list {
		out[i] = object{"tool_name": d.Tool, "tool_use_id": d.CallID, "tool_input": rawInput(d.Input)}
	}
	return out
}
