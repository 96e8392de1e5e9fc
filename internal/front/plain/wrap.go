package plain

import (
	"strings"
	"unicode/utf8"

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

// hang is wrap for a line of Garuda's: what does not fit goes on below the line's
// last column, so far as that column begins in the left half.
func hang(text string, limit int) []string {
	text = core.Visible(text)
	if textColumns(text) <= limit {
		return []string{text}
	}
	cut := firstColumn(text)
	for at := cut; ; cut = at {
		gap := strings.Index(text[at:], "  ")
		if gap < 0 {
			break
		}
		at = len(text) - len(strings.TrimLeft(text[at+gap:], " "))
		if 2*textColumns(text[:at]) > limit {
			break
		}
	}
	pieces := wrap(text[cut:], limit-textColumns(text[:cut]))
	indent := strings.Repeat(" ", utf8.RuneCountInString(text[:cut]))
	for i, piece := range pieces {
		if pieces[i] = indent + piece; i == 0 {
			pieces[i] = text[:cut] + piece
		}
	}
	return pieces
}

// firstColumn is where a line's first column begins: after its mark. The others
// begin after two blanks or more.
func firstColumn(text string) int {
	rest := strings.TrimLeft(text, " ")
	for _, mark := range []string{"● ", "⎿ ", "→ ", "! ", "? "} {
		if after, ok := strings.CutPrefix(rest, mark); ok {
			return len(text) - len(after)
		}
	}
	return len(text) - len(rest)
}

func textColumns(text string) int {
	sum := 0
	for _, r := range text {
		sum += columns(r)
	}
	return sum
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
