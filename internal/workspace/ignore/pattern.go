package ignore

import "strings"

// form is how a pattern is matched.
type form uint8

const (
	formName   form = iota // the last name equals literal
	formSuffix             // the last name ends in literal
	formGlob               // the last name matches segs[0]
	formPath               // the path begins with literal and its rest matches segs
)

// pattern is one compiled line.
type pattern struct {
	form              form
	negative, dirOnly bool
	literal           string
	segs              []segment
}

// compile reads one line; ok is false when it can match nothing.
func compile(s string, fold bool) (p pattern, ok bool) {
	if strings.HasPrefix(s, "!") {
		p.negative, s = true, s[1:]
	}
	if strings.HasSuffix(s, "/") {
		p.dirOnly, s = true, s[:len(s)-1]
	}
	if s == "" {
		return p, false
	}
	if !strings.Contains(s, "/") {
		return compileName(p, s, fold)
	}
	s = strings.TrimPrefix(s, "/")
	// git compares what stands before the first special character literally and
	// hands only the rest to its matcher. So "a**/b" is "a" and then "**/b", in
	// which the stars stand at the beginning.
	plain := indexSpecial(s)
	p.form, p.literal = formPath, folded(s[:plain], fold)
	if plain < len(s) {
		p.segs, ok = compileSegments(s[plain:], fold)
		return p, ok
	}
	return p, true
}

func compileName(p pattern, s string, fold bool) (pattern, bool) {
	if indexSpecial(s) == len(s) {
		p.form, p.literal = formName, folded(s, fold)
		return p, true
	}
	if s[0] == '*' && indexSpecial(s[1:]) == len(s)-1 {
		p.form, p.literal = formSuffix, folded(s[1:], fold)
		return p, true
	}
	segs, ok := compileSegments(s, fold)
	if !ok || len(segs) != 1 {
		return p, false
	}
	p.form, p.segs = formGlob, segs
	if segs[0].dirs { // "**" alone is any name
		p.form, p.segs = formSuffix, nil
	}
	return p, true
}

func folded(s string, fold bool) string {
	if fold {
		return lowerASCII(s)
	}
	return s
}

// indexSpecial is where the first character with a meaning stands, or the length.
func indexSpecial(s string) int {
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		return i
	}
	return len(s)
}

func (p *pattern) match(path, name string) bool {
	switch p.form {
	case formName:
		return name == p.literal
	case formSuffix:
		return strings.HasSuffix(name, p.literal)
	case formGlob:
		return p.segs[0].match(name)
	}
	rest, ok := strings.CutPrefix(path, p.literal)
	if !ok || p.segs == nil {
		return ok && rest == ""
	}
	return matchSegments(p.segs, rest)
}

// segment is a pattern's part between slashes: "**", which stands for any number
// of names, or a glob for one.
type segment struct {
	dirs bool
	// some: these stars take at least one name. It is so for the last "**" of a
	// pattern, and in git also for "**\/".
	some bool
	ops  []op
}

type opKind uint8

const (
	opLiteral opKind = iota
	opAny            // one byte
	opSet            // one byte of a set
	opStar           // any bytes
)

type op struct {
	kind    opKind
	literal string
	set     *byteSet
}

// compileSegments reads a glob with slashes; ok is false when it can match nothing.
func compileSegments(s string, fold bool) (segs []segment, ok bool) {
	var ops []op
	var text []byte
	flush := func() {
		if len(text) > 0 {
			ops = append(ops, op{kind: opLiteral, literal: folded(string(text), fold)})
			text = nil
		}
	}
	stars := 0 // in a row, when nothing else is in the segment
	end := func(escaped bool) {
		flush()
		if stars >= 2 && len(ops) == 1 && ops[0].kind == opStar {
			segs = append(segs, segment{dirs: true, some: escaped})
		} else {
			segs = append(segs, segment{ops: ops})
		}
		ops, stars = nil, 0
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '/':
			end(false)
		case '\\':
			if i++; i == len(s) {
				return nil, false
			}
			if s[i] == '/' {
				end(true)
			} else {
				text = append(text, s[i])
			}
		case '*':
			flush()
			if n := len(ops); n == 0 || ops[n-1].kind != opStar {
				ops = append(ops, op{kind: opStar})
			}
			stars++
		case '?':
			flush()
			ops = append(ops, op{kind: opAny})
		case '[':
			flush()
			set, size, ok := compileSet(s[i+1:], fold)
			if !ok {
				return nil, false
			}
			ops = append(ops, op{kind: opSet, set: set})
			i += size
		default:
			text = append(text, s[i])
		}
	}
	end(true)
	return segs, true
}

// matchSegments matches names against segments. Only the last "**" is ever
// tried again, which suffices because the segments after it match name by name.
func matchSegments(segs []segment, path string) bool {
	const none = -1
	at, pos := 0, 0            // the next segment, and where the next name begins
	retry, retryPos := none, 0 // after the last "**"
	for {
		switch {
		case at < len(segs) && segs[at].dirs && !(segs[at].some && pos == none):
			if at == len(segs)-1 {
				return true
			}
			if segs[at].some {
				pos = nextName(path, pos)
			}
			at++
			retry, retryPos = at, pos
			continue
		case at == len(segs) && pos == none:
			return true
		case at < len(segs) && !segs[at].dirs && pos != none:
			next := nextName(path, pos)
			name := path[pos:]
			if next != none {
				name = path[pos : next-1]
			}
			if segs[at].match(name) {
				at, pos = at+1, next
				continue
			}
		}
		if retry == none || retryPos == none {
			return false
		}
		retryPos = nextName(path, retryPos)
		at, pos = retry, retryPos
	}
}

// nextName is where the name after the one at pos begins, or -1.
func nextName(path string, pos int) int {
	if pos < 0 {
		return -1
	}
	if i := strings.IndexByte(path[pos:], '/'); i >= 0 {
		return pos + i + 1
	}
	return -1
}

// match matches one name. Only the last star is ever tried again.
func (g *segment) match(name string) bool {
	ops := g.ops
	at, pos := 0, 0
	retry, retryPos := -1, 0
	for {
		if at == len(ops) && pos == len(name) {
			return true
		}
		if at < len(ops) {
			switch o := &ops[at]; o.kind {
			case opStar:
				at++
				retry, retryPos = at, pos
				continue
			case opLiteral:
				if strings.HasPrefix(name[pos:], o.literal) {
					at, pos = at+1, pos+len(o.literal)
					continue
				}
			case opAny:
				if pos < len(name) {
					at, pos = at+1, pos+1
					continue
				}
			case opSet:
				if pos < len(name) && o.set.has(name[pos]) {
					at, pos = at+1, pos+1
					continue
				}
			}
		}
		if retry < 0 || retryPos >= len(name) {
			return false
		}
		retryPos++
		at, pos = retry, retryPos
	}
}
