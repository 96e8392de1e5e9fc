// Package diff lays unified differences out for a person: the lines' numbers, the
// words of a line that changed, the code around in its language's colours.
//
// It compares no files: what it is given was compared by others, and every line of
// that is shown.
package diff

import (
	"slices"
	"strconv"
	"strings"

	"garuda/internal/core"
	"garuda/internal/ui/hl"
	"garuda/internal/ui/styled"
)

const (
	tabStops = 4
	// most is the largest number of a line that is believed.
	most = 100_000_000
)

// Lines lays a unified diff of one file or more out in lines of at most width
// columns. What is no diff is shown as it is.
func Lines(unified string, width int) []styled.Line {
	d := layout{width: width}
	unified = core.Visible(strings.ReplaceAll(unified, "\r\n", "\n"))
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	d.digits = digits(lines)
	for i := 0; i < len(lines); {
		i += d.take(lines[i:])
	}
	return d.out
}

// layout is one diff on its way.
type layout struct {
	width, digits    int
	out              []styled.Line
	language         *hl.Language
	old, new         int
	oldLeft, newLeft int
	hunks            int
}

// take shows what the lines begin with and says how many that was.
func (d *layout) take(lines []string) int {
	line := lines[0]
	if d.oldLeft > 0 || d.newLeft > 0 {
		return d.body(lines)
	}
	switch {
	case strings.HasPrefix(line, "--- ") && len(lines) > 1 && strings.HasPrefix(lines[1], "+++ "):
		d.file(label(line), label(lines[1]))
		return 2
	case strings.HasPrefix(line, "@@ "):
		d.hunk(line)
	default:
		d.plain(styled.Muted, line)
	}
	return 1
}

func label(line string) string {
	name, _, _ := strings.Cut(line[4:], "\t")
	return strings.TrimSpace(name)
}

func (d *layout) file(from, to string) {
	shown := to
	switch {
	case to == "/dev/null":
		shown = from + " (deleted)"
	case from == "/dev/null":
		shown = to + " (new)"
	case strings.TrimPrefix(from, "a/") != strings.TrimPrefix(to, "b/"):
		shown = from + " → " + to
	}
	d.language, d.hunks = hl.OfFile(strings.TrimSuffix(shown, " (deleted)")), 0
	if to != "/dev/null" {
		d.language = hl.OfFile(to)
	}
	d.plain(styled.Heading, shown)
}

func (d *layout) plain(role styled.Role, text string) {
	d.out = append(d.out, styled.Text(role, styled.Expand(text, 0, tabStops)).Hard(d.width, nil, nil)...)
}

// hunk reads where a part of the file begins, and how long it is.
func (d *layout) hunk(line string) {
	from, to, heading, ok := ranges(line)
	if !ok {
		d.plain(styled.Muted, line)
		return
	}
	d.old, d.oldLeft = from[0], from[1]
	d.new, d.newLeft = to[0], to[1]
	if d.hunks > 0 || heading != "" {
		gap := styled.Text(styled.LineNumber, strings.Repeat(" ", d.digits-1)+"⋯ ")
		d.out = append(d.out, append(gap, styled.Span{Text: " " + heading, Role: styled.Muted}).Cut(d.width))
	}
	d.hunks++
}

// ranges reads the head of a part: first line and number of lines, before and after.
func ranges(line string) (from, to [2]int, heading string, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return from, to, "", false
	}
	old, rest, ok1 := strings.Cut(rest, " +")
	now, heading, ok2 := strings.Cut(rest, " @@")
	from, ok3 := span(old)
	to, ok4 := span(now)
	return from, to, strings.TrimSpace(heading), ok1 && ok2 && ok3 && ok4
}

func span(text string) (s [2]int, ok bool) {
	first, count, two := strings.Cut(text, ",")
	if !two {
		count = "1"
	}
	a, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(count)
	return [2]int{a, n}, err1 == nil && err2 == nil && a >= 0 && n >= 0 && a < most && n < most
}

// body shows the next lines of a part: a line that stayed, or a run of removed ones
// with the added ones behind it.
func (d *layout) body(lines []string) int {
	switch line := lines[0]; {
	case strings.HasPrefix(line, "-") && d.oldLeft > 0 || strings.HasPrefix(line, "+") && d.newLeft > 0:
		return d.change(lines)
	case strings.HasPrefix(line, `\`):
		d.note(line)
	case line == "" || line[0] == ' ':
		code, _ := d.language.Line(styled.Expand(strings.TrimPrefix(line, " "), 0, tabStops), hl.State{})
		d.numbered(d.new, " ", styled.Plain, code)
		d.old, d.oldLeft = d.old+1, d.oldLeft-1
		d.new, d.newLeft = d.new+1, d.newLeft-1
	default: // the part is shorter than it says
		d.oldLeft, d.newLeft = 0, 0
		return 0
	}
	return 1
}

// note shows what is said about the line before.
func (d *layout) note(line string) {
	d.plain(styled.Muted, strings.Repeat(" ", d.digits+3)+strings.TrimSpace(line[1:]))
}

func (d *layout) change(lines []string) int {
	removed := run(lines, "-", d.oldLeft)
	behind := len(removed)
	notes := 0 // "\ No newline at end of file" stands between the two
	if behind < len(lines) && strings.HasPrefix(lines[behind], `\`) {
		notes = 1
	}
	added := run(lines[behind+notes:], "+", d.newLeft)
	if len(added) == 0 {
		notes = 0
	}
	olds, news := make([]styled.Line, len(removed)), make([]styled.Line, len(added))
	for i := range max(len(removed), len(added)) {
		switch {
		case i >= len(removed):
			news[i] = styled.Text(styled.Added, added[i])
		case i >= len(added):
			olds[i] = styled.Text(styled.Removed, removed[i])
		default:
			olds[i], news[i] = words(removed[i], added[i])
		}
	}
	for i, line := range olds {
		d.numbered(d.old+i, "-", styled.Removed, line)
	}
	if notes > 0 {
		d.note(lines[behind])
	}
	for i, line := range news {
		d.numbered(d.new+i, "+", styled.Added, line)
	}
	d.old, d.oldLeft = d.old+len(removed), d.oldLeft-len(removed)
	d.new, d.newLeft = d.new+len(added), d.newLeft-len(added)
	return len(removed) + notes + len(added)
}

// run is the text of the lines that begin with the sign, at most so many.
func run(lines []string, sign string, limit int) []string {
	var out []string
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, sign)
		if !ok || len(out) == limit {
			break
		}
		out = append(out, styled.Expand(text, 0, tabStops))
	}
	return out
}

// numbered shows one line of the file behind its number and its sign.
func (d *layout) numbered(number int, sign string, role styled.Role, code styled.Line) {
	n := strconv.Itoa(number)
	margin := styled.Line{
		{Text: strings.Repeat(" ", max(d.digits-len(n), 0)) + n + " ", Role: styled.LineNumber}, {Text: sign + " ", Role: role},
	}
	rest := styled.Text(styled.LineNumber, strings.Repeat(" ", margin.Width()))
	if len(code) == 0 {
		margin = styled.Line{margin[0], {Text: strings.TrimRight(sign, " "), Role: role}}
	}
	d.out = append(d.out, code.Hard(d.width, margin, rest)...)
}

// digits is how many the largest number of a line takes.
func digits(lines []string) int {
	largest := 1
	for _, line := range lines {
		if from, to, _, ok := ranges(line); ok {
			largest = max(largest, from[0]+from[1], to[0]+to[1])
		}
	}
	return len(strconv.Itoa(largest))
}

const (
	// mostTokens is how many words and signs of a line are compared.
	mostTokens = 300
	// leastCommon is the part of the longer line that must be in both, that marks on
	// the rest say something.
	leastCommon = 0.35
)

// words marks in two lines what one has and the other has not. Lines that have
// little in common carry no marks.
func words(before, after string) (styled.Line, styled.Line) {
	a, b := tokens(before), tokens(after)
	plainOld, plainNew := styled.Text(styled.Removed, before), styled.Text(styled.Added, after)
	if len(a) > mostTokens || len(b) > mostTokens || before == "" || after == "" {
		return plainOld, plainNew
	}
	inA, inB := common(a, b)
	same := 0
	for i, both := range inA {
		if both && strings.TrimSpace(a[i]) != "" {
			same += len(a[i])
		}
	}
	if float64(same) < leastCommon*float64(max(len(strings.TrimSpace(before)), len(strings.TrimSpace(after)))) {
		return plainOld, plainNew
	}
	return marked(a, inA, styled.Removed, styled.RemovedWord), marked(b, inB, styled.Added, styled.AddedWord)
}

func marked(tokens []string, both []bool, role, word styled.Role) styled.Line {
	var out styled.Line
	for i, t := range tokens {
		s := styled.Span{Text: t, Role: role}
		if !both[i] {
			s.Role = word
		}
		out = out.Add(s)
	}
	return out
}

// tokens are a line's words, its runs of blanks, and its other signs one by one.
func tokens(text string) []string {
	var out []string
	kind := func(r rune) int {
		switch {
		case r == ' ':
			return 1
		case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80:
			return 2
		}
		return 0
	}
	last, start := 0, 0
	for i, r := range text {
		k := kind(r)
		if i > 0 && (k != last || k == 0) {
			out = append(out, text[start:i])
			start = i
		}
		last = k
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// common finds a longest common sequence and says which tokens of each are in it.
func common(a, b []string) (inA, inB []bool) {
	table := make([][]uint16, len(a)+1)
	for i := range table {
		table[i] = make([]uint16, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i++
			j++
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}
