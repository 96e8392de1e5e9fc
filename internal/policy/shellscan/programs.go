package shellscan

import "strings"

// sedFiles separates the files of a sed command from its programs, all of which
// must be ones that cannot write, execute or read other files.
func sedFiles(ops []Word, p *parsed) (files []Word, why string) {
	given := false
	for _, u := range p.uses {
		if u.name == "-e" || u.name == "--expression" {
			given = true
			if !u.value.Known || !harmlessSed(u.value.Text) {
				return nil, "the sed program may write or execute"
			}
		}
	}
	if given {
		return ops, ""
	}
	if len(ops) == 0 {
		return nil, "sed has no program"
	}
	if !ops[0].Known || !harmlessSed(ops[0].Text) {
		return nil, "the sed program may write or execute"
	}
	return ops[1:], ""
}

// harmlessSed reads a sed program as sed does. Whatever it does not recognise is
// not harmless.
func harmlessSed(program string) bool {
	r := &sedReader{s: program}
	for {
		r.skip(" \t\n;}")
		if r.i >= len(r.s) {
			return true
		}
		if r.s[r.i] == '#' {
			r.line()
			continue
		}
		if !r.addresses() {
			return false
		}
		r.skip(" \t!")
		if r.i >= len(r.s) || !r.command() {
			return false
		}
	}
}

type sedReader struct {
	s string
	i int
}

func (r *sedReader) skip(set string) {
	for r.i < len(r.s) && strings.IndexByte(set, r.s[r.i]) >= 0 {
		r.i++
	}
}

func (r *sedReader) line() {
	if n := strings.IndexByte(r.s[r.i:], '\n'); n >= 0 {
		r.i += n
		return
	}
	r.i = len(r.s)
}

func (r *sedReader) addresses() bool {
	for r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case c >= '0' && c <= '9', c == '$', c == '~', c == '+', c == ',', c == ' ', c == '\t':
			r.i++
		case c == '/':
			r.i++
			if !r.until('/') {
				return false
			}
			r.skip("IM")
		case c == '\\':
			return false // an address with another delimiter
		default:
			return true
		}
	}
	return true
}

// until reads to an unescaped delimiter, over bracket expressions.
func (r *sedReader) until(delim byte) bool {
	for r.i < len(r.s) {
		c := r.s[r.i]
		r.i++
		switch {
		case c == delim:
			return true
		case c == '\n':
			return false
		case c == '\\':
			r.i++
		case c == '[' && strings.IndexByte(r.s[r.i:], delim) >= 0:
			// Inside brackets the delimiter ends the text for some and not for others.
			if delimiterInBrackets(r.s[r.i:], delim) {
				return false
			}
		}
	}
	return false
}

func delimiterInBrackets(s string, delim byte) bool {
	from := 0
	if strings.HasPrefix(s, "^") {
		from++
	}
	if strings.HasPrefix(s[from:], "]") {
		from++
	}
	end := strings.IndexByte(s[from:], ']')
	return end >= 0 && strings.IndexByte(s[:from+end], delim) >= 0
}

func (r *sedReader) command() bool {
	c := r.s[r.i]
	r.i++
	switch c {
	case '{', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		return true
	case 'q', 'Q', 'l', 'L':
		r.skip(" \t0123456789")
		return true
	case 'b', 't', 'T', ':':
		r.skip(" \t")
		for r.i < len(r.s) && strings.IndexByte("; }\n", r.s[r.i]) < 0 {
			if c := r.s[r.i]; !isLetter(c) && (c < '0' || c > '9') && c != '_' {
				return false
			}
			r.i++
		}
		return true
	case 'a', 'i', 'c':
		// The text ends with the line, unless a backslash goes on; in a program of
		// several -e parts, or with a backslash, what follows is uncertain.
		if strings.IndexByte(r.s[r.i:], '\\') >= 0 {
			return false
		}
		r.line()
		return true
	case 's', 'y':
		return r.substitute(c)
	}
	return false
}

func (r *sedReader) substitute(c byte) bool {
	if r.i >= len(r.s) {
		return false
	}
	delim := r.s[r.i]
	if delim == '\\' || delim == '\n' || delim == ';' || delim >= 0x80 {
		return false
	}
	r.i++
	if !r.until(delim) || !r.replacement(delim) {
		return false
	}
	if c == 'y' {
		return r.ends()
	}
	r.skip("gpiIM0123456789")
	return r.ends()
}

func (r *sedReader) replacement(delim byte) bool {
	for r.i < len(r.s) {
		c := r.s[r.i]
		r.i++
		switch c {
		case delim:
			return true
		case '\\':
			r.i++
		case '\n':
			return false
		}
	}
	return false
}

// ends requires that the command is over: no w, e or m flag follows.
func (r *sedReader) ends() bool {
	r.skip(" \t")
	return r.i >= len(r.s) || strings.IndexByte(";}\n#", r.s[r.i]) >= 0
}

// awkFiles separates the files of an awk command from its program.
func awkFiles(ops []Word) (files []Word, why string) {
	if len(ops) == 0 {
		return nil, "awk has no program"
	}
	if !ops[0].Known || !harmlessAwk(ops[0].Text) {
		return nil, "the awk program may write, execute or read other files"
	}
	for _, w := range ops[1:] {
		if name, _, ok := strings.Cut(w.Text, "="); ok && identifier(name) {
			continue // an assignment, not a file
		}
		files = append(files, w)
	}
	return files, ""
}

func identifier(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isLetter(c) && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// harmlessAwk accepts programs without anything that reaches outside: strings
// are not told from code, so a mere mention is enough to refuse. Before the first
// print a > compares and a | is part of a pattern: only the output of print and
// printf goes to a file or a command, and only getline reads from one.
func harmlessAwk(program string) bool {
	if strings.ContainsAny(program, "@`") {
		return false
	}
	if at := strings.Index(program, "print"); at >= 0 {
		s := strings.ReplaceAll(program[at:], "||", " ")
		if strings.ContainsAny(strings.ReplaceAll(s, ">=", " "), "|>") {
			return false
		}
	}
	for _, word := range []string{"system", "getline", "ARGV", "ARGC", "ARGIND", "extension", "close", "PROCINFO", "inet"} {
		if strings.Contains(program, word) {
			return false
		}
	}
	return true
}
