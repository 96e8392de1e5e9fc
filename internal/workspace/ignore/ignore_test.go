package ignore

import (
	"strings"
	"testing"
	"time"

	"garuda/internal/testkit"
)

// The comparison with git itself is in package workspace; these cases name the
// rules, and the quirks that are easy to get wrong.
func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		list, path string
		dir        bool
		want       Verdict
	}{
		{"*.o", "a.o", false, Ignore},
		{"*.o", "d/a.o", false, Ignore},
		{"*.o\n!b.o", "b.o", false, Include},
		{"!b.o\n*.o", "b.o", false, Ignore},
		{"build/", "build", true, Ignore},
		{"build/", "build", false, None},
		{"/a", "a", false, Ignore},
		{"/a", "d/a", false, None},
		{"d/a", "x/d/a", false, None},
		{"**/d/a", "x/d/a", false, Ignore},
		{"**/d/a", "d/a", false, Ignore},
		{"d/**", "d", true, None},
		{"d/**", "d/x/y", false, Ignore},
		{"d/**/e", "d/e", false, Ignore},
		{"d/**/e", "d/x/y/e", false, Ignore},
		{"*/**", "a", true, None},
		{"*/**", "a/b", false, Ignore},
		{"d/*", "d/x/y", false, None},
		{"a?c", "a/c", false, None},
		{"a[b-d]", "ac", false, Ignore},
		{"a[!b-d]", "ac", false, None},
		{"a[]]", "a]", false, Ignore},
		{"a[", "a[", false, None},
		{`a\`, `a\`, false, None},
		{`\#a`, "#a", false, Ignore},
		{"#a", "#a", false, None},
		{`\!a`, "!a", false, Ignore},
		{"a ", "a", false, Ignore},
		{`a\ `, "a ", false, Ignore},
		{"a\r\nb", "a", false, Ignore},
		{"\ufeffa", "a", false, Ignore},
		{"foo**/bar", "foobar", false, Ignore}, // the stars begin what git's matcher sees
		{"foo**/bar", "foo/x/bar", false, Ignore},
		{"f*o**/bar", "foo/x/bar", false, None},
		{"[[:digit:]]", "7", false, Ignore},
		{"[[:nothing:]]", "7", false, None},
		{"ä?", "ä\xc3", false, Ignore}, // bytes, as in git
		{"", "a", false, None},
		{"/", "a", true, None},
	} {
		if got := Parse([]byte(tc.list), false).Match(tc.path, tc.dir); got != tc.want {
			t.Errorf("%q for %q: %v, want %v", tc.list, tc.path, got, tc.want)
		}
	}
}

func TestMatchFold(t *testing.T) {
	for _, tc := range []struct {
		list, path string
		want       Verdict
	}{
		{"README", "readme", Ignore}, {"*.TXT", "a.txt", Ignore}, {"/Src/[A-C]*", "src/build", Ignore}, {"[[:upper:]]", "a", Ignore},
	} {
		if got := Parse([]byte(tc.list), true).Match(tc.path, false); got != tc.want {
			t.Errorf("%q for %q without case: %v", tc.list, tc.path, got)
		}
		if got := Parse([]byte(tc.list), false).Match(tc.path, false); got != None {
			t.Errorf("%q for %q with case: %v", tc.list, tc.path, got)
		}
	}
}

// A pattern made to blow up a backtracking matcher is as quick as any other.
func TestHostilePattern(t *testing.T) {
	name := strings.Repeat("a", 200)
	list := Parse([]byte(strings.Repeat("*a", 60)+"b\n"+strings.Repeat("**/*a/", 40)+"b\n"), false)
	done := make(chan Verdict, 1)
	go func() { done <- list.Match(strings.Repeat(name+"/", 30)+name, false) }()
	select {
	case v := <-done:
		if v != None {
			t.Errorf("verdict %v", v)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("matching does not end")
	}
}

func FuzzMatch(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzMatch.corpus")
	f.Add("*.o\n!a[b-]/**/c\\", "a/b/c.o", true)
	f.Add("a**/b/[[:x", "ab", false)
	f.Fuzz(func(t *testing.T, list, path string, dir bool) {
		l := Parse([]byte(list), false)
		v := l.Match(path, dir)
		if v < None || v > Include {
			t.Fatalf("verdict %d", v)
		}
		// A pattern after all others decides.
		if !strings.ContainsAny(path, "/\\*?[\n\r\x00 !#\ufeff") && path != "" && !strings.HasSuffix(list, "\\") {
			if got := Parse([]byte(list+"\n"+path), false).Match(path, dir); got != Ignore {
				t.Fatalf("%q then %q: %v", list, path, got)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	list := Parse([]byte("*.o\n*.pyc\nnode_modules/\n/build/\n.DS_Store\ndist\n*.log\ncoverage/\n.idea/\n*.sw?\n/vendor/**/test\n!keep.log\n"), false)
	b.ReportAllocs()
	for b.Loop() {
		list.Match("internal/workspace/ignore/pattern.go", false)
	}
}
