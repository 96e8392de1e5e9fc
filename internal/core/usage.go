package core

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

// Price is in US dollars for a million tokens. Known is false where nobody knows.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead,omitempty"`
	CacheWrite float64 `json:"cacheWrite,omitempty"`
	// Search is in US dollars for one web search that the provider runs.
	Search float64 `json:"search,omitempty"`
	Known  bool    `json:"-"`
}

// Cost is in US dollars; Known is false when the price is unknown, and then USD is 0.
type Cost struct {
	USD   float64 `json:"usd"`
	Known bool    `json:"known"`
}

// Cost of the usage at this price; unreported tokens cost nothing here.
func (p Price) Cost(u Usage) Cost {
	if !p.Known {
		return Cost{}
	}
	const million = 1e6
	return Cost{Known: true, USD: (float64(u.Input)*p.Input+float64(u.Output)*p.Output+
		float64(u.CacheRead)*p.CacheRead+float64(u.CacheWrite)*p.CacheWrite)/million + float64(u.Searches)*p.Search}
}
