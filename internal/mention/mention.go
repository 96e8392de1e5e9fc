// Package mention finds the files and folders that a text points at with @path, as
// people write it in messages and in instruction files.
//
// It looks at nothing but the text: whether there is such a file, and whether it may
// be read, is for its callers to find out.
package mention

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ref is one @path of a text.
type Ref struct {
	// Path is what stands behind the @, up to the next white space, or between the
	// quotes of @"a b.txt". It is never empty.
	Path   string
	Quoted bool
}

// maxPath is how long a path may be, in bytes; a longer word is none.
const maxPath = 4096

// Find gives a text's references in order. An @ counts at the beginning of a word only,
// so that an e-mail address is none; brackets and quotes may stand before it.
func Find(text string) []Ref {
	var out []Ref
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '@' && begins(before) {
			if ref, length := read(text[i+1:]); length > 0 {
				out = append(out, ref)
				i += 1 + length
				before = 'x'
				continue
			}
		}
		before = r
		i += size
	}
	return out
}

// begins reports whether a word may begin behind this character.
func begins(before rune) bool {
	return unicode.IsSpace(before) || strings.ContainsRune("([{<\"'`,;:", before)
}

// read takes the path behind an @, and says how many bytes it takes; 0 for none.
func read(text string) (ref Ref, length int) {
	if rest, quoted := strings.CutPrefix(text, `"`); quoted {
		path, _, closed := strings.Cut(rest, `"`)
		if !closed || path == "" || len(path) > maxPath || strings.Contains(path, "\n") {
			return Ref{}, 0
		}
		return Ref{Path: path, Quoted: true}, len(path) + len(`""`)
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '@' })
	if end < 0 {
		end = len(text)
	}
	if end == 0 || end > maxPath || end < len(text) && text[end] == '@' {
		return Ref{}, 0
	}
	return Ref{Path: text[:end]}, end
}

// trailing is what may stand behind a path without being part of it.
const trailing = ".,;:!?)]}>\"'`"

// Spellings are the paths that a reference may mean, the longest first: of one without
// quotes the punctuation at its end may belong to the sentence. The last one has none.
func (r Ref) Spellings() []string {
	out := []string{r.Path}
	if r.Quoted {
		return out
	}
	for path := r.Path; path != ""; {
		last, size := utf8.DecodeLastRuneInString(path)
		if !strings.ContainsRune(trailing, last) {
			break
		}
		if path = path[:len(path)-size]; path != "" {
			out = append(out, path)
		}
	}
	return out
}

// Prose is a Markdown text with its code left out: fenced and indented blocks, and
// spans between backticks. Its lines stay where they are.
func Prose(markdown string) string {
	var b strings.Builder
	fence, blank, list := "", true, false
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(text, " ")
		indented := strings.HasPrefix(text, "    ") || strings.HasPrefix(bare, "\t")
		mark := fenceOf(bare)
		switch {
		case fence != "":
			if closes(bare, fence) {
				fence = ""
			}
		case mark != "" && !indented:
			fence = mark
		case indented && blank && !list:
			// an indented block; the next of its lines is one too
			b.WriteByte('\n')
			continue
		default:
			b.WriteString(withoutSpans(text))
			if strings.TrimSpace(text) != "" && !indented {
				list = isItem(bare)
			}
		}
		blank = strings.TrimSpace(text) == ""
		b.WriteByte('\n')
	}
	return b.String()
}

// fenceOf is the fence that a line opens, such as ```; "" for any other line.
func fenceOf(line string) string {
	const least = 3
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= least && (c == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

func closes(line, fence string) bool {
	line = strings.TrimRight(line, " \t")
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

func isItem(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") {
		return true
	}
	rest := strings.TrimLeft(line, "0123456789")
	return rest != line && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// withoutSpans leaves out what stands between as many backticks.
func withoutSpans(line string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			b.WriteString(line)
			return b.String()
		}
		n := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		end := spanEnd(line[at+n:], n)
		if end < 0 {
			b.WriteString(line[:at+n])
			line = line[at+n:]
			continue
		}
		b.WriteString(line[:at] + "x") // so that no word ends here
		line = line[at+n+end+n:]
	}
}

// spanEnd is where a run of exactly n backticks begins; -1 for none.
func spanEnd(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}
