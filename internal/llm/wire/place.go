package wire

import (
	"strconv"
	"strings"
)

// block finds the path of what was refused, such as messages.3.content.0, in an
// error's parameter or message. Numbers may stand in brackets; the path ends at
// its last number.
func block(texts ...string) string {
	for _, s := range texts {
		for _, root := range []string{"messages", "input", "contents", "tools"} {
			for from := 0; ; {
				at := strings.Index(s[from:], root)
				if at < 0 {
					break
				}
				at += from
				from = at + len(root)
				if at > 0 && isPath(s[at-1]) && !strings.HasSuffix(s[:at], "GenerateContentRequest.") {
					continue
				}
				if p := numbered(s[at:], root); p != "" {
					return p
				}
			}
		}
	}
	return ""
}

func isPath(c byte) bool {
	return c == '_' || c == '.' || c == '[' || c == ']' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// numbered cuts the path below root that s starts with behind its last number;
// empty when it has none.
func numbered(s, root string) string {
	end := 0
	for end < len(s) && isPath(s[end]) {
		end++
	}
	parts := strings.FieldsFunc(s[:end], func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	if parts[0] != root {
		return ""
	}
	for n := len(parts); n > 1; n-- {
		if _, err := strconv.Atoi(parts[n-1]); err == nil {
			return strings.Join(parts[:n], ".")
		}
	}
	return ""
}

// windowMarks stand before the context's size in the servers' words, most certain first.
var windowMarks = []string{
	"maximum context length is ", "maximum context length of ", "maximum context length: ", // OpenAI and most others
	"maximum prompt length is ",    // xAI
	"too large for model with ",    // Mistral
	"available context size (",     // llama.cpp
	"context length of only ",      // LM Studio
	"model's context length (",     // SGLang, Together
	"maximum model length of ",     // vLLM
	"number of tokens allowed (",   // Gemini
	"model token limit: ",          // Moonshot
	"configured limit of ",         // Azure
	"allowed input length of ",     // Together
	"maximum allowed length (",     // SGLang
	"input length should be [1, ",  // Qwen
	"`max_new_tokens` must be <= ", // TGI
	"context size is ",
	"tokens > ", // Anthropic: prompt is too long: 205312 tokens > 200000 maximum
	" > ",       // Anthropic: exceed context limit: 190000 + 32000 > 200000
}

// contextWindow is the context's size in tokens as the server says it, or 0.
func (f *failure) contextWindow() int {
	const least, most = 256, 1 << 30 // anything else is no context
	if f.window >= least && f.window <= most {
		return f.window
	}
	said := strings.ToLower(f.message)
	for _, mark := range windowMarks {
		if n := numberAfter(said, mark); n >= least && n <= most {
			return n
		}
	}
	return 0
}

// outputMarks stand before the largest output limit in the servers' words.
var outputMarks = []string{
	"supports at most ",                         // OpenAI
	"must be less than or equal to ",            // Groq
	"range of max_tokens is [1, ",               // DeepSeek
	"model limit of ",                           // Bedrock
	"model's maximum output tokens (",           // Ollama
	"supported range is from 1 (inclusive) to ", // Vertex, which names the first that is too large
	" > ", // Anthropic: max_tokens: 100000 > 64000
}

// maxOutput is the largest output limit as the server says it, or 0.
func (f *failure) maxOutput() int {
	const least, most = 16, 1 << 30 // anything else is no limit
	said := strings.ReplaceAll(strings.ToLower(f.message), "to `", "to ")
	for _, mark := range outputMarks {
		if n := numberAfter(said, mark); n >= least && n <= most {
			if strings.Contains(said, "(exclusive)") {
				n--
			}
			return n
		}
	}
	return 0
}

// numberAfter is the whole number, perhaps with commas, right behind mark; -1
// when there is none.
func numberAfter(s, mark string) int {
	_, tail, ok := strings.Cut(s, mark)
	if !ok {
		return -1
	}
	var digits []byte
	for i := 0; i < len(tail) && len(digits) < 15; i++ {
		c := tail[i]
		if c == ',' && len(digits) > 0 {
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits = append(digits, c)
	}
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return -1
	}
	return n
}
