package shell

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// screened is what remains of a stream that comes in pieces of n bytes.
func screened(in string, n int) string {
	s := NewScreen(streamLimit)
	for b := []byte(in); len(b) > 0; {
		k := min(n, len(b))
		s.Write(b[:k])
		b = b[k:]
	}
	head, _, _ := s.shown()
	return head
}

func TestScreenShowsWhatATerminalWould(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\nb\n", "a\nb\n"},
		{"unfinished line", "a\nb", "a\nb"},
		{"DOS lines", "a\r\nb\r\r\nc\r\n", "a\nb\nc\n"},
		{"progress", "10%\r20%\r100%\ndone\n", "100%\ndone\n"},
		{"progress at the end", "10%\r20%\r", "20%"},
		{"shorter text writes over the beginning", "progress 100%\rok\n", "okogress 100%\n"},
		{"erased to the end", "progress 100%\r\x1b[Kok\n", "ok\n"},
		{"erased after the text", "progress 100%\rok\x1b[K\n", "ok\n"},
		{"line erased", "progress\x1b[2K\rok\n", "ok\n"},
		{"erased to the cursor", "abcd\x1b[2D\x1b[1Kx\n", "  xd\n"},
		{"column", "abc\x1b[1Gx\x1b[5Gy\n", "xbc y\n"},
		{"back and forth", "abc\x1b[3Dx\x1b[Cy\n", "xby\n"},
		{"backspace", "abx\bc\n\bd\n", "abc\nd\n"},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[m\n", "red x\n"},
		{"title and links", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "alink\n"},
		{"charset, keypad, cursor", "\x1b(B\x1b=a\x1b7b\x1b[?25lc\x1b[H\n", "abc\n"},
		{"device control", "\x1bPq#0\x1b\\a\n", "a\n"},
		{"sequence in sequence", "\x1b[3\x1b[1mx\n", "x\n"},
		{"broken sequence ends with its line", "\x1b]0;never ended\nvisible\n", "\nvisible\n"},
		{"half a sequence at the end", "a\x1b[3", "a"},
		{"several lines of progress", "a 1\nb 1\x1b[A\r", "a 1\nb 1"},
		{"controls", "a\x07\x0b\x0c\x7fb\u009bc\n", "abc\n"},
		{"tabs stay", "a\tb\n", "a\tb\n"},
		{"NUL separates", "a\x00b\x00", "a␀b␀"},
		{"invalid UTF-8", "a\xffb\xc3\n", "a\uFFFDb\uFFFD\n"},
		{"characters under the cursor", "äöü€\rxy\n", "xyü€\n"},
		{"characters over others", "abc\rä€\n", "ä€c\n"},
	} {
		for _, n := range []int{len(c.in), 1, 2, 3} {
			if got := screened(c.in, n); got != c.want {
				t.Errorf("%s, in pieces of %d: got %q, want %q", c.name, n, got, c.want)
			}
		}
	}
}

func TestAnEndlessSequenceDoesNotSwallowTheOutput(t *testing.T) {
	in := "\x1b]" + strings.Repeat("x", 2*maxSequence) + "visible\n"
	if got := screened(in, 1000); !strings.HasSuffix(got, "visible\n") {
		t.Errorf("got %.40q…", got)
	}
}

func TestProgressOfAnyLengthIsOneLine(t *testing.T) {
	s := NewScreen(streamLimit)
	s.Write([]byte("begin\n"))
	for range 100_000 {
		s.Write([]byte("\r  3 % of a long download [====>              ]"))
	}
	s.Write([]byte("\rdone\x1b[K\nend\n"))
	head, tail, cut := s.shown()
	if head != "begin\ndone\nend\n" || tail != "" || cut != 0 {
		t.Errorf("got %q, %q, %d", head, tail, cut)
	}
}

func TestCutAtCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringMatching(`[aä€😀]{1,7}`).Draw(t, "text"), 50)
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		s := NewScreen(limit)
		s.Write([]byte(text))
		head, tail, cut := s.shown()
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || int64(len(head)+len(tail))+cut != int64(len(text)) {
			t.Fatalf("%q: %q and %q, %d cut", text, head, tail, cut)
		}
		if len(head)+len(tail) > max(limit, 0) && cut > 0 || len(head)+len(tail) < limit-2*utf8.UTFMax && cut > 0 {
			t.Fatalf("limit %d: kept %d and %d", limit, len(head), len(tail))
		}
	})
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("10%\r20%\x1b[K\r\n\x1b]0;t\x07\x1b[1;31mx\b\xff€"), 3)
	f.Add(bytes.Repeat([]byte("€\r"), 100), 7)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n < 1 {
			n = 1
		}
		got := screened(string(in), n)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\r\x1b\b\x00") {
			t.Errorf("%q became %q", in, got)
		}
		if utf8.Valid(in) && len(in) <= maxLine && got != screened(string(in), len(in)) {
			t.Errorf("%q: in pieces of %d %q, at once %q", in, n, got, screened(string(in), len(in)))
		}
	})
}

func BenchmarkScreen(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"plain", "some line of a build log, neither short nor long\n"},
		{"colours", "\x1b[32msome line\x1b[0m of a build log, neither short nor long\n"},
		{"DOS", "some line of a build log, neither short nor long\r\n"},
		{"progress", "\r 33 % of some download [=======>              ]"},
	} {
		chunk := []byte(strings.Repeat(c.line, 64<<10/len(c.line)))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			s := NewScreen(streamLimit)
			for range b.N {
				s.Write(chunk)
			}
		})
	}
}
