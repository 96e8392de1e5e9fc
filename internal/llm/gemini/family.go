package gemini

import (
	"strconv"
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// family is what a model's id says of its abilities. The API's pages on thinking,
// thought signatures, function calling and tool combination are the source.
type family struct {
	// google is true for a Gemini; another model behind a server that speaks the
	// format gets nothing that only Gemini is known to take.
	google bool
	// version is the generation times ten: 25 is 2.5. An id without one
	// (gemini-flash-latest) stands for the newest.
	version   int
	pro, lite bool
}

// newest is the version of a model whose id does not say it.
const newest = 1000

// familyOf reads ids such as gemini-2.5-pro, gemini-3.7-flash, gemini-4-argon and
// google/gemini-3-pro-preview.
func familyOf(id string) family {
	id = id[strings.LastIndexByte(id, '/')+1:]
	name, ok := strings.CutPrefix(id, "gemini-")
	if !ok {
		return family{version: newest}
	}
	f := family{google: true, version: newest, pro: strings.Contains(name, "pro"), lite: strings.Contains(name, "flash-lite")}
	number, _, _ := strings.Cut(name, "-")
	major, minor, _ := strings.Cut(number, ".")
	if n, err := strconv.Atoi(major); err == nil && n > 0 && n < newest/10 {
		f.version = n * 10
		if m, err := strconv.Atoi(minor); err == nil && m > 0 && m < 10 {
			f.version += m
		}
	}
	return f
}

// third reports whether it is of the third generation or later: it thinks by
// levels, demands signatures, takes media inside results, and can search beside
// the functions of a request.
func (f family) third() bool { return f.version >= 30 }

// appendThinking writes generationConfig.thinkingConfig. A Gemini thinks unasked,
// so without a level only its thoughts are asked for.
func appendThinking(dst []byte, info *llm.Info, f family, level llm.ThinkingLevel, maxTokens int) []byte {
	if !info.Thinks {
		return dst
	}
	dst = append(wire.AppendKey(dst, "thinkingConfig"), '{')
	switch {
	case level == llm.ThinkDefault:
	case f.third():
		words := info.Efforts
		if len(words) == 0 {
			words = []string{"low", "medium", "high"} // what every one of them takes
		}
		dst = wire.AppendField(dst, "thinkingLevel", strings.ToUpper(llm.Effort(level, words)))
	default:
		dst = wire.AppendInt(dst, "thinkingBudget", f.budget(level, maxTokens))
	}
	if level != llm.ThinkOff {
		dst = append(wire.AppendKey(dst, "includeThoughts"), "true"...)
	}
	return append(dst, '}')
}

// budget is in tokens, for a model before the third generation. The steps are
// those by which Google's own OpenAI-compatible endpoint reads an effort. A budget
// is part of the output limit, so an eighth of that is left for the answer. 2.5
// Pro cannot be kept from thinking.
func (f family) budget(level llm.ThinkingLevel, maxTokens int) int {
	least, most := 1, 24_576
	switch {
	case f.pro:
		least, most = 128, 32_768
	case f.lite:
		least = 512
	}
	n := most
	switch level {
	case llm.ThinkOff:
		if !f.pro {
			return 0
		}
		return least
	case llm.ThinkLow:
		n = 1024
	case llm.ThinkMedium:
		n = 8192
	case llm.ThinkHigh:
		n = 24_576
	}
	if maxTokens > 0 {
		n = min(n, maxTokens/8*7)
	}
	return max(n, least)
}
