package redact

import "strings"

// nameKind says what a name promises of its value.
type nameKind uint8

const (
	plainName nameKind = iota
	// tokenName is token and api key: a number under it is a count or a limit.
	tokenName
	// secretName is secret and password: a number under it is one.
	secretName
)

const (
	maxName   = 64 // bytes of a name that are looked at
	maxCloser = 8  // bytes of quotes and brackets between a name and its sign
	maxSpaces = 16 // spaces around the sign
)

// assignment matches a value given to a secret's name, with its sign (=, :, :=,
// =>, ==) at i. The span is the value without its quotes.
func (sc *scan) assignment(i int) (span, bool) {
	s := sc.s
	at := i + 1
	if s[i] == ':' && at < len(s) && s[at] == ':' {
		return span{}, false
	}
	name := nameBefore(s, i)
	kind := kindOf(name.text)
	if kind == plainName && s[i] != '=' {
		return span{}, false // the usual case
	}
	for at < len(s) && at < i+3 && (s[at] == '=' || s[at] == '>' || s[at] == '~') {
		at++
	}
	for spaces := at; at < len(s) && at < spaces+maxSpaces && (s[at] == ' ' || s[at] == '\t'); {
		at++
	}
	v := valueAt(s, at)
	if kind == plainName && v.quoted {
		kind = kindOf(nameBefore(s, name.start).text) // var apiKey string = "…"
	}
	if kind == plainName {
		return span{}, false
	}
	if v.quoted {
		return span{start: v.start, end: v.end}, v.end > v.start && secretText(s[v.start:v.end], kind, name.text)
	}
	shell := name.quote == "" && at == i+1 && s[i] == '=' && name.end == i && name.isVariable(s)
	toSpace := shell && name.isUpper() && !name.inQuery(s)
	end := at + bareEnd(s[at:min(len(s), at+maxDecision)], toSpace)
	if !secretBare(s, bare{start: at, end: end, kind: kind, shell: shell, name: name}) {
		return span{}, false
	}
	if end == at+maxDecision {
		end = at + bareEnd(s[at:], toSpace)
	}
	return span{start: at, end: end, quote: name.quote}, true
}

// assigned is the name on the left of a sign.
type assigned struct {
	text       string
	start, end int
	// quote is the quote right after the name, with its backslashes.
	quote string
}

// nameBefore finds the name that ends before i, behind spaces, quotes and brackets.
func nameBefore(s string, i int) assigned {
	end := i
	for end > 0 && end > i-maxSpaces && (s[end-1] == ' ' || s[end-1] == '\t' || s[end-1] == ':') {
		end--
	}
	closers := end
	for end > 0 && end > closers-maxCloser && classes[s[end-1]]&closer != 0 {
		end--
	}
	start := end
	for start > 0 && start > end-maxName && classes[s[start-1]]&nameChar != 0 {
		start--
	}
	if start > 0 && start < end && s[start-1] == '\\' && strings.IndexByte("nrt", s[start]) >= 0 {
		start++ // the letter of an escape is no part of the name
	}
	a := assigned{text: s[start:end], start: start, end: end}
	if n := closers - 1; n >= end && (s[n] == '"' || s[n] == '\'') && strings.Trim(s[end:n], `\`) == "" {
		a.quote = s[end:closers]
	}
	if len(a.text) == 3 && start >= 4 && strings.EqualFold(s[start-4:end], "api key") {
		a.text, a.start = "api_key", start-4
	}
	return a
}

func (a assigned) isUpper() bool {
	return strings.ContainsFunc(a.text, func(r rune) bool { return r >= 'A' && r <= 'Z' }) && a.text == strings.ToUpper(a.text)
}

// inQuery reports whether the name is one of a URL's parameters.
func (a assigned) inQuery(s string) bool {
	return a.start > 0 && (s[a.start-1] == '?' || s[a.start-1] == '&')
}

// isVariable reports whether NAME=value stands where a shell, an .env file, a
// command line or a URL has it, and not where a program does.
func (a assigned) isVariable(s string) bool {
	before := s[:a.start]
	return a.isUpper() || before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, `\n`) || a.inQuery(s) ||
		strings.HasPrefix(a.text, "--") || strings.HasSuffix(before, "export ")
}

// descriptive are last words of names that say something about a secret, and do
// not hold one.
func descriptive(word string) bool {
	switch strings.ToLower(word) {
	case "url", "uri", "endpoint", "type", "name", "file", "path", "dir", "count", "budget", "limit", "length", "len",
		"size", "max", "min", "ttl", "expiry", "expires", "index", "kind", "field", "label", "prompt", "hint",
		"placeholder", "regex", "pattern", "policy", "header", "format", "class", "usage":
		return true
	default:
		return false
	}
}

// kindOf reads a name: camelCase, snake_case, kebab-case and dotted ones alike.
func kindOf(name string) nameKind {
	const shortest = len("token")
	kind := plainName
	for i := 0; i+shortest <= len(name); i++ {
		if classes[name[i]]&secretLetter == 0 {
			continue
		}
		rest := name[i:]
		switch rest[0] | 0x20 {
		case 'p':
			if hasFold(rest, "password") || hasFold(rest, "passwd") || hasFold(rest, "passphrase") {
				kind = secretName
			}
		case 's':
			if hasFold(rest, "secret") && !hasFold(rest, "secretar") {
				kind = secretName
			}
		case 't':
			if hasFold(rest, "token") && !hasFold(rest, "tokeni") {
				kind = max(kind, tokenName)
			}
		case 'a':
			if hasFold(rest, "api") && hasFold(strings.TrimLeft(rest[3:], "_-."), "key") {
				kind = max(kind, tokenName)
			}
		}
	}
	if kind != plainName && descriptive(lastWord(name)) {
		return plainName
	}
	return kind
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// lastWord is the part after the last separator or lower-to-upper step.
func lastWord(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		c, before := name[i], name[i-1]
		if classes[before]&alnum == 0 {
			return name[i:]
		}
		if c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z' {
			return name[i:]
		}
	}
	return name
}
