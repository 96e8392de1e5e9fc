package turn

// Estimator guesses tokens from bytes: a quarter of them, corrected by what the
// provider last reported.
type Estimator struct {
	factor float64
	// bytes and tokens are the last report that was believed.
	bytes, tokens int
}

const (
	// The correction stays within these bounds, so that one odd report cannot make
	// every later estimate worthless. No text has ten bytes a token.
	minFactor, maxFactor = 0.4, 4.0
	// leastGrowth is the part of what a longer request should add to the count
	// that it must add.
	leastGrowth = 0.125
)

// Tokens estimates how many tokens so many bytes are.
func (e *Estimator) Tokens(bytes int) int {
	f := e.factor
	if f == 0 {
		f = 1
	}
	return int(float64(bytes) / 4 * f)
}

// Measured corrects the estimate: so many bytes were reported as so many tokens. A
// count that hardly grows with the request says that the server cut the request
// short, as some do without a word, and nothing of how many tokens it is.
func (e *Estimator) Measured(bytes, tokens int) {
	if bytes <= 0 || tokens <= 0 {
		return
	}
	if grown := bytes - e.bytes; e.bytes > 0 && grown > 0 && float64(tokens-e.tokens) < leastGrowth*float64(e.Tokens(grown)) {
		return
	}
	e.bytes, e.tokens = bytes, tokens
	e.factor = min(max(float64(tokens)/(float64(bytes)/4), minFactor), maxFactor)
}
