package styled

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "漢字": 4, "e\u0301": 1, "👍": 2, "👍🏽": 2, "👨‍👩‍👧": 2, "❤️": 2, "🇩🇪": 2, "שלום": 4, "｡": 1, "a漢b": 4,
	} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

func texts(lines []Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.String()
	}
	return out
}

func TestWrap(t *testing.T) {
	first, rest := Text(Accent, "* "), Text(Plain, "  ")
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{"* "}},
		{"one two three", 9, []string{"* one two", "  three"}},
		{"one   two", 7, []string{"* one", "  two"}},
		{"abcdefghijkl", 8, []string{"* abcdef", "  ghijkl"}},
		{"漢字漢字", 8, []string{"* 漢字漢", "  字"}},
		{"ab漢字", 6, []string{"* ab漢", "  字"}},
		{"    indented", 10, []string{"*     inde", "  nted"}},
		{"trailing   ", 10, []string{"* trailing"}},
		{"x", 1, []string{"* x"}},
		{"e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301", 7, []string{"* e\u0301e\u0301e\u0301e\u0301", "  e\u0301e\u0301"}},
	} {
		if diff := cmp.Diff(tt.want, texts(Text(Plain, tt.text).Wrap(tt.width, first, rest))); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

func TestCut(t *testing.T) {
	l := Line{{Text: "abc", Role: Good}, {Text: "漢字", Role: Bad}}
	for width, want := range map[int]string{0: "", 1: "…", 3: "ab…", 4: "abc…", 5: "abc…", 6: "abc漢…", 7: "abc漢字", 9: "abc漢字"} {
		if got := l.Cut(width).String(); got != want {
			t.Errorf("Cut(%d) = %q, want %q", width, got, want)
		}
	}
	if got := CutLeft("a/b/c.go", 5); got != "…c.go" {
		t.Errorf("CutLeft = %q", got)
	}
}

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{"a\tb": "a   b", "\t\tx": "        x", "abcd\te": "abcd    e", "漢\tx": "漢  x", "ab": "ab"} {
		if got := Expand(text, 0, 4); got != want {
			t.Errorf("Expand(%q) = %q, want %q", text, got, want)
		}
	}
}

func lineGen() *rapid.Generator[Line] {
	span := rapid.Custom(func(t *rapid.T) Span {
		return Span{
			Text: rapid.StringOfN(rapid.RuneFrom([]rune("ab  漢é👍\u0301-")), 1, 12, -1).Draw(t, "text"),
			Role: rapid.SampledFrom([]Role{Plain, Good, Bad}).Draw(t, "role"),
		}
	})
	return rapid.Map(rapid.SliceOfN(span, 0, 6), func(spans []Span) Line { return spans })
}

// Wrapping keeps everything but blanks, Hard everything; no line is wider than
// asked for, unless one cluster alone is.
func TestLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lineGen().Draw(t, "line")
		width := rapid.IntRange(narrowest, 30).Draw(t, "width")
		soft := texts(l.Wrap(width, nil, nil))
		if got, want := strings.ReplaceAll(strings.Join(soft, ""), " ", ""), strings.ReplaceAll(l.String(), " ", ""); got != want {
			t.Fatalf("wrapped %q became %q", want, got)
		}
		hard := texts(l.Hard(width, nil, nil))
		if got := strings.Join(hard, ""); got != l.String() {
			t.Fatalf("cut %q became %q", l.String(), got)
		}
		for _, s := range append(soft, hard...) {
			if Width(s) > width {
				t.Fatalf("%q is %d columns, not %d", s, Width(s), width)
			}
		}
		if cut := l.Cut(width); cut.Width() > width {
			t.Fatalf("%q is %d columns, not %d", cut, cut.Width(), width)
		}
	})
}

// An ellipsis costs the scrollback nothing: pieces with the same look are one.
func TestAdd(t *testing.T) {
	l := Line{}.Add(Span{Text: "a"}).Add(Span{Text: "b"}).Add(Span{}).Add(Span{Text: "c", Role: Good})
	if diff := cmp.Diff(Line{{Text: "ab"}, {Text: "c", Role: Good}}, l); diff != "" {
		t.Error(diff)
	}
}
