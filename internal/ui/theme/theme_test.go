package theme

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/ui/styled"
)

func TestRender(t *testing.T) {
	l := styled.Line{{Text: "a"}, {Text: "b", Role: styled.Good, Attr: styled.Bold}, {Text: "c", Role: styled.LinkText, Link: "https://x.y"}}
	for _, tt := range []struct {
		name   string
		colors Colors
		dark   bool
		links  bool
		want   string
	}{
		{"none", None, true, false, "a\x1b[1mb\x1b[0m\x1b[4mc\x1b[0m"},
		{"sixteen", Sixteen, true, false, "a\x1b[32;1mb\x1b[0m\x1b[4;34mc\x1b[0m"},
		{"many", Many, true, false, "a\x1b[38;5;77;1mb\x1b[0m\x1b[4;38;5;75mc\x1b[0m"},
		{"true, light, links", True, false, true, "a\x1b[38;2;26;127;55;1mb\x1b[0m\x1b]8;;https://x.y\x1b\\\x1b[4;38;2;5;80;174mc\x1b[0m\x1b]8;;\x1b\\"},
	} {
		if got := New(tt.colors, tt.dark, tt.links).Render(l); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What stands out by colour still stands out where there is none.
func TestWithoutColour(t *testing.T) {
	th := New(None, true, false)
	for _, role := range []styled.Role{styled.Bad, styled.Warn, styled.Heading, styled.AddedWord, styled.RemovedWord} {
		if got := th.Render(styled.Text(role, "x")); got == "x" {
			t.Errorf("role %d does not stand out", role)
		}
	}
}

// No text and no address brings a control character of its own to the terminal.
func TestHostile(t *testing.T) {
	th := New(True, true, true)
	rapid.Check(t, func(t *rapid.T) {
		span := styled.Span{
			Text: rapid.String().Draw(t, "text"), Role: styled.Role(rapid.IntRange(0, int(styled.Roles)-1).Draw(t, "role")),
			Link: rapid.SampledFrom([]string{"", "https://a\x1b]0;x\a", "javascript:alert(1)", "https://ok", "https://a b", "https://é"}).Draw(t, "link"),
		}
		got := th.Render(styled.Line{span})
		for _, own := range []string{"\x1b]8;;https://ok\x1b\\", "\x1b]8;;\x1b\\", "\x1b[0m"} {
			got = strings.ReplaceAll(got, own, "")
		}
		if i := strings.Index(got, "\x1b["); i == 0 {
			got = got[strings.IndexByte(got, 'm')+1:]
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q", got)
		}
	})
}

// Colours are seen well on what they are for: 4.5 to 1 for text, as WCAG measures
// it, 3 to 1 for what is only decoration.
func TestContrast(t *testing.T) {
	light := func(rgb uint32) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := float64(rgb>>(16-8*i)&0xff) / 255
			sum += weight * v * v // close enough to the curve of 2.2
		}
		return sum
	}
	for role, l := range looks() {
		least := 4.5
		if role := styled.Role(role); role == styled.Rule || role == styled.LineNumber {
			least = 3
		}
		if l.dark != 0 {
			if r := (light(l.dark) + 0.05) / (light(l.darkBg) + 0.05); r < least {
				t.Errorf("role %d on dark: %.1f to 1", role, r)
			}
		}
		if l.light != 0 {
			bg := 1.0
			if l.lightBg != 0 {
				bg = light(l.lightBg)
			}
			if r := (bg + 0.05) / (light(l.light) + 0.05); r < least {
				t.Errorf("role %d on light: %.1f to 1", role, r)
			}
		}
	}
}
