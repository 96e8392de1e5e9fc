package memory

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string
		unusable   int
	}{
		{"nothing", "", nil, 0},
		{"facts", "- [fact] a\n- [command] make test\n", []string{"- [fact] a", "- [command] make test"}, 0},
		{"no newline at the end", "- [gotcha] a", []string{"- [gotcha] a"}, 0},
		{"what a person writes around them", "\ufeff# Memory\r\n\r\nSome words.\r\n- [decision] a\r\n  - [fact] indented\r\n* other list\r\n", []string{"- [decision] a"}, 0},
		{"a kind that nobody knows", "- [todo] a\n- [ ] b\n- c\n- [Fact]  d   e \n", []string{"- [fact] [todo] a", "- [fact] [ ] b", "- [fact] c", "- [fact] d e"}, 0},
		{"empty ones", "- \n- [fact]\n- [fact]   \n-\n", nil, 0},
		{"the longest", "- " + strings.Repeat("é", MaxText) + "\n", []string{"- [fact] " + strings.Repeat("é", MaxText)}, 0},
		{"too long", "- " + strings.Repeat("é", MaxText+1) + "\n- b\n", []string{"- [fact] b"}, 1},
		{"hidden characters", "- a\u202eb\n- c\x1b[31m\n- d\xff\n- e\u200b\n- f\rg\n- h\n", []string{"- [fact] f g", "- [fact] h"}, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines, unusable := parse([]byte(tc.file))
			var got []string
			for _, l := range lines {
				got = append(got, l.String())
			}
			if d := cmp.Diff(tc.want, got); d != "" || unusable != tc.unusable {
				t.Errorf("%d unusable %s", unusable, d)
			}
		})
	}
}

func TestSameAs(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"- [fact] Tests need  Docker.", "- [gotcha] tests need docker", true},
		{"- [fact] run ./...", "- [fact] run ./..", false},
		{"- [command] ls -r", "- [command] ls -R", false},
		{"- [command] make", "- [fact] make", true},
		{"- [fact] a", "- [fact] b", false},
	} {
		a, _, _ := parseLine(tc.a)
		b, _, _ := parseLine(tc.b)
		if a.sameAs(b) != tc.want || b.sameAs(a) != tc.want {
			t.Errorf("%s and %s: want %v", tc.a, tc.b, tc.want)
		}
	}
}

// Whatever a file holds: its facts say themselves again, one more fact leaves every
// byte in its place, and the lines that go leave all others.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "- a", "# x\r\n- [fact] a\r\n", "- [command] x\n\n- b\n", "\ufeff- a\n- [gotcha]\n", "- \xff\n- [fact] [fact] a\n", "-\n- [x] \u202e\n",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, file []byte, which uint8) {
		lines, _ := parse(file)
		at := 0
		for _, l := range lines {
			if l.start < at || l.end <= l.start || l.end > len(file) {
				t.Fatalf("line %+v after %d", l, at)
			}
			at = l.end
			if l.Text == "" || !isKind(l.Kind) || strings.ContainsAny(l.String(), "\n\r\t") {
				t.Fatalf("%+q", l)
			}
		}
		more := withFact(file, Fact{Kind: kindGotcha, Text: "one more"})
		if !bytes.HasPrefix(more, file) {
			t.Fatal("a byte of the file changed")
		}
		after, _ := parse(more)
		if len(after) != len(lines)+1 || after[len(lines)].Text != "one more" {
			t.Fatalf("%d facts and one more are %d", len(lines), len(after))
		}
		var gone, stay []line
		for i, l := range lines {
			if which>>(i%8)&1 == 1 {
				gone = append(gone, l)
			} else {
				stay = append(stay, l)
			}
		}
		rest := without(file, gone)
		left, _ := parse(rest)
		if len(gone) == 0 && !bytes.Equal(rest, file) {
			t.Fatal("nothing was to go")
		}
		if len(left) != len(stay) && !bytes.HasPrefix(file, []byte("\ufeff")) {
			t.Fatalf("%d facts were to stay, and %d did", len(stay), len(left))
		}
	})
}
