package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A pattern usually contains text that every match must hold. Looking for that
// first, at the speed of memory, leaves only a few lines to the pattern's engine.

// needle is one such text.
type needle struct {
	text []byte
	// fold: letters match in both cases; text is then lower case ASCII.
	fold bool
	rare int // the index of the byte that is least common in source code
}

// maxNeedles is how many alternatives are worth looking for.
const maxNeedles = 12

// requiredNeedles returns texts of which every match holds at least one, or none.
func requiredNeedles(re *syntax.Regexp) []needle {
	set := required(re)
	if len(set) > maxNeedles {
		return nil
	}
	for i := range set {
		set[i].rare = rarest(set[i].text)
	}
	return set
}

func required(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedle(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if set := required(sub); better(set, best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			set := required(sub)
			if set == nil || len(all)+len(set) > maxNeedles {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// better prefers the set whose shortest text is longer, then the smaller one.
func better(a, b []needle) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) > 0
	}
	if x, y := shortest(a), shortest(b); x != y {
		return x > y
	}
	return len(a) < len(b)
}

func shortest(set []needle) int {
	n := len(set[0].text)
	for _, s := range set[1:] {
		n = min(n, len(s.text))
	}
	return n
}

// literalNeedle takes a literal. Without case only ASCII can be looked for
// quickly, and not k and s, which Unicode folds with the Kelvin sign and the
// long s.
func literalNeedle(re *syntax.Regexp) []needle {
	if re.Flags&syntax.FoldCase == 0 {
		return []needle{{text: []byte(string(re.Rune))}}
	}
	best, at := "", 0
	cut := func(end int) {
		if part := string(re.Rune[at:end]); len(part) > len(best) {
			best = part
		}
		at = end + 1
	}
	for i, r := range re.Rune {
		if r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) {
			cut(i)
		}
	}
	cut(len(re.Rune))
	if best == "" {
		return nil
	}
	return []needle{{text: []byte(strings.ToLower(best)), fold: true}}
}

// rarest picks the byte to look for: letters by how common they are.
func rarest(text []byte) int {
	const common = " etaoinrsldcupmhfg\t.,()_=/\"ybvwT:;IESxkNARC-{}01DOL2"
	best, rank := 0, -1
	for i, c := range text {
		r := strings.IndexByte(common, c)
		if r < 0 {
			return i
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// finder looks for the needles of one expression in one buffer.
type finder struct {
	needles []needle
	next    []int // where each needle comes next; len(buf) for nowhere, -1 unknown
}

func newFinder(needles []needle) *finder {
	f := &finder{needles: needles, next: make([]int, len(needles))}
	f.reset()
	return f
}

// reset forgets what is known of the buffer.
func (f *finder) reset() {
	for i := range f.next {
		f.next[i] = -1
	}
}

// first returns where the first needle at or after from begins, or -1.
func (f *finder) first(buf []byte, from int) int {
	best := len(buf)
	for i := range f.needles {
		if f.next[i] < from {
			f.next[i] = f.needles[i].index(buf, from)
		}
		best = min(best, f.next[i])
	}
	if best == len(buf) {
		return -1
	}
	return best
}

// index returns where the needle comes at or after from; len(buf) for nowhere.
func (n *needle) index(buf []byte, from int) int {
	if !n.fold {
		return n.indexExact(buf, from)
	}
	low := n.text[n.rare]
	up := low
	if 'a' <= low && low <= 'z' {
		up -= 'a' - 'A'
	}
	at := from + n.rare
	nextLow, nextUp := -1, -1
	for at < len(buf) {
		nextLow = nextByte(buf, low, at, nextLow)
		if up != low {
			nextUp = nextByte(buf, up, at, nextUp)
		} else {
			nextUp = len(buf)
		}
		at = min(nextLow, nextUp)
		if at == len(buf) {
			break
		}
		if start := at - n.rare; start+len(n.text) <= len(buf) && equalFold(buf[start:start+len(n.text)], n.text) {
			return start
		}
		at++
	}
	return len(buf)
}

// indexExact looks for the rarest byte, at the speed of memory, and for the
// whole text where that turns out not to be rare.
func (n *needle) indexExact(buf []byte, from int) int {
	at := from + n.rare
	for tries := 0; at < len(buf); tries++ {
		start := at - n.rare
		if tries > 8+(at-from)/64 {
			if i := bytes.Index(buf[start:], n.text); i >= 0 {
				return start + i
			}
			return len(buf)
		}
		i := bytes.IndexByte(buf[at:], n.text[n.rare])
		if i < 0 {
			return len(buf)
		}
		start += i
		if end := start + len(n.text); end <= len(buf) && string(buf[start:end]) == string(n.text) {
			return start
		}
		at += i + 1
	}
	return len(buf)
}

// nextByte is where c comes at or after from, given an earlier answer.
func nextByte(buf []byte, c byte, from, known int) int {
	if known >= from {
		return known
	}
	if i := bytes.IndexByte(buf[from:], c); i >= 0 {
		return from + i
	}
	return len(buf)
}

// equalFold compares with lower case ASCII.
func equalFold(b, lower []byte) bool {
	for i, c := range lower {
		x := b[i]
		if 'A' <= x && x <= 'Z' {
			x += 'a' - 'A'
		}
		if x != c {
			return false
		}
	}
	return true
}
