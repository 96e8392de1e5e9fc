package redact

import "strings"

// value is what stands on the right of a sign.
type value struct {
	quoted     bool
	start, end int // of a quoted value, without its quotes
}

// valueAt reads the value at i; not quoted when no quote opens and closes there.
func valueAt(s string, i int) value {
	at := i
	for at < len(s) && at < i+2 && (isAlnum(s[at]) || s[at] == '@') { // b"…", f'…', @"…"
		at++
	}
	if at >= len(s) || !isQuote(s[at]) && s[at] != '\\' {
		at = i
	}
	open := at
	for at < len(s) && s[at] == '\\' {
		at++
	}
	if at >= len(s) || !isQuote(s[at]) {
		return value{}
	}
	at++
	end := closing(s, at, s[open:at])
	if end < 0 {
		return value{}
	}
	return value{quoted: true, start: at, end: end}
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// closing finds where the quote ends that opened before at, on the same line
// unless it is a backquote; -1 when it does not.
func closing(s string, at int, quote string) int {
	const maxQuoted = 1024
	text := s[at:min(len(s), at+maxQuoted)]
	if quote != "`" {
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			text = text[:n]
		}
	}
	escapes, before := len(quote)-1, 0 // backslashes that belong to the quote, and those just seen
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			before++
			continue
		case text[i] != quote[escapes]:
		case before == escapes, escapes == 0 && before%2 == 0:
			return at + i - escapes
		case before < escapes: // the string around all this ends here
			return -1
		}
		before = 0
	}
	return -1
}

// secretText decides about a quoted value.
func secretText(text string, kind nameKind, name string) bool {
	if len(text) < minSecret || onlyMarkers(text) || isReference(text) || isMask(text) || strings.EqualFold(text, name) {
		return false
	}
	if isNumber(text) {
		return kind == secretName
	}
	// "max_tokens" and "access_token" are words of an interface.
	isWord := kind == tokenName && isIdentifier(text, false) && kindOf(text) != plainName
	return !isWord && !isProse(text) && !isJoin(text)
}

// isJoin reports whether what was taken for a quoted value is the code between
// two strings, as in "password=" + word + "&".
func isJoin(text string) bool {
	rest := strings.TrimLeft(text, " ")
	if rest == "" || strings.IndexByte("+,.;)%&|", rest[0]) < 0 {
		return false
	}
	return rest[0] == ')' || text[0] == ' ' || strings.HasPrefix(rest[1:], " ") || text[len(text)-1] == rest[0]
}

// bare is a value without quotes, and what decides about it.
type bare struct {
	start, end int
	kind       nameKind
	shell      bool // NAME=value as a shell has it
	name       assigned
}

func secretBare(s string, b bare) bool {
	text := s[b.start:b.end]
	if len(text) < minSecret || onlyMarkers(text) || isReference(text) || isMask(text) {
		return false
	}
	if isNumber(text) {
		return b.kind == secretName
	}
	text = strings.ReplaceAll(text, Replacement, "x")
	if b.shell {
		return !isCall(text) && (b.end >= len(s) || strings.IndexByte(",)", s[b.end]) < 0)
	}
	if strings.ContainsAny(text, "()[]{}<>|*`\"'") || strings.IndexByte("$@!#/&", text[0]) >= 0 && !hasDigit(text) {
		return false
	}
	if isPath := strings.ContainsAny(text, ".:"); isIdentifier(text, isPath) {
		return b.kind == secretName && !isPath && b.isWholeLine(s) && text == strings.ToLower(text)
	}
	return true
}

// isWholeLine reports whether name and value are all there is on their line, as in YAML.
func (b bare) isWholeLine(s string) bool {
	line := s[max(0, b.name.start-maxSpaces):b.name.start]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if n := strings.LastIndex(line, `\n`); n >= 0 {
		line = line[n+len(`\n`):]
	}
	rest := s[b.end:min(len(s), b.end+maxSpaces)]
	if n := strings.IndexAny(rest, "\n\\"); n >= 0 {
		rest = rest[:n]
	}
	// read_file puts a number before each line.
	return strings.Trim(line, " \t-0123456789:|") == "" && strings.TrimSpace(rest) == "" && b.name.quote == ""
}

// bareEnd is the length of the value without quotes that s begins with. One of a
// shell's variables ends only at white space and quotes.
func bareEnd(s string, toSpace bool) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '\n', '\r', '"', '\'', '`', '\\', 0:
			return i
		case ',', ';', '&':
			if !toSpace {
				return i
			}
		case '(', '[', '{':
			depth++
			if n := len(Replacement); s[i] == '[' && strings.HasPrefix(s[i:], Replacement) {
				depth--
				i += n - 1
			}
		case ')', ']', '}':
			if depth == 0 && !toSpace {
				return i
			}
			depth--
		}
	}
	return len(s)
}

// onlyMarkers reports whether a text holds nothing that is not replaced already.
func onlyMarkers(text string) bool {
	return strings.Contains(text, Replacement) && strings.ReplaceAll(text, Replacement, "") == ""
}

// isReference reports whether a text names where a value is to be taken from.
func isReference(text string) bool {
	switch {
	case strings.HasPrefix(text, "${"), strings.HasPrefix(text, "$("), strings.HasPrefix(text, "#{"),
		strings.HasPrefix(text, "`"), strings.Contains(text, "{{"):
		return true
	case text[0] == '$':
		return isIdentifier(text[1:], false) || text == strings.ToUpper(text) && isAllName(text[1:])
	case text[0] == '<':
		return strings.IndexByte(text, '>') == len(text)-1
	case text[0] == '{':
		return strings.IndexByte(text, '}') == len(text)-1
	case text[0] == '%':
		return strings.HasSuffix(text, "%") && isAllName(text[1:len(text)-1])
	default:
		return false
	}
}

func isAllName(text string) bool { return text != "" && run(text, alnum|dashes) == len(text) }

// isMask reports whether a text is one sign repeated, as forms show a secret.
func isMask(text string) bool {
	return strings.IndexByte("*.xX-_#", text[0]) >= 0 && strings.Trim(text, text[:1]) == ""
}

// isNumber reports whether a text is a number as programs write them.
func isNumber(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	if hasFold(digits, "0x") {
		return strings.Trim(digits[2:], "0123456789abcdefABCDEF_") == ""
	}
	return digits != "" && digits[0] >= '0' && digits[0] <= '9' && strings.Trim(digits, "0123456789_.,eE+-") == ""
}

// isProse reports whether a text is words for a person: letters, spaces and the
// marks of a sentence.
func isProse(text string) bool {
	if !strings.Contains(strings.TrimSpace(text), " ") {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if isLetter(c) || c >= 0x80 || strings.IndexByte(" .,?!:;'-()/%\"\\", c) >= 0 {
			continue
		}
		return false
	}
	return true
}

func isLetter(c byte) bool { return isAlnum(c) && (c < '0' || c > '9') }

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// isCall reports whether a text is a name with an argument list.
func isCall(text string) bool {
	name, _, ok := strings.Cut(text, "(")
	return ok && isIdentifier(name, true)
}

// isIdentifier reports whether a text is a program's name: without digits, or as
// a path of names (a.b, a::b, a->b, a?.b) with at most three at a part's end, as
// oauth2 and sha256 have.
func isIdentifier(text string, path bool) bool {
	const maxDigits = 3
	digits, empty := 0, true
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isLetter(c) || c == '_' || c == '$':
			if digits > 0 {
				return false
			}
			empty = false
		case path && !empty && c >= '0' && c <= '9' && digits < maxDigits:
			digits++
		case path && strings.IndexByte(".:>-?!", c) >= 0:
			digits, empty = 0, true
		default:
			return false
		}
	}
	return !empty
}
