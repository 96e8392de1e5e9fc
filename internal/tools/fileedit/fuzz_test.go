package fileedit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"garuda/internal/testkit"
	"garuda/internal/workspace"
)

// naive makes replacements as the description of the tools says, one after the
// other in a plain string; ok is false where one of them has to be refused.
func naive(lf string, list []replacement) (out string, ok bool) {
	out = lf
	for _, r := range list {
		old, with := r.old, workspace.ToLF(r.with)
		if old == "" {
			return "", false
		}
		if !strings.Contains(out, old) {
			old = workspace.ToLF(old)
		}
		n := len(occurrences(out, old))
		if r.old == r.with || old == with || n == 0 || n > 1 && !r.all {
			return "", false
		}
		out = strings.ReplaceAll(out, old, with)
	}
	return out, out != lf
}

// FuzzEdits holds the matching of edits against plain replacing, and the bytes
// that come of it against the text.
func FuzzEdits(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzEdits.corpus")
	f.Add([]byte("a\r\nb\r\nb\n"), "a\nb|x", "b|y\nz", true)
	f.Add([]byte("\xff\xfea\x00\n\x00"), "a", "ä", false)
	f.Add([]byte("abababab"), "aba|ab|ba|b|a|zz", "x|y", true)
	f.Fuzz(func(t *testing.T, raw []byte, olds, news string, all bool) {
		if !utf8.ValidString(olds) || !utf8.ValidString(news) {
			return // JSON has no other
		}
		with := strings.Split(news, "|")
		var list []replacement
		for i, old := range strings.Split(olds, "|") {
			list = append(list, replacement{old: old, with: with[i%len(with)], all: all})
		}
		e := &edited{text: workspace.Decode(raw)}
		err := replaceAll(e, "f", list, true)
		want, ok := naive(e.text.LF, list)
		if (err == nil) != ok {
			t.Fatalf("%q with %+v: %v, but plain replacing gives %q, %v", e.text.LF, list, err, want, ok)
		}
		if err != nil {
			return
		}
		out, lf, err := e.text.Splice(e.edits)
		if err != nil {
			return // bytes that are not text, or a charset that lacks a character
		}
		if lf != want {
			t.Fatalf("%q with %+v: %q, and plain replacing gives %q", e.text.LF, list, lf, want)
		}
		// A legacy charset that was told from the bytes may not be told any more.
		back := workspace.Decode(out)
		if back.LF != want && back.Encoding == e.text.Encoding && !strings.Contains(want, "\ufffd") {
			t.Fatalf("%q with %+v is read as %q, and plain replacing gives %q", e.text.LF, list, back.LF, want)
		}
	})
}
