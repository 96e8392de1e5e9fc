package modelserver

import "bytes"

// Requests grow to megabytes, and each is looked at while its client waits, so
// they are walked here without being decoded. What is walked is valid JSON.

// eachMember calls f for each member of the object raw: the offset before its
// comma (or after the brace), its key without quotes, and its value's span.
func eachMember(raw []byte, f func(from int, key string, start, end int)) {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return
	}
	from := i + 1
	for i = space(raw, from); i < len(raw) && raw[i] == '"'; {
		keyEnd := skip(raw, i)
		start := space(raw, space(raw, keyEnd)+1) // past the colon
		end := skip(raw, start)
		f(from, string(raw[i+1:keyEnd-1]), start, end)
		from = end
		if i = space(raw, end); i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
}

// elements returns the spans of the list raw's elements.
func elements(raw []byte) (spans [][2]int) {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return nil
	}
	for i = space(raw, i+1); i < len(raw) && raw[i] != ']'; {
		end := skip(raw, i)
		spans = append(spans, [2]int{i, end})
		if i = space(raw, end); i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return spans
}

// space returns the offset of the next byte that is no white space.
func space(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skip returns the offset after the value at i.
func skip(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = skipString(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default:
			for i < len(raw) && !bytes.ContainsRune([]byte(",:]} \t\r\n"), rune(raw[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(raw)
}

// skipString returns the offset after the string whose opening quote is at i.
func skipString(raw []byte, i int) int {
	for at := i + 1; ; {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return len(raw)
		}
		at += n
		slashes := 0
		for raw[at-1-slashes] == '\\' {
			slashes++
		}
		at++
		if slashes%2 == 0 {
			return at
		}
	}
}
