package catalog

import (
	"slices"
	"strconv"
	"strings"
)

// Families are the names that stand for the newest known Claude model of a family.
func Families() []string { return []string{"haiku", "sonnet", "opus", "fable"} }

// Alias returns the id of the newest known model of a Claude family.
func Alias(family string) (id string, ok bool) {
	if !slices.Contains(Families(), family) {
		return "", false
	}
	var newest []int
	for _, e := range Models("anthropic") {
		v, ok := version(e.ID, family)
		if ok && slices.Compare(v, newest) > 0 {
			id, newest = e.ID, v
		}
	}
	return id, id != ""
}

// version reads the numbers of claude-<family>-5 or claude-<family>-4-5-20250929,
// the date left out.
func version(id, family string) ([]int, bool) {
	rest, ok := strings.CutPrefix(undated(id), "claude-"+family+"-")
	if !ok {
		return nil, false
	}
	var v []int
	for part := range strings.SplitSeq(rest, "-") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		v = append(v, n)
	}
	return v, true
}
