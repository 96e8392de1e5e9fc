package chat

import (
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// effort is how a provider is told how much to think: reasoning_effort, with the
// highest levels it knows, and what turns thinking off.
type effort struct {
	xhigh, max string
	off        string // members to add, empty where there are none
}

// effortOf is from each provider's documentation. What a server does not say it
// knows is not sent.
func effortOf(provider string) effort {
	const none = `,"reasoning_effort":"none"`
	switch provider {
	case "openai", "openrouter":
		return effort{xhigh: "xhigh", max: "xhigh", off: none}
	case "deepseek":
		return effort{xhigh: "xhigh", max: "max", off: `,"thinking":{"type":"disabled"}`}
	case "ollama", "groq":
		return effort{xhigh: "high", max: "high", off: none}
	case "vllm", "llamacpp":
		return effort{xhigh: "high", max: "high", off: `,"chat_template_kwargs":{"enable_thinking":false}`}
	}
	return effort{xhigh: "high", max: "high"}
}

// appendThinking adds the level for a model that thinks.
func appendThinking(dst []byte, info *llm.Info, level llm.ThinkingLevel) []byte {
	if !info.Thinks || level == llm.ThinkDefault {
		return dst
	}
	e := effortOf(info.Provider)
	word := string(level)
	switch level {
	case llm.ThinkOff:
		return append(dst, e.off...)
	case llm.ThinkXHigh:
		word = e.xhigh
	case llm.ThinkMax:
		word = e.max
	}
	return wire.AppendField(dst, "reasoning_effort", word)
}
