package redact

import "strings"

// Lengths from which a prefix with a run of its characters is a token. They are
// those of the reference, page 7, and below what the services give out.
const (
	minAnthropic = 16 // after sk-ant-
	minOpenAI    = 20 // after sk- or sk-proj-
	minAWS       = 16 // after AKIA
	minGitHub    = 30 // after ghp_ and its kin, and after github_pat_
	minSlack     = 10 // after xoxb- and its kin
	minGoogle    = 35 // after AIza
	// minJWTHead and minJWTPart are for a JWT's header with its eyJ, and its other parts.
	minJWTHead, minJWTPart = 10, 8
	// maxDecision is how many bytes of a value are looked at to decide what it
	// is, and maxKeyDecision of a key, so that a text made of prefixes does not
	// cost the square of its length.
	maxDecision, maxKeyDecision = 256, 64
)

// byteClass holds what the scan needs to know of a byte, as bits.
type byteClass uint8

const (
	trigger byteClass = 1 << iota // may be part of a shape or an assignment
	alnum
	dashes       // - and _
	upperNum     // A-Z and 0-9
	nameChar     // what a name on the left of a sign is made of
	closer       // quotes, brackets and marks between a name and its sign
	secretLetter // first letters of the words that kindOf looks for
)

var classes = makeClasses()

func makeClasses() (t [256]byteClass) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z':
			t[c] = alnum | upperNum
		case c >= 'a' && c <= 'z':
			t[c] = alnum
		}
	}
	t['-'] |= dashes
	t['_'] |= dashes
	for c := range t {
		if t[c] != 0 {
			t[c] |= nameChar
		}
	}
	for bit, chars := range map[byteClass]string{
		trigger: "-_KzJ=:", nameChar: ".$", closer: "\"'`[]?!\\)*", secretLetter: "pstaPSTA",
	} {
		for _, c := range chars {
			t[c] |= bit
		}
	}
	return t
}

func isAlnum(c byte) bool { return classes[c]&alnum != 0 }

// run is the length of the run of bytes with one of the classes that s begins with.
func run(s string, want byteClass) int {
	for i := 0; i < len(s); i++ {
		if classes[s[i]]&want == 0 {
			return i
		}
	}
	return len(s)
}

// scan is one pass over a text. It stops only at the rarest byte of each shape
// and looks around from there.
type scan struct {
	s string
	// last is where the newest span ends: what stands before it is gone.
	last int
	// notJWT is up to where a run is known to be no JWT.
	notJWT int
}

// findShapes appends token shapes, private keys and assignments, in order.
func findShapes(s string, spans []span) []span {
	sc := scan{s: s}
	for i := 0; i < len(s); i++ {
		if classes[s[i]]&trigger == 0 {
			continue
		}
		sp, ok := sc.at(i)
		if !ok {
			continue
		}
		sp.start = max(sp.start, sc.last)
		if sp.end <= sp.start {
			continue
		}
		spans = append(spans, sp)
		sc.last = sp.end
		i = max(i, sp.end-1)
	}
	return spans
}

// at looks for the shape whose trigger stands at i.
func (sc *scan) at(i int) (span, bool) {
	s := sc.s
	switch s[i] {
	case '-':
		return sc.dash(i)
	case '_':
		return underscore(s, i)
	case 'K':
		return prefixed(s, i, "A", "KIA", minAWS, upperNum)
	case 'z':
		return prefixed(s, i, "AI", "za", minGoogle, alnum|dashes)
	case 'J':
		return sc.jwt(i)
	default:
		return sc.assignment(i)
	}
}

// prefixed matches before+after around i (after begins at i), then at least n bytes of a class.
func prefixed(s string, i int, before, after string, n int, want byteClass) (span, bool) {
	start, body := i-len(before), i+len(after)
	if start < 0 || body > len(s) || s[start:i] != before || s[i:body] != after {
		return span{}, false
	}
	got := run(s[body:], want)
	return span{start: start, end: body + got}, got >= n
}

func underscore(s string, i int) (span, bool) {
	if sp, ok := prefixed(s, i, "github_pat", "_", minGitHub, alnum|dashes); ok {
		return sp, true
	}
	if i < 3 || strings.IndexByte("pousr", s[i-1]) < 0 {
		return span{}, false
	}
	return prefixed(s, i, "gh"+s[i-1:i], "_", minGitHub, alnum|dashes)
}

// dash handles sk-, xox?- and PEM.
func (sc *scan) dash(i int) (span, bool) {
	s := sc.s
	if strings.HasPrefix(s[i:], "-----") {
		return privateKey(s, i)
	}
	if i >= 4 && s[i-4:i-1] == "xox" && strings.IndexByte("abprs", s[i-1]) >= 0 {
		return prefixed(s, i, s[i-4:i], "-", minSlack, alnum|dashes)
	}
	if i < 2 || s[i-2:i] != "sk" {
		return span{}, false
	}
	if sp, ok := prefixed(s, i, "sk", "-ant-", minAnthropic, alnum|dashes); ok {
		return sp, true
	}
	// Words such as task-list and mask-image end in sk too.
	start := i - 2
	if start > sc.last && isAlnum(s[start-1]) {
		return span{}, false
	}
	body := s[i+1:]
	if !randomLooking(body[:run(body[:min(len(body), maxKeyDecision)], alnum|dashes)]) {
		return span{}, false
	}
	return span{start: start, end: i + 1 + run(body, alnum|dashes)}, true
}

// randomLooking tells a key from a name such as sk-circle-fade-dot-animation: it
// is long and has a digit or a long part without dashes.
func randomLooking(s string) bool {
	const longPart = 16
	if len(s) < minOpenAI {
		return false
	}
	part := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			return true
		case classes[s[i]]&dashes != 0:
			part = 0
		default:
			if part++; part >= longPart {
				return true
			}
		}
	}
	return false
}

// jwt matches eyJ… . … . …, with i at the J.
func (sc *scan) jwt(i int) (span, bool) {
	s := sc.s
	if i < sc.notJWT || i < 2 || s[i-2:i] != "ey" {
		return span{}, false
	}
	end := i + run(s[i:], alnum|dashes)
	sc.notJWT = end // for all that begin within this run; undone by a match
	if end-(i-2) < minJWTHead || end >= len(s) || s[end] != '.' {
		return span{}, false
	}
	payload := run(s[end+1:], alnum|dashes)
	isJSON := strings.HasPrefix(s[end+1:], "eyJ")
	end += 1 + payload
	if payload < minJWTPart || end >= len(s) || s[end] != '.' {
		return span{}, false
	}
	signature := run(s[end+1:], alnum|dashes)
	if signature < minJWTPart && !isJSON {
		return span{}, false
	}
	end += 1 + signature
	for end < len(s) && s[end] == '.' && run(s[end+1:], alnum|dashes) >= minJWTPart { // an encrypted one has five parts
		end += 1 + run(s[end+1:], alnum|dashes)
	}
	return span{start: i - 2, end: end}, true
}
