// Package theme turns styled lines into what a terminal understands: colours for
// dark and light backgrounds, in as many as the terminal has, and links.
//
// It never asks the terminal or the environment anything, and lets no control
// character of a text through: every line it writes ends in the plain style it
// began in, so lines can be cut apart and printed in any order.
package theme

import (
	"strconv"
	"strings"

	"garuda/internal/core"
	"garuda/internal/ui/styled"
)

// Colors is how many colours a terminal has.
type Colors uint8

// From none, where what stands out does so by bold and underlined letters, to all.
const (
	None Colors = iota
	Sixteen
	Many // 256
	True
)

// Theme renders lines for one kind of terminal. It is safe for concurrent use.
type Theme struct {
	sgr   [styled.Roles]string
	links bool
}

// New is the theme for a terminal. Links are written as OSC 8 where links is true.
func New(colors Colors, dark, links bool) *Theme {
	t := &Theme{links: links}
	for role, look := range looks() {
		t.sgr[role] = look.sgr(colors, dark)
	}
	return t
}

// look is how a role looks. RGB values are 0xRRGGBB; 0 means the terminal's own.
type look struct {
	dark, light     uint32
	darkBg, lightBg uint32
	// basic is the code among the 16 colours, which every palette makes readable;
	// "" for none.
	basic string
	// always is set with any number of colours, without only where there are none.
	always, without string
}

// looks are the roles' looks: few colours, at least 4.5 to 1 against black and
// white.
func looks() [styled.Roles]look {
	return [styled.Roles]look{
		styled.Muted:       {dark: 0x8b949e, light: 0x5c646d, basic: "2", without: ""},
		styled.Accent:      {dark: 0x58a6ff, light: 0x0550ae, basic: "34"},
		styled.Good:        {dark: 0x56d364, light: 0x1a7f37, basic: "32"},
		styled.Bad:         {dark: 0xff7b72, light: 0xb31d28, basic: "31", without: "1"},
		styled.Warn:        {dark: 0xe3b341, light: 0x8a5a00, basic: "33", without: "1"},
		styled.Heading:     {dark: 0x79c0ff, light: 0x0a3069, basic: "36", always: "1", without: "1"},
		styled.Quote:       {dark: 0xa5b0bd, light: 0x57606a, basic: "2"},
		styled.LinkText:    {dark: 0x58a6ff, light: 0x0550ae, basic: "34", always: "4", without: "4"},
		styled.InlineCode:  {dark: 0xffa657, light: 0x953800, basic: "36"},
		styled.Rule:        {dark: 0x6e7681, light: 0x7c858f, basic: "2"},
		styled.Keyword:     {dark: 0xff7b72, light: 0xa0111f, basic: "35"},
		styled.Type:        {dark: 0x7ee0c8, light: 0x0b5c4d, basic: "36"},
		styled.Function:    {dark: 0xd2a8ff, light: 0x6639ba, basic: "34"},
		styled.Constant:    {dark: 0x79c0ff, light: 0x0550ae, basic: "36"},
		styled.String:      {dark: 0xa5d6ff, light: 0x0a3069, basic: "32"},
		styled.Number:      {dark: 0x79c0ff, light: 0x0550ae, basic: "33"},
		styled.Comment:     {dark: 0x8b949e, light: 0x5c646d, basic: "2", always: "3"},
		styled.Attribute:   {dark: 0x7ee787, light: 0x116329, basic: "34"},
		styled.Punctuation: {},
		styled.LineNumber:  {dark: 0x6e7681, light: 0x7c858f, basic: "2"},
		styled.Added:       {dark: 0x7ee787, light: 0x116329, basic: "32"},
		styled.Removed:     {dark: 0xffa198, light: 0xa0111f, basic: "31"},
		styled.AddedWord:   {dark: 0xdafbe1, light: 0x0b3d1c, darkBg: 0x1f6f3a, lightBg: 0xabf2bc, basic: "32;7", without: "4"},
		styled.RemovedWord: {dark: 0xffebe9, light: 0x67060c, darkBg: 0x8e2a2f, lightBg: 0xffc1ba, basic: "31;7", without: "4"},
	}
}

func (l look) sgr(colors Colors, dark bool) string {
	if colors == None {
		return l.without
	}
	codes := []string{}
	if l.always != "" {
		codes = append(codes, l.always)
	}
	if colors == Sixteen {
		if l.basic != "" {
			codes = append(codes, l.basic)
		}
		return strings.Join(codes, ";")
	}
	fg, bg := l.light, l.lightBg
	if dark {
		fg, bg = l.dark, l.darkBg
	}
	if fg != 0 {
		codes = append(codes, color("38", fg, colors))
	}
	if bg != 0 {
		codes = append(codes, color("48", bg, colors))
	}
	return strings.Join(codes, ";")
}

func color(plane string, rgb uint32, colors Colors) string {
	r, g, b := int(rgb>>16&0xff), int(rgb>>8&0xff), int(rgb&0xff)
	if colors == Many {
		return plane + ";5;" + strconv.Itoa(nearest(r, g, b))
	}
	return plane + ";2;" + strconv.Itoa(r) + ";" + strconv.Itoa(g) + ";" + strconv.Itoa(b)
}

// nearest is the closest of the 216 colours of the cube and the 24 greys.
func nearest(r, g, b int) int {
	steps := [...]int{0, 95, 135, 175, 215, 255}
	index := func(v int) int {
		best := 0
		for i, s := range steps {
			if abs(s-v) < abs(steps[best]-v) {
				best = i
			}
		}
		return best
	}
	ri, gi, bi := index(r), index(g), index(b)
	cube := square(r-steps[ri]) + square(g-steps[gi]) + square(b-steps[bi])
	grey := min(max(((r+g+b)/3-8+5)/10, 0), 23)
	level := 8 + 10*grey
	if square(r-level)+square(g-level)+square(b-level) < cube {
		return 232 + grey
	}
	return 16 + 36*ri + 6*gi + bi
}

func abs(n int) int { return max(n, -n) }

func square(n int) int { return n * n }

// attributes are the codes of the styles' attributes, in the order of their bits.
const attributes = "13497"

// Render is the line as a terminal shows it, without a line end.
func (t *Theme) Render(l styled.Line) string {
	return string(t.Append(nil, l))
}

// Append is Render into a buffer.
func (t *Theme) Append(b []byte, l styled.Line) []byte {
	for _, s := range l {
		text := oneLine(core.Visible(s.Text))
		link := t.links && s.Link != "" && plainAddress(s.Link)
		if link {
			b = append(b, "\x1b]8;;"...)
			b = append(b, s.Link...)
			b = append(b, "\x1b\\"...)
		}
		start := len(b)
		b = t.begin(b, s)
		styledHere := len(b) > start
		b = append(b, text...)
		if styledHere {
			b = append(b, "\x1b[0m"...)
		}
		if link {
			b = append(b, "\x1b]8;;\x1b\\"...)
		}
	}
	return b
}

// oneLine keeps a line one line, should a piece hold what ends it.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.NewReplacer("\n", "⏎", "\t", " ").Replace(text)
}

func (t *Theme) begin(b []byte, s styled.Span) []byte {
	codes := t.sgr[s.Role]
	if codes == "" && s.Attr == 0 {
		return b
	}
	b = append(b, "\x1b["...)
	b = append(b, codes...)
	sep := codes != ""
	for i := range len(attributes) {
		if s.Attr&(1<<i) == 0 {
			continue
		}
		if sep {
			b = append(b, ';')
		}
		b = append(b, attributes[i])
		sep = true
	}
	return append(b, 'm')
}

// plainAddress reports whether an address can stand in an escape sequence: any
// byte outside of printable ASCII could end it, and longer ones are cut by
// terminals.
func plainAddress(link string) bool {
	const longest = 2000
	for i := range len(link) {
		if link[i] <= ' ' || link[i] >= 0x7f {
			return false
		}
	}
	return len(link) <= longest && (strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") || strings.HasPrefix(link, "mailto:") || strings.HasPrefix(link, "file://"))
}
