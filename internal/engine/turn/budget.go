package turn

import (
	"fmt"

	"garuda/internal/core"
)

// Budget is what a session may spend on model requests. Each request reserves
// before it is sent and settles when it ended. A copy shares nothing.
type Budget struct {
	// Tokens and USD are the limits; 0 means none.
	Tokens int
	USD    float64
	// SpentTokens and SpentUSD are settled; reserved ones are added while a
	// request is on its way.
	SpentTokens int
	SpentUSD    float64
	// Warned is true once 80 % of a limit were passed.
	Warned bool
}

// Reservation is what one request may cost at most.
type Reservation struct {
	Tokens int
	USD    float64
}

// Reserve computes the reservation for a request: the larger of the whole
// request's estimate and the last measured context plus the messages after it,
// plus the output limit.
func Reserve(estimate, measured, after, output int, price core.Price) Reservation {
	input := max(estimate, measured+after)
	r := Reservation{Tokens: input + output}
	if price.Known {
		r.USD = price.Cost(core.Usage{Input: input, Output: output}).USD
	}
	return r
}

// Admit says whether the reservation fits, and if not which limit ends the run.
func (b *Budget) Admit(r Reservation) (core.TurnEnd, bool) {
	if b.Tokens > 0 && b.SpentTokens+r.Tokens > b.Tokens {
		return core.EndTokenBudget, false
	}
	if b.USD > 0 && b.SpentUSD+r.USD > b.USD {
		return core.EndSpend, false
	}
	return "", true
}

// Settle books what the request used. Without reported usage all of the
// reservation stays spent.
func (b *Budget) Settle(r Reservation, reported bool, used core.Usage, cost core.Cost) {
	if !reported {
		b.SpentTokens += r.Tokens
		b.SpentUSD += r.USD
		return
	}
	b.SpentTokens += used.Total()
	b.SpentUSD += cost.USD
}

// Warn says once which limit is spent to 80 %, in words; "" when there is
// nothing to say.
func (b *Budget) Warn() string {
	const share = 0.8
	if b.Warned {
		return ""
	}
	switch {
	case b.USD > 0 && b.SpentUSD >= share*b.USD:
		b.Warned = true
		return fmt.Sprintf("the $%.2f that this session may cost", b.USD)
	case b.Tokens > 0 && float64(b.SpentTokens) >= share*float64(b.Tokens):
		b.Warned = true
		return fmt.Sprintf("this session's %d tokens", b.Tokens)
	}
	return ""
}

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
