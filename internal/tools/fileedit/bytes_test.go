package fileedit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/tool"
	"garuda/internal/tools/fileread"
	"garuda/internal/workspace"
)

// rawLine is a line of a file as its bytes, with what it is known by.
type rawLine struct{ name, raw string }

// drawFile makes a file whose lines differ in everything but their order:
// newlines of both kinds, bytes that are no text, marks, control characters, and
// maybe no newline at the end.
func drawFile(t *rapid.T) (lines []rawLine, utf16 bool) {
	utf16 = rapid.Bool().Draw(t, "utf16")
	junk := []string{"", " ", "\t", "é", "漢字", "😀", "\r", "\v", "\f", "\u2028", "a\u0301", "@@", "*** "}
	if !utf16 {
		junk = append(junk, "\xff", "\xc3", "\x80\x81", "\xed\xa0\x80")
	}
	n := rapid.IntRange(1, 9).Draw(t, "n")
	for i := range n {
		name := fmt.Sprintf("line%d", i)
		raw := rapid.SampledFrom(junk).Draw(t, "before") + name + rapid.SampledFrom(junk).Draw(t, "after") + "."
		raw += rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		lines = append(lines, rawLine{name, raw})
	}
	if !rapid.Bool().Draw(t, "final newline") {
		lines[n-1].raw = strings.TrimRight(lines[n-1].raw, "\r\n")
	}
	return lines, utf16
}

func encode(t *rapid.T, text string, utf16 bool) []byte {
	if !utf16 {
		return []byte(text)
	}
	raw, err := workspace.Style{Encoding: workspace.UTF16LE, BOM: true, Newline: workspace.LF}.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Every byte that no edit is about stays, whatever the file is made of.
func TestEditsKeepOtherBytes(t *testing.T) {
	env := newEnv(t, map[string]string{"f": ""})
	path := filepath.Join(env.Workspace.Root(), "f")
	rapid.Check(t, func(t *rapid.T) {
		lines, utf16 := drawFile(t)
		var before, after strings.Builder
		var edits []args
		patch := "*** Begin Patch\n*** Update File: f\n"
		for i, l := range lines {
			before.WriteString(l.raw)
			text := strings.TrimRight(l.raw, "\r\n")
			if rapid.Bool().Draw(t, "edited") {
				after.WriteString(strings.Replace(l.raw, l.name, "NEW"+fmt.Sprint(i), 1))
				edits = append(edits, args{"old_string": l.name, "new_string": fmt.Sprint("NEW", i)})
				patch += "@@\n-" + strings.ToValidUTF8(text, "\ufffd") + "\n+" + strings.Replace(text, l.name, "NEW"+fmt.Sprint(i), 1) + "\n"
				continue
			}
			after.WriteString(l.raw)
		}
		if len(edits) == 0 {
			t.Skip("nothing to edit")
		}
		raw := encode(t, before.String(), utf16)
		want := encode(t, after.String(), utf16)
		for _, call := range []struct {
			tool tool.Tool
			in   args
		}{{multiEdit{}, args{"path": "f", "edits": edits}}, {applyPatch{}, args{"patch": patch + "*** End Patch"}}} {
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
			env.Tracker.Forget()
			if _, err := run(env, fileread.New()[0], args{"path": "f"}); err != nil {
				t.Fatal(err)
			}
			_, err := run(env, call.tool, call.in)
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			_, multi := call.tool.(multiEdit)
			switch {
			case err != nil && !bytes.Equal(got, raw):
				t.Fatalf("%T failed (%v) and changed the file:\n%q\n%q", call.tool, err, raw, got)
			case err == nil && !bytes.Equal(got, want):
				t.Fatalf("%T of %q:\n%q, want\n%q", call.tool, raw, got, want)
			case err != nil && multi:
				t.Fatalf("%T of %q: %v", call.tool, raw, err)
			case err != nil && !strings.Contains(err.Error(), "U+FFFD") && !strings.Contains(err.Error(), "do not stand"):
				t.Fatalf("%T of %q with %q: %v", call.tool, raw, patch, err)
			}
		}
	})
}
