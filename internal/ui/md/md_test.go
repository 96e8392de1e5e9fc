package md

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/ui/styled"
)

func plain(lines []styled.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"paragraphs", "One two three four five\nsix seven.\n\nNext.", "One two three four\nfive six seven.\n\nNext.\n"},
		{"headings", "# One\n\n### Three\n", "One\n\n### Three\n"},
		{"list", "- a\n- b b b b b b b b b b\n  - c\n\n1. x\n2. y\n", "• a\n• b b b b b b b b b\n  b\n  • c\n\n1. x\n2. y\n"},
		{"loose list", "3. a\n\n4. b\n\n   c\n", "3. a\n\n4. b\n\n   c\n"},
		{"tasks", "- [ ] a\n- [x] b\n", "• ☐ a\n• ☑ b\n"},
		{"quote", "> a\n>\n> b\n", "│ a\n│\n│ b\n"},
		{"code", "```go\nx := 1\n\n\ty++\n```\n", "  x := 1\n\n      y++\n"},
		{"rule", "a\n\n---\n", "a\n\n────────────────────\n"},
		{"html", "<b>\nx\n</b>\n", "<b>\nx\n</b>\n"},
		{"table", "| a | b |\n|---|--:|\n| 1 | 22 |\n", "a │  b\n──┼───\n1 │ 22\n"},
		{"table behind text", "text\n| a |\n|---|\n| b | c |\n", "text\n\na\n─────\nb | c\n"},
		{"table, escapes", "a|b\n-|:-:\n`x\\|y`|\\|\n", "a   │ b\n────┼──\nx|y │ |\n"},
		{"no table", "a | b\n--- | --- | ---\n", "a | b --- | --- |\n---\n"},
		{"no box", "[ ] a\n\n- [] b\n", "[ ] a\n\n• [] b\n"},
		{"tildes", "~a~ ~~b~~ ~~~c~~~ ~d", "a b ~~~c~~~ ~d\n"},
		{"narrow table", "| aaaaaaaaaa | bbbbbbbbbb |\n|---|---|\n| 1 2 3 4 5 6 7 8 9 | x |\n", "aaaaaaaa │ bbbbbbbbb\naa       │ b\n─────────┼──────────\n1 2 3 4  │ x\n5 6 7 8  │ \n9        │ \n"},
		{"too many columns", "|a|b|c|d|e|f|\n|-|-|-|-|-|-|\n|1111111|2|3|4|5|6|\n|7||||||\n", "a: 1111111\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n\na: 7\nb: \nc: \nd: \ne: \nf: \n"},
		{"links", "[text](https://a.b) <https://c.d>", "text (https://a.b)\nhttps://c.d\n"},
		{"image", "![alt](x.png)", "image: alt (x.png)\n"},
		{"entities", "a &amp; b &#65; \\* c", "a & b A * c\n"},
		{"entity that hides", "a&#x202e;b&#27;[31m", "a[U+202E]b␛[31m\n"},
		{"hard break", "a  \nb\\\nc", "a\nb\nc\n"},
		{"wide", "漢字漢字漢字漢字漢字漢字", "漢字漢字漢字漢字漢字\n漢字\n"},
		{"long word", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaa\naaaaaaaa\n"},
		{"empty item", "- \n- b\n", "• \n• b\n"},
		{"deep", strings.Repeat("> ", 30) + "x", "│ │ │ │ │ x\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, plain(Render(tt.source, 20))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	got := Render("a *b* **c** ~~d~~ `e` [f](https://g.h)", 80)
	want := []styled.Line{{
		{Text: "a "}, {Text: "b", Attr: styled.Italic}, {Text: " "}, {Text: "c", Attr: styled.Bold}, {Text: " "},
		{Text: "d", Attr: styled.Strike}, {Text: " "}, {Text: "e", Role: styled.InlineCode}, {Text: " "},
		{Text: "f", Role: styled.LinkText, Link: "https://g.h"}, {Text: " (https://g.h)", Role: styled.Muted, Link: "https://g.h"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A block comes out when it is complete, not before and not after.
func TestStreamBlocks(t *testing.T) {
	for _, tt := range []struct{ name, text, done, open string }{
		{"paragraph", "One.\n", "", "One.\n"},
		{"paragraph and a blank line", "One.\n\n", "One.\n", ""},
		{"heading", "# A\n", "A\n", ""},
		{"a line without its end", "One", "", "One\n"},
		{"list may go on", "- a\n\n", "", "• a\n"},
		{"list goes on", "- a\n\n  b", "", "• a\n\n  b\n"},
		{"list has ended", "- a\n\nb\n", "• a\n", "\nb\n"},
		{"fence ends a paragraph", "One:\n```go\nx := 1\ny", "One:\n\n  x := 1\n", "  y\n"},
		{"code without its end", "```\na\n\nb\n", "  a\n\n  b\n", ""},
		{"code with its end", "```\na\n```\nb", "  a\n", "\nb\n"},
		{"closing fence begun", "```\na\n``", "  a\n", ""},
		{"code in a list", "1. a\n   ```\n   x\n\n   y\n   ```\n", "", "1. a\n     x\n\n     y\n"},
		{"carriage return", "a\r\n\r\nb\r", "a\n", "\nb\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Stream
			s.Write(tt.text)
			if diff := cmp.Diff(tt.done, plain(s.Done(40))); diff != "" {
				t.Errorf("done: %s", diff)
			}
			if diff := cmp.Diff(tt.open, plain(s.Open(40, 100))); diff != "" {
				t.Errorf("open: %s", diff)
			}
		})
	}
}

func source() *rapid.Generator[string] {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "", "# h", "- a", "  b", "1. c", "> q", "```go", "```", "~~~", "| a | b |", "|---|---|", "---", "===", "<div>", "    code", "\tx"}),
		rapid.StringMatching("[a-c*_`\\[\\]()<>&; -]*"),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(line, 0, 20), func(lines []string) string { return strings.Join(lines, "\n") })
}

// However a text is cut into pieces, the same lines come out, and no line is wider
// than asked for.
func TestStreamPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := source().Draw(t, "text")
		width := rapid.IntRange(20, 60).Draw(t, "width")
		var once Stream
		once.Write(text)
		want := once.Close(width)

		var s Stream
		var got []styled.Line
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			s.Write(rest[:n])
			rest = rest[n:]
			s.Open(width, 10)
			got = append(got, s.Done(width)...)
		}
		got = append(got, s.Close(width)...)
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Fatal(diff)
		}
		for _, l := range got {
			if l.Width() > width {
				t.Fatalf("a line of %d columns instead of %d: %q", l.Width(), width, l)
			}
		}
	})
}

// No letter of the text is left out: signs may be marks, letters never are.
func TestNoLetterIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([a-m]{1,8}|[ \n*_~`>#|-]|\n\n|- |> |    |```\n)*").Draw(t, "text")
		var s Stream
		s.Write(text)
		got := plain(s.Close(30))
		// The words behind a fence name its language.
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'm' {
					return r
				}
				return -1
			}, s)
		}
		var want strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			if f, info := fenceOf(content(line)); f.length > 0 && info != "" {
				t.Skip("an info string is no text")
			}
			want.WriteString(letters(line))
		}
		if diff := cmp.Diff(want.String(), letters(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLongOpenBlocks(t *testing.T) {
	var s Stream
	s.Write(strings.Repeat("word ", 20_000))
	if n := len(s.line) + len(s.block); n > longestOpen {
		t.Errorf("%d bytes are open", n)
	}
	words := strings.Count(plain(s.Close(80)), "word")
	if words != 20_000 {
		t.Errorf("%d words of 20000", words)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("# a\n- b\n\n  c\n```go\nx\n```\n|a|\n|-|\n", 3)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		var s Stream
		piece = max(piece%64, 1)
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
			for _, l := range append(s.Open(40, 5), s.Done(40)...) {
				if strings.ContainsAny(l.String(), "\n\t\x1b") {
					t.Fatalf("a control character in %q", l)
				}
			}
		}
		s.Close(40)
	})
}

// BenchmarkStream is an answer of 3,000 deltas with code, a picture every tenth.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("## Heading\n\nSome *text* with `code` and **more** of it, so that it wraps.\n\n- one\n- two\n\n```go\nfunc f(x int) string {\n\treturn \"x\" // comment\n}\n```\n\n", 60)
	b.ReportAllocs()
	for b.Loop() {
		var s Stream
		for i := 0; i < len(text); i += 4 {
			s.Write(text[i:min(i+4, len(text))])
			if i%40 == 0 {
				s.Done(80)
				s.Open(80, 20)
			}
		}
		s.Close(80)
	}
}
