package tool

import (
	"fmt"
	"unicode/utf8"
)

// cutMiddle keeps the beginning and the end of a text of more than limit
// characters, and says between them how much was left out.
func cutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	runes := utf8.RuneCountInString(text)
	if runes <= limit {
		return text
	}
	head := byteOffset(text, limit*2/3)
	tail := byteOffset(text, runes-limit/3)
	return fmt.Sprintf("%s\n[… %d of %d characters left out here; ask for a smaller part to see them …]\n%s",
		text[:head], runes-limit*2/3-limit/3, runes, text[tail:])
}

// byteOffset is where the n-th character of text begins.
func byteOffset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
