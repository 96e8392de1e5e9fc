package wire

import "testing"

// TestMaxOutput reads the largest output limit out of the servers' words.
func TestMaxOutput(t *testing.T) {
	for said, want := range map[string]int{
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x":                                                 64_000,
		"max_tokens is too large: 100000. This model supports at most 16384 completion tokens.":                                                         16_384,
		"Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).": 65_536,
		"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`":                                                         8192,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                                                          8192,
		"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value lower than 4096.":                      4096,
		"max_tokens is too large": 0,
		"max_tokens: 5 > 3":       0,
	} {
		if got := (&failure{message: said}).maxOutput(); got != want {
			t.Errorf("%s: %d, want %d", said, got, want)
		}
	}
}
