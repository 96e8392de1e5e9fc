package llm

import (
	"math"
	"testing"

	"garuda/internal/core"
)

func TestResponseCost(t *testing.T) {
	price := core.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Search: 0.01, Known: true}
	used := core.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Searches: 2}
	for _, tt := range []struct {
		resp  Response
		price core.Price
		want  core.Cost
	}{
		{Response{Usage: used}, price, core.Cost{USD: 22.07, Known: true}},
		{Response{Usage: used, PriceFactor: 1}, price, core.Cost{USD: 22.07, Known: true}},
		// Searches are no tokens: they cost as much in a batch.
		{Response{Usage: used, PriceFactor: 0.5}, price, core.Cost{USD: 11.045, Known: true}},
		{Response{Usage: used, PriceFactor: 0.5}, core.Price{}, core.Cost{}},
		{Response{Usage: used, PriceFactor: 0.5, BilledUSD: 7}, price, core.Cost{USD: 7, Known: true}},
	} {
		got := tt.resp.Cost(tt.price)
		if got.Known != tt.want.Known || math.Abs(got.USD-tt.want.USD) > 1e-9 {
			t.Errorf("factor %v: %+v, want %+v", tt.resp.PriceFactor, got, tt.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		e    Error
		want string
	}{
		{Error{Model: "p/m", Status: 401, Message: "Incorrect API key provided.", Hint: "check the key"}, "p/m: HTTP 401: Incorrect API key provided; check the key"},
		{Error{Model: "p/m", Message: "A sentence. And another."}, "p/m: A sentence. And another"},
		{Error{Model: "p/m", Message: "it goes on...", Hint: "look"}, "p/m: it goes on...; look"},
	} {
		if got := tt.e.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
