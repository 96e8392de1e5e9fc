package fileedit

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/workspace"
)

type edits []args

func TestMultiEdit(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		edits      edits
		want       string
	}{
		{"apart", "one\ntwo\nthree\n", edits{{"old_string": "three", "new_string": "3"}, {"old_string": "one", "new_string": "1"}}, "1\ntwo\n3\n"},
		{"on the result", "a\n", edits{{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}}, "c\n"},
		{"across a seam", "abcdef\n", edits{{"old_string": "cd", "new_string": ""}, {"old_string": "be", "new_string": "BE"}}, "aBEf\n"},
		{"new text and old", "abc\n", edits{{"old_string": "b", "new_string": "xyz"}, {"old_string": "zc", "new_string": "!"}}, "axy!\n"},
		{"all", "a a a\n", edits{{"old_string": "a", "new_string": "aa", "replace_all": true}, {"old_string": "aa aa", "new_string": "-"}}, ""},
		{"all, then one", "x x\ny\n", edits{{"old_string": "x", "new_string": "y", "replace_all": true}, {"old_string": "y\ny", "new_string": "z"}}, "y z\n"},
		{"CRLF", "one\r\ntwo\r\n", edits{{"old_string": "one\ntwo", "new_string": "1\n2"}, {"old_string": "2\r\n", "new_string": "two\r\n"}}, "1\r\ntwo\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := newEnv(t, map[string]string{"f": tt.file})
			read(t, env, "f")
			in := args{"path": "f", "edits": tt.edits}
			if tt.want == "" {
				wantError(t, env, multiEdit{}, in, "edit 2 of 2: old_string occurs 2 times")
				tt.want = tt.file
			} else {
				mustRun(t, env, multiEdit{}, in)
			}
			if got := content(t, env, "f"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMultiEditErrors(t *testing.T) {
	const file = "alpha\nbeta\nbeta\n"
	for _, tt := range []struct {
		edits edits
		want  string
	}{
		{edits{{"old_string": "alpha", "new_string": "a"}, {"old_string": "alpha", "new_string": "b"}},
			"edit 2 of 2: old_string occurs 0 times in f (3 lines)"},
		{edits{{"old_string": "alpha", "new_string": "beta"}, {"old_string": "beta", "new_string": "b"}},
			"nothing was written: edit 2 of 2: old_string occurs 3 times in f, at lines 1, 2 and 3; add lines around it until it is unique, or set replace_all"},
		{edits{{"old_string": "alpha", "new_string": "a"}, {"old_string": "a", "new_string": "alpha"}}, "edit 2 of 2: old_string occurs 3 times"},
		{edits{{"old_string": "", "new_string": "a"}}, "edit 1 of 1: old_string is empty"},
		{edits{{"old_string": "alpha", "new_string": "alphaa"}, {"old_string": "aa\n", "new_string": "a\n"}}, "undo each other"},
	} {
		env := newEnv(t, map[string]string{"f": file})
		read(t, env, "f")
		wantError(t, env, multiEdit{}, args{"path": "f", "edits": tt.edits}, tt.want)
		if got := content(t, env, "f"); got != file {
			t.Errorf("%v changed the file to %q", tt.edits, got)
		}
	}
	env := newEnv(t, map[string]string{"f": file})
	wantError(t, env, multiEdit{}, args{"path": "f", "edits": edits{{"old_string": "alpha", "new_string": "a"}}}, "was not read")
}

// What the pieces of a draft make equals what plain strings make.
func TestDraftEqualsStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[ab\n]{1,4}`)
		lf := rapid.StringMatching(`[ab\nc]{0,60}`).Draw(t, "text")
		n := rapid.IntRange(1, 8).Draw(t, "edits")
		olds := make([]string, n)
		for i := range olds {
			olds[i] = letters.Draw(t, "old")
		}
		d, plain := newDraft(lf, newIndex(lf, olds)), lf
		for _, old := range olds {
			with := rapid.StringMatching(`[abx]{0,5}`).Draw(t, "new")
			at := d.find(old)
			if want := occurrences(plain, old); !slices.Equal(at, want) {
				t.Fatalf("%q in %q: found at %v, want %v", old, plain, at, want)
			}
			d.replace(apart(at, len(old)), len(old), with)
			plain = strings.ReplaceAll(plain, old, with)
			if d.String() != plain {
				t.Fatalf("got %q, want %q", d.String(), plain)
			}
		}
		var spliced strings.Builder
		from := 0
		for _, e := range d.edits() {
			if e.Start < from {
				t.Fatalf("edits out of order: %v", d.edits())
			}
			spliced.WriteString(lf[from:e.Start] + e.New)
			from = e.End
		}
		if got := spliced.String() + lf[from:]; got != plain {
			t.Fatalf("the edits make %q, want %q", got, plain)
		}
	})
}

// The one-pass index finds what a search for each text finds, also where a text
// occurs too often to be kept.
func TestIndex(t *testing.T) {
	text := strings.Repeat("ab", maxPlaces+10) + "needle in it, needle; z"
	patterns := []string{"ab", "needle", "it, n", "z", "missing", "; z", "abn"}
	x := newIndex(text, patterns)
	for _, p := range patterns {
		for _, span := range [][2]int{{0, len(text)}, {1, len(text) - 1}, {len(text) - 12, len(text)}} {
			got := x.within(p, span[0], span[1])
			want := occurrences(text[span[0]:span[1]], p)
			for i := range want {
				want[i] += span[0]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q in %v: %d places, want %d", p, span, len(got), len(want))
			}
		}
	}
}

// Applied to the old text, the diff gives the new one, and its line numbers are
// right in both.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lf := rapid.StringMatching(`(a?\n|b\n){0,60}[ab]?`).Draw(t, "text")
		var list []workspace.Edit
		at := 0
		for range rapid.IntRange(1, 5).Draw(t, "edits") {
			start := rapid.IntRange(at, len(lf)).Draw(t, "start")
			at = rapid.IntRange(start, min(len(lf), start+5)).Draw(t, "end")
			list = append(list, workspace.Edit{Start: start, End: at, New: rapid.StringMatching(`[xy\n]{0,3}`).Draw(t, "new")})
			if at++; at > len(lf) {
				break
			}
		}
		_, want, err := workspace.Decode([]byte(lf)).Splice(list)
		if err != nil {
			t.Fatal(err)
		}
		text, err := diff("f", "f", lf, list)
		if err != nil {
			t.Fatal(err)
		}
		if got := patched(t, lf, text); got != want {
			t.Fatalf("%q with %v:\n%s\nmakes %q, want %q", lf, list, text, got, want)
		}
	})
}

// patched applies a unified diff and checks each hunk's line numbers.
func patched(t *rapid.T, old, text string) string {
	lines := slices.Collect(strings.Lines(old))
	var out []string
	from := 0
	var last byte // the kind of the line before
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "@@"):
			m := hunkNumbers.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%q is no hunk's head", line)
			}
			a, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[2])
			for from < a-1 {
				out = append(out, lines[from])
				from++
			}
			if max(b-1, 0) != len(out) {
				t.Fatalf("%q begins at line %d of the new text, in\n%s", line, len(out)+1, text)
			}
		case strings.HasPrefix(line, "\\"):
			if n := len(out) - 1; last == '+' || last == ' ' {
				out[n] = strings.TrimSuffix(out[n], "\n")
			}
		default:
			if line[0] != '+' {
				if strings.TrimSuffix(lines[from], "\n") != strings.TrimSuffix(line[1:], "\n") {
					t.Fatalf("line %d is %q, and in the diff %q", from+1, lines[from], line)
				}
				from++
			}
			if line[0] != '-' {
				out = append(out, line[1:])
			}
			last = line[0]
		}
	}
	return strings.Join(append(out, lines[from:]...), "")
}

var hunkNumbers = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)
