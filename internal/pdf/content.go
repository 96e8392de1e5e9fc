package pdf

import (
	"bytes"
	"math"
)

const (
	// maxGlyphs is how many glyphs of a page are kept; a page of a newspaper has
	// some 20,000.
	maxGlyphs = 200_000
	// maxForms is how deep drawings may stand in each other, maxStates how many
	// states may be saved over each other.
	maxForms  = 12
	maxStates = 256
	// maxOperands is how many operands an operator may have.
	maxOperands = 4096
)

// matrix is [a b c d e f] of the format: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

func identity() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// times applies m first, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// textState is what a save keeps.
type textState struct {
	ctm                                    matrix
	font                                   *font
	size, charSpace, wordSpace, rise, lead float64
	stretch                                float64
}

// painter runs the operators of a page that show text.
type painter struct {
	d     *Document
	state textState
	saved []textState
	// text and line are the matrices of the running text.
	text, line matrix
	resources  dict
	// page gets all but its text, which glyphs are put together to in the end.
	page   *Page
	glyphs []placed
}

// placed is a glyph on the page.
type placed struct {
	text string
	// x and y are where it begins, along and across the direction (dx, dy) of the
	// line; after is where the next one would begin.
	x, y, after float64
	dx, dy      float64
	size        float64
}

// run interprets the operators of a page or a form.
func (p *painter) run(data []byte, resources dict, depth int) {
	before := p.resources
	p.resources = resources
	defer func() { p.resources = before }()
	l := &lexer{data: data, b: &p.d.b}
	var operands []any
	for {
		switch v := l.borrow().(type) {
		case end:
			return
		case keyword:
			switch v {
			case "BI":
				p.skipPicture(l)
			case "Do":
				p.form(operands, depth)
			default:
				p.operator(v, operands)
			}
			clear(operands) // else they would be kept alive
			operands = operands[:0]
			l.release()
		default:
			if len(operands) < maxOperands {
				operands = append(operands, v)
			}
		}
	}
}

// skipPicture passes over a picture that stands among the operators.
func (p *painter) skipPicture(l *lexer) {
	p.page.Pictures = true
	for {
		switch v := l.borrow().(type) {
		case end:
			return
		case keyword:
			if v != "ID" {
				continue
			}
		default:
			continue
		}
		break
	}
	for l.pos < len(l.data) {
		n := bytes.Index(l.data[l.pos:], []byte("EI"))
		if n < 0 || !p.d.b.take(n/16+1) {
			l.pos = len(l.data)
			return
		}
		at := l.pos + n
		l.pos = at + 2
		if at > 0 && isSpace(l.data[at-1]) && (l.pos == len(l.data) || isSpace(l.data[l.pos])) {
			return
		}
	}
}

// form shows a drawing that stands apart; a picture is only noted.
func (p *painter) form(operands []any, depth int) {
	if len(operands) == 0 || depth >= maxForms {
		return
	}
	of, _ := operands[0].(name)
	s, ok := p.d.resolve(p.d.dict(p.resources["XObject"])[of]).(*stream)
	if !ok || !p.d.b.take(100) {
		return
	}
	if kind, _ := p.d.resolve(s.dict["Subtype"]).(name); kind != "Form" {
		p.page.Pictures = p.page.Pictures || kind == "Image"
		return
	}
	data, err := p.d.decode(s)
	if err != nil {
		return
	}
	before := p.state
	text, line, saved := p.text, p.line, p.saved
	p.saved = nil
	if m, ok := p.matrix(s.dict["Matrix"]); ok {
		p.state.ctm = m.times(p.state.ctm)
	}
	resources := p.resources
	if own := p.d.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	p.run(data, resources, depth+1)
	p.state, p.text, p.line, p.saved = before, text, line, saved
}

func (p *painter) matrix(v any) (matrix, bool) {
	list, _ := p.d.resolve(v).(array)
	return p.matrixOf(list)
}

func (p *painter) matrixOf(list []any) (m matrix, ok bool) {
	if len(list) < len(m) {
		return m, false
	}
	for i := range m {
		m[i] = p.d.number(list[i])
	}
	return m, true
}

func (p *painter) operator(op keyword, operands []any) {
	s := &p.state
	number := func(i int) float64 {
		if i < len(operands) {
			return p.d.number(operands[i])
		}
		return 0
	}
	switch op {
	case "q":
		if len(p.saved) < maxStates {
			p.saved = append(p.saved, *s)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			*s, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		if m, ok := p.matrixOf(operands); ok {
			s.ctm = m.times(s.ctm)
		}
	case "BT":
		p.text, p.line = identity(), identity()
	case "Tf":
		if len(operands) > 1 {
			of, _ := operands[0].(name)
			s.font, s.size = p.d.fontOf(p.d.dict(p.resources["Font"])[of]), number(1)
		}
	case "gs":
		p.graphicsState(operands)
	case "Tc":
		s.charSpace = number(0)
	case "Tw":
		s.wordSpace = number(0)
	case "Tz":
		s.stretch = number(0) / 100
	case "TL":
		s.lead = number(0)
	case "Ts":
		s.rise = number(0)
	default:
		p.showing(op, operands, number)
	}
}

// graphicsState takes the font out of a state that has a name.
func (p *painter) graphicsState(operands []any) {
	if len(operands) == 0 {
		return
	}
	of, _ := operands[0].(name)
	font, ok := p.d.resolve(p.d.dict(p.d.dict(p.resources["ExtGState"])[of])["Font"]).(array)
	if ok && len(font) > 1 {
		p.state.font, p.state.size = p.d.fontOf(font[0]), p.d.number(font[1])
	}
}

// showing are the operators that move and show text.
func (p *painter) showing(op keyword, operands []any, number func(int) float64) {
	s := &p.state
	last := func() any {
		if len(operands) == 0 {
			return nil
		}
		return operands[len(operands)-1]
	}
	switch op {
	case "Td":
		p.move(number(0), number(1))
	case "TD":
		s.lead = -number(1)
		p.move(number(0), number(1))
	case "Tm":
		if m, ok := p.matrixOf(operands); ok {
			p.text, p.line = m, m
		}
	case "T*":
		p.move(0, -s.lead)
	case "Tj":
		p.show(last())
	case "'":
		p.move(0, -s.lead)
		p.show(last())
	case "\"":
		s.wordSpace, s.charSpace = number(0), number(1)
		p.move(0, -s.lead)
		p.show(last())
	case "TJ":
		list, _ := last().(array)
		for _, v := range list {
			if text, ok := v.(chars); ok {
				p.show(text)
				continue
			}
			p.advance(-p.d.number(v) / 1000 * s.size)
		}
	}
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
	p.text = p.line
}

// advance moves along the line by so much of unscaled text.
func (p *painter) advance(by float64) {
	m := matrix{1, 0, 0, 1, by * p.state.stretch, 0}
	if f := p.state.font; f != nil && f.vertical {
		m = matrix{1, 0, 0, 1, 0, -by}
	}
	p.text = m.times(p.text)
}

func (p *painter) show(v any) {
	text, _ := v.(chars)
	s := &p.state
	for len(text) > 0 && s.font != nil && p.d.b.take(20) {
		if len(p.glyphs) >= maxGlyphs {
			p.page.Cut = true
			return
		}
		var g glyph
		g, text = s.font.next(text)
		from := p.onPage()
		p.advance(g.width * s.size)
		// Space between characters is not the glyph's: some writers leave blanks so.
		p.place(g, from, p.onPage())
		space := s.charSpace
		if g.blank {
			space += s.wordSpace
		}
		p.advance(space)
	}
}

// onPage is the matrix from text to the page.
func (p *painter) onPage() matrix {
	return matrix{1, 0, 0, 1, 0, p.state.rise}.times(p.text).times(p.state.ctm)
}

func (p *painter) place(g glyph, from, to matrix) {
	s := &p.state
	dx, dy := from[0], from[1] // the direction of the line
	if s.font.vertical {
		dx, dy = -from[2], -from[3]
	}
	if s.size < 0 {
		dx, dy = -dx, -dy
	}
	length := math.Hypot(dx, dy)
	size := math.Abs(s.size) * s.font.em * math.Hypot(from[2], from[3])
	if length == 0 || size == 0 || math.IsNaN(length+size) || math.IsInf(length+size, 0) {
		return
	}
	dx, dy = dx/length, dy/length
	if g.text == "" {
		p.page.Unknown++
		g.text = "\ufffd"
	}
	p.glyphs = append(p.glyphs, placed{
		text: g.text, dx: dx, dy: dy, size: size,
		x: from[4]*dx + from[5]*dy, y: from[5]*dx - from[4]*dy, after: to[4]*dx + to[5]*dy,
	})
}
