package chat

import (
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// appendThinking says how much to think, to a model that can and in its
// provider's way. What a provider does not say it knows is not sent.
func (e *encoder) appendThinking(dst []byte, level llm.ThinkingLevel) []byte {
	if !e.info.Thinks || level == llm.ThinkDefault {
		return dst
	}
	off := level == llm.ThinkOff && !e.quirks.ThinksAlways
	word := e.effort(level, off)
	switch e.quirks.ThinkingField {
	case llm.ThinkUntold:
		return dst
	case llm.ThinkByReasoning:
		if off && word != "none" {
			return append(dst, `,"reasoning":{"enabled":false}`...)
		}
		return append(wire.AppendField(append(dst, `,"reasoning":{`...), "effort", word), '}')
	case llm.ThinkByType:
		if off {
			return append(dst, `,"thinking":{"type":"disabled"}`...)
		}
		dst = append(dst, `,"thinking":{"type":"enabled"}`...)
		if len(e.info.Efforts) == 0 && e.quirks.Efforts == "" {
			return dst
		}
		return wire.AppendField(dst, "reasoning_effort", word)
	case llm.ThinkByEnable:
		if off {
			return append(dst, `,"enable_thinking":false`...)
		}
		return append(dst, `,"enable_thinking":true`...)
	case llm.ThinkByTemplate:
		if off {
			return append(dst, `,"chat_template_kwargs":{"enable_thinking":false,"thinking":false}`...)
		}
		// The field is for models whose prompt is no template (gpt-oss on vLLM).
		dst = append(wire.AppendField(dst, "reasoning_effort", word), `,"chat_template_kwargs":{"enable_thinking":true,"thinking":true`...)
		return append(wire.AppendField(dst, "reasoning_effort", word), '}')
	}
	if word == "" {
		return dst
	}
	return wire.AppendField(dst, "reasoning_effort", word)
}

// effort is the provider's word for a level; for off it is the word that says
// so, or empty where there is none and off is said in another way or not at all.
func (e *encoder) effort(level llm.ThinkingLevel, off bool) string {
	words := e.info.Efforts
	if len(words) == 0 {
		words = strings.Split("low,medium,high", ",")
		if e.quirks.Efforts != "" {
			words = strings.Split(e.quirks.Efforts, ",")
		}
	}
	word := llm.Effort(level, words)
	if !off || word == "none" || word == "minimal" {
		return word
	}
	return e.quirks.ThinkOffWord
}

// thoughtOf joins a message's thinking.
func thoughtOf(m *core.Message) string {
	var texts []string
	for _, b := range m.Blocks {
		if b.Type == core.BlockThinking && b.Provider == Format && b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// appendPlayback returns thinking as members of the message.
func (e *encoder) appendPlayback(dst []byte, m *core.Message) []byte {
	start := len(dst)
	switch e.quirks.Playback {
	case llm.PlaybackAsCame, llm.PlaybackField:
		for _, b := range m.Blocks {
			if b.Type == core.BlockThinking && b.Provider == Format {
				dst = appendMembers(dst, b.Opaque)
			}
		}
	}
	if e.quirks.PlaybackAlways && e.info.Thinks && len(dst) == start {
		dst = wire.AppendField(dst, "reasoning_content", thoughtOf(m))
	}
	return dst
}
