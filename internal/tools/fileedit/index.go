package fileedit

import "sort"

// index knows where several texts begin in a large one, from a single pass.
type index struct {
	text   string
	places map[string][]int
	// many are texts that occur too often to be kept; they are searched for
	// when they are asked for.
	many map[string]bool
}

const (
	// fewPatterns are searched for one by one, which is quicker.
	fewPatterns = 4
	// maxPlaces is how many places of one text are kept.
	maxPlaces = 10_000
	// sample is how much of a text tells which pairs of bytes are rare in it.
	sample = 64 << 10
)

func newIndex(text string, patterns []string) *index {
	x := &index{text: text, places: map[string][]int{}, many: map[string]bool{}}
	var long []string
	for _, p := range patterns {
		switch {
		case len(patterns) <= fewPatterns || len(p) < 2:
			x.many[p] = true
		case x.places[p] == nil:
			x.places[p] = []int{}
			long = append(long, p)
		}
	}
	if len(long) > 0 {
		x.scan(long)
	}
	return x
}

// needle is the rarest pair of bytes of a pattern, and where in it that stands.
type needle struct {
	pattern string
	offset  int
	next    int32 // the next needle with the same pair; 0 ends
}

func (x *index) scan(patterns []string) {
	var often [1 << 16]uint32
	head := x.text[:min(len(x.text), sample)]
	for i := 0; i+1 < len(head); i++ {
		often[pair(head, i)]++
	}
	var first [1 << 16]int32
	var some [1 << 10]uint64 // which of first are set: small enough to stay close to the processor
	needles := make([]needle, 1, len(patterns)+1)
	for _, p := range patterns {
		best := 0
		for i := 1; i+1 < len(p); i++ {
			if often[pair(p, i)] < often[pair(p, best)] {
				best = i
			}
		}
		key := pair(p, best)
		some[key>>6] |= 1 << (key & 63)
		at := &first[key]
		needles = append(needles, needle{pattern: p, offset: best, next: *at})
		*at = int32(len(needles) - 1)
	}
	key := uint16(0)
	for i := range len(x.text) {
		key = key<<8 | uint16(x.text[i])
		if some[key>>6]&(1<<(key&63)) == 0 || i == 0 {
			continue
		}
		for n := first[key]; n != 0; n = needles[n].next {
			x.check(&needles[n], i-1)
		}
	}
}

func pair(s string, i int) uint16 { return uint16(s[i])<<8 | uint16(s[i+1]) }

// check keeps the place if the whole pattern stands there.
func (x *index) check(n *needle, at int) {
	from := at - n.offset
	if from < 0 || from+len(n.pattern) > len(x.text) || x.text[from:from+len(n.pattern)] != n.pattern || x.many[n.pattern] {
		return
	}
	if len(x.places[n.pattern]) == maxPlaces {
		delete(x.places, n.pattern)
		x.many[n.pattern] = true
		return
	}
	x.places[n.pattern] = append(x.places[n.pattern], from)
}

// within returns where a text begins in [from, to) and also ends there.
func (x *index) within(old string, from, to int) []int {
	places, ok := x.places[old]
	if !ok { // too many, or never asked about
		at := occurrences(x.text[from:to], old)
		for i := range at {
			at[i] += from
		}
		return at
	}
	i := sort.SearchInts(places, from)
	j := i
	for j < len(places) && places[j]+len(old) <= to {
		j++
	}
	return places[i:j]
}
