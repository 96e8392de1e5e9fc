// Package nearest finds the known name that a mistyped one probably meant, for
// error messages. It never decides anything: a guess is only ever shown.
package nearest

import "strings"

// Of returns the known name closest to name, or "" when none is close: at most a
// third of the letters may differ (of two or more, one always may), or one name
// must begin with the other. Case is ignored; the first of equally close names wins.
func Of(name string, known []string) string {
	want := strings.ToLower(name)
	if len(want) < 2 {
		return ""
	}
	best, bestDistance := "", max(len(want)/3, 1)+1
	for _, k := range known {
		if d := distance(want, strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best != "" || len(want) < 3 {
		return best
	}
	for _, k := range known {
		low := strings.ToLower(k)
		if strings.HasPrefix(low, want) || strings.HasPrefix(want, low) && len(low) >= 3 {
			return k
		}
	}
	return ""
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
