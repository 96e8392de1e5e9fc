package plain

import (
	"strings"

	"golang.org/x/text/width"

	"garuda/internal/core"
)

const (
	// tabWidth is the most that a tab can take.
	tabWidth = 8
	// narrowest is the least width a text is wrapped to.
	narrowest = 20
)

// wrap makes the text visible and cuts it into pieces of at most limit columns,
// after a blank where one is near the end. Nothing is left out, blanks neither:
// the pieces together are exactly what is there.
func wrap(text string, limit int) []string {
	text, limit = core.Visible(text), max(limit, narrowest)
	var pieces []string
	start, used := 0, 0
	blank, afterBlank := 0, 0 // where the piece may end, and the columns after it
	for i, r := range text {
		w := columns(r)
		if used+w > limit {
			if afterBlank > limit/3 || blank <= start {
				blank, afterBlank = i, 0
			}
			pieces = append(pieces, text[start:blank])
			start, used = blank, afterBlank
		}
		used += w
		if afterBlank += w; r == ' ' {
			blank, afterBlank = i+1, 0
		}
	}
	return append(pieces, text[start:])
}

// columns is the most that a terminal gives the character.
func columns(r rune) int {
	switch {
	case r == '\t':
		return tabWidth
	case r < 0x80:
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth, width.EastAsianAmbiguous:
		return 2
	}
	return 1
}

// oneLine shows a text of several lines in one, its line ends as signs.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "⏎ ") }
