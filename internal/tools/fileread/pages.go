package fileread

import (
	"fmt"
	"strconv"
	"strings"

	"garuda/internal/core"
)

const (
	// maxPages is how many pages of a PDF one call gives, firstPages how many it
	// gives of a longer one that no pages were asked of.
	maxPages   = 20
	firstPages = 10
	// maxPageNumber bounds what a call may name; no document has so many.
	maxPageNumber = 1_000_000
)

// pageRange are pages from one to another, both counted from 1 and included.
type pageRange struct{ from, to int }

// parsePages reads "3", "1-5" or "2,4-6".
func parsePages(text string) ([]pageRange, error) {
	var out []pageRange
	count := 0
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "–", "-"), ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := pageNumber(first)
		to := from
		if err == nil && isRange {
			to, err = pageNumber(last)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf(`pages is %s; write it like "1-5", "3" or "2,4-6", with pages counted from 1`, quote(text))
		case to < from:
			return nil, fmt.Errorf(`pages is %s, which ends before it begins; did you mean "%d-%d"?`, quote(text), to, from)
		}
		if count += to - from + 1; count > maxPages {
			return nil, fmt.Errorf(`pages %s are more than the %d that one call gives; begin with "%d-%d"`,
				quote(text), maxPages, firstOf(out, from), firstOf(out, from)+maxPages-1)
		}
		out = append(out, pageRange{from, to})
	}
	return out, nil
}

func firstOf(ranges []pageRange, otherwise int) int {
	if len(ranges) > 0 {
		return ranges[0].from
	}
	return otherwise
}

func pageNumber(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err == nil && (n < 1 || n > maxPageNumber) {
		err = strconv.ErrRange
	}
	return n, err
}

// quote shows what was given, cut to a readable length.
func quote(text string) string { return strconv.Quote(core.Cut(text, 40)) }

// within are the pages of the ranges that a document has, each once, in order.
func within(ranges []pageRange, pages int) []int {
	var out []int
	seen := map[int]bool{}
	for _, r := range ranges {
		for n := r.from; n <= min(r.to, pages); n++ {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}
