package shellscan

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pattern is the pattern of a command rule: words, in which a star stands for
// any number of words, or inside a word for any characters of that word.
type Pattern struct {
	text  string
	words []patternWord
	// glued: the star at the end of the last word covers further words too.
	glued bool
}

// patternWord is the literal pieces between the stars of one word.
type patternWord struct {
	pieces []string
	any    bool // the word is a star
}

func (p patternWord) literal() bool { return !p.any && len(p.pieces) == 1 }

// CompilePattern reads the pattern of a command rule. The error says what is
// wrong with it; never says why it can never match a command, if so.
func CompilePattern(text string) (p *Pattern, never string, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, "", errors.New("the pattern is empty")
	}
	file, err := parse(text, parsers)
	if err != nil {
		return nil, "", errors.New("the pattern cannot be parsed: " + parseMessage(err))
	}
	p = &Pattern{text: text}
	if len(file.Stmts) != 1 {
		return p, "a rule covers one simple command, never a list of them", nil
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case !ok || stmt.Background || stmt.Negated:
		return p, "a rule covers one simple command, never a list of them", nil
	case len(stmt.Redirs) > 0:
		return p, "a command rule never covers a redirection; a rule for write_file or @edit does", nil
	case len(call.Assigns) > 0:
		return p, "a command that assigns a variable is never covered by a rule", nil
	}
	for _, arg := range call.Args {
		if !fewBraces(arg.Parts) {
			return p, "its braces are not understood", nil
		}
		syntax.SplitBraces(arg)
		alternatives, sure := expandBraces(arg.Parts)
		if !sure {
			return p, "its braces are not understood", nil
		}
		for _, parts := range alternatives {
			word, ok := compileWord(parts)
			if !ok {
				return p, "it has an expansion, whose value is not known", nil
			}
			p.words = append(p.words, word)
		}
	}
	last := p.words[len(p.words)-1]
	p.glued = !last.any && len(last.pieces) > 1 && last.pieces[len(last.pieces)-1] == ""
	return p, "", nil
}

func compileWord(parts []syntax.WordPart) (patternWord, bool) {
	w := patternWord{pieces: []string{""}}
	add := func(s string) { w.pieces[len(w.pieces)-1] += s }
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(part.Value); i++ {
				switch c := part.Value[i]; {
				case c == '\\' && i+1 < len(part.Value):
					i++
					add(part.Value[i : i+1])
				case c == '*':
					w.pieces = append(w.pieces, "")
				default:
					add(part.Value[i : i+1])
				}
			}
		default:
			text, ok := staticWord(&syntax.Word{Parts: []syntax.WordPart{part}})
			if !ok {
				return w, false
			}
			add(text)
		}
	}
	w.any = len(w.pieces) > 1 && strings.Join(w.pieces, "") == ""
	return w, true
}

// String is the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// Command is the pattern's command word when it is literal, else "".
func (p *Pattern) Command() string {
	if len(p.words) == 0 || !p.words[0].literal() {
		return ""
	}
	return p.words[0].pieces[0]
}

// Broad says why an allow rule covers more than it looks; "" when it does not.
func (p *Pattern) Broad() string {
	if len(p.words) == 0 {
		return ""
	}
	first := p.words[0]
	if first.any {
		return "it covers every command whose words are known"
	}
	if !first.literal() {
		return "it covers every command whose name begins like this: " + p.text + " is not only " + first.pieces[0]
	}
	name := path.Base(first.pieces[0])
	starred := p.glued || p.words[len(p.words)-1].any
	switch {
	case !starred:
		return ""
	case isInterpreter(name):
		return name + " runs whatever program it is given"
	case len(p.words) == 2 && (name == "npm" || name == "cargo" || name == "go" || name == "make" || name == "docker" || name == "kubectl"):
		return "with any arguments " + name + " runs other programs"
	}
	if spec, ok := wrapperOf(name); ok && (len(spec.run) == 0 || slices.Contains(spec.run, p.words[1].pieces[0])) {
		return name + " runs the command in its arguments"
	}
	if last := len(p.words) - 2; last >= 0 && p.words[last].literal() {
		switch p.words[last].pieces[0] {
		case "-exec", "-execdir", "-ok", "-okdir":
			return "the star covers the command that find runs"
		}
	}
	return ""
}

func isInterpreter(name string) bool {
	_, ok := codeFlags(name)
	return ok
}

// Covers tells whether an allow rule certainly covers a simple command: with the
// rule's words, and with no star over a word that may do more than it shows.
func (p *Pattern) Covers(c *Command) bool {
	if c.Never != "" || c.Open || len(c.Words) == 0 {
		return false
	}
	if p.coversWords(c.Words) {
		return true
	}
	inner := allowInner(c.Words)
	return len(inner) < len(c.Words) && p.coversWords(inner)
}

func (p *Pattern) coversWords(words []Word) bool {
	if !words[0].Known || len(p.words) == 0 {
		return false
	}
	if first := p.words[0]; !first.literal() && strings.ContainsRune(words[0].Text, '/') {
		// A star in the command's place covers plain names, and paths only in the
		// folder the rule spells.
		if !strings.HasPrefix(words[0].Text, first.pieces[0]) || !strings.ContainsRune(first.pieces[0], '/') ||
			strings.Contains(words[0].Text, "..") {
			return false
		}
	}
	if p.words[0].literal() && p.words[0].pieces[0] != words[0].Text {
		return false
	}
	m := matcher{pattern: p, words: words}
	if len(p.words) > 0 && (p.glued || p.hasStar()) {
		m.cover = coverable(words)
	}
	return m.match(0, 0)
}

func (p *Pattern) hasStar() bool {
	for _, w := range p.words {
		if !w.literal() {
			return true
		}
	}
	return false
}

// Hits tells whether a deny or ask rule matches a command. The command word is
// compared by its last path component, and stars cover everything.
func (p *Pattern) Hits(c *Command, fold bool) bool {
	words := c.Likely()
	if len(words) == 0 || len(p.words) == 0 {
		return false
	}
	m := matcher{pattern: p, words: words, deny: true, fold: fold, open: c.Open}
	return m.match(0, 0)
}

// matcher compares a pattern with words.
type matcher struct {
	pattern *Pattern
	words   []Word
	// cover is what a star may stand for, by word; nil when all.
	cover []coverage
	deny  bool
	fold  bool
	// open: unknown words follow, which only stars cover.
	open  bool
	steps int
}

// maxSteps bounds the search, which is exponential in the number of stars.
const maxSteps = 20000

func (m *matcher) match(p, w int) bool {
	if m.steps++; m.steps > maxSteps {
		return m.deny // too involved to tell: refuse
	}
	words := m.pattern.words
	if p == len(words) {
		return w == len(m.words) && (!m.open || m.deny)
	}
	if words[p].any {
		for end := w; ; end++ {
			if m.match(p+1, end) {
				return true
			}
			if end == len(m.words) || !m.starCovers(end, 0) {
				return false
			}
		}
	}
	if w == len(m.words) || !m.wordMatches(p, w) {
		return false
	}
	if m.pattern.glued && p == len(words)-1 {
		for i := w + 1; i < len(m.words); i++ {
			if !m.starCovers(i, 0) {
				return false
			}
		}
		return true
	}
	return m.match(p+1, w+1)
}

// starCovers tells whether a star may stand for a word, the first spelled bytes
// of which stand in the pattern.
func (m *matcher) starCovers(w, spelled int) bool {
	if m.deny || m.cover == nil {
		return true
	}
	c := m.cover[w]
	return spelled >= c.spell && (c.free || m.words[w].Known)
}

func (m *matcher) wordMatches(p, w int) bool {
	pw, word := m.pattern.words[p], m.words[w]
	text := word.Text
	if w == 0 && m.deny && word.Told() {
		if last := pw.pieces[len(pw.pieces)-1]; pw.literal() || !strings.Contains(strings.Join(pw.pieces, ""), "/") {
			text = path.Base(text)
			if pw.literal() {
				return m.equal(path.Base(last), text)
			}
		}
	}
	if pw.literal() {
		return m.told(word) && m.equal(pw.pieces[0], text)
	}
	if !m.starCovers(w, len(pw.pieces[0])) {
		return false
	}
	if !m.told(word) {
		return m.hasPrefix(word.Lead, pw.pieces[0]) && len(pw.pieces) == 2 && pw.pieces[1] == ""
	}
	return m.glob(pw.pieces, text)
}

// told: what is allowed must be certain, what is refused need not be.
func (m *matcher) told(w Word) bool { return w.Known || m.deny && w.Guessed }

func (m *matcher) equal(a, b string) bool {
	if m.fold {
		return strings.EqualFold(a, b)
	}
	return a == b
}

func (m *matcher) hasPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && m.equal(s[:len(prefix)], prefix)
}

// glob compares pieces with stars between them.
func (m *matcher) glob(pieces []string, text string) bool {
	if m.fold {
		text = strings.ToLower(text)
		lower := make([]string, len(pieces))
		for i, p := range pieces {
			lower[i] = strings.ToLower(p)
		}
		pieces = lower
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if !strings.HasPrefix(text, first) || len(text) < len(first)+len(last) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return true
}

// QuotePattern writes known words as a pattern that matches exactly them.
func QuotePattern(words []Word) (string, bool) {
	out := make([]string, len(words))
	for i, w := range words {
		if !w.Known {
			return "", false
		}
		q, err := syntax.Quote(w.Text, syntax.LangBash)
		if err != nil {
			return "", false
		}
		out[i] = q
	}
	return strings.Join(out, " "), true
}

// Interprets tells programs that run code they are given.
func Interprets(name string) bool { return isInterpreter(name) }
