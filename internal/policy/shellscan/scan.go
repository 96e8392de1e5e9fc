// Package shellscan says what a text for bash would do before it runs: every
// simple command at any depth, its words as far as they are known, its
// redirections, what it reads and writes, and whether it is certainly harmless.
//
// The answer is "certainly one of these" or "not known", never "probably fine".
// The package runs nothing, decides nothing and asks nobody: package policy
// does. It looks at the file system only through Context and to read the
// configuration of a git repository.
package shellscan

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a text. Beyond them it has no list of commands.
const (
	MaxText     = 64 << 10
	MaxCommands = 50
	// maxFound bounds what is derived from wrappers, texts of code and loops.
	maxFound = 1000
	// maxCodeDepth bounds code in code (bash -c "bash -c …").
	maxCodeDepth = 8
)

// Context is what the analysis has to know of the place a text would run in.
type Context struct {
	// Root is the folder the text starts in, Home the home folder; absolute.
	Root, Home string
	// InEnvironment says whether the command's environment has a variable.
	InEnvironment func(name string) bool
	// Inside says whether an absolute path, which may hold ".." and links, lies
	// on the real path inside the root or an added folder.
	Inside func(path string) bool
	// Glob lists the files that an absolute pattern in the form of package path
	// stands for, as far as it pays to look; nil means none. Names that begin with
	// a dot are met only by patterns that do.
	Glob func(pattern string) []string
	// FoldCase compares names without regard to case, as such file systems do.
	FoldCase bool
}

// Script is what one text would do.
type Script struct {
	Text string
	// Unreadable says why there is no list of commands; empty when there is one.
	Unreadable string
	// Commands are the simple commands in the order of the text; those found
	// behind a wrapper or in a text of code follow the command that holds them.
	Commands []*Command
	// ForkBomb is set when a function starts itself in the background or in a pipe.
	ForkBomb bool

	ctx *Context
	// parsed counts the simple commands; links is set when one makes a link.
	parsed int
	links  bool
	// guessed is how many bytes of guesses were made.
	guessed int
}

// maxGuessed bounds what a text can make the analysis guess: a long value used
// many times would grow without end.
const maxGuessed = 256 << 10

func (s *Script) spend(n int) bool {
	s.guessed += n
	return s.guessed <= maxGuessed
}

// Command is one simple command.
type Command struct {
	Words     []Word
	Assigns   []string
	Redirects []Redirect
	// Never says why this is never allowed without a question by a rule or the
	// read-only table; empty when it may be.
	Never string
	// Via is the command that this one was found in: a wrapper's argument, or a
	// text of code. Nil for a command of the text itself.
	Via *Command
	// Open is set when words follow that are only known when it runs (xargs).
	Open bool
	// Dirs are the folders it may run in, absolute; nil when not known.
	Dirs []string
	// Upstream are the commands that feed its standard input through a pipe,
	// Inner those in the substitutions of its words and redirections.
	Upstream, Inner []*Command

	stdin     string // here-document or here-string, as far as it is known
	stdinSure bool   // stdin is certainly that
	testFiles []Word // the operands of [[ … ]] that name files
}

// Redirect is one redirection of a command.
type Redirect struct {
	// Fd is the number or name before the operator, or "".
	Fd, Op string
	Target Word
	// Kind says what it does to the file system.
	Kind RedirectKind
}

// RedirectKind is what a redirection does to the file system.
type RedirectKind uint8

const (
	// RedirectNeutral touches no file that matters: 2>&1, /dev/null.
	RedirectNeutral RedirectKind = iota
	RedirectRead
	RedirectWrite
	// RedirectDevice writes to, or reads from, a device.
	RedirectDevice
	// RedirectNetwork opens /dev/tcp or /dev/udp.
	RedirectNetwork
)

// String is the redirection as it could be written.
func (r Redirect) String() string {
	return r.Fd + r.Op + r.Target.String()
}

// The parsers of bash's language, and of the one of plain shells, where &> is an & and
// a redirection, (( two subshells, and [[ a command.
var parsers, plainParsers = parsersOf(syntax.LangBash), parsersOf(syntax.LangPOSIX)

func parsersOf(language syntax.LangVariant) *sync.Pool {
	return &sync.Pool{New: func() any {
		return syntax.NewParser(syntax.Variant(language), syntax.KeepComments(true))
	}}
}

func parse(text string, from *sync.Pool) (*syntax.File, error) {
	p := from.Get().(*syntax.Parser)
	defer from.Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// program is a parsed text.
type program struct {
	file *syntax.File
	// text is what the tree's positions are in.
	text string
	// coprocs counts the simple coprocesses that were taken out.
	coprocs int
}

// parseText parses a text for walking, as bash sees it. In a coprocess that is no
// compound command the parser takes the command for a name, and assignments and
// redirections for words, so the keyword is blanked there and the text parsed again.
func parseText(text string, from *sync.Pool) (*program, error) {
	text, err := joinLines(text)
	if err != nil {
		return nil, err
	}
	coprocs := 0
	for {
		file, err := parse(text, from)
		if err != nil {
			return nil, err
		}
		at := -1
		if strings.Contains(text, "coproc") {
			at = simpleCoproc(file)
		}
		if at < 0 || !strings.HasPrefix(text[min(at, len(text)):], "coproc") {
			if err := strayComment(file, text); err != nil {
				return nil, err
			}
			return &program{file: file, text: text, coprocs: coprocs}, nil
		}
		if coprocs++; coprocs > MaxCommands {
			return nil, errors.New("it starts too many coprocesses")
		}
		text = text[:at] + "      " + text[at+len("coproc"):]
	}
}

// strayComment is an error where the parser takes the # within a word for the beginning
// of a comment, as it does behind quotes in a substitution: bash would run what it skips.
func strayComment(file *syntax.File, text string) error {
	if !strings.Contains(text, "#") {
		return nil
	}
	var err error
	syntax.Walk(file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.Comment)
		if !ok || err != nil {
			return err == nil
		}
		at := int(c.Hash.Offset())
		if at >= len(text) || at > 0 && !strings.ContainsRune(" \t\n;&|(", rune(text[at-1])) {
			err = errors.New("it has a # in a word, or behind another sign, where it may or may not begin a comment; put a blank before it, or quote it")
		}
		return true
	})
	return err
}

// simpleCoproc is where the first coprocess that is a simple command begins.
func simpleCoproc(file *syntax.File) int {
	at := -1
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CoprocClause); ok && at < 0 {
			if !compound(c.Stmt.Cmd) || c.Name != nil && !identifier(c.Name.Lit()) {
				at = int(c.Coproc.Offset())
			}
		}
		return at < 0
	})
	return at
}

// compound tells the commands before which coproc may take a name.
func compound(c syntax.Command) bool {
	switch c.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause,
		*syntax.TestClause, *syntax.ArithmCmd:
		return true
	}
	return false
}

// Scan analyses a text for bash. Should the analysis itself fail, the text is one
// that cannot be read.
func Scan(text string, ctx *Context) (s *Script) {
	defer func() {
		if r := recover(); r != nil {
			s = &Script{Text: text, ctx: ctx, Unreadable: fmt.Sprintf("the analysis failed: %v", r)}
		}
	}()
	return scan(text, ctx)
}

func scan(text string, ctx *Context) *Script {
	s := &Script{Text: text, ctx: ctx}
	if why := unreadable(text); why != "" {
		s.Unreadable = why
		return s
	}
	p, err := parseText(text, parsers)
	if err != nil {
		s.Unreadable = "it cannot be parsed: " + parseMessage(err)
		return s
	}
	w := newWalker(s, ctx)
	w.file(p)
	if s.evaluates() {
		w.evaluated(p)
	}
	if s.Unreadable != "" {
		s.Commands = nil
	}
	return s
}

func parseMessage(err error) string {
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return "line " + pe.Pos.String() + ": " + pe.Text
	}
	return err.Error()
}

func (s *Script) give(why string) {
	if s.Unreadable == "" {
		s.Unreadable = why
	}
}

// Name is the command word when it is known, as written; else "".
func (c *Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].Known {
		return ""
	}
	return c.Words[0].Text
}

// Known is false when the value of a word cannot be told before it runs.
func (c *Command) Known() bool {
	if c.Open {
		return false
	}
	for i := range c.Words {
		if !c.Words[i].Known {
			return false
		}
	}
	return true
}

// Likely is the words this most likely becomes, for refusing. A word of which
// nothing can be guessed stays, as an unknown word.
func (c *Command) Likely() []Word {
	plain := true
	for i := range c.Words {
		plain = plain && c.Words[i].Known
	}
	if plain {
		return c.Words
	}
	out := make([]Word, 0, len(c.Words)+2)
	for i, w := range c.Words {
		if i == 0 && w.guess == nil && strings.Contains(w.tail, "/") {
			// "$dir"/rm: the last path component of a command is known.
			out = append(out, guessedWord(w.tail))
			continue
		}
		if w.Told() || w.guess == nil {
			out = append(out, w)
			continue
		}
		for _, g := range w.guess {
			word := guessedWord(g)
			word.Tilde, word.Process = w.Tilde, w.Process
			if len(w.guess) == 1 {
				word.pattern = w.pattern
			}
			out = append(out, word)
		}
	}
	return out
}

// Input is the text that a here-document or here-string gives the command, as far
// as it is known.
func (c *Command) Input() string { return c.stdin }

// Program is the last path component of the command word as it most likely is;
// "" when that is not known.
func (c *Command) Program() string {
	if words := c.Likely(); len(words) > 0 {
		return baseName(words[0])
	}
	return ""
}

// Paths are the absolute paths that a word of the command most likely names.
func (s *Script) Paths(c *Command, w Word) []string {
	p, _ := s.paths(c, w)
	return p
}

// signature tells commands apart.
func (c *Command) signature() string {
	var b strings.Builder
	for _, w := range c.Words {
		b.WriteString(w.String())
		if w.Known {
			b.WriteByte(1)
		}
		b.WriteByte(0)
	}
	b.WriteString(strings.Join(c.Assigns, "\x00"))
	for _, r := range c.Redirects {
		b.WriteByte(2)
		b.WriteString(r.String())
	}
	b.WriteByte(3)
	b.WriteString(c.Never)
	b.WriteString(strings.Join(c.Dirs, "\x00"))
	if c.Via != nil {
		b.WriteByte(4)
		b.WriteString(c.Via.signature())
	}
	return b.String()
}

// String is the command as it could be typed.
func (c *Command) String() string {
	parts := append([]string{}, c.Assigns...)
	for i := range c.Words {
		w := c.Words[i]
		text := w.String()
		if q, err := syntax.Quote(w.Text, syntax.LangBash); w.Told() && err == nil {
			text = q
		}
		parts = append(parts, text)
	}
	for _, r := range c.Redirects {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, " ")
}

// Argv is the words as far as they are known.
func (c *Command) Argv() []string {
	argv := make([]string, len(c.Words))
	for i := range c.Words {
		argv[i] = c.Words[i].String()
	}
	return argv
}
