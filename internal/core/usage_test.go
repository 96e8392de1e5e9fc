package core

import (
	"math"
	"testing"
	"time"
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

func TestDollars(t *testing.T) {
	for usd, want := range map[float64]string{
		0: "0.00", 3: "3.00", 0.5: "0.50", 14.25: "14.25", 0.125: "0.125", 0.075: "0.075", 0.1 + 0.2: "0.30", 0.0375: "0.0375", 0.00125: "0.0013",
	} {
		if got := Dollars(usd); got != want {
			t.Errorf("Dollars(%v) = %q, want %q", usd, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		5 * time.Minute: "5m", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 10 * time.Second: "10s", 61 * time.Second: "1m1s",
		2*time.Hour + 5*time.Second: "2h0m5s", 0: "0s", 40 * time.Millisecond: "40ms", 2600 * time.Millisecond: "3s", 20 * time.Hour: "20h", 10 * time.Minute: "10m",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%d) = %q, want %q", d, got, want)
		}
	}
}
