package plain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// TestModelInWords: what a list says of a window and a price is what it is, but for
// the last digits of a large window.
func TestModelInWords(t *testing.T) {
	for size, want := range map[int]string{
		4096: "4096 window", 32_768: "33k window", 200_000: "200k window", 999_499: "999k window",
		1_000_000: "1M window", 1_048_576: "1.05M window", 1_500_000: "1.5M window", 10_000_000: "10M window",
	} {
		if got := window(&llm.Info{ContextWindow: size, Known: true}); got != want {
			t.Errorf("%d: %q, want %q", size, got, want)
		}
	}
	cheap := core.Price{Input: 0.075, Output: 0.3, Known: true}
	if got, want := price(&llm.Info{Price: cheap}), "$0.075 in, $0.30 out"; got != want {
		t.Errorf("price: %q, want %q", got, want)
	}
}

// A row of the list stays one line in a narrow terminal, and says which model is in use.
func TestNarrowedModels(t *testing.T) {
	rows := func() [][]string {
		return [][]string{
			{" 1", "script/demo", "200k window", "$1.00 in, $5.00 out", "● in use"},
			{" 2", "fake/local", "60 window", "free", ""},
		}
	}
	for limit, want := range map[int][]string{
		80: {"   1  script/demo  200k window  $1.00 in, $5.00 out  ● in use", "   2  fake/local   60 window    free"},
		50: {"   1  script/demo  200k window  ● in use", "   2  fake/local   60 window"},
		30: {"   1  script/demo  ● in use", "   2  fake/local"},
		10: {"   1  script/demo  ● in use", "   2  fake/local"},
	} {
		if diff := cmp.Diff(want, narrowed(rows(), limit)); diff != "" {
			t.Errorf("%d columns: %s", limit, diff)
		}
	}
}
