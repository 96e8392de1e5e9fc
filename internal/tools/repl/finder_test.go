package repl

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const testToken = "0123456789abcdef0123456789abcdef"

// found feeds a stream in pieces, and gives what came out of it.
func found(pieces ...[]byte) (before, rest, status string) {
	f := newFinder(testToken)
	var out, behind bytes.Buffer
	for _, p := range pieces {
		if status != "" {
			behind.Write(p)
			continue
		}
		b, r, s := f.feed(p)
		out.Write(b)
		behind.Write(r)
		status = s
	}
	return out.String(), behind.String(), status
}

func TestFinder(t *testing.T) {
	mark := "\x00" + testToken + " "
	for _, tc := range []struct{ in, before, rest, status string }{
		{"out" + mark + "ok\x00later", "out", "later", "ok"},
		{mark + "error\x00", "", "", "error"},
		{"x" + mark + "127\x00" + mark + "ok\x00", "x", mark + "ok\x00", "127"},
		{"no answer", "no answer", "", ""},
		{"\x00" + testToken + "ok\x00", "\x00" + testToken + "ok", "", ""},
		{"\x00deadbeef ok\x00", "\x00deadbeef ok", "", ""},
		{"a" + mark + "gibberish\x00", "a", "", statusBroken},
		{"a" + mark + "1234\x00", "a", "", statusBroken},
		{"a" + mark + "\x00", "a", "", statusBroken},
		{"a" + mark + strings.Repeat("1", 100), "a", "", statusBroken},
		{"\x00\x00" + mark + "ok\x00", "\x00\x00", "", "ok"},
	} {
		before, rest, status := found([]byte(tc.in))
		if before != tc.before || rest != tc.rest || status != tc.status {
			t.Errorf("%q: %q %q %q", tc.in, before, rest, status)
		}
	}
}

// However a stream is cut into pieces, nothing of it is lost and the answer is the
// same; what cannot become an answer any more is not held back.
func checkPieces(t interface {
	Helper()
	Fatalf(string, ...any)
}, stream []byte, cuts []int) {
	t.Helper()
	wantBefore, wantRest, wantStatus := found(stream)
	var pieces [][]byte
	from := 0
	for _, c := range cuts {
		if c = min(max(c, from), len(stream)); c > from {
			pieces = append(pieces, stream[from:c])
			from = c
		}
	}
	before, rest, status := found(append(pieces, stream[from:])...)
	if status != wantStatus || before != wantBefore || status != statusBroken && rest != wantRest {
		t.Fatalf("%q in %d pieces: %q %q %q, in one: %q %q %q", stream, len(pieces)+1, before, rest, status, wantBefore, wantRest, wantStatus)
	}
	if !strings.HasPrefix(string(stream), before) {
		t.Fatalf("%q: output %q", stream, before)
	}
	if held := len(stream) - len(before); status == "" && held > len("\x00"+testToken+" ")+maxStatus {
		t.Fatalf("%q: %d bytes are held back", stream, held)
	}
}

func TestFinderDoesNotDependOnPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"\x00", testToken, testToken[:7], " ", "ok", "error", "12", "x", "\n", "\x00" + testToken + " ", "\x00" + testToken + " ok\x00"})
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), ""))
		checkPieces(t, stream, rapid.SliceOfN(rapid.IntRange(0, 300), 0, 30).Draw(t, "cuts"))
	})
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte("out\x00"+testToken+" ok\x00rest"), uint8(3), uint8(40))
	f.Add([]byte("\x00"+testToken+" 1\x00"), uint8(1), uint8(2))
	f.Add([]byte("\x00"+testToken+" broken\x00"), uint8(33), uint8(35))
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint8) {
		checkPieces(t, stream, []int{int(min(a, b)), int(max(a, b))})
	})
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a b": "'a b'", "it's": `'it'\''s'`, "'": `''\'''`} {
		if got := quoted(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
