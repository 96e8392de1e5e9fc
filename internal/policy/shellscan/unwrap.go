package shellscan

import (
	"path"
	"strings"
)

// wrapper says how a command that starts another one reads its own arguments.
type wrapper struct {
	// values are the short, long the long options that take a value as a word of its own.
	values string
	long   []string
	// skip is how many operands stand before the command.
	skip int
	// assigns: words NAME=value may stand before the command.
	assigns bool
	// open: words are added to the command when it runs.
	open bool
	// plain are the letters of options without a value, where loose is set.
	plain string
	// maybe is how many operands may stand before the command, or may not.
	maybe int
	// loose: it has more options than are known here, so that a word after one of
	// them may be its value or the command; both are looked at.
	loose bool
	// run are the subcommands after which a command stands (uv run x).
	run []string
}

func baseName(w Word) string {
	if !w.Told() {
		return ""
	}
	return path.Base(w.Text)
}

// maxHops bounds wrappers in wrappers.
const maxHops = 40

// derive finds the commands that a command starts through its arguments, and the
// texts of code among them. They are never used to allow, only to refuse.
func (w *walker) derive(c *Command, hops int) {
	words := c.Likely()
	if len(words) == 0 {
		return
	}
	if hops > maxHops {
		w.script.give("its commands are wrapped too deeply")
		return
	}
	list := unwrapped(words)
	if first := words[0]; !first.Told() && first.Lead == "" && len(words) > 1 {
		list = append(list, innerCommand{words: words[1:]}) // it may be nothing
	}
	if vanishes(c.Words) {
		list = append(list, unwrapped(c.Words)...)
	}
	if len(list) > MaxCommands {
		w.script.give("it starts more commands than can be followed")
		return
	}
	for _, inner := range list {
		if len(inner.words) == 0 {
			continue
		}
		d := &Command{Words: inner.words, Assigns: inner.assigns, Via: c, Dirs: c.Dirs, Open: inner.open,
			Upstream: c.Upstream, Inner: c.Inner, stdin: c.stdin, stdinSure: c.stdinSure}
		if w.found(d) == nil {
			return
		}
		// What a wrapper may never run silently, the whole may not.
		if why := neverInterpreter(d.Words); why != "" {
			for up := c; up != nil; up = up.Via {
				if up.Never == "" {
					up.Never = why
				}
			}
		}
		w.derive(d, hops+1)
	}
	w.code(c, words)
}

// vanishes tells whether one of the words is taken for nothing, although it may be
// something: in timeout $n x the command is x in any case.
func vanishes(words []Word) bool {
	for _, w := range words {
		if !w.Told() && w.guess != nil && (len(w.guess) == 0 || len(w.guess) == 1 && w.guess[0] == "") {
			return true
		}
	}
	return false
}

type innerCommand struct {
	words   []Word
	assigns []string
	open    bool
}

// unwrapped lists the commands in the arguments of a wrapper.
func unwrapped(words []Word) []innerCommand {
	name := baseName(words[0])
	switch name {
	case "":
		return nil
	case "find", "gfind":
		return afterFlags(words, true, "-exec", "-execdir", "-ok", "-okdir")
	case "fd", "fdfind":
		return afterFlags(words, false, "-x", "-X", "--exec", "--exec-batch")
	case "hash":
		return hashed(words)
	case "git":
		return gitRuns(words)
	case "nix":
		return afterFlags(words, false, "-c", "--command")
	case "command":
		if len(words) > 1 && strings.HasPrefix(words[1].Text, "-") && strings.ContainsAny(words[1].Text, "vV") {
			return nil
		}
	}
	spec, ok := wrapperOf(name)
	if !ok {
		return nil
	}
	if name == "env" || name == "genv" {
		if split, ok := splitString(words); ok {
			return []innerCommand{{words: split}}
		}
	}
	if len(spec.run) > 0 {
		at := afterSubcommand(words, spec.run)
		if at < 0 {
			return nil
		}
		words = words[at:]
	}
	return spec.inner(words)
}

func afterSubcommand(words []Word, run []string) int {
	for i := 1; i < len(words); i++ {
		for _, r := range run {
			if words[i].Told() && words[i].Text == r {
				return i
			}
		}
	}
	return -1
}

// inner finds where the wrapped command begins. A word that is not known may
// vanish, be an option or be the command itself, and of some wrappers not every
// option is known, so that there may be several.
func (spec wrapper) inner(words []Word) []innerCommand {
	var out []innerCommand
	in := innerCommand{open: spec.open}
	skip, maybe := spec.skip, spec.maybe
	i := 1
	options, doubtful := true, false // doubtful: the last word may take this one as its value
	replaced := ""
	for i < len(words) && len(out) <= MaxCommands {
		w := words[i]
		text := w.Text
		switch {
		case !w.Told() && w.Lead == "" && skip == 0:
			out = append(out, in.from(words[i:], spec.open, replaced))
			i++
		case options && text == "--":
			options, doubtful = false, false
			i++
		case options && strings.HasPrefix(text, "--"):
			n := spec.longValue(text)
			doubtful = spec.loose && n == 0 && !strings.Contains(text, "=")
			i += 1 + n
		case options && len(text) > 1 && text[0] == '-':
			n, letter := spec.shortValue(text)
			if letter == 'I' || letter == 'J' {
				replaced = shortText(text, n, words, i)
			}
			doubtful = spec.loose && letter == 0 && strings.Trim(text[1:], spec.plain) != ""
			i += 1 + n
		case spec.assigns && (isAssignment(text) || text == "-"):
			in.assigns = append(in.assigns, w.String())
			i++
		case skip > 0:
			skip--
			i++
		default:
			out = append(out, in.from(words[i:], spec.open, replaced))
			if !doubtful {
				if maybe == 0 {
					return out
				}
				maybe--
			}
			doubtful = false
			i++
		}
	}
	return out
}

// from is the command that begins with a word of the wrapper's.
func (in innerCommand) from(words []Word, open bool, replaced string) innerCommand {
	in.words = placeholders(words, open, replaced)
	return in
}

// isAssignment tells what env and sudo take for an assignment: any word with a =.
func isAssignment(text string) bool { return strings.Contains(text, "=") }

func (spec wrapper) longValue(text string) int {
	name := text[2:]
	if strings.Contains(name, "=") {
		return 0
	}
	for _, l := range spec.long {
		if strings.HasPrefix(l, name) {
			return 1
		}
	}
	return 0
}

// shortValue is 1 when a cluster of options takes its value from the next word,
// and the letter that takes a value.
func (spec wrapper) shortValue(text string) (int, byte) {
	for k := 1; k < len(text); k++ {
		if strings.IndexByte(spec.values, text[k]) >= 0 {
			if k+1 == len(text) {
				return 1, text[k]
			}
			return 0, text[k]
		}
	}
	return 0, 0
}

func shortText(text string, n int, words []Word, i int) string {
	if n == 1 && i+1 < len(words) {
		return words[i+1].Text
	}
	return text[2:]
}

// placeholders makes words unknown in which the wrapper puts something.
func placeholders(words []Word, open bool, replaced string) []Word {
	if !open {
		return words
	}
	out := append([]Word(nil), words...)
	for i, w := range out {
		for _, mark := range []string{"{}", replaced} {
			if mark != "" && strings.Contains(w.Text, mark) {
				lead, _, _ := strings.Cut(w.Text, mark)
				out[i] = Word{Text: lead, Lead: lead, source: w.String()}
			}
		}
	}
	return out
}

// afterFlags lists the commands that stand after options of find and fd.
func afterFlags(words []Word, ends bool, flags ...string) []innerCommand {
	var out []innerCommand
	taken := 0
	for i := 1; i < len(words) && len(out) <= MaxCommands; i++ {
		for _, f := range flags {
			if !words[i].Told() || words[i].Text != f {
				continue
			}
			end := len(words)
			for k := i + 1; ends && k < len(words); k++ {
				if words[k].Text == ";" || words[k].Text == "+" && words[k-1].Text == "{}" {
					end = k
					break
				}
			}
			if taken += end - i; taken > MaxText/2 {
				return make([]innerCommand, MaxCommands+1) // too many to follow
			}
			if end > i+1 {
				out = append(out, innerCommand{words: placeholders(words[i+1:end], true, ""), open: !ends})
			}
		}
	}
	return out
}

// hashed: hash -p path name makes later uses of the name run the path.
func hashed(words []Word) []innerCommand {
	for i := 1; i+1 < len(words); i++ {
		if words[i].Text == "-p" {
			return []innerCommand{{words: words[i+1 : i+2], open: true}}
		}
	}
	return nil
}

// gitRuns: git bisect run command.
func gitRuns(words []Word) []innerCommand {
	for i := 1; i+2 < len(words); i++ {
		if words[i].Text == "bisect" && words[i+1].Text == "run" {
			return []innerCommand{{words: words[i+2:]}}
		}
	}
	return nil
}

// splitString unfolds env -S 'a b' c into env a b c.
func splitString(words []Word) ([]Word, bool) {
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		var code string
		from := i + 1
		switch {
		case !words[i].Told():
			return nil, false
		case strings.HasPrefix(text, "--s") && abbreviates(text, "--split-string"):
			_, value, attached := strings.Cut(text, "=")
			code = value
			if !attached && from < len(words) {
				code = words[from].Text
				from++
			}
		case len(text) > 1 && text[0] == '-' && text[1] != '-':
			k := strings.IndexByte(text, 'S')
			if v := strings.IndexAny(text[1:], "uC"); k < 0 || v >= 0 && v+1 < k {
				if v >= 0 && v+2 == len(text) {
					i++ // -u NAME
				}
				continue
			}
			code = text[k+1:]
			if code == "" && from < len(words) {
				code = words[from].Text
				from++
			}
		case isAssignment(text), strings.HasPrefix(text, "-"):
			continue
		default:
			return nil, false
		}
		out := append([]Word(nil), words[:i]...)
		if strings.HasPrefix(strings.TrimLeft(code, " \t\n"), "#") {
			code = "" // a comment
		}
		for _, f := range splitWords(code) {
			out = append(out, knownWord(f))
		}
		return append(out, words[from:]...), true
	}
	return nil, false
}

// splitWords splits a text as a shell would when nothing in it expands.
func splitWords(text string) []string {
	file, err := parse(text, parsers)
	if err != nil || len(file.Stmts) != 1 {
		return strings.Fields(text)
	}
	call, ok := file.Stmts[0].Cmd.(*callExpr)
	if !ok {
		return strings.Fields(text)
	}
	var out []string
	for _, a := range call.Assigns {
		value, ok := staticWord(a.Value)
		if a.Name == nil || !ok {
			return strings.Fields(text)
		}
		out = append(out, a.Name.Value+"="+value)
	}
	for _, a := range call.Args {
		word, ok := staticWord(a)
		if !ok {
			return strings.Fields(text)
		}
		out = append(out, word)
	}
	return out
}

// allowInner takes off the wrappers behind which a command may still be allowed,
// as long as their options are known ones.
func allowInner(words []Word) []Word {
	for hops := 0; hops < 8; hops++ {
		if len(words) < 2 || !words[0].Known {
			return words
		}
		n := knownWrapper(words)
		if n <= 0 || n >= len(words) {
			return words
		}
		words = words[n:]
	}
	return words
}

// knownLongValue accepts the long options with an attached value.
func knownLongValue(name, text string) bool {
	option, value, ok := strings.Cut(text, "=")
	if !ok || value == "" {
		return false
	}
	switch name + " " + option {
	case "timeout --signal", "timeout --kill-after", "nice --adjustment", "stdbuf --input", "stdbuf --output", "stdbuf --error":
		return true
	}
	return false
}

// knownWrapper is how many words a wrapper takes before the command; 0 when it
// is none, or uses anything but its known options.
func knownWrapper(words []Word) int {
	var values, flags string
	skip := 0
	switch words[0].Text {
	case "timeout":
		values, flags, skip = "ks", "fpv", 1
	case "nice":
		values = "n"
	case "nohup":
	case "stdbuf":
		values = "ioe"
	case "time":
		flags = "pv"
	default:
		return 0
	}
	i := 1
	for ; i < len(words); i++ {
		w := words[i]
		if !w.Known {
			return 0
		}
		text := w.Text
		if len(text) < 2 || text[0] != '-' {
			break
		}
		if text == "--" {
			i++
			break
		}
		switch {
		case text == "--foreground" || text == "--preserve-status" || text == "--verbose":
			if words[0].Text != "timeout" {
				return 0
			}
		case knownLongValue(words[0].Text, text):
		case len(text) == 2 && strings.IndexByte(flags, text[1]) >= 0:
		case len(text) == 2 && strings.IndexByte(values, text[1]) >= 0:
			if i++; i < len(words) && !words[i].Known {
				return 0 // it may become several words
			}
		case strings.IndexByte(values, text[1]) >= 0:
		case words[0].Text == "nice" && isNumber(text[1:]):
		default:
			return 0
		}
	}
	if i+skip >= len(words) {
		return 0
	}
	for k := i; k < i+skip; k++ {
		if !words[k].Known {
			return 0
		}
	}
	return i + skip
}
