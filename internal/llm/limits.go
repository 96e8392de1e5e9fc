package llm

// Output limits in tokens. Thinking counts as output, so a model that thinks
// needs room for both.
const (
	maxTokensPlain    = 8_192
	maxTokensThinking = 16_384
	maxTokensDeep     = 32_000
)

// MaxTokens is the output limit for a request to the model at this level: 8,192;
// 16,384 when it thinks; 32,000 for xhigh and max; never more than the model's
// own limit, where that is known.
func MaxTokens(info *Info, level ThinkingLevel) int {
	n := maxTokensPlain
	switch {
	case level == ThinkXHigh || level == ThinkMax:
		n = maxTokensDeep
	case level == ThinkOff:
	case level != ThinkDefault || info.Thinks:
		n = maxTokensThinking
	}
	if info.MaxOutput > 0 {
		n = min(n, info.MaxOutput)
	}
	return n
}

// Valid reports whether the level is one of this package's.
func (l ThinkingLevel) Valid() bool {
	switch l {
	case ThinkDefault, ThinkOff, ThinkLow, ThinkMedium, ThinkHigh, ThinkXHigh, ThinkMax:
		return true
	}
	return false
}
