package anthropic

import (
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// family is how a family of models is told to think. The API's documentation of
// extended and adaptive thinking and of effort is the source.
type family struct {
	prefix string
	// budget: thinking is switched on with a number of tokens; else it is
	// adaptive, with an effort.
	budget bool
	// thinks without being asked to.
	unasked bool
	// off is the thinking type that turns it off; "" where leaving the field out
	// does, or where nothing does.
	off string
	// always: it cannot be turned off, so off asks for the least effort.
	always bool
	// display: summaries must be asked for, else thinking arrives empty.
	display bool
	// noXHigh: the effort scale has no xhigh.
	noXHigh bool
	// interleaves: it thinks between calls only when a beta is asked for. Models
	// that think adaptively do so anyway, and some refuse the beta.
	interleaves bool
}

// families in any order; the longest prefix wins. A Claude that is newer than
// this table is taken for one that always thinks: it then gets no field that such
// a model refuses.
var families = [...]family{
	{prefix: "claude-", unasked: true, always: true, display: true},
	{prefix: "claude-3", budget: true},
	{prefix: "claude-opus-4", budget: true, interleaves: true},
	{prefix: "claude-sonnet-4", budget: true, interleaves: true},
	{prefix: "claude-haiku-4", budget: true},
	{prefix: "claude-opus-4-6", noXHigh: true},
	{prefix: "claude-sonnet-4-6", noXHigh: true},
	{prefix: "claude-opus-4-7", display: true},
	{prefix: "claude-opus-4-8", display: true},
	{prefix: "claude-opus-5", unasked: true, off: "disabled", display: true},
	{prefix: "claude-sonnet-5", unasked: true, off: "disabled", display: true},
	{prefix: "claude-haiku-5", unasked: true, off: "disabled", display: true},
	{prefix: "claude-opus-5-5", unasked: true, always: true, display: true},
	{prefix: "claude-sonnet-5-5", unasked: true, off: "between_tools", display: true},
}

// other is any model that is no Claude, behind a server that speaks the format.
var other = family{budget: true, off: "disabled"}

// familyOf finds the family by the model's id, as Anthropic, Bedrock
// (anthropic.claude-…) and OpenRouter (anthropic/claude-opus-4.6) write it.
func familyOf(id string) family {
	at := strings.Index(id, "claude-")
	if at < 0 {
		return other
	}
	id = strings.ReplaceAll(id[at:], ".", "-")
	var best family
	for _, f := range families {
		if strings.HasPrefix(id, f.prefix) && len(f.prefix) > len(best.prefix) {
			best = f
		}
	}
	return best
}

func appendThinking(dst []byte, info *llm.Info, level llm.ThinkingLevel, maxTokens int) []byte {
	if !info.Thinks {
		return dst
	}
	f := familyOf(info.ID)
	switch {
	case level == llm.ThinkOff && f.always:
		return appendAdaptive(dst, f, "low")
	case level == llm.ThinkOff:
		if f.off == "" {
			return dst
		}
		return append(wire.AppendField(append(dst, `,"thinking":{`...), "type", f.off), '}')
	case level == llm.ThinkDefault:
		// Asking for summaries alone would turn on the thinking of a model that
		// does not think unasked.
		if !f.unasked {
			return dst
		}
		return appendAdaptive(dst, f, "")
	case f.budget:
		return appendBudget(dst, level, maxTokens)
	}
	effort := string(level)
	if len(info.Efforts) > 0 {
		effort = llm.Effort(level, info.Efforts)
	} else if level == llm.ThinkXHigh && f.noXHigh {
		effort = "high"
	}
	return appendAdaptive(dst, f, effort)
}

// betaOf is the beta that a model needs to think between its calls; empty for none.
func betaOf(info *llm.Info) string {
	if info.Thinks && familyOf(info.ID).interleaves {
		return "interleaved-thinking-2025-05-14"
	}
	return ""
}

func appendAdaptive(dst []byte, f family, effort string) []byte {
	dst = append(dst, `,"thinking":{"type":"adaptive"`...)
	if f.display {
		dst = append(dst, `,"display":"summarized"`...)
	}
	dst = append(dst, '}')
	if effort != "" {
		dst = append(wire.AppendField(append(dst, `,"output_config":{`...), "effort", effort), '}')
	}
	return dst
}

// appendBudget gives thinking a share of the output limit, in eighths. The API
// wants at least 1,024 tokens and less than max_tokens.
func appendBudget(dst []byte, level llm.ThinkingLevel, maxTokens int) []byte {
	const least = 1024
	eighths := 7
	switch level {
	case llm.ThinkLow:
		eighths = 2
	case llm.ThinkMedium:
		eighths = 4
	case llm.ThinkHigh:
		eighths = 6
	}
	budget := max(maxTokens*eighths/8, least)
	if budget >= maxTokens {
		return dst
	}
	return append(wire.AppendInt(append(dst, `,"thinking":{"type":"enabled"`...), "budget_tokens", budget), '}')
}
