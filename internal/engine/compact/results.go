package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
)

const (
	// keptSteps is how many of the newest steps stay whole as long as older ones
	// have something to give.
	keptSteps = 4
	// wholeUpTo is the size in characters up to which a result is never cut, and
	// head how many of them stay of one that is.
	wholeUpTo, head = 1_000, 200
	// maxInput and maxHints are how many characters are shown of a call's input,
	// and of the hints at the end of its result.
	maxInput, maxHints = 300, 400
)

// candidate is a result that may give way.
type candidate struct {
	at, block int
	size      int
	use       core.Block
}

// Shrink cuts the largest tool results short until this many bytes are saved:
// first of the steps before the newest four, then of those, and only then of the
// newest one. Where that is not enough, images and documents that came with
// earlier messages of a person give way, the oldest first. readAgain says of a tool
// whether making the same call again shows the same and changes nothing.
func Shrink(msgs []*core.Message, measure Measure, bytes int, readAgain func(tool string) bool) *Change {
	c := begin(msgs, measure)
	for _, tier := range c.tiers() {
		slices.SortFunc(tier, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.at, b.at), cmp.Compare(a.block, b.block))
		})
		for _, r := range tier {
			if c.Saved >= bytes {
				return c
			}
			c.shorten(&r, readAgain)
		}
	}
	c.attachments(bytes)
	return c
}

// Old cuts every long tool result before the newest four steps short.
func Old(msgs []*core.Message, measure Measure, readAgain func(tool string) bool) *Change {
	c := begin(msgs, measure)
	for _, r := range c.tiers()[0] {
		c.shorten(&r, readAgain)
	}
	return c
}

// shorten cuts one result, where that makes it smaller.
func (c *Change) shorten(r *candidate, readAgain func(tool string) bool) {
	short := shortened(&r.use, &c.Messages[r.at].Blocks[r.block], readAgain)
	if c.measure.block(&short) < r.size {
		c.put(r.at, r.block, short)
	}
}

// attachments lets the pictures that came with a person's words give way, but not
// those of the newest message.
func (c *Change) attachments(bytes int) {
	newest := len(c.Messages) - 1
	for newest >= 0 && !speaks(c.Messages[newest]) {
		newest--
	}
	for at := 0; at < newest && c.Saved < bytes; at++ {
		before := c.Blocks
		c.notes(at, func(b *core.Block) bool { return isPicture(b) && len(b.Data) > wholeUpTo }, "to make room")
		c.Attachments += c.Blocks - before
	}
}

// speaks reports whether a message is a person's, and not results and the notes
// behind them.
func speaks(m *core.Message) bool {
	return m.Role == core.RoleUser && !slices.ContainsFunc(m.Blocks, func(b core.Block) bool { return b.Type == core.BlockToolResult })
}

// tiers are the results that are long enough to be cut, those first that are
// needed least.
func (c *Change) tiers() [3][]candidate {
	var out [3][]candidate
	msgs := c.Messages
	step := 0
	var results []candidate // of the step that is looked at, until its calls are met
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == core.RoleUser {
			results = append(results, c.resultsIn(i)...)
			continue
		}
		tier := 0
		switch {
		case step == 0:
			tier = 2
		case step < keptSteps:
			tier = 1
		}
		for _, r := range results {
			k := slices.IndexFunc(msgs[i].Blocks, func(b core.Block) bool {
				return b.Type == core.BlockToolUse && b.ID == msgs[r.at].Blocks[r.block].ID
			})
			if k >= 0 {
				r.use = msgs[i].Blocks[k]
				out[tier] = append(out[tier], r)
			}
		}
		results = nil
		step++
	}
	return out
}

func (c *Change) resultsIn(at int) []candidate {
	var out []candidate
	for k := range c.Messages[at].Blocks {
		b := &c.Messages[at].Blocks[k]
		if b.Type == core.BlockToolResult && (utf8.RuneCountInString(b.ResultText()) > wholeUpTo || hasData(b)) {
			out = append(out, candidate{at: at, block: k, size: c.measure.block(b)})
		}
	}
	return out
}

func hasData(b *core.Block) bool {
	return slices.ContainsFunc(b.Content, func(c core.Block) bool { return len(c.Data) > 0 })
}

// shortened is a result's beginning, how much is missing, and how to get at it.
func shortened(use, result *core.Block, readAgain func(string) bool) core.Block {
	text := result.ResultText()
	start := firstRunes(text, head)
	missing := []string{}
	if n := utf8.RuneCountInString(text) - utf8.RuneCountInString(start); n > 0 {
		missing = append(missing, numbered(n, "more character", "more characters"))
	}
	if n := countData(result); n > 0 {
		missing = append(missing, numbered(n, "image or document", "images or documents"))
	}
	var b strings.Builder
	b.WriteString(start)
	fmt.Fprintf(&b, "\n[Garuda: %s of this result left out to make room. ", strings.Join(missing, " and "))
	input := firstRunes(use.Input, maxInput)
	if input != use.Input {
		input += "…"
	}
	if readAgain(use.Name) {
		fmt.Fprintf(&b, "To see them, call %s again: %s]", use.Name, input)
	} else {
		fmt.Fprintf(&b, "The call was %s: %s]", use.Name, input)
	}
	if hints := hintsOf(text); hints != "" && !strings.HasSuffix(start, hints) {
		b.WriteString("\n" + hints)
	}
	return core.ToolResult(result.ID, result.IsError, core.Block{Type: core.BlockText, Text: b.String(), Note: Note})
}

// hintsOf are the lines at the end of a result in which Garuda says where the
// whole output is kept.
func hintsOf(text string) string {
	at := len(text)
	for at > 0 {
		line := strings.LastIndexByte(text[:max(at-1, 0)], '\n') + 1
		if !strings.HasPrefix(text[line:at], "[Garuda: ") || len(text)-line > maxHints {
			break
		}
		at = line
	}
	return text[at:]
}

func countData(b *core.Block) int {
	n := 0
	for i := range b.Content {
		if len(b.Content[i].Data) > 0 {
			n++
		}
	}
	return n
}

func numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// firstRunes cuts behind the first n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
