package fileedit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// explainMiss says why text that should be in a file is not, and shows what
// comes nearest. A model that gets only "not found" guesses again; with the
// nearest text and what differs it usually hits with the next call.
func explainMiss(lf, old string, stale bool) string {
	var b strings.Builder
	if stale {
		b.WriteString(" The file changed since it was read.")
	}
	if without, ok := withoutNumbers(old); ok && strings.Contains(lf, without) {
		b.WriteString(" old_string holds the line numbers that read_file puts before the lines; leave them and the tab out.")
		return b.String()
	}
	if plain, err := strconv.Unquote(`"` + old + `"`); err == nil && plain != old && strings.Contains(lf, plain) {
		b.WriteString(` old_string is escaped once too often (\n, \t or \" as two characters).`)
		return b.String()
	}
	lines := strings.Split(strings.TrimSuffix(lf, "\n"), "\n")
	want := strings.Split(old, "\n")
	at, exact := nearestLines(lines, want)
	if at < 0 {
		b.WriteString(" Nothing in the file resembles it; read the file again, or find the place with grep.")
		return b.String()
	}
	end := min(at+len(want), len(lines))
	const most = 15
	shown := min(end, at+most)
	where := fmt.Sprintf("line %d", at+1)
	if end > at+1 {
		where = fmt.Sprintf("lines %d-%d", at+1, end)
	}
	if exact {
		fmt.Fprintf(&b, " The nearest text, at %s, differs only in %s:\n", where, differences(lines[at:end], want))
	} else {
		fmt.Fprintf(&b, " The nearest text is at %s:\n", where)
	}
	b.WriteString(surroundings(strings.Join(lines[:shown], "\n"), at+1, shown))
	return b.String()
}

var numberedLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *[0-9]+(\t|→|: ?)`) })

// withoutNumbers takes line numbers off, when every line has one.
func withoutNumbers(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		number := numberedLine().FindString(line)
		if number == "" && (line != "" || i+1 < len(lines)) {
			return "", false
		}
		lines[i] = line[len(number):]
	}
	return strings.Join(lines, "\n"), true
}

// nearestLines returns the index of the line where the nearest text begins, or
// -1; exact says that it is the same but for blanks, quotes and the like.
func nearestLines(lines, want []string) (at int, exact bool) {
	folded := make([]string, len(lines))
	for i, l := range lines {
		folded[i] = fold(l)
	}
	target := make([]string, len(want))
	for i, l := range want {
		target[i] = fold(l)
	}
	for i := 0; i+len(target) <= len(folded); i++ {
		if sameFolded(folded[i:i+len(target)], target) {
			return i, true
		}
	}
	return mostAlike(folded, target), false
}

// sameFolded compares lines; the first may begin and the last may end inside a
// line of the file.
func sameFolded(have, want []string) bool {
	last := len(want) - 1
	if last == 0 {
		return want[0] != "" && strings.Contains(have[0], want[0])
	}
	if !strings.HasSuffix(have[0], want[0]) || !strings.HasPrefix(have[last], want[last]) {
		return false
	}
	for i := 1; i < last; i++ {
		if have[i] != want[i] {
			return false
		}
	}
	return true
}

// mostAlike finds the place where most lines are equal, or else the line most
// like the first one that is wanted; -1 when nothing is alike.
func mostAlike(have, want []string) int {
	index := map[string][]int{}
	for i, l := range want {
		if l != "" {
			index[l] = append(index[l], i)
		}
	}
	votes := map[int]int{}
	best := -1
	for i, l := range have {
		for _, j := range index[l] {
			start := i - j
			if start < 0 {
				continue
			}
			if votes[start]++; best < 0 || votes[start] > votes[best] || votes[start] == votes[best] && start < best {
				best = start
			}
		}
	}
	if best >= 0 {
		return best
	}
	first, offset := "", 0
	for i, l := range want {
		if l != "" {
			first, offset = l, i
			break
		}
	}
	const (
		enough = 0.5
		looked = 50_000
	)
	likeness := enough
	pairs := bigrams(first)
	for i, l := range have[:min(len(have), looked)] {
		if alike := dice(pairs, l); alike > likeness {
			best, likeness = max(0, i-offset), alike
		}
	}
	return best
}

// bigrams counts the pairs of neighbouring bytes.
func bigrams(s string) map[[2]byte]int {
	out := map[[2]byte]int{}
	for i := 0; i+1 < len(s); i++ {
		out[[2]byte{s[i], s[i+1]}]++
	}
	return out
}

// dice is how alike a text is to another one's bigrams, from 0 to 1.
func dice(pairs map[[2]byte]int, s string) float64 {
	total := 0
	for _, n := range pairs {
		total += n
	}
	const longest = 4000
	if len(s) < 2 || total == 0 || len(s) > longest || len(s) > 4*(total+1) || total > 4*len(s) {
		return 0
	}
	seen := map[[2]byte]int{}
	both := 0
	for i := 0; i+1 < len(s); i++ {
		pair := [2]byte{s[i], s[i+1]}
		if seen[pair] < pairs[pair] {
			seen[pair]++
			both++
		}
	}
	return 2 * float64(both) / float64(total+len(s)-1)
}

// fold makes lines equal that look alike: blanks collapsed and trimmed, curly
// quotes straight, dashes plain.
func fold(s string) string {
	var b strings.Builder
	blank := false
	for _, r := range s {
		if unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(plainRune(r))
	}
	return b.String()
}

func plainRune(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '−':
		return '-'
	}
	return r
}

// differences names what is not the same between lines that fold to the same.
func differences(have, want []string) string {
	var indent, trailing, inner, signs bool
	for i := range min(len(have), len(want)) {
		h, w := have[i], want[i]
		whole := i > 0 && i < len(want)-1
		if (whole || i > 0) && leading(h) != leading(w) || i == 0 && !strings.Contains(h, w) && leading(w) != "" && leading(h) != leading(w) {
			indent = true
		}
		if i < len(want)-1 && trailingBlanks(h) != trailingBlanks(w) {
			trailing = true
		}
		plainH, plainW := strings.Map(plainRune, h), strings.Map(plainRune, w)
		if plainH != h && !strings.Contains(h, strings.TrimSpace(w)) || plainW != w {
			signs = true
		}
		if !strings.Contains(plainH, strings.TrimSpace(plainW)) {
			inner = true
		}
	}
	var out []string
	for _, d := range []struct {
		is   bool
		what string
	}{{indent, "indentation (tabs or spaces)"}, {trailing, "blanks at line ends"}, {signs, "quotes or dashes (curly or straight)"}, {inner, "blanks inside a line"}} {
		if d.is {
			out = append(out, d.what)
		}
	}
	if len(out) == 0 {
		return "blanks or invisible characters"
	}
	return strings.Join(out, ", ")
}

func leading(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

func trailingBlanks(s string) string { return s[len(strings.TrimRight(s, " \t")):] }
