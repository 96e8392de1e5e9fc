package pdf

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Page is what a page says.
type Page struct {
	// Text has a line for each line of the page; empty when there is none.
	Text string
	// Pictures says that the page shows pictures, which may hold text.
	Pictures bool
	// Unknown counts characters of which the file does not say what they are; they
	// stand as U+FFFD in Text.
	Unknown int
	// Cut says that the page holds more than was read.
	Cut bool
}

// Page reads the page with this number, from 1.
func (d *Document) Page(number int) (*Page, error) {
	if number < 1 || number > len(d.pages) {
		return nil, fmt.Errorf("there is no page %d; there are %d", number, len(d.pages))
	}
	var out *Page
	err := d.guarded(func() error {
		var err error
		out, err = d.readPage(&d.pages[number-1])
		return err
	})
	return out, err
}

func (d *Document) readPage(page *pageObject) (*Page, error) {
	out := &Page{}
	p := &painter{d: d, page: out, state: textState{ctm: identity(), stretch: 1}}
	p.text, p.line = identity(), identity()
	var failed error
	var content []byte
	for _, part := range d.contents(page) {
		data, err := d.decode(part)
		if err != nil {
			failed = err
			continue
		}
		if len(content)+len(data) > maxStream {
			out.Cut = true
			break
		}
		// A token does not go on from one part to the next.
		content = append(append(content, data...), '\n')
	}
	p.run(content, d.dict(page.resources), 0)
	switch {
	case d.b.err != nil:
		return nil, d.b.err
	case failed != nil && len(p.glyphs) == 0:
		return nil, failed
	}
	out.Text = compose(p.glyphs)
	return out, nil
}

func (d *Document) contents(page *pageObject) []*stream {
	var out []*stream
	for _, v := range d.list(page.dict["Contents"]) {
		if s, ok := d.resolve(v).(*stream); ok && len(out) < maxItems {
			out = append(out, s)
		}
	}
	return out
}

// Where a glyph stands to the one before it, in parts of its size.
const (
	sameLine  = 0.5 // across: still the same line, also raised or lowered
	wordGap   = 0.1 // along: a blank was left
	columnGap = 1.5 // along: more than one blank
	stepBack  = 0.6 // along: kerning and accents move back less
	paragraph = 1.7 // across: an empty line was left
)

// composer puts glyphs together to lines, in the order in which the page paints
// them: that is how nearly all programs write, it keeps columns apart, and it
// needs no guess at what belongs together.
type composer struct {
	out  strings.Builder
	last placed
	any  bool
	// atStart: nothing of the line was written yet, blank: its last character is one.
	blank bool
}

func compose(glyphs []placed) string {
	c := &composer{}
	for i := range glyphs {
		c.add(&glyphs[i])
	}
	return tidy(c.out.String())
}

func (c *composer) add(g *placed) {
	if c.any {
		c.gap(g)
	}
	text := visible(g.text)
	c.out.WriteString(text)
	c.any, c.last = true, *g
	if text != "" {
		c.blank = strings.HasSuffix(text, " ")
	}
}

// gap writes what is between the last glyph and this one.
func (c *composer) gap(g *placed) {
	size := max(g.size, c.last.size)
	turned := g.dx*c.last.dx+g.dy*c.last.dy < 0.9
	down, along := c.last.y-g.y, g.x-c.last.after
	switch {
	case turned:
		c.write("\n\n")
	case down > sameLine*size || -down > sameLine*size || along < -stepBack*size && g.x < c.last.x:
		if down > paragraph*size || down < -sameLine*size {
			c.write("\n")
		}
		c.write("\n")
	case along > columnGap*size:
		c.write("  ")
	case along > wordGap*size && !c.blank && !strings.HasPrefix(g.text, " "):
		c.write(" ")
	}
}

func (c *composer) write(s string) {
	c.out.WriteString(s)
	c.blank = true
}

// visible takes out what no page shows: control characters, soft hyphens, and the
// private characters that fonts use for their own purposes stand for unknown ones.
func visible(text string) string {
	plain := true
	for _, r := range text {
		plain = plain && r >= ' ' && r < 0x7f
	}
	if plain {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0', r == '\t', r == '\n', r == '\r':
			return ' '
		case r == '\u00ad', unicode.IsControl(r):
			return -1
		case unicode.Is(unicode.Co, r):
			return utf8.RuneError
		}
		return r
	}, text)
}

// tidy drops blanks at the ends of lines, and more than one empty line in a row.
func tidy(text string) string {
	var b strings.Builder
	empty := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " ")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
			if empty > 0 {
				b.WriteByte('\n')
			}
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}
