package redact

import "strings"

const (
	pemDashes = "-----"
	// minKeyWord is the length of a word that only base64 has; a line of a key
	// has 64 characters, its last one any number.
	minKeyWord = 16
	// maxLabel bounds "BEGIN … PRIVATE KEY BLOCK".
	maxLabel = 64
)

// privateKey matches a PEM private key with its five dashes at i: from BEGIN to
// END; or what follows a BEGIN whose END was cut off; or what stands before an
// END whose BEGIN was cut off.
func privateKey(s string, i int) (span, bool) {
	label, after, ok := pemLabel(s, i)
	if !ok {
		return span{}, false
	}
	if label == "END" {
		start := backOverKey(s, i)
		return span{start: start, end: after}, start < i
	}
	body := s[after:]
	if n := strings.Index(body, pemDashes); n >= 0 {
		if label, end, ok := pemLabel(s, after+n); ok && label == "END" && isKeyBody(body[:n]) {
			return span{start: i, end: end}, true
		}
	}
	end := after + overKey(body)
	return span{start: i, end: end}, end > after
}

// pemLabel reads "-----BEGIN … PRIVATE KEY…-----" at i and returns BEGIN or END
// and where it ends.
func pemLabel(s string, i int) (label string, end int, ok bool) {
	rest := s[i+len(pemDashes):]
	n := strings.Index(rest[:min(len(rest), maxLabel)], pemDashes)
	if n < 0 || !strings.Contains(rest[:n], "PRIVATE KEY") {
		return "", 0, false
	}
	label, _, _ = strings.Cut(rest[:n], " ")
	return label, i + 2*len(pemDashes) + n, label == "BEGIN" || label == "END"
}

// isKeyBody tells a key from code that names both ends of one: it has a long
// base64 word, or nothing but short ones.
func isKeyBody(body string) bool {
	const longWord = 32
	word, foreign := 0, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		if isAlnum(c) || c == '+' || c == '/' || c == '=' {
			if word++; word >= longWord {
				return true
			}
			continue
		}
		word = 0
		foreign = foreign || strings.IndexByte(" \t\r\n\\:,-|", c) < 0
	}
	return !foreign && strings.ContainsFunc(body, func(r rune) bool { return r < 128 && isAlnum(byte(r)) })
}

// overKey is the length of the base64 lines, with line numbers between them,
// that s begins with; 0 when there are none.
func overKey(s string) int {
	end, at := 0, 0
	for at < len(s) {
		skip := skipLineEnd(s[at:])
		word := keyWord(s[at+skip:])
		if word == 0 {
			break
		}
		at += skip + word
		if word >= minKeyWord {
			end = at
			continue
		}
		if strings.Trim(s[at-word:at], "0123456789") == "" {
			continue // a line's number
		}
		if end > 0 { // a key's last line
			end = at
		}
		break
	}
	return end
}

// backOverKey is where the base64 lines that end at i begin; i when there are none.
func backOverKey(s string, i int) int {
	start, at := i, i
	for at > 0 {
		word := at
		for word > 0 && strings.IndexByte(" \t\r\n", s[word-1]) >= 0 {
			word--
		}
		for word >= 2 && s[word-2] == '\\' && (s[word-1] == 'n' || s[word-1] == 'r') {
			word -= 2
		}
		end := word
		for word > 0 && (isAlnum(s[word-1]) || strings.IndexByte("+/=", s[word-1]) >= 0) {
			word--
		}
		if word > 0 && s[word-1] == '\\' { // the letter of an escape is no part of the word
			word++
		}
		switch {
		case end-word >= minKeyWord:
			start = word
		case end > word && start == i && at == i, end > word && strings.Trim(s[word:end], "0123456789") == "":
			// the key's last line, or a line's number
		default:
			return start
		}
		at = word
	}
	return start
}

// skipLineEnd is the length of white space, written as it is or as \n and \r,
// and of what stands between a line's number and its text.
func skipLineEnd(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case strings.IndexByte(" \t\r\n:|", s[i]) >= 0:
			i++
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("nrt", s[i+1]) >= 0:
			i += 2
		default:
			return i
		}
	}
	return i
}

func keyWord(s string) int {
	for i := 0; i < len(s); i++ {
		if !isAlnum(s[i]) && strings.IndexByte("+/=", s[i]) < 0 {
			return i
		}
	}
	return len(s)
}
