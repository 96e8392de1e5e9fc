package chat

import (
	"garuda/internal/core"
	"garuda/internal/llm/wire"
)

// usage is what servers count, each in its own fields.
type usage struct {
	Prompt     wire.Count `json:"prompt_tokens"`
	Completion wire.Count `json:"completion_tokens"`
	Total      wire.Count `json:"total_tokens"`
	Details    struct {
		Cached     wire.Count `json:"cached_tokens"`
		CacheWrite wire.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit wire.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   wire.Count `json:"cached_tokens"`           // Moonshot
	// Cost is what OpenRouter charged, in US dollars.
	Cost wire.Dollars `json:"cost"`
}

// core splits the prompt's tokens: servers count those read from the cache among
// them, Garuda does not. xAI counts thinking beside the output, all others in it;
// the total tells which.
func (u *usage) core() core.Usage {
	read := min(max(u.Details.Cached, u.CacheHit, u.Cached, 0), max(u.Prompt, 0))
	write := min(max(u.Details.CacheWrite, 0), max(u.Prompt-read, 0))
	output, thinking := max(u.Completion, 0), max(u.OutputDetails.Reasoning, 0)
	if thinking > 0 && u.Total == u.Prompt+u.Completion+thinking {
		output += thinking
	}
	return core.Usage{
		Input: int(max(u.Prompt-read-write, 0)), Output: int(output),
		CacheRead: int(read), CacheWrite: int(write), Thinking: int(min(thinking, output)),
	}
}

func (u *usage) readable() bool {
	return wire.Readable(u.Prompt, u.Completion, u.Details.Cached, u.Details.CacheWrite, u.OutputDetails.Reasoning, u.CacheHit, u.Cached)
}

// empty reports whether nothing is counted: some servers put such a usage into
// every chunk but one, which need not be the last.
func (u *usage) empty() bool { return u.Prompt == 0 && u.Completion == 0 }
