package shellscan

import (
	"strings"
	"sync"
)

// A tool's options are written as one line of tokens:
//
//	-abc       options of one letter without a value
//	-k:  -i?   with a value; with a value only when it is attached
//	--all  --sort=  --color=?
//
// before a token: ! it executes, writes or loads configuration; ~ it is known,
// but takes the command off the read-only table; nothing: it is harmless.
// after it: @ its value names a file that is read.

type option struct {
	value   byte // 0 none, ':' required, '?' only attached
	marked  bool
	allowed bool
	file    bool
}

// optionStyle is how a tool reads its command line.
type optionStyle struct {
	// abbreviated: long options may be shortened (getopt_long).
	abbreviated bool
	// single: -name is a long option too (Go, find-like tools).
	single bool
	// ordered: the first operand ends the options.
	ordered bool
	// digits: -5 is a number.
	digits bool
	// loose: -- does not end what the tool reads as options.
	loose bool
}

type optionTable struct {
	optionStyle
	short map[byte]option
	long  map[string]option
}

// table parses a line of tokens when it is first used.
func table(style optionStyle, line string) func() *optionTable {
	return sync.OnceValue(func() *optionTable {
		t := &optionTable{optionStyle: style, short: map[byte]option{}, long: map[string]option{}}
		for _, token := range strings.Fields(line) {
			t.add(token)
		}
		return t
	})
}

func (t *optionTable) add(token string) {
	o := option{allowed: true}
	switch token[0] {
	case '!':
		o.marked, o.allowed = true, false
		token = token[1:]
	case '~':
		o.allowed = false
		token = token[1:]
	}
	token, o.file = strings.CutSuffix(token, "@")
	long := strings.HasPrefix(token, "--")
	switch {
	case strings.HasSuffix(token, "=?"), !long && strings.HasSuffix(token, "?"):
		o.value = '?'
	case strings.HasSuffix(token, "="), !long && strings.HasSuffix(token, ":"):
		o.value = ':'
	}
	token = strings.TrimRight(token, "=?:")
	if long {
		t.long[token[2:]] = o
		return
	}
	for i := 1; i < len(token); i++ {
		t.short[token[i]] = o
	}
}

// mark is a word that a star of a rule does not cover: its first spell bytes
// must stand in the rule.
type mark struct{ index, spell int }

// use is one option that was found.
type use struct {
	name  string // "-e", "--expression"
	value Word   // zero when it takes none
	index int
}

// parsed is a command line as the tool reads it.
type parsed struct {
	operands []int
	uses     []use
	files    []Word
	marks    []mark
	// off says why the command is not on the read-only table.
	off string
	// end is the index of "--", or -1.
	end int
}

// parse reads words after the command's name; indexes are into words.
func (t *optionTable) parse(words []Word) *parsed {
	p := &parsed{end: -1}
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case p.end >= 0, w.Text == "-", w.Text == "" && w.Known:
			p.operands = append(p.operands, i)
		case !w.Known && (w.Lead == "" || w.Lead[0] == '-'):
			p.take(w.String() + " is not known before it runs")
			p.operands = append(p.operands, i)
		case w.Lead[0] != '-':
			p.operands = append(p.operands, i)
			if t.ordered {
				p.rest(len(words), i+1)
				return p
			}
		case w.Text == "--" && !t.loose:
			p.end = i
		case strings.HasPrefix(w.Text, "--") || t.single && len(w.Text) > 2 || t.single && t.short[w.Text[1]] == (option{}):
			i = t.parseLong(p, words, i)
		default:
			i = t.parseShort(p, words, i)
		}
	}
	return p
}

func (p *parsed) rest(n, from int) {
	for i := from; i < n; i++ {
		p.operands = append(p.operands, i)
	}
}

func (p *parsed) take(why string) {
	if p.off == "" {
		p.off = why
	}
}

// lookup finds a long option as the tool does: exactly, else, where the tool
// does so, by its beginning. A beginning of a marked option always counts.
func (t *optionTable) lookup(name string) (full string, o option, ok bool) {
	if o, ok = t.long[name]; ok {
		return name, o, true
	}
	if name == "" || t.single {
		return name, option{}, false
	}
	for long, candidate := range t.long {
		if !strings.HasPrefix(long, name) || !candidate.marked && !t.abbreviated {
			continue
		}
		// Of several, the one that must not be used; among equals, the first by name.
		worse := candidate.marked && !o.marked || candidate.marked == o.marked && !candidate.allowed && o.allowed
		same := candidate.marked == o.marked && candidate.allowed == o.allowed
		if !ok || worse || same && long < full {
			full, o, ok = long, candidate, true
		}
	}
	return full, o, ok
}

func (t *optionTable) parseLong(p *parsed, words []Word, i int) int {
	text := words[i].Text
	name := strings.TrimLeft(text, "-")
	name, value, attached := strings.Cut(name, "=")
	full, o, ok := t.lookup(name)
	if !ok {
		p.take("the option " + text + " is not on the read-only table")
		return i
	}
	u := use{name: "--" + full, index: i}
	if o.marked {
		p.marks = append(p.marks, mark{index: i, spell: len(text) - len(value)})
	}
	switch {
	case attached:
		u.value = knownWord(value)
		if !words[i].Known {
			u.value = Word{source: words[i].source}
		}
	case o.value == ':' && i+1 < len(words):
		i++
		u.value = words[i]
	}
	p.used(u, o, text)
	return i
}

func (t *optionTable) parseShort(p *parsed, words []Word, i int) int {
	text := words[i].Text
	if t.digits && isNumber(text[1:]) {
		return i
	}
	at := i
	for k := 1; k < len(text); k++ {
		o, ok := t.short[text[k]]
		if !ok {
			p.take("the option -" + text[k:k+1] + " is not on the read-only table")
			continue
		}
		u := use{name: "-" + text[k:k+1], index: at}
		if o.marked {
			p.marks = append(p.marks, mark{index: at, spell: k + 1})
		}
		stop := false
		switch {
		case o.value != 0 && k+1 < len(text):
			u.value = knownWord(text[k+1:])
			if !words[at].Known {
				u.value = Word{source: words[at].source}
			}
			stop = true
		case o.value == ':' && i+1 < len(words):
			i++
			u.value = words[i]
			stop = true
		}
		p.used(u, o, u.name)
		if stop {
			break
		}
	}
	return i
}

func (p *parsed) used(u use, o option, shown string) {
	p.uses = append(p.uses, u)
	if !o.allowed {
		p.take("the option " + shown + " is not on the read-only table")
	}
	if o.value != 0 && !u.value.Known && u.value.source != "" {
		p.take("the value of " + shown + " is not known before it runs")
	}
	if o.file && (u.value.Known || u.value.source != "") {
		p.files = append(p.files, u.value)
	}
}

// has tells whether one of the options was used.
func (p *parsed) has(names ...string) bool {
	for _, u := range p.uses {
		for _, n := range names {
			if u.name == n {
				return true
			}
		}
	}
	return false
}
