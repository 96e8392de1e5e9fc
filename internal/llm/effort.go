package llm

import "slices"

// efforts are the words in use for how hard to think, lowest first.
func efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// Effort is the word among those a provider takes that is nearest to level; of
// two as near, the lower. Off is "none", or else the least there is. Empty where
// the level is empty or no word fits. A word that is not in the usual scale, such
// as "default", stands for medium.
func Effort(level ThinkingLevel, words []string) string {
	scale := efforts()
	want := slices.Index(scale, string(level))
	if level == ThinkOff {
		want = 0
	}
	if want < 0 {
		return ""
	}
	best, far := "", len(scale)
	for _, w := range words {
		at := slices.Index(scale, w)
		if at < 0 {
			at = slices.Index(scale, "medium")
		}
		if w == "none" && want > 0 {
			continue
		}
		if d := max(want-at, at-want); d < far {
			best, far = w, d
		}
	}
	return best
}
