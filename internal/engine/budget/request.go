package budget

import (
	"garuda/internal/core"
)

const (
	// jsonCharacters is how many characters of JSON one character of a result may
	// become: six for a control character (\u0001).
	jsonCharacters = 6
	// emptyResult is the size in bytes of a message of results, and of one result in
	// it, without their text.
	emptyResult = 128
	// summaryOutput is the output limit of a request for a summary, in tokens.
	summaryOutput = 4096
)

// Request is what one request to a model may cost at most.
type Request struct {
	// Model is its spec, provider/model.
	Model  string
	Tokens int
	// USD is 0 where nobody knows the price.
	USD        float64
	PriceKnown bool
}

// Size is what is known of a request's size before it is sent, in tokens.
type Size struct {
	// Estimate is that of the whole request.
	Estimate int
	// Measured is the context that the provider last reported, After the estimate of
	// the messages that came since; both 0 where it never did.
	Measured, After int
	// Output is the output limit.
	Output int
}

// Largest is the request at its dearest: the larger of the estimate and the last
// measured context plus what came after it, plus the output limit, all of it at the
// dearest price that input can have.
func Largest(model string, price core.Price, s Size) Request {
	input := max(s.Estimate, s.Measured+s.After)
	r := Request{Model: model, Tokens: input + s.Output, PriceKnown: price.Known}
	if price.Known {
		r.USD = dearest(price, input, s.Output)
	}
	return r
}

// dearest is what so many tokens cost at most: a provider may write all of the input
// to its cache, for which some ask more than for reading it.
func dearest(price core.Price, input, output int) float64 {
	plain := price.Cost(core.Usage{Input: input, Output: output}).USD
	written := price.Cost(core.Usage{CacheWrite: input, Output: output}).USD
	return max(plain, written)
}

// Lost is the usage of a request of which nobody said what it used: all that was
// reserved for it.
func (r Request) Lost() core.ModelUsage {
	return core.ModelUsage{
		Spec: r.Model, Usage: core.Usage{Unreported: r.Tokens}, Cost: core.Cost{Known: r.PriceKnown},
		UnreportedUSD: r.USD, Requests: 1,
	}
}

// Results is what an agent is about to add to its conversation.
type Results struct {
	// Caps are how many characters each call's result may have.
	Caps []int
	// Tokens estimates how many tokens so many bytes are.
	Tokens func(bytes int) int
	// Due tells whether a request of this size makes a summary due, which then is
	// asked for first.
	Due func(tokens int) bool
}

// Floor is what an agent keeps before its calls run, so that it can send their
// results however long they are: its request with all of them, and one for a summary
// where that is due.
func Floor(model string, price core.Price, s Size, results Results) Request {
	bytes := emptyResult
	for _, c := range results.Caps {
		bytes += emptyResult + c*jsonCharacters
	}
	added := results.Tokens(bytes)
	s.Estimate, s.After = s.Estimate+added, s.After+added
	floor := Largest(model, price, s)
	if !results.Due(floor.Tokens - s.Output) {
		return floor
	}
	s.Output = summaryOutput
	summary := Largest(model, price, s)
	floor.Tokens, floor.USD = floor.Tokens+summary.Tokens, floor.USD+summary.USD
	return floor
}
