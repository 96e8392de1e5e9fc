package ignore

import "strings"

// byteSet is a set of bytes, as a bracket expression makes one.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }
func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }

func (s *byteSet) addRange(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		s.add(byte(c))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// foldCase adds the other case of every letter.
func (s *byteSet) foldCase() {
	for c := byte('a'); c <= 'z'; c++ {
		if s.has(c) || s.has(c-'a'+'A') {
			s.add(c)
			s.add(c - 'a' + 'A')
		}
	}
}

// compileSet reads a bracket expression after its "[", and says how long it is
// with its "]". ok is false when it has no end or names an unknown class: git
// then takes the whole pattern as one that matches nothing.
func compileSet(s string, fold bool) (set *byteSet, size int, ok bool) {
	set = &byteSet{}
	i := 0
	negated := strings.HasPrefix(s, "!") || strings.HasPrefix(s, "^")
	if negated {
		i++
	}
	var before byte // the last single character, which may begin a range; 0 for none
	for first := true; ; first = false {
		if i >= len(s) {
			return nil, 0, false
		}
		c := s[i]
		switch {
		case c == ']' && !first:
			if fold {
				set.foldCase()
			}
			if negated {
				set.invert()
			}
			return set, i + 1, true
		case c == '-' && before != 0 && i+1 < len(s) && s[i+1] != ']':
			i++
			to := s[i]
			if to == '\\' {
				if i++; i >= len(s) {
					return nil, 0, false
				}
				to = s[i]
			}
			set.addRange(before, to)
			before = 0
		case c == '[' && i+1 < len(s) && s[i+1] == ':':
			end := strings.IndexByte(s[i+2:], ']')
			if end < 0 {
				return nil, 0, false
			}
			name := s[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") { // no class after all: a plain "["
				set.add('[')
				before = '['
				break
			}
			if !set.addClass(strings.TrimSuffix(name, ":")) {
				return nil, 0, false
			}
			i += 2 + end
			before = 0
		default:
			if c == '\\' {
				if i++; i >= len(s) {
					return nil, 0, false
				}
				c = s[i]
			}
			set.add(c)
			before = c
		}
		i++
	}
}

// addClass adds a POSIX class, ASCII only as in git.
func (s *byteSet) addClass(name string) bool {
	switch name {
	case "alnum":
		s.addRange('0', '9')
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "alpha":
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "blank":
		s.add(' ')
		s.add('\t')
	case "cntrl":
		s.addRange(0, 0x1f)
		s.add(0x7f)
	case "digit":
		s.addRange('0', '9')
	case "graph":
		s.addRange('!', '~')
	case "lower":
		s.addRange('a', 'z')
	case "print":
		s.addRange(' ', '~')
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	case "space":
		s.add(' ')
		s.addRange('\t', '\r')
	case "upper":
		s.addRange('A', 'Z')
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('A', 'F')
		s.addRange('a', 'f')
	default:
		return false
	}
	return true
}
