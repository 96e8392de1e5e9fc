package fileedit

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The places of lines are those that a plain comparison at each line finds.
func TestPlacesAreThoseOfAPlainSearch(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", " a", "a "})
	rapid.Check(t, func(t *rapid.T) {
		text := &patchedText{lines: rapid.SliceOfN(line, 0, 30).Draw(t, "lines")}
		old := rapid.SliceOfN(line, 1, 5).Draw(t, "old")
		from := rapid.IntRange(0, len(text.lines)).Draw(t, "from")
		atEnd := rapid.Bool().Draw(t, "at the end")
		for _, same := range []func(string) string{strings.Clone, strings.TrimSpace} {
			var want []int
			for i := from; i+len(old) <= len(text.lines); i++ {
				stands := !atEnd || i+len(old) == len(text.lines)
				for j := range old {
					stands = stands && same(text.lines[i+j]) == same(old[j])
				}
				if stands {
					want = append(want, i)
				}
			}
			if got := text.places(old, from, atEnd, same); !slices.Equal(got, want) {
				t.Fatalf("%q in %q from %d: %v, want %v", old, text.lines, from, got, want)
			}
		}
	})
}

// Equal lines in a large file, and a hunk of many, are no work without end: each
// line is looked at a few times and not once for each line of the hunk.
func TestPlacesAmongEqualLines(t *testing.T) {
	const lines, hunk = 400_000, 200_000
	looks := 0
	count := func(s string) string { looks++; return s }
	text := &patchedText{lines: slices.Repeat([]string{"x"}, lines)}
	old := append(slices.Repeat([]string{"x"}, hunk-1), "y")
	if found := text.places(old, 0, false, count); len(found) > 0 {
		t.Fatalf("found at %v", found)
	}
	if looks != lines+hunk {
		t.Errorf("%d looks at %d lines", looks, lines+hunk)
	}
}
