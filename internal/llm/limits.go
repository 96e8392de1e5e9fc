package llm

// Output limits in tokens. Thinking counts as output, so a model that thinks
// needs room for both.
const (
	maxTokensPlain    = 8_192
	maxTokensThinking = 16_384
	maxTokensDeep     = 32_000
)

// MaxTokens is the output limit for a request to the model at this level: 8,192;
// 16,384 when it thinks; 32,000 for xhigh and max; never more than Bounded allows.
func MaxTokens(info *Info, level ThinkingLevel) int {
	n := maxTokensPlain
	switch {
	case level == ThinkXHigh || level == ThinkMax:
		n = maxTokensDeep
	case level == ThinkOff:
	case level != ThinkDefault || info.Thinks:
		n = maxTokensThinking
	}
	return Bounded(info, n)
}

// Bounded is an output limit that the model can be asked for: at most its own,
// and at most half of its window, where these are known. Input and output share
// the window, and many servers (vLLM, OpenAI's older models) refuse a request
// whose input and output limit do not fit it together, however short the answer.
func Bounded(info *Info, n int) int {
	if info.MaxOutput > 0 {
		n = min(n, info.MaxOutput)
	}
	if info.Known {
		n = min(n, max(info.ContextWindow/2, 1))
	}
	return n
}

// PictureLimits is what a format's servers take of images in one request; 0 is no limit.
type PictureLimits struct {
	// Bytes is the most that one image's data may have in base64, Edge the longest
	// side in pixels; with more than Many images it is ManyEdge.
	Bytes, Edge    int
	Many, ManyEdge int
	// Count is how many images may be in a request.
	Count int
}

// Pictures are the limits as the providers document them; those of a compatible
// server are its own, and nobody knows them.
func Pictures(info *Info) PictureLimits {
	const mega = 1 << 20
	switch info.Format {
	case "anthropic":
		return PictureLimits{Bytes: 5 * mega, Edge: 8000, Many: 20, ManyEdge: 2000, Count: 100}
	case "gemini":
		return PictureLimits{Bytes: 20 * mega, Count: 3000}
	case "responses":
		return PictureLimits{Bytes: 50 * mega, Count: 500}
	case "chat":
		if info.Provider == "openai" {
			return PictureLimits{Bytes: 50 * mega, Count: 500}
		}
	}
	return PictureLimits{}
}

// Valid reports whether the level is one of this package's.
func (l ThinkingLevel) Valid() bool {
	switch l {
	case ThinkDefault, ThinkOff, ThinkLow, ThinkMedium, ThinkHigh, ThinkXHigh, ThinkMax:
		return true
	}
	return false
}
