package wire

import (
	"net/http"
	"strings"

	"garuda/internal/llm"
)

// kind reads the names first, then what is said, then the status: servers agree
// on none of them.
func (f *failure) kind() llm.ErrorKind {
	said, names := strings.ToLower(f.message), strings.ToLower(f.names)
	limited := f.status == http.StatusTooManyRequests || containsAny(names, rateNames)
	switch {
	case containsAny(names, overflowNames):
		return llm.ErrContextOverflow
	case f.tooLarge(said, names, limited):
		return llm.ErrTooLarge
	case f.quota(said, names):
		return llm.ErrQuota
	case containsAny(said, contentWords):
		return llm.ErrBadRequest // 403 from OpenRouter and xAI, but no matter of keys
	case containsAny(names, noModelNames):
		return llm.ErrBadRequest // 403 from OpenAI
	case containsAny(names, overloadNames):
		return llm.ErrOverloaded // with a 429, too: Bedrock, Mistral
	case limited:
		// Words such as "reduce the prompt" stand in rate limits, too, so they are
		// not looked at any more.
		return llm.ErrRateLimit
	case containsAny(names, authNames) || containsAny(said, authWords):
		return llm.ErrAuth
	case containsAny(said, overflowWords) && !containsAny(said, outputWords):
		return llm.ErrContextOverflow
	case f.isImage():
		return llm.ErrBadRequest // llama.cpp says it with a 500
	case containsAny(names, serverNames):
		return llm.ErrServer
	case f.status != 0:
		return kindOfStatus(f.status, said)
	}
	return f.kindOfWords(said, names)
}

// tooLarge: a proxy's limit of bytes, or a request that is by itself above the
// account's tokens a minute (OpenAI, Groq). The latter is spelled as a rate limit,
// but no waiting makes it fit, and a smaller request does.
func (f *failure) tooLarge(said, names string, limited bool) bool {
	switch {
	case limited && strings.Contains(said, "request too large"):
		return true
	case f.status == http.StatusRequestEntityTooLarge, containsAny(names, tooLargeNames):
		return true
	case strings.Contains(names, "string_above_max_length"):
		// One message of more than 10 MB, not an id that is too long.
		return numberAfter(said, "maximum length ") >= 1_000_000
	}
	return !limited && containsAny(said, tooLargeWords)
}

// quota: what no waiting of minutes brings back. Google says "exceeded your
// current quota" of its limits by the minute, too, and then how long to wait.
func (f *failure) quota(said, names string) bool {
	google := strings.Contains(names, "resource_exhausted")
	switch {
	case f.status == http.StatusPaymentRequired, containsAny(names, quotaNames), f.daily:
		return true
	case google && f.retry != "":
		return strings.Contains(said, "limit: 0")
	}
	return containsAny(said, quotaWords)
}

func kindOfStatus(status int, said string) llm.ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return llm.ErrAuth
	case http.StatusServiceUnavailable, 529, 498: // Anthropic's and Groq's "overloaded"
		return llm.ErrOverloaded
	case http.StatusRequestTimeout:
		return llm.ErrNetwork
	case http.StatusConflict: // OpenAI: a lock was held too long; worth another try
		return llm.ErrServer
	}
	if status >= 500 {
		if containsAny(said, overloadWords) {
			return llm.ErrOverloaded
		}
		return llm.ErrServer
	}
	return llm.ErrBadRequest
}

// kindOfWords is for an error inside a stream that has no status.
func (f *failure) kindOfWords(said, names string) llm.ErrorKind {
	switch {
	case containsAny(names, badNames):
		return llm.ErrBadRequest
	case containsAny(said, overloadWords):
		return llm.ErrOverloaded
	case containsAny(said, []string{"rate limit", "too many requests", "too many tokens, please wait"}):
		return llm.ErrRateLimit
	}
	return llm.ErrServer
}

// isImage reports whether what is refused is an image or a document.
func (f *failure) isImage() bool {
	names, said := strings.ToLower(f.names), strings.ToLower(f.message)
	if containsAny(names, imageNames) || containsAny(said, imageWords) {
		return true
	}
	for _, place := range []string{".image.", ".document.", "image_url", "input_image", "inline_data", "inlinedata"} {
		if strings.Contains(strings.ToLower(f.param), place) || strings.Contains(said, place) && block(f.message) != "" {
			return true
		}
	}
	return false
}

// isMaxTokens reports whether the output limit is what is refused.
func (f *failure) isMaxTokens() bool {
	return containsAny(f.param, []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}) || containsAny(strings.ToLower(f.message), outputWords)
}

// isNoModel reports whether the model is what is not there.
func (f *failure) isNoModel() bool {
	return containsAny(strings.ToLower(f.names), noModelNames) || containsAny(strings.ToLower(f.message), noModelWords)
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
