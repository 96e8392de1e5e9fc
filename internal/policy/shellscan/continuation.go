package shellscan

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash takes a backslash before a newline out of the text before it looks for
// words, so that it may stand in the middle of anything: $\⏎(x) is $(x). The
// parser does so only between and inside words. To see what bash sees, the pairs
// are taken out first, but for those in single quotes, in here-documents that
// expand nothing, and in comments.

var errContinuation = errors.New("a line goes on in a place where bash and the parser may differ")

// span is a part of a text, from its first byte to the one after its last.
type span struct{ from, to int }

// inSpans looks in spans that are sorted and do not overlap.
func inSpans(spans []span, at int) bool {
	i, _ := slices.BinarySearchFunc(spans, at, func(s span, at int) int { return cmp.Compare(s.to, at+1) })
	return i < len(spans) && spans[i].from < at && at < spans[i].to
}

// joinLines takes out the continued lines of a text.
func joinLines(text string) (string, error) {
	if !strings.Contains(text, "\\\n") {
		return text, nil
	}
	text, err := endComments(text)
	if err != nil {
		return "", err
	}
	raw, err := rawSpans(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var cuts []int // where in the new text something was taken out
	from := 0
	for _, at := range continuations(text) {
		if inSpans(raw, at) {
			continue
		}
		b.WriteString(text[from:at])
		cuts = append(cuts, b.Len())
		from = at + 2
	}
	b.WriteString(text[from:])
	joined := b.String()
	// The first reading may itself have been misled. The second is not, and must
	// agree on which pairs stood in quotes.
	if raw, err = rawSpans(joined); err != nil {
		return "", err
	}
	for _, at := range cuts {
		if inSpans(raw, at) {
			return "", errContinuation
		}
	}
	for _, at := range continuations(joined) {
		if !inSpans(raw, at) {
			return "", errContinuation
		}
	}
	return joined, nil
}

// continuations lists the backslashes before a newline that no other one escapes.
func continuations(text string) []int {
	var out []int
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] == '\n' {
			out = append(out, i)
		}
		i++ // what follows is escaped
	}
	return out
}

// endComments takes the backslash off the end of comments: to bash the newline ends
// a comment in any case, but the parser would read on. What follows such a comment
// is read rightly only once it is ended, so this is repeated.
func endComments(text string) (string, error) {
	for range MaxCommands {
		file, err := parseComments(text)
		if err != nil {
			return "", err
		}
		ended := []byte(text)
		syntax.Walk(file, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok {
				for i := int(c.Pos().Offset()); i < int(c.End().Offset()) && i+1 < len(ended); i++ {
					if ended[i] == '\\' && ended[i+1] == '\n' {
						ended[i] = ' '
					}
				}
			}
			return true
		})
		if string(ended) == text {
			return text, nil
		}
		text = string(ended)
	}
	return "", errContinuation
}

func parseComments(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// rawSpans lists the parts of a text in which a backslash means itself.
func rawSpans(text string) ([]span, error) {
	file, err := parseComments(text)
	if err != nil {
		return nil, err
	}
	var raw []span
	add := func(n syntax.Node) {
		raw = append(raw, span{int(n.Pos().Offset()), int(n.End().Offset())})
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			add(n)
		case *syntax.Comment:
			add(n)
			raw[len(raw)-1].to++ // the newline ends it
		case *syntax.CmdSubst:
			if n.Backquotes && strings.Contains(text[n.Pos().Offset():n.End().Offset()], "\\\n") {
				err = errContinuation // there it is taken out in single quotes too
			}
		case *syntax.Redirect:
			if n.Hdoc != nil && strings.ContainsAny(text[n.Word.Pos().Offset():n.Word.End().Offset()], `\'"`) {
				add(n.Hdoc)
			}
		}
		return true
	})
	slices.SortFunc(raw, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return raw, err
}
