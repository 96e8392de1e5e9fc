package core

import (
	"slices"
	"strconv"
	"strings"
)

// Usage counts the tokens of one or more model requests. Input does not include
// what was read from or written to the provider's prompt cache.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	// Thinking is the part of Output that was thinking, where the provider says.
	Thinking int `json:"thinking,omitempty"`
	// Searches counts web searches that the provider ran and bills one by one.
	Searches int `json:"searches,omitempty"`
	// Unreported counts tokens that Garuda had to reserve because the provider
	// did not say (an error, an abort, a success without usage). While it is
	// not zero every sum is "at least".
	Unreported int `json:"unreported,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Thinking: u.Thinking + v.Thinking, Searches: u.Searches + v.Searches,
		Unreported: u.Unreported + v.Unreported,
	}
}

// Context is the number of tokens the request and its answer filled of the window.
func (u Usage) Context() int { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Total is every token that counts against a budget.
func (u Usage) Total() int { return u.Context() + u.Unreported }

// Dollars writes a price with two places behind the point, and with more, at most
// four, where two would say something else.
func Dollars(usd float64) string {
	const places, finest = 2, 4
	text := strconv.FormatFloat(usd, 'f', finest, 64)
	for range finest - places {
		text = strings.TrimSuffix(text, "0")
	}
	return text
}

// Price is in US dollars for a million tokens. Known is false where nobody knows.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead,omitempty"`
	CacheWrite float64 `json:"cacheWrite,omitempty"`
	// Search is in US dollars for one web search that the provider runs.
	Search float64 `json:"search,omitempty"`
	// LongOver is the size of a request's input in tokens, cache included, above
	// which the whole request is dearer: LongInput and LongOutput are then factors
	// on the prices above, LongInput on those of the cache too. 0 is one price for all.
	LongOver   int     `json:"longOver,omitempty"`
	LongInput  float64 `json:"longInput,omitempty"`
	LongOutput float64 `json:"longOutput,omitempty"`
	Known      bool    `json:"-"`
}

// Cost is in US dollars; Known is false when the price is unknown, and then USD is 0.
type Cost struct {
	USD   float64 `json:"usd"`
	Known bool    `json:"known"`
}

// Add returns the sum, which is known only when both parts are.
func (c Cost) Add(d Cost) Cost { return Cost{USD: c.USD + d.USD, Known: c.Known && d.Known} }

// ModelUsage is what one model used and cost.
type ModelUsage struct {
	// Spec is provider/model as the user names it.
	Spec  string `json:"model"`
	Usage Usage  `json:"usage"`
	Cost  Cost   `json:"cost"`
	// UnreportedUSD is what Usage.Unreported costs at most; no part of Cost.
	UnreportedUSD float64 `json:"unreportedUsd,omitempty"`
	// Requests counts what was sent, tries that failed included.
	Requests int `json:"requests"`
	// ContextWindow and MaxOutput are the model's, in tokens; 0 where nobody said.
	ContextWindow int `json:"-"`
	MaxOutput     int `json:"-"`
}

// Negative is what takes m out of a sum that it was added to. Whether a cost is
// known stays: what was once unknown in a sum remains so.
func (m ModelUsage) Negative() ModelUsage {
	u := m.Usage
	m.Usage = Usage{
		Input: -u.Input, Output: -u.Output, CacheRead: -u.CacheRead, CacheWrite: -u.CacheWrite,
		Thinking: -u.Thinking, Searches: -u.Searches, Unreported: -u.Unreported,
	}
	m.Cost.USD, m.UnreportedUSD, m.Requests = -m.Cost.USD, -m.UnreportedUSD, -m.Requests
	m.ContextWindow, m.MaxOutput = 0, 0
	return m
}

// ByModel sums usage up by model, in the order in which they were first used.
type ByModel []ModelUsage

// Add returns the sums with u in them; the list that it is called on stays as it is.
func (b ByModel) Add(u ModelUsage) ByModel {
	out := slices.Clone(b)
	for i := range out {
		m := &out[i]
		if m.Spec != u.Spec {
			continue
		}
		m.Usage, m.Cost = m.Usage.Add(u.Usage), m.Cost.Add(u.Cost)
		m.UnreportedUSD += u.UnreportedUSD
		m.Requests += u.Requests
		m.ContextWindow, m.MaxOutput = max(m.ContextWindow, u.ContextWindow), max(m.MaxOutput, u.MaxOutput)
		return out
	}
	return append(out, u)
}

// Cost of one request's usage at this price; unreported tokens cost nothing here.
// The usage of several requests together would be taken for one long request.
func (p Price) Cost(u Usage) Cost {
	if !p.Known {
		return Cost{}
	}
	const million = 1e6
	in := float64(u.Input)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite
	out := float64(u.Output) * p.Output
	if p.LongOver > 0 && u.Input+u.CacheRead+u.CacheWrite > p.LongOver {
		in *= p.LongInput
		out *= p.LongOutput
	}
	return Cost{Known: true, USD: (in+out)/million + float64(u.Searches)*p.Search}
}
