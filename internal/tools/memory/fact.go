package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"garuda/internal/core"
)

// Kinds of facts.
const (
	kindFact     = "fact"
	kindDecision = "decision"
	kindGotcha   = "gotcha"
	kindCommand  = "command"
)

func isKind(s string) bool {
	return slices.Contains([]string{kindFact, kindDecision, kindGotcha, kindCommand}, s)
}

// Fact is one line of the memory.
type Fact struct {
	// Kind is fact, decision, gotcha or command; Text is one line.
	Kind, Text string
	// Hits is how often recall has found it.
	Hits int
	// Trusted facts were written by this machine's Garuda, or the user said yes.
	Trusted bool
}

// String is the fact as its line in the file.
func (f Fact) String() string { return "- [" + f.Kind + "] " + f.Text }

// hash stands for the fact where its text is not kept.
func (f Fact) hash() string {
	sum := sha256.Sum256([]byte(f.String()))
	return hex.EncodeToString(sum[:])
}

func hashSet(facts []Fact) map[string]bool {
	set := make(map[string]bool, len(facts))
	for _, f := range facts {
		set[f.hash()] = true
	}
	return set
}

// sameAs reports whether two facts say the same, letters, spaces and a last full
// stop aside. Letters count in commands: ls -r is not ls -R.
func (f Fact) sameAs(other Fact) bool {
	if f.Kind == kindCommand || other.Kind == kindCommand {
		return f.Text == other.Text
	}
	return fold(f.Text) == fold(other.Text)
}

// fold makes texts equal that differ only in how they are written.
func fold(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	if cut, ok := strings.CutSuffix(text, "."); ok {
		if last, _ := utf8.DecodeLastRuneInString(cut); unicode.IsLetter(last) || unicode.IsDigit(last) {
			return cut // but not of ./...
		}
	}
	return text
}

// has reports whether the fact holds the text, letters aside.
func (f Fact) has(lower string) bool { return strings.Contains(strings.ToLower(f.String()), lower) }

// line is a fact at its place in the file: the bytes from start to end, with the
// newline.
type line struct {
	Fact
	start, end int
}

// parse finds the facts of a file: lines that begin with "- ". A kind that is not
// there, or that nobody knows, is fact. What is too long, or holds characters that
// a person would not see, is no fact, and counted.
func parse(file []byte) (facts []line, unusable int) {
	at := 0
	for raw := range bytes.Lines(file) {
		start := at
		at += len(raw)
		text := raw
		if start == 0 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		f, isFact, ok := parseLine(string(text))
		switch {
		case isFact && ok:
			facts = append(facts, line{Fact: f, start: start, end: at})
		case isFact:
			unusable++
		}
	}
	return facts, unusable
}

func parseLine(text string) (f Fact, isFact, ok bool) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	rest, isFact := strings.CutPrefix(text, "- ")
	if !isFact {
		return Fact{}, false, false
	}
	f = Fact{Kind: kindFact, Text: oneLine(rest)}
	if kind, after, found := strings.Cut(strings.TrimPrefix(f.Text, "["), "]"); found && strings.HasPrefix(f.Text, "[") && isKind(strings.ToLower(kind)) {
		f.Kind, f.Text = strings.ToLower(kind), strings.TrimSpace(after)
	}
	if f.Text == "" {
		return Fact{}, false, false
	}
	return f, true, utf8.RuneCountInString(f.Text) <= MaxText && core.Visible(f.Text) == f.Text
}

// oneLine puts single spaces for all white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// withFact is the file with one more fact at its end. Everything else stays, byte
// for byte.
func withFact(file []byte, f Fact) []byte {
	newline := "\n"
	if bytes.Contains(file, []byte("\r\n")) {
		newline = "\r\n"
	}
	out := slices.Clone(file)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, newline...)
	}
	return append(out, f.String()+newline...)
}

// without is the file without these lines.
func without(file []byte, gone []line) []byte {
	var out []byte
	at := 0
	for _, l := range gone {
		out = append(out, file[at:l.start]...)
		at = l.end
	}
	return append(out, file[at:]...)
}
