package mention

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"look at @a.go":                  {"a.go"},
		"@a.go and @b/c.go.":             {"a.go", "b/c.go."},
		"(@a.go), see":                   {"a.go),"},
		`@"a b.txt" there`:               {"a b.txt"},
		`@"a b.txt there`:                nil,
		"@\"a\nb\"":                      nil,
		"mail me@example.org":            nil,
		"me+x@example.org, you@a.b":      nil,
		"@ nothing":                      nil,
		"@@twice":                        nil,
		"npm i @scope/package":           {"scope/package"},
		"@ä/ö.txt":                       {"ä/ö.txt"},
		"see:@a.go":                      {"a.go"},
		strings.Repeat("@", 10):          nil,
		"@" + strings.Repeat("x", 5000):  nil,
		"git@github.com:a/b.git @a\tx@b": {"a"},
	} {
		var got []string
		for _, r := range Find(text) {
			got = append(got, r.Path)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%.40q: %s", text, d)
		}
	}
}

func TestSpellings(t *testing.T) {
	for _, tc := range []struct {
		ref  Ref
		want []string
	}{
		{Ref{Path: "a.go"}, []string{"a.go"}},
		{Ref{Path: "a.go),"}, []string{"a.go),", "a.go)", "a.go"}},
		{Ref{Path: "a b.", Quoted: true}, []string{"a b."}},
		{Ref{Path: "..."}, []string{"...", "..", "."}},
	} {
		if d := cmp.Diff(tc.want, tc.ref.Spellings()); d != "" {
			t.Errorf("%v: %s", tc.ref, d)
		}
	}
}

func TestProse(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"see @a.md\n", "see @a.md\n"},
		{"a\n```\n@b\n```\n@c\n", "a\n\n\n\n@c\n"},
		{"````md\n```\n@b\n````\n@c\n", "\n\n\n\n@c\n"},
		{"~~~\n@b\n```\n~~~\n@c", "\n\n\n\n@c\n"},
		{"use `@b` and ``@c ` d`` or @e\n", "use x and x or @e\n"},
		{"an ` open @b\n", "an ` open @b\n"},
		{"text\n\n    @b\n    @c\n\ntext\n", "text\n\n\n\n\ntext\n"},
		{"- item\n\n    more @b\n", "- item\n\n    more @b\n"},
		{"```\n@never closed\n", "\n\n"},
	} {
		if d := cmp.Diff(tc.want, Prose(tc.text)); d != "" {
			t.Errorf("%q: %s", tc.text, d)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"@a.go,", `@"a b"`, "x@y @z `@q`", "```\n@a\n```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Find(text) {
			if r.Path == "" || !strings.Contains(text, "@") || len(r.Path) > maxPath {
				t.Fatalf("%q in %q", r.Path, text)
			}
			spellings := r.Spellings()
			for i, s := range spellings {
				if s == "" || i > 0 && !strings.HasPrefix(spellings[i-1], s) {
					t.Fatalf("%q", spellings)
				}
			}
		}
		if prose := Prose(text); len(prose) > len(text)+1 {
			t.Fatalf("the prose of %q is longer: %q", text, prose)
		}
	})
}
