package diff

import (
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
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

func TestLines(t *testing.T) {
	for _, tt := range []struct{ name, diff, want string }{
		{
			"one part", "--- a/x.go\n+++ b/x.go\n@@ -9,3 +9,3 @@ func f\n \ta\n-\tb\n+\tc\n d\n",
			"b/x.go\n ⋯  func f\n 9       a\n10 -     b\n10 +     c\n11   d\n",
		},
		{"two parts", "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n@@ -5,0 +6,1 @@\n+c\n", "x\n1 - a\n1 + b\n⋯  \n6 + c\n"},
		{"new file", "--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+a\n+\n", "b/y (new)\n1 + a\n2 +\n"},
		{"deleted", "--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "a/y (deleted)\n1 - a\n"},
		{"renamed", "--- a/y\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n", "a/y → b/z\n1 - a\n1 + b\n"},
		{"no newline", "--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "x\n1 - a\n    No newline at end of file\n1 + b\n"},
		{"text that looks like a head", "--- x\n+++ x\n@@ -1,2 +1,1 @@\n--- y\n-++ z\n+a\n", "x\n1 - -- y\n2 - ++ z\n1 + a\n"},
		{"no diff", "hello\n\tthere", "hello\n    there\n"},
		{"shorter than said", "@@ -1,9 +1,9 @@\n a\nx\n", " 1   a\nx\n"},
		{"hostile", "@@ -1 +1 @@\n-\x1b[31m\u202e\n+b\n", "1 - ␛[31m[U+202E]\n1 + b\n"},
		{"wide line", "@@ -1 +1 @@\n-" + strings.Repeat("a", 40) + "\n+b\n", "1 - " + strings.Repeat("a", 26) + "\n    " + strings.Repeat("a", 14) + "\n1 + b\n"},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, plain(Lines(tt.diff, 30))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWords(t *testing.T) {
	old, now := words("return convert(x, 23)", "return convert(y, 32)")
	wantOld := styled.Line{
		{Text: "return convert(", Role: styled.Removed}, {Text: "x", Role: styled.RemovedWord}, {Text: ", ", Role: styled.Removed},
		{Text: "23", Role: styled.RemovedWord}, {Text: ")", Role: styled.Removed},
	}
	if diff := cmp.Diff(wantOld, old); diff != "" {
		t.Error(diff)
	}
	if now[1].Text != "y" || now[1].Role != styled.AddedWord {
		t.Errorf("%v", now)
	}
	if old, _ := words("alpha beta", "gamma delta"); len(old) != 1 {
		t.Errorf("lines with nothing in common carry marks: %v", old)
	}
}

// Every line of a real diff is shown, with the number it has in its file.
func TestNumbers(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c c", "", "  d"}), 0, 30), func(l []string) string {
		if len(l) == 0 {
			return ""
		}
		return strings.Join(l, "\n") + "\n"
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		olds, news := strings.Split(before, "\n"), strings.Split(after, "\n")
		for _, l := range Lines(udiff.Unified("x", "x", before, after), 80) {
			var number int
			fields := strings.SplitN(strings.TrimLeft(l.String(), " "), " ", 3)
			if len(fields) < 2 {
				continue
			}
			for _, c := range fields[0] {
				number = number*10 + int(c-'0')
			}
			body := ""
			if len(fields) == 3 {
				body = fields[2]
			}
			switch {
			case number <= 0 || fields[0][0] > '9':
			case fields[1] == "-" && olds[number-1] != body, fields[1] == "+" && news[number-1] != body:
				t.Fatalf("%q is not line %d", l, number)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1,2 +3 @@ x\n-a\n+b\n c\n\\ No\n")
	f.Add("@@ -99999999,1 +1 @@\n-a")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range Lines(text, 40) {
			if l.Width() > 40 {
				t.Fatalf("%d columns: %q", l.Width(), l)
			}
			if strings.ContainsAny(l.String(), "\n\t\x1b") {
				t.Fatalf("a control character in %q", l)
			}
		}
	})
}
