package pdf

import (
	"bytes"
	"math"
)

// The kinds of objects: nil, bool, int, float64 and these.
type (
	name   string
	chars  string // a string object: bytes in an encoding that its place decides
	array  []any
	dict   map[name]any
	ref    struct{ num, gen int }
	stream struct {
		dict dict
		raw  []byte // as it stands in the file
		// id is the object that it is, for decryption.
		id ref
	}
	// keyword is any other word: obj, endobj, and the operators of a page.
	keyword string
	// end stands where the text is over.
	end struct{}
)

const (
	// maxNesting is how deep arrays and dictionaries may lie in each other.
	maxNesting = 64
	// maxItems is how many elements one of them may have.
	maxItems = 1 << 20
)

// lexer reads objects from bytes; damaged ones give what can be made of them.
type lexer struct {
	data []byte
	pos  int
	b    *budget
	// lent is the memory of what was borrowed.
	lent int64
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// skipSpace passes over white space and comments.
func (l *lexer) skipSpace() {
	start := l.pos
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			if n := bytes.IndexAny(l.data[l.pos:], "\r\n"); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.data)
			}
		default:
			l.b.take((l.pos - start) / 8)
			return
		}
	}
	l.b.take((l.pos - start) / 8)
}

// borrow is next for an object that is soon dropped; release then gives back what
// all of those took.
func (l *lexer) borrow() any {
	before := l.b.memory
	v := l.next()
	l.lent += before - l.b.memory
	return v
}

func (l *lexer) release() {
	l.b.memory += l.lent
	l.lent = 0
}

// next reads one object. What closes an array or a dictionary comes as a keyword.
func (l *lexer) next() any { return l.object(0) }

func (l *lexer) object(depth int) any {
	l.skipSpace()
	if l.pos >= len(l.data) || !l.b.take(1) {
		return end{}
	}
	switch c := l.data[l.pos]; c {
	case '/':
		l.pos++
		return l.name()
	case '(':
		l.pos++
		return l.literal()
	case '[':
		l.pos++
		return array(l.items("]", depth))
	case '<':
		if l.at("<<") {
			l.pos += 2
			return l.pairs(l.items(">>", depth))
		}
		l.pos++
		return l.hex()
	case '>':
		if l.at(">>") {
			l.pos += 2
			return keyword(">>")
		}
		l.pos++
		return keyword(">")
	case ']', '{', '}', ')':
		l.pos++
		return keyword(c)
	}
	return word(l.word())
}

func (l *lexer) at(s string) bool { return bytes.HasPrefix(l.data[l.pos:], []byte(s)) }

// items reads until the closing word; "n g R" becomes a reference.
func (l *lexer) items(closing keyword, depth int) []any {
	var out []any
	for {
		var v any = end{}
		if depth < maxNesting && len(out) < maxItems {
			v = l.object(depth + 1)
		}
		l.b.hold(sizeItem)
		switch v := v.(type) {
		case end:
			return out
		case keyword:
			switch {
			case v == closing:
				return out
			case v == "R":
				out = foldReference(out)
				continue
			case v == "endobj" || v == "stream" || v == "endstream":
				l.pos -= len(v) // the closing word is missing
				return out
			}
			out = append(out, nil) // a word that means nothing here
		default:
			out = append(out, v)
		}
	}
}

// foldReference makes a reference of the last two numbers.
func foldReference(items []any) []any {
	n := len(items)
	if n < 2 {
		return items
	}
	num, ok1 := items[n-2].(int)
	gen, ok2 := items[n-1].(int)
	if !ok1 || !ok2 {
		return items
	}
	return append(items[:n-2], ref{num, gen})
}

func (l *lexer) pairs(items []any) dict {
	if len(items) == 0 {
		return dict{}
	}
	if !l.b.hold(sizeDict + sizePair*len(items)/2) {
		return dict{}
	}
	d := make(dict, len(items)/2)
	for i := 0; i+1 < len(items); i += 2 {
		key, ok := items[i].(name)
		if !ok {
			i-- // something is missing or too much: go on at the next name
			continue
		}
		d[key] = items[i+1]
	}
	return d
}

func (l *lexer) word() []byte {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	l.b.take((l.pos - start) / 8)
	return l.data[start:l.pos]
}

// word is a number, a boolean, null or a keyword.
func word(w []byte) any {
	if c := w[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' {
		if v, ok := number(w); ok {
			return v
		}
	}
	switch string(w) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return keyword(w)
}

// number reads what writers write for one, also "--5" and "1.-2".
func number(w []byte) (any, bool) {
	value, scale, negative, digits := 0.0, 0.0, false, 0
	for i, c := range w {
		switch {
		case c >= '0' && c <= '9':
			digits++
			if scale > 0 {
				value += float64(c-'0') * scale
				scale /= 10
			} else {
				value = value*10 + float64(c-'0')
			}
		case c == '-' && i == 0:
			negative = true
		case c == '.' && scale == 0:
			scale = 0.1
		case c == '-' || c == '+': // it is known to occur
		default:
			return nil, false
		}
	}
	if digits == 0 && scale == 0 {
		return nil, false
	}
	if negative {
		value = -value
	}
	if scale == 0 && math.Abs(value) < 1<<53 {
		return int(value), true
	}
	return value, true
}

func (l *lexer) name() name {
	w := l.word()
	l.b.hold(len(w) + sizeText)
	if bytes.IndexByte(w, '#') < 0 {
		return name(w)
	}
	out := make([]byte, 0, len(w))
	for i := 0; i < len(w); i++ {
		if w[i] == '#' && i+2 < len(w) {
			hi, lo := hexDigit(w[i+1]), hexDigit(w[i+2])
			if hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, w[i])
	}
	return name(out)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) hex() chars {
	start := l.pos
	var out []byte
	half, some := 0, false
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		d := hexDigit(c)
		if d < 0 {
			continue
		}
		if some {
			out = append(out, byte(half<<4|d))
		}
		half, some = d, !some
	}
	if some {
		out = append(out, byte(half<<4))
	}
	l.b.take((l.pos - start) / 8)
	l.b.hold(len(out) + sizeText)
	return chars(out)
}

// literal reads a string in parentheses, which may hold others that are balanced.
func (l *lexer) literal() chars {
	start, open := l.pos, 1
	var out []byte
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '\\':
			out = l.escape(out)
			continue
		case '(':
			open++
		case ')':
			open--
		}
		if open == 0 {
			break
		}
		out = append(out, c)
	}
	l.b.take((l.pos - start) / 8)
	l.b.hold(len(out) + sizeText)
	return chars(out)
}

func (l *lexer) escape(out []byte) []byte {
	if l.pos >= len(l.data) {
		return out
	}
	c := l.data[l.pos]
	l.pos++
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\n':
		return out
	case '\r':
		if l.pos < len(l.data) && l.data[l.pos] == '\n' {
			l.pos++
		}
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	code := int(c - '0')
	for i := 0; i < 2 && l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7'; i++ {
		code = code<<3 | int(l.data[l.pos]-'0')
		l.pos++
	}
	return append(out, byte(code))
}
