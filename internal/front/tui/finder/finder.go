// Package finder ranks names by what a person typed of them: what begins with it,
// then what holds it, then what has its letters in order. It is made for hundreds
// of thousands of paths and one keystroke at a time.
//
// It reads no folder and matches no patterns; it only looks at the names it was
// given.
package finder

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Match is one name that was found.
type Match struct {
	Name string
	// At are the places, in bytes, of what was typed in the name, for marking.
	At []int

	score int
	index int
}

// Index is a list of names made ready for finding. It is never changed, and safe
// for concurrent use.
type Index struct {
	names []string
	// lower are the names in small letters, where that leaves every byte at its
	// place; letters are the sets of their letters.
	lower   []string
	letters []uint64
}

// New makes names ready. Equal scores keep the names' order.
func New(names []string) *Index {
	x := &Index{names: names, lower: make([]string, len(names)), letters: make([]uint64, len(names))}
	each(len(names), func(from, to, _ int) {
		for i := from; i < to; i++ {
			x.lower[i] = lowered(names[i])
			x.letters[i] = letters(x.lower[i])
		}
	})
	return x
}

// Len is how many names there are.
func (x *Index) Len() int { return len(x.names) }

// lowered is the text in small letters; letters that would take another number of
// bytes stay, so that places hold for both.
func lowered(text string) string {
	low := strings.ToLower(text)
	if len(low) == len(text) {
		return low
	}
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// letters is a set with a bit for each kind of byte: what has not all of a query's
// bits cannot match.
func letters(text string) uint64 {
	var set uint64
	for i := range len(text) {
		set |= 1 << (text[i] & 63)
	}
	return set
}

// each runs f over parts of n, one for each processor.
func each(n int, f func(from, to, part int)) {
	const least = 4096
	parts := min(max(runtime.GOMAXPROCS(0), 1), n/least+1)
	var wait sync.WaitGroup
	for p := range parts {
		wait.Go(func() { f(n*p/parts, n*(p+1)/parts, p) })
	}
	wait.Wait()
}

// Search goes through an index keystroke by keystroke: what a longer query can find
// is among what the shorter one found. It is for one goroutine.
type Search struct {
	x     *Index
	query string
	// left are the names that match query in any way; nil before the first query.
	left []int32
}

// Search begins with an empty query.
func (x *Index) Search() *Search { return &Search{x: x} }

// Find gives the best names for a query, at most so many; all of them in their
// order for an empty one. Capital letters are as good as small ones.
func (s *Search) Find(query string, most int) []Match {
	query = lowered(query)
	if query == "" {
		s.query, s.left = "", nil
		var out []Match
		for i, name := range s.x.names[:min(most, len(s.x.names))] {
			out = append(out, Match{Name: name, index: i})
		}
		return out
	}
	if s.left == nil || !strings.HasPrefix(query, s.query) {
		s.left = make([]int32, len(s.x.names))
		for i := range s.left {
			s.left[i] = int32(i)
		}
	}
	s.query = query
	type part struct {
		left []int32
		best []Match
	}
	parts := make([]part, runtime.GOMAXPROCS(0)+1)
	need, from := letters(query), s.left
	each(len(from), func(start, end, p int) {
		kept := from[start:start:end]
		best := make([]Match, 0, most+1)
		for _, i := range from[start:end] {
			if s.x.letters[i]&need != need {
				continue
			}
			score, ok := s.x.score(int(i), query)
			if !ok {
				continue
			}
			kept = append(kept, i)
			best = keep(best, Match{score: score, index: int(i)}, most)
		}
		parts[p] = part{kept, best}
	})
	var best []Match
	left := from[:0]
	for _, p := range parts {
		left = append(left, p.left...)
		best = append(best, p.best...)
	}
	s.left = left
	slices.SortFunc(best, better)
	best = best[:min(len(best), most)]
	for i := range best {
		best[i].Name = s.x.names[best[i].index]
		best[i].At = places(s.x.lower[best[i].index], query)
	}
	return best
}

func better(a, b Match) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.index, b.index))
}

// keep adds a match to a sorted list of the best.
func keep(best []Match, m Match, most int) []Match {
	if len(best) == most && (most == 0 || better(m, best[most-1]) >= 0) {
		return best
	}
	at, _ := slices.BinarySearchFunc(best, m, better)
	best = slices.Insert(best, at, m)
	return best[:min(len(best), most)]
}

// The scores of the ways to match, far enough apart that a better way always wins.
const (
	wholeName = 6 << 20
	nameStart = 5 << 20
	pathStart = 4 << 20
	wordStart = 3 << 20
	inside    = 2 << 20
	scattered = 1 << 20
)

// score says how well a name matches, shorter names before longer ones.
func (x *Index) score(i int, query string) (int, bool) {
	name := x.lower[i]
	base := strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/') + 1
	short := -min(len(name), 1<<12)
	switch at := strings.Index(name[base:], query); {
	case at == 0 && len(name) == base+len(query):
		return wholeName + short, true
	case at == 0:
		return nameStart + short, true
	case at > 0 && begins(x.names[i], base+at):
		return wordStart + 1<<13 + short, true
	case at > 0:
		return inside + 1<<13 + short, true
	}
	switch at := strings.Index(name, query); {
	case at == 0:
		return pathStart + short, true
	case at > 0 && begins(x.names[i], at):
		return wordStart + short, true
	case at > 0:
		return inside + short, true
	}
	good, ok := subsequence(x.names[i], name, query)
	return scattered + good<<13 + short, ok
}

// begins reports whether a word begins at a place of the name.
func begins(name string, at int) bool {
	if at == 0 {
		return true
	}
	before, c := name[at-1], name[at]
	return strings.IndexByte("/_-. ", before) >= 0 || c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z'
}

// subsequence reports whether the letters are there in order, read from the end so
// that the file's name counts first, and how many of them begin a word or stand
// beside each other.
func subsequence(name, lower, query string) (good int, ok bool) {
	q, last := len(query)-1, len(lower)+1
	for i := len(lower) - 1; i >= 0 && q >= 0; i-- {
		if lower[i] != query[q] {
			continue
		}
		if begins(name, i) {
			good++
		}
		if i == last-1 {
			good++
		}
		q, last = q-1, i
	}
	return min(good, 64), q < 0
}

// places are where a query's bytes lie in a name, as score found them.
func places(lower, query string) []int {
	base := strings.LastIndexByte(strings.TrimSuffix(lower, "/"), '/') + 1
	at := strings.Index(lower[base:], query)
	if at >= 0 {
		at += base
	} else {
		at = strings.Index(lower, query)
	}
	out := make([]int, len(query))
	if at >= 0 {
		for i := range out {
			out[i] = at + i
		}
		return starts(lower, out)
	}
	q := len(query) - 1
	for i := len(lower) - 1; i >= 0 && q >= 0; i-- {
		if lower[i] == query[q] {
			out[q] = i
			q--
		}
	}
	return starts(lower, out)
}

// starts keeps the places at which a character begins.
func starts(text string, at []int) []int {
	return slices.DeleteFunc(at, func(i int) bool { return !utf8.RuneStart(text[i]) })
}
