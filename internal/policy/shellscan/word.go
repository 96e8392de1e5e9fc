package shellscan

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command after quotes are taken off and braces expanded.
type Word struct {
	// Text is the value; of a word that is not known only the parts that are.
	Text string
	// Known is set when Text is certainly the value, and one word.
	Known bool
	// Guessed is set in the words that a command most likely becomes (see
	// Command.Likely): Text is then a guess, good enough to refuse.
	Guessed bool
	// Lead is the literal text before the first unknown part.
	Lead string
	// Quoted is set when the whole word is in quotes: it stays one word.
	Quoted bool
	// Splits is set when an unquoted command substitution may become any words.
	Splits bool
	// Tilde is set when the word begins with an unquoted ~.
	Tilde bool
	// Number is set when the value is not known but certainly a number: $?.
	Number bool
	// Process is "<" or ">" when the word is one process substitution.
	Process string

	// guess is what a word that is not known most likely becomes, for refusing; nil
	// when that cannot be told. An empty, non-nil guess is a word that vanishes.
	guess []string
	// glob is set when an unquoted pattern character makes it unknown.
	glob bool
	// pattern is the word as a pattern for file names when only that makes it unknown.
	pattern string
	// tail is the literal text after the last unknown part.
	tail string
	// source is how an unknown word was written.
	source string
}

// String is the word's value, or how it was written when that is not known.
func (w Word) String() string {
	if w.Told() || w.source == "" {
		return w.Text
	}
	return w.source
}

// Told is set when Text is the whole value, certainly or most likely.
func (w Word) Told() bool { return w.Known || w.Guessed }

func guessedWord(text string) Word {
	return Word{Text: text, Guessed: true, Lead: text}
}

func knownWord(text string) Word {
	return Word{Text: text, Known: true, Lead: text}
}

// wordReader puts a word together from its parts, twice at once: what is
// certain, and what it most likely becomes.
type wordReader struct {
	w    *walker
	text strings.Builder
	lead strings.Builder
	tail int // where the text after the last unknown part begins
	word Word
	any  bool // something, also an empty quoted string, makes it a word
	// inWord: the word has other parts.
	inWord bool

	field   strings.Builder // the field being guessed
	started bool
	fields  []string
	lost    bool // no guess
}

func (r *wordReader) lit(text string) {
	r.any = true
	r.text.WriteString(text)
	if r.word.Known {
		r.lead.WriteString(text)
	}
	r.field.WriteString(text)
	r.started = true
}

// unknown marks a part whose value is not known; guess and ok are what it most
// likely becomes, and quoted says that it stays inside its field.
func (r *wordReader) unknown(guess string, ok, quoted bool) {
	r.word.Known = false
	r.tail = r.text.Len()
	if quoted {
		r.any = true
		r.started = true
	}
	if !ok || !r.w.script.spend(len(guess)) {
		r.lost = true
		return
	}
	if quoted {
		r.field.WriteString(guess)
		return
	}
	r.split(guess)
}

// positional is "$@": each parameter a word of its own.
func (r *wordReader) positional(args []string) {
	r.word.Known = false
	for i, a := range args {
		if !r.w.script.spend(len(a)) {
			r.lost = true
			return
		}
		if i > 0 {
			r.end()
		}
		r.field.WriteString(a)
		r.started = true
	}
}

// split adds text as bash splits it: blanks end a field.
func (r *wordReader) split(text string) {
	for text != "" {
		i := strings.IndexAny(text, " \t\n")
		if i < 0 {
			r.field.WriteString(text)
			r.started = true
			return
		}
		if i > 0 {
			r.field.WriteString(text[:i])
			r.started = true
		}
		r.end()
		text = text[i+1:]
	}
}

func (r *wordReader) end() {
	if r.started {
		r.fields = append(r.fields, r.field.String())
		r.field.Reset()
		r.started = false
	}
}

func (r *wordReader) finish() Word {
	r.end()
	w := r.word
	w.Text = r.text.String()
	w.Lead = r.lead.String()
	w.tail = w.Text[r.tail:]
	if !r.lost && !w.Known {
		w.guess = r.fields
		if w.guess == nil {
			w.guess = []string{}
		}
	}
	return w
}

// words evaluates one word of the text: braces may make it several, or none.
func (w *walker) words(word *syntax.Word) []Word {
	if text, ok := plainLiteral(word); ok {
		return []Word{knownWord(text)}
	}
	if w.plain { // there braces are characters like any other
		return []Word{w.parts(word.Parts, word)}
	}
	split := &syntax.Word{Parts: word.Parts} // the tree itself stays as it was parsed
	var alternatives [][]syntax.WordPart
	sure := fewBraces(word.Parts)
	if sure {
		syntax.SplitBraces(split)
		alternatives, sure = expandBraces(split.Parts)
	}
	if !sure {
		one := w.parts(split.Parts, word)
		one.Known, one.guess = false, nil
		return []Word{one}
	}
	var out []Word
	for _, parts := range alternatives {
		if emptyParts(parts) {
			continue // {,x} leaves no empty word behind
		}
		out = append(out, w.parts(parts, word))
	}
	return out
}

// plainLiteral tells the words that need no reading: letters without meaning to bash.
func plainLiteral(word *syntax.Word) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	l, ok := word.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(l.Value, "\\*?[{}~") {
		return "", false
	}
	return l.Value, true
}

func emptyParts(parts []syntax.WordPart) bool {
	for _, p := range parts {
		if l, ok := p.(*syntax.Lit); !ok || l.Value != "" {
			return false
		}
	}
	return true
}

// word evaluates a word that braces do not expand (assignments, here-documents).
func (w *walker) word(word *syntax.Word) Word {
	if word == nil {
		return knownWord("")
	}
	return w.parts(word.Parts, word)
}

func (w *walker) parts(parts []syntax.WordPart, whole *syntax.Word) Word {
	r := wordReader{w: w, inWord: len(parts) > 1}
	r.word.Known = true
	r.word.Number = numericParam(parts)
	r.word.Quoted = r.word.Number || allQuoted(parts)
	w.loneDollar(parts)
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.unquoted(p.Value, i == 0)
		case *syntax.SglQuoted:
			r.single(p)
		case *syntax.DblQuoted:
			r.double(p)
		case *syntax.BraceExp: // only when the braces could not be expanded
			r.unknown("", false, false)
			w.inBraces(p)
		default:
			r.expansion(part, false)
		}
	}
	if len(parts) == 1 {
		if ps, ok := parts[0].(*syntax.ProcSubst); ok {
			r.word.Process = ps.Op.String()[:1]
		}
	}
	word := r.finish()
	if !word.Known {
		word.source = w.sourceOf(whole)
	}
	if word.glob {
		word.pattern = globPattern(parts)
	}
	return word
}

// loneDollar refuses a $ that means itself before something that it could be taken
// together with: "$“".
func (w *walker) loneDollar(parts []syntax.WordPart) {
	for i := range len(parts) - 1 {
		if l, ok := parts[i].(*syntax.Lit); ok && strings.HasSuffix(l.Value, "$") && !strings.HasSuffix(l.Value, `\$`) {
			w.script.give("a $ stands before something that it could belong to")
		}
	}
}

// inBraces reads the words of braces that were not expanded, for what they run.
func (w *walker) inBraces(br *syntax.BraceExp) {
	for _, el := range br.Elems {
		w.parts(el.Parts, nil)
	}
}

func allQuoted(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				if pe, ok := in.(*syntax.ParamExp); ok && manyWords(pe) {
					return false
				}
			}
		default:
			return false
		}
	}
	return len(parts) > 0
}

// manyWords tells the expansions that make several words inside quotes: "$@".
func manyWords(pe *syntax.ParamExp) bool {
	if pe.Param == nil || pe.Param.Value == "@" || pe.Names != 0 || pe.Excl {
		return true
	}
	if ix, ok := pe.Index.(*syntax.Word); ok {
		return ix.Lit() == "@"
	}
	return false
}

// unquoted adds text outside quotes: a backslash takes the next character as it
// is, pattern characters make the word unknown, ~ at the start is the home.
func (r *wordReader) unquoted(s string, first bool) {
	if first && strings.HasPrefix(s, "~") {
		r.word.Tilde = true
	}
	if first && r.w != nil {
		if i := assignmentTilde(s); i >= 0 {
			// x=~/y as an argument becomes the home folder too.
			r.unquoted(s[:i], true)
			r.unknown(r.w.ctx.Home, r.w.ctx.Home != "", true)
			r.unquoted(s[i+1:], false)
			return
		}
	}
	if !strings.ContainsAny(s, `\*?[`) {
		r.lit(s)
		return
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			i = min(i+1, len(s)-1) // at the end of the text it is itself
			b.WriteByte(s[i])
			continue
		case '*', '?':
			r.glob(&b)
		case '[':
			if strings.IndexByte(s[i:], ']') > 0 {
				r.glob(&b)
			}
		}
		b.WriteByte(c)
	}
	r.lit(b.String())
}

// assignmentTilde is where a ~ stands that is expanded because the word looks like
// an assignment; -1 when none does.
func assignmentTilde(s string) int {
	name, value, ok := strings.Cut(s, "=")
	if !ok || !identifier(strings.TrimSuffix(name, "+")) {
		return -1
	}
	for i := range len(value) {
		if value[i] == '~' && (i == 0 || value[i-1] == ':') {
			return len(name) + 1 + i
		}
	}
	return -1
}

func (r *wordReader) glob(before *strings.Builder) {
	if r.word.Known {
		r.lead.WriteString(before.String())
		r.word.Known = false
	}
	r.word.glob = true
}

func (r *wordReader) single(q *syntax.SglQuoted) {
	r.w.falseQuotes(q)
	if !q.Dollar {
		r.lit(q.Value)
		return
	}
	text, sure := decodeANSI(q.Value)
	r.lit(text)
	if !sure {
		r.word.Known = false
		r.lost = true
	}
}

// falseQuotes refuses single quotes that the parser takes for quotes and bash does
// not, where that makes a difference: "${x:-'$(y)'}" runs y.
func (w *walker) falseQuotes(q *syntax.SglQuoted) {
	if w.inDouble > 0 && strings.ContainsAny(q.Value, "$`\\\"{}") {
		w.script.give("single quotes stand in an expansion inside double quotes, where they quote nothing")
	}
}

func (r *wordReader) double(q *syntax.DblQuoted) {
	if q.Dollar { // translated by the locale's catalogue
		r.word.Known = false
	}
	r.any, r.started = true, true
	r.w.loneDollar(q.Parts)
	r.w.inDouble++
	defer func() { r.w.inDouble-- }()
	for _, part := range q.Parts {
		if l, ok := part.(*syntax.Lit); ok {
			r.lit(unescapeDouble(l.Value))
			continue
		}
		r.expansion(part, true)
	}
}

// unescapeDouble takes off the backslashes that count inside double quotes.
func unescapeDouble(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expansion adds a part that bash expands.
func (r *wordReader) expansion(part syntax.WordPart, quoted bool) {
	w := r.w
	switch p := part.(type) {
	case *syntax.ParamExp:
		if items, ok := w.loopValue(p); ok && (quoted || plainField(items)) {
			r.lit(items)
			return
		}
		if dir, ok := w.ownFolder(p); ok && (quoted || plainField(dir)) {
			r.lit(dir)
			return
		}
		w.checkParam(p)
		if items, ok := w.arrayItems(p); ok {
			r.positional(items)
			return
		}
		if quoted && p.Param != nil && p.Param.Value == "@" && simpleParam(p) {
			known := w.knowsArgs() // which may find out what they are
			r.positional(w.args)
			r.lost = r.lost || !known
			return
		}
		guess, ok := w.guessParam(p)
		if !ok && r.inWord && !quoted && positional(p) {
			ok = true // r$@m is most likely still meant to be rm
		}
		r.unknown(guess, ok, quoted && !(manyWords(p) && guess == ""))
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			w.script.give("it uses a form of substitution of other shells")
		}
		w.substitution(p.Stmts)
		if !quoted {
			r.word.Splits = true
		}
		guess, ok := w.guessSubst(p.Stmts)
		r.unknown(guess, ok, quoted)
	case *syntax.ArithmExp:
		w.checkArithm(p.X)
		r.unknown("", false, quoted)
	case *syntax.ProcSubst:
		if r.any || r.inWord {
			w.script.give("a process substitution is part of a longer word")
		}
		if r.word.Known && r.text.Len() == 0 {
			r.lead.WriteString("/dev/fd/")
		}
		w.substitution(p.Stmts)
		r.unknown("/dev/fd/63", true, true)
	case *syntax.ExtGlob:
		w.script.give("it uses an extended pattern, which bash takes for something else unless extglob is on")
		r.unknown("", false, quoted)
	default:
		r.unknown("", false, quoted)
	}
}

// positional tells $1, $@ and $*.
func positional(p *syntax.ParamExp) bool {
	return p.Param != nil && simpleParam(p) && (p.Param.Value == "@" || p.Param.Value == "*" || isNumber(p.Param.Value))
}

// plainField tells values that stay one and the same word without quotes.
func plainField(v string) bool {
	return v != "" && !strings.ContainsAny(v, " \t\n*?[\\")
}
