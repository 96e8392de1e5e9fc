package hl

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"garuda/internal/ui/styled"
)

// syntax is what is told of a language. Lists of words are separated by blanks.
type syntax struct {
	// names are the language's other names, the ends of its files' names, and whole
	// names of files.
	files                                  string
	keywords, types, constants, builtins   string
	comments                               []string
	spans                                  []span
	letters                                string // what names may hold besides letters, digits and _
	variable                               string // signs that begin a variable
	names                                  string // signs behind a first word that make it a name: "k: v", "k = v"
	anyCase, upperTypes, regexps, commands bool
	preprocessor, keys, bang               bool
	// line, where it is set, may colour a line as a whole.
	line func(text string) (styled.Line, bool)
}

// span is a construct between two signs.
type span struct {
	open, end string
	role      styled.Role
	// escape makes the character behind it harmless; 0 for none.
	escape byte
	// lines: it goes over lines. nested: it can stand in itself. doubled: its end
	// twice is no end. hashes: a raw string of Rust. char: one character only. tag:
	// a tag of XML.
	lines, nested, doubled, hashes, char, tag bool
}

func block(open, end string) span {
	return span{open: open, end: end, role: styled.Comment, lines: true}
}

func nestedBlock(open, end string) span {
	s := block(open, end)
	s.nested = true
	return s
}

// quoted is a text in one line with backslashes.
func quoted(sign string) span { return span{open: sign, end: sign, role: styled.String, escape: '\\'} }

// raw is a text over lines without escapes.
func raw(open, end string) span { return span{open: open, end: end, role: styled.String, lines: true} }

// long is a text over lines with backslashes.
func long(open, end string) span {
	return span{open: open, end: end, role: styled.String, escape: '\\', lines: true}
}

// doubled is a text whose sign stands twice for itself.
func doubled(sign string) span {
	return span{open: sign, end: sign, role: styled.String, doubled: true, lines: true}
}

func char() span { return span{open: "'", end: "'", role: styled.String, escape: '\\', char: true} }

// languages finds each language by each of its names; it is made when it is first
// asked for.
var languages = sync.OnceValue(func() map[string]func() *Language {
	x := map[string]func() *Language{}
	for name, s := range tables() {
		once := sync.OnceValue(func() *Language { return newLanguage(name, s) })
		x[name] = once
		for other := range strings.FieldsSeq(s.files) {
			x[other] = once
		}
	}
	return x
})

func byName(name string) *Language {
	if l := languages()[name]; l != nil {
		return l()
	}
	return nil
}

func newLanguage(name string, s syntax) *Language {
	l := &Language{name: name, syntax: s, words: map[string]styled.Role{}, spans: slices.Clone(s.spans)}
	slices.SortStableFunc(l.spans, func(a, b span) int { return cmp.Compare(len(b.open), len(a.open)) })
	for _, list := range []struct {
		role  styled.Role
		words string
	}{{styled.Function, s.builtins}, {styled.Constant, s.constants}, {styled.Type, s.types}, {styled.Keyword, s.keywords}} {
		for w := range strings.FieldsSeq(list.words) {
			l.words[w] = list.role
		}
	}
	return l
}
