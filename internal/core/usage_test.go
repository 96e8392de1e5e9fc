package core

import (
	"math"
	"testing"
)

func TestCost(t *testing.T) {
	flat := Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Search: 0.01, Known: true}
	long := flat
	long.LongOver, long.LongInput, long.LongOutput = 200_000, 2, 1.5
	tests := []struct {
		name  string
		price Price
		usage Usage
		want  float64
	}{
		{"input and output", flat, Usage{Input: 1_000_000, Output: 100_000}, 4.5},
		{"cache", flat, Usage{CacheRead: 1_000_000, CacheWrite: 1_000_000}, 4.05},
		{"searches", flat, Usage{Searches: 3}, 0.03},
		{"thinking is output", flat, Usage{Output: 100_000, Thinking: 90_000}, 1.5},
		{"unreported", flat, Usage{Unreported: 1_000_000}, 0},
		{"not long", long, Usage{Input: 200_000, Output: 1000}, 0.6 + 0.015},
		{"long by its cache", long, Usage{Input: 1, CacheRead: 200_000, Output: 1000}, 2*(3e-6+0.06) + 0.0225},
	}
	for _, tt := range tests {
		got := tt.price.Cost(tt.usage)
		if !got.Known || math.Abs(got.USD-tt.want) > 1e-12 {
			t.Errorf("%s: %+v, want %v", tt.name, got, tt.want)
		}
	}
	if got := (Price{Input: 3}).Cost(Usage{Input: 10}); got != (Cost{}) {
		t.Errorf("an unknown price costs %+v", got)
	}
}
