package chat

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// tagSplitter takes thinking out of content: <think>…</think> at the start of an
// answer, or right behind another such part. Later on the words are text: an
// answer may be about them.
type tagSplitter struct {
	state  tagState
	tagged bool   // a part came; the white space behind it is not the answer's
	rest   string // what may be the beginning of a tag
	// implied is true as long as the answer is taken to begin inside a tag which
	// the server's template opened. Where none is closed it was no thinking.
	implied bool
}

// settled says that the server tells thinking by a field of its own.
func (t *tagSplitter) settled() {
	if t.state == atStart {
		t.implied = false
	}
}

type tagState int

const (
	atStart  tagState = iota // nothing but white space so far
	inTag                    // between the tags
	inAnswer                 // what follows is text
)

// push takes the next piece and returns the thinking and the text that it makes
// certain.
func (t *tagSplitter) push(s string, end bool) (thinking, text string) {
	s, t.rest = t.rest+s, ""
	for {
		switch t.state {
		case inAnswer:
			return thinking, text + s
		case atStart:
			start := strings.TrimLeft(s, " \t\r\n")
			switch {
			case strings.HasPrefix(start, openTag):
				t.state, t.tagged, t.implied, s = inTag, true, false, start[len(openTag):]
			case !end && strings.HasPrefix(openTag, start): // also when there is nothing
				t.rest = s
				return thinking, text
			case t.implied:
				t.state, s = inTag, start
			default:
				t.state = inAnswer
				if t.tagged {
					s = start
				}
			}
		case inTag:
			at := strings.Index(s, closeTag)
			if at < 0 {
				keep := 0
				if !end {
					keep = partial(s, closeTag)
				}
				t.rest = s[len(s)-keep:]
				return thinking + s[:len(s)-keep], text
			}
			thinking += s[:at]
			t.state, t.tagged, t.implied, s = atStart, true, false, s[at+len(closeTag):]
		}
	}
}

// partial is the length of the longest end of s that tag begins with.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// untagged splits a text whose thinking ends in a tag that was never opened,
// which the server's template had done: the tag stands alone on its line, and
// none opened it before.
func untagged(s string) (thinking, rest string, ok bool) {
	at := strings.Index(s, closeTag)
	if at < 0 || strings.Contains(s[:at], openTag) {
		return "", s, false
	}
	before, after := s[:at], s[at+len(closeTag):]
	line := strings.TrimRight(before, " \t")
	if line != "" && !strings.HasSuffix(line, "\n") || !endsLine(after) {
		return "", s, false
	}
	return strings.TrimSpace(before), strings.TrimLeft(after, " \t\r\n"), true
}
