// Package hl finds what the pieces of a line of source code are: keywords, types,
// strings, numbers, comments. It knows its languages by small tables, made on
// first use, and reads a line in one pass with a state of a few bytes, so that a
// line is coloured once, as it arrives.
//
// It never parses a program: what a grammar alone could tell stays plain. It never
// fails, on no input: what it does not understand is shown as it is.
package hl

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"garuda/internal/ui/styled"
)

// State is what a line begins inside of. The zero State is the beginning of a text.
type State struct {
	// open is the number of the construct that the line begins in, from 1; 0 for none.
	open int
	// depth counts comments inside comments, or the signs a raw string ends with.
	depth int
}

// Language colours the lines of one language. It is safe for concurrent use.
type Language struct {
	name   string
	syntax syntax
	words  map[string]styled.Role
	// spans are the constructs that begin with a sign and may go over lines, block
	// comments and strings, longest sign first.
	spans []span
}

// Name is the language's usual name, in small letters.
func (l *Language) Name() string { return l.name }

// Named is the language of that name, as a fenced block of Markdown gives it; nil
// for one that is not known.
func Named(name string) *Language {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexAny(name, " \t,{:"); i >= 0 {
		name = name[:i]
	}
	return byName(strings.TrimPrefix(name, "."))
}

// OfFile is the language of a file by its name; nil for one that is not known.
func OfFile(name string) *Language {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if l := byName(base); l != nil {
		return l
	}
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		if l := byName(base[i+1:]); l != nil {
			return l
		}
	}
	for _, special := range []string{"dockerfile", "makefile"} {
		if strings.HasPrefix(base, special) {
			return byName(special)
		}
	}
	return nil
}

// longest is the length from which a line is left plain: nobody reads it, and it
// would cost the time of thousands.
const longest = 4096

// Line colours one line, without its line end, and says what the next one begins
// in. A nil Language leaves it plain.
func (l *Language) Line(text string, state State) (styled.Line, State) {
	if l == nil {
		return styled.Text(styled.Plain, text), State{}
	}
	if len(text) > longest {
		return styled.Text(styled.Plain, text), state
	}
	if whole := l.syntax.line; whole != nil {
		if line, done := whole(text); done {
			return line, State{}
		}
	}
	s := scanner{l: l, text: text, state: state, first: true}
	for s.at < len(s.text) {
		s.step()
	}
	s.flush()
	if s.state.open > 0 && !l.spans[s.state.open-1].lines && !strings.HasSuffix(text, `\`) {
		s.state = State{}
	}
	return s.out, s.state
}

// scanner is one pass over one line.
type scanner struct {
	l     *Language
	text  string
	at    int
	state State
	out   styled.Line
	// plain is where the text begins that has no role yet.
	plain int
	// first is true until something but blanks was seen; operand is true after what
	// ends a value, where a slash divides.
	first, operand bool
}

func (s *scanner) flush() {
	s.out = s.out.Add(styled.Span{Text: s.text[s.plain:s.at]})
	s.plain = s.at
}

// emit gives the next n bytes a role.
func (s *scanner) emit(role styled.Role, n int) {
	s.flush()
	s.at += n
	s.out = s.out.Add(styled.Span{Text: s.text[s.plain:s.at], Role: role})
	s.plain = s.at
}

// step reads one piece.
func (s *scanner) step() {
	if s.state.open > 0 {
		s.inside()
		return
	}
	rest := s.text[s.at:]
	c := rest[0]
	if c == ' ' || c == '\t' {
		s.at++
		return
	}
	syn := &s.l.syntax
	if s.first && c == '-' && syn.keys { // an entry of a list in YAML: its name comes first
		s.at++
		return
	}
	defer func() { s.first = false }()
	switch {
	case s.lineComment(rest):
	case s.opens(rest):
	case syn.regexps && c == '/' && !s.operand && s.regexp(rest):
	case syn.preprocessor && c == '#' && s.first:
		s.emit(styled.Keyword, 1+len(word(strings.TrimLeft(rest[1:], " "), syn.letters))+blanks(rest[1:]))
	case syn.variable != "" && strings.IndexByte(syn.variable, c) >= 0 && len(rest) > 1 && (letter(rest[1:], syn.letters) || rest[1] == '{'):
		s.variable(rest)
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9' && !s.operand:
		s.emit(styled.Number, number(rest))
		s.operand = true
	case letter(rest, syn.letters):
		s.identifier(rest)
	default:
		_, size := utf8.DecodeRuneInString(rest)
		s.operand = c == ')' || c == ']' || c == '}'
		s.at += size
	}
}

func blanks(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

func (s *scanner) lineComment(rest string) bool {
	for _, sign := range s.l.syntax.comments {
		if !strings.HasPrefix(rest, sign) {
			continue
		}
		// Of shells and the like: a # inside a word is no comment.
		if sign == "#" && s.at > 0 && s.text[s.at-1] != ' ' && s.text[s.at-1] != '\t' && !strings.ContainsRune("();{}[],", rune(s.text[s.at-1])) {
			continue
		}
		s.emit(styled.Comment, len(rest))
		return true
	}
	return false
}

// opens begins a construct that ends with a sign of its own.
func (s *scanner) opens(rest string) bool {
	for i, sp := range s.l.spans {
		if !strings.HasPrefix(rest, sp.open) {
			continue
		}
		n, depth := len(sp.open), 1
		if sp.hashes {
			h := len(rest[n:]) - len(strings.TrimLeft(rest[n:], "#"))
			if n+h >= len(rest) || rest[n+h] != '"' {
				continue
			}
			n, depth = n+h+1, h
		}
		if sp.char && !isChar(rest, sp) {
			continue
		}
		if sp.tag {
			n += len(word(rest[n:], s.l.syntax.letters))
		}
		s.state = State{open: i + 1, depth: depth}
		s.emit(sp.role, n)
		return true
	}
	return false
}

// isChar tells a character in single quotes from a lifetime or a type's prime.
func isChar(rest string, sp span) bool {
	body := rest[len(sp.open):]
	if strings.HasPrefix(body, `\`) {
		return strings.Contains(body[1:], sp.end)
	}
	_, size := utf8.DecodeRuneInString(body)
	return size > 0 && strings.HasPrefix(body[size:], sp.end)
}

// inside goes on in an open construct, to its end or the line's.
func (s *scanner) inside() {
	sp := s.l.spans[s.state.open-1]
	if sp.tag {
		s.tag()
		return
	}
	end := sp.end
	if sp.hashes {
		end = `"` + strings.Repeat("#", s.state.depth)
	}
	i := s.at
	for i < len(s.text) {
		rest := s.text[i:]
		switch {
		case sp.escape != 0 && rest[0] == sp.escape && len(rest) > 1:
			_, size := utf8.DecodeRuneInString(rest[1:])
			i += 1 + size
		case strings.HasPrefix(rest, end):
			i += len(end)
			if sp.doubled && strings.HasPrefix(s.text[i:], end) {
				i += len(end)
				continue
			}
			if s.state.depth--; sp.nested && s.state.depth > 0 {
				continue
			}
			s.state = State{}
			s.emit(s.roleOf(sp, i), i-s.at)
			s.operand = sp.role != styled.Comment
			return
		case sp.nested && strings.HasPrefix(rest, sp.open):
			s.state.depth++
			i += len(sp.open)
		default:
			_, size := utf8.DecodeRuneInString(rest)
			i += size
		}
	}
	s.emit(sp.role, len(s.text)-s.at)
}

// tag reads the next piece of a tag of XML.
func (s *scanner) tag() {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case c == '>' || strings.HasPrefix(rest, "/>") || strings.HasPrefix(rest, "?>"):
		s.emit(styled.Keyword, 1+strings.IndexByte(rest, '>'))
		s.state = State{}
	case c == '"' || c == '\'':
		n := strings.IndexByte(rest[1:], c)
		if n < 0 {
			n = len(rest) - 2
		}
		s.emit(styled.String, n+2)
	case letter(rest, s.l.syntax.letters):
		s.emit(styled.Attribute, len(word(rest, s.l.syntax.letters)))
	default:
		_, size := utf8.DecodeRuneInString(rest)
		s.at += size
	}
}

// roleOf tells the names of JSON and the like from its texts by the colon behind
// them.
func (s *scanner) roleOf(sp span, end int) styled.Role {
	if s.l.syntax.keys && sp.role == styled.String && strings.HasPrefix(strings.TrimLeft(s.text[end:], " \t"), ":") {
		for n := len(s.out) - 1; n >= 0 && s.out[n].Role == styled.String; n-- {
			s.out[n].Role = styled.Attribute
			break
		}
		return styled.Attribute
	}
	return sp.role
}

// regexp reads a regular expression between slashes, if one is there.
func (s *scanner) regexp(rest string) bool {
	class := false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			i++
			for i < len(rest) && rest[i] >= 'a' && rest[i] <= 'z' {
				i++
			}
			s.emit(styled.String, i)
			s.operand = true
			return true
		}
	}
	return false
}

func (s *scanner) variable(rest string) {
	if rest[1] == '{' {
		if end := strings.IndexByte(rest, '}'); end > 0 {
			s.emit(styled.Attribute, end+1)
		} else {
			s.emit(styled.Attribute, 2)
		}
	} else {
		s.emit(styled.Attribute, 1+len(word(rest[1:], s.l.syntax.letters)))
	}
	s.operand = true
}

func (s *scanner) identifier(rest string) {
	syn := &s.l.syntax
	name := word(rest, syn.letters)
	after := strings.TrimLeft(rest[len(name):], " \t")
	key := name
	if syn.anyCase {
		key = strings.ToLower(key)
	}
	role, known := s.l.words[key]
	afterDot := s.at > 0 && s.text[s.at-1] == '.'
	switch {
	case syn.names != "" && s.first && after != "" && strings.IndexByte(syn.names, after[0]) >= 0:
		role = styled.Attribute
	case known && !afterDot:
	case syn.commands && s.first:
		role = styled.Function
	case strings.HasPrefix(rest[len(name):], "(") || syn.bang && strings.HasPrefix(rest[len(name):], "!("):
		role = styled.Function
	case syn.upperTypes && isUpper(name):
		role = styled.Type
	default:
		role = styled.Plain
	}
	s.operand = role != styled.Keyword
	if role == styled.Plain {
		s.at += len(name)
		return
	}
	s.emit(role, len(name))
}

// isUpper reports whether a name is written as types are: a capital, then not all
// capitals, as constants are.
func isUpper(name string) bool {
	first, size := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first) && (len(name) == size || strings.ToUpper(name) != name)
}

// letter reports whether a name begins here.
func letter(text, more string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || unicode.IsLetter(r) || r < utf8.RuneSelf && strings.IndexByte(more, byte(r)) >= 0 && r != '-'
}

// word is the name that the text begins with.
func word(text, more string) string {
	for i, r := range text {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r < utf8.RuneSelf && strings.IndexByte(more, byte(r)) >= 0 {
			continue
		}
		return text[:i]
	}
	return text
}

// number is how many bytes of the text are a number, its unit included.
func number(text string) int {
	i := 0
	for i < len(text) {
		c := text[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case c == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
		case (c == '+' || c == '-') && i > 0 && (text[i-1] == 'e' || text[i-1] == 'E') && !strings.HasPrefix(text, "0x"):
		default:
			return i
		}
		i++
	}
	return i
}
