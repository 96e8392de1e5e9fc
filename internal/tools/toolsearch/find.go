package toolsearch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/nearest"
	"garuda/internal/tool"
)

// result is what a query found.
type result struct {
	tools []*entry
	// missing are names that were selected and are no deferred tools.
	missing []string
	// more counts what matched beyond the limit.
	more   int
	limits tool.Limits
}

var errNothing = errors.New(`query is empty; give words, or "select:" and names`)

// find reads a query: select:a,b, names alone, or words.
func (s *search) find(in *input) (*result, error) {
	query := strings.TrimSpace(in.Query)
	if list, ok := cutSelect(query); ok {
		return s.selected(list)
	}
	if list := fields(query); len(list) > 0 && !slices.ContainsFunc(list, func(name string) bool { return s.byName(name) == nil }) {
		return s.selected(list)
	}
	limits := tool.Limits{}
	found, err := s.matching(query, limits.Cap("limit", cmp.Or(in.Limit, defaultLimit), maxLimit))
	if err != nil {
		return nil, err
	}
	found.limits = limits
	return found, nil
}

// cutSelect splits off the word that begins a selection.
func cutSelect(query string) ([]string, bool) {
	const word = "select:"
	if len(query) < len(word) || !strings.EqualFold(query[:len(word)], word) {
		return nil, false
	}
	return fields(query[len(word):]), true
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

func (s *search) byName(name string) *entry {
	i := slices.IndexFunc(s.tools, func(e entry) bool { return strings.EqualFold(e.name, name) })
	if i < 0 {
		return nil
	}
	return &s.tools[i]
}

// selected are the tools with these names, each once, in their order. Where there
// is none of them that is an error.
func (s *search) selected(list []string) (*result, error) {
	if len(list) == 0 {
		return nil, errNothing
	}
	out := &result{}
	for _, name := range list {
		e := s.byName(name)
		switch {
		case e == nil:
			out.missing = append(out.missing, name)
		case !slices.Contains(out.tools, e):
			out.tools = append(out.tools, e)
		}
	}
	if len(out.tools) > 0 {
		return out, nil
	}
	said := make([]string, len(out.missing))
	for i, name := range out.missing {
		said[i] = s.missing(name)
	}
	return nil, errors.New(strings.Join(said, "; "))
}

// missing says that a name is none that could be loaded.
func (s *search) missing(name string) string {
	if near := nearest.Of(name, s.names()); near != "" {
		return fmt.Sprintf("there is no tool %q to be loaded; did you mean %q?", name, near)
	}
	return fmt.Sprintf("there is no tool %q to be loaded; a tool that is listed already is called without loading", name)
}

// What a word of the query counts for where it is found.
const (
	wordOfName, partOfName, wordOfText = 8, 4, 1
)

// matching are the tools that the words describe best, the best first and equal
// ones by name.
func (s *search) matching(query string, limit int) (*result, error) {
	var wanted, required []string
	for _, f := range fields(query) {
		must := strings.HasPrefix(f, "+")
		for _, w := range words(f) {
			wanted = append(wanted, w)
			if must {
				required = append(required, w)
			}
		}
	}
	if len(wanted) == 0 {
		return nil, errNothing
	}
	type hit struct {
		e     *entry
		score int
	}
	var hits []hit
	for i := range s.tools {
		e := &s.tools[i]
		if score := e.score(wanted, required); score > 0 {
			hits = append(hits, hit{e, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	out := &result{more: max(len(hits)-limit, 0)}
	for _, h := range hits[:min(len(hits), limit)] {
		out.tools = append(out.tools, h.e)
	}
	return out, nil
}

// score is how well the words describe the tool; 0 where none does, or where its
// name lacks a required one.
func (e *entry) score(wanted, required []string) int {
	lower := strings.ToLower(e.name)
	for _, w := range required {
		if !strings.Contains(lower, w) {
			return 0
		}
	}
	inName, inText := words(e.name), append(words(e.spec.Description), fieldWords(e.spec.Schema)...)
	score := 0
	for _, w := range wanted {
		switch {
		case slices.Contains(inName, w):
			score += wordOfName
		case saysNothing(w):
		case strings.Contains(lower, w):
			score += partOfName
		case slices.Contains(inText, w):
			score += wordOfText
		}
	}
	return score
}

// saysNothing reports whether a word stands in any description, or is so short
// that it is a part of many names.
func saysNothing(w string) bool {
	const tooShort = 3
	return len(w) < tooShort || slices.Contains([]string{"the", "and", "for", "with", "that", "this", "from", "use", "tool"}, w)
}
