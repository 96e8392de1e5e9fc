package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fact is one thing that was remembered of the project.
type Fact struct {
	Kind, Text string
	// Hits is how often it was recalled.
	Hits int
}

// memoryLimit is how many characters of facts are told, with their marks.
const memoryLimit = 8_000

// memory appends the facts, the oldest first in p.Memory: those with the most hits,
// then the newest, until the limit.
func memory(b *strings.Builder, p Parts) {
	if len(p.Memory) == 0 {
		return
	}
	facts := slices.Clone(p.Memory)
	slices.Reverse(facts)
	slices.SortStableFunc(facts, func(x, y Fact) int { return cmp.Compare(y.Hits, x.Hits) })
	b.WriteString("\nRemembered of this project in earlier sessions; it may be out of date, so check what you build on:\n\n")
	left := memoryLimit
	for i, f := range facts {
		line := "- [" + f.Kind + "] " + f.Text + "\n"
		if left -= utf8.RuneCountInString(line); left < 0 {
			fmt.Fprintf(b, "[%d more are not shown here", len(facts)-i)
			if slices.Contains(p.Tools, "recall") {
				b.WriteString("; recall finds them")
			}
			b.WriteString("]\n")
			return
		}
		b.WriteString(line)
	}
}
