package shellscan

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds how many words one word with braces may become.
const maxBraces = 64

// fewBraces tells words in which it is worth looking for braces; splitting takes
// time with the square of those that are left open.
func fewBraces(parts []syntax.WordPart) bool {
	n := 0
	for _, p := range parts {
		if l, ok := p.(*syntax.Lit); ok {
			n += strings.Count(l.Value, "{")
		}
	}
	return n <= maxBraces
}

// expandBraces gives the words that parts with braces become. It is not sure
// when there are too many, or when bash might read the braces in another way.
func expandBraces(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, part := range parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			if l, isLit := part.(*syntax.Lit); isLit && oddBraces(parts, l.Value) {
				return nil, false
			}
			for i := range out {
				out[i] = append(out[i], part)
			}
			continue
		}
		var choices [][]syntax.WordPart
		if br.Sequence {
			items, sure := sequence(br)
			if !sure {
				return nil, false
			}
			for _, it := range items {
				choices = append(choices, []syntax.WordPart{&syntax.Lit{Value: it}})
			}
		} else {
			for _, el := range br.Elems {
				inner, sure := expandBraces(el.Parts)
				if !sure {
					return nil, false
				}
				choices = append(choices, inner...)
			}
		}
		if len(out)*len(choices) > maxBraces {
			return nil, false
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(choices))
		for _, head := range out {
			for _, tail := range choices {
				joined := append(append([]syntax.WordPart(nil), head...), tail...)
				next = append(next, joined)
			}
		}
		out = next
	}
	return out, true
}

// oddBraces tells a literal in which braces were left over beside a comma or
// "..": bash and the parser may pair them differently.
func oddBraces(parts []syntax.WordPart, s string) bool {
	open, sep := false, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{', '}':
			open = true
		case ',':
			sep = true
		case '.':
			sep = sep || i+1 < len(s) && s[i+1] == '.'
		}
	}
	if open && !sep && len(parts) > 1 {
		// The other half may stand in another part of the word.
		for _, p := range parts {
			if l, ok := p.(*syntax.Lit); ok && l.Value != s && hasSeparator(l.Value) {
				return true
			}
		}
	}
	return open && sep
}

func hasSeparator(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == ',' || s[i] == '.' && i+1 < len(s) && s[i+1] == '.' {
			return true
		}
	}
	return false
}

// sequence expands {1..3}, {a..e} and {1..9..2}, without the forms with signs and
// leading zeros, which pad.
func sequence(br *syntax.BraceExp) ([]string, bool) {
	from, to := br.Elems[0].Lit(), br.Elems[1].Lit()
	step := 1
	if len(br.Elems) == 3 {
		n, err := strconv.Atoi(br.Elems[2].Lit())
		if err != nil || n <= 0 {
			return nil, false
		}
		step = n
	}
	if len(from) == 1 && len(to) == 1 && isLetter(from[0]) && isLetter(to[0]) {
		if (from[0] < 'a') != (to[0] < 'a') {
			return nil, false // {A..z} passes through characters that are special
		}
		return countTo(int(from[0]), int(to[0]), step, func(n int) string { return string(rune(n)) })
	}
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	if errA != nil || errB != nil || strconv.Itoa(a) != from || strconv.Itoa(b) != to {
		return nil, false
	}
	return countTo(a, b, step, strconv.Itoa)
}

func countTo(a, b, step int, show func(int) string) ([]string, bool) {
	var out []string
	if a > b {
		step = -step
	}
	for n := a; (step > 0 && n <= b) || (step < 0 && n >= b); n += step {
		if len(out) == maxBraces {
			return nil, false
		}
		out = append(out, show(n))
	}
	return out, true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
