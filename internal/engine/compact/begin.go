package compact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
)

const (
	// NoteSummary marks the block that holds a summary, NoteRequest one that repeats
	// what a person asked for earlier.
	NoteSummary, NoteRequest = "summary", "request"

	requestStart, requestEnd = "<garuda_request>\n", "\n</garuda_request>"

	// maxRequest is how many characters of one earlier request are repeated, and
	// maxRequests of all of them together; the newest come first.
	maxRequest, maxRequests = 2_000, 8_000
)

// Begun is a conversation that begins with a summary: summary takes the place of
// everything before kept, which Kept gave. The newest message of a person stands in
// it as it was, what they asked for before that in their own words, up to a limit.
// mark must leave no mark of Garuda's in a text that comes from outside.
func Begun(msgs []*core.Message, kept int, summary string, mark func(string) string) []*core.Message {
	first := &core.Message{Role: core.RoleUser}
	first.Blocks = append(first.Blocks, core.Block{Type: core.BlockText, Note: NoteSummary, Text: summary})
	verbatim := -1
	if newest(msgs, len(msgs)) < kept {
		verbatim = newest(msgs, kept)
	}
	first.Blocks = append(first.Blocks, requests(msgs[:kept], verbatim, mark)...)
	if verbatim >= 0 {
		for _, b := range msgs[verbatim].Blocks {
			if b.Note != NoteSummary && b.Note != NoteRequest {
				first.Blocks = append(first.Blocks, b)
			}
		}
	}
	return append([]*core.Message{first}, msgs[kept:]...)
}

// requests repeats what a person asked for, the oldest first, but for the message that
// stays whole.
func requests(msgs []*core.Message, verbatim int, mark func(string) string) []core.Block {
	var all []string
	for i, m := range msgs {
		if !speaks(m) {
			continue
		}
		for _, b := range m.Blocks {
			switch {
			case b.Type != core.BlockText:
			case b.Note == NoteRequest:
				all = append(all, strings.TrimSuffix(strings.TrimPrefix(b.Text, requestStart), requestEnd))
			case b.Note == "" && i != verbatim:
				all = append(all, mark(Middle(b.Text, maxRequest)))
			}
		}
	}
	left := maxRequests
	var out []core.Block
	for _, text := range slices.Backward(all) {
		if left -= utf8.RuneCountInString(text); left < 0 {
			break
		}
		out = append(out, core.Block{Type: core.BlockText, Note: NoteRequest, Text: requestStart + text + requestEnd})
	}
	slices.Reverse(out)
	return out
}

// Middle leaves out the middle of a text that is longer than this many characters.
func Middle(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	const share = 3 // the beginning gets two thirds
	end := limit / share
	start := firstRunes(text, limit-end)
	rest := text
	for range n - end {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return start + fmt.Sprintf(" [… %d characters left out …] ", n-limit) + rest
}
