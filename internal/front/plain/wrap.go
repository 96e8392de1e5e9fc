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

// wrap makes the text visible and cuts it into pieces of at most limit columns.
// Nothing is left out, blanks neither: a piece shows exactly what is there.
func wrap(text string, limit int) []string {
	text, limit = core.Visible(text), max(limit, narrowest)
	var pieces []string
	start, used := 0, 0
	for i, r := range text {
		w := columns(r)
		if used+w > limit {
			pieces = append(pieces, text[start:i])
			start, used = i, 0
		}
		used += w
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
