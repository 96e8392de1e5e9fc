package editor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// typed makes an editor with the text, the cursor at the bar.
func typed(text string) *Editor {
	before, after, _ := strings.Cut(text, "|")
	e := &Editor{}
	e.Insert(before + after)
	e.at = len(split(before))
	e.last = other
	return e
}

func (e *Editor) shownText() string { return joined(e.items[:e.at]) + "|" + joined(e.items[e.at:]) }

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name, from string
		do         func(e *Editor)
		want       string
	}{
		{"insert", "a|c", func(e *Editor) { e.Insert("b") }, "ab|c"},
		{"backspace", "ae\u0301|", func(e *Editor) { e.Backspace() }, "a|"},
		{"backspace at start", "|a", func(e *Editor) { e.Backspace() }, "|a"},
		{"backspace joins lines", "a\n|b", func(e *Editor) { e.Backspace() }, "a|b"},
		{"delete", "|👨‍👩‍👧b", func(e *Editor) { e.Delete() }, "|b"},
		{"word left", "one two.|", func(e *Editor) { e.WordLeft() }, "one |two."},
		{"word right", "|one two", func(e *Editor) { e.WordRight(); e.WordRight() }, "one two|"},
		{"line start", "a\nbc|d", func(e *Editor) { e.LineStart() }, "a\n|bcd"},
		{"line end", "a|b\nc", func(e *Editor) { e.LineEnd() }, "ab|\nc"},
		{"kill to the end", "a|b\nc", func(e *Editor) { e.KillToLineEnd() }, "a|\nc"},
		{"kill the line end", "a|\nc", func(e *Editor) { e.KillToLineEnd() }, "a|c"},
		{"kill and yank", "one two|", func(e *Editor) { e.KillWordLeft(); e.Start(); e.Yank() }, "two|one "},
		{"kills join", "one two|", func(e *Editor) { e.KillWordLeft(); e.KillWordLeft(); e.Yank() }, "one two|"},
		{"kill to a blank", "a b/c|", func(e *Editor) { e.KillBlankLeft() }, "a |"},
		{"yank pop", "one two|", func(e *Editor) {
			e.KillWordLeft()
			e.Left()
			e.Right()
			e.KillWordLeft()
			e.Yank()
			e.YankPop()
		}, "two|"},
		{"transpose", "ab|", func(e *Editor) { e.Transpose() }, "ba|"},
		{"undo a word", "|", func(e *Editor) { e.Insert("a"); e.Insert("b"); e.Undo() }, "|"},
		{"undo and redo", "x|", func(e *Editor) { e.Backspace(); e.Undo(); e.Redo() }, "|"},
		{"undo a kill", "one two|", func(e *Editor) { e.KillWordLeft(); e.Undo() }, "one two|"},
		{"set can be undone", "draft|", func(e *Editor) { e.Set("history"); e.Undo() }, "draft|"},
		{"replace", "see @ma|", func(e *Editor) { e.Replace(3, "@main.go ") }, "see @main.go |"},
		{"carriage return", "|", func(e *Editor) { e.Insert("a\r\nb\rc") }, "a\nb\nc|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := typed(tt.from)
			tt.do(e)
			if got := e.shownText(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestPastes(t *testing.T) {
	long := strings.Repeat("line\n", 240)
	e := typed("see |")
	e.Paste(long)
	e.Paste("short")
	e.Paste(strings.Repeat("x", 1001))
	lines, _, _ := e.View(200, 5)
	if got, want := lines[0].String(), "see [pasted 240 lines]short[pasted 1001 characters #2]"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	if got, want := e.Text(), "see "+long+"short"+strings.Repeat("x", 1001); got != want {
		t.Errorf("sent %d bytes, want %d", len(got), len(want))
	}
	e.Backspace() // a folded paste is one character
	e.Backspace()
	if got, want := e.Text(), "see "+long+"shor"; got != want {
		t.Errorf("%q", got[len(got)-20:])
	}
}

func TestView(t *testing.T) {
	e := typed("one two three\nfour 漢字漢字漢字|\tx")
	lines, y, x := e.View(10, 10)
	var got []string
	for _, l := range lines {
		got = append(got, l.String())
	}
	if diff := cmp.Diff([]string{"one two ", "three", "four ", "漢字漢字漢", "字    x"}, got); diff != "" {
		t.Error(diff)
	}
	if y != 4 || x != 2 {
		t.Errorf("cursor in row %d, column %d", y, x)
	}
	if lines, y, _ := e.View(10, 2); len(lines) != 2 || y != 1 {
		t.Errorf("%d rows, cursor in %d", len(lines), y)
	}
}

func TestUpAndDown(t *testing.T) {
	e := typed("abcdef\nab\nabcdef|")
	e.Up(20)
	e.Up(20)
	if got := e.shownText(); got != "abcdef|\nab\nabcdef" {
		t.Errorf("%q: the column is not kept over a short line", got)
	}
	if e.Up(20) {
		t.Error("went up from the first row")
	}
	if !e.Down(20) || e.shownText() != "abcdef\nab|\nabcdef" {
		t.Errorf("%q", e.shownText())
	}
}

// Whatever is done, the cursor stays in the text, rows hold every character once
// and no more columns than there are, and everything can be undone.
func TestAnything(t *testing.T) {
	actions := []func(e *Editor, t *rapid.T){
		func(e *Editor, t *rapid.T) { e.Insert(rapid.String().Draw(t, "text")) },
		func(e *Editor, t *rapid.T) { e.Insert(rapid.StringMatching("[a-z ]|\n").Draw(t, "key")) },
		func(e *Editor, t *rapid.T) { e.Paste(strings.Repeat("p\n", rapid.IntRange(0, 14).Draw(t, "lines"))) },
		func(e *Editor, t *rapid.T) { e.Replace(rapid.IntRange(0, 5).Draw(t, "n"), "r") },
		func(e *Editor, t *rapid.T) { e.Up(rapid.IntRange(1, 20).Draw(t, "width")) },
		func(e *Editor, t *rapid.T) { e.Down(rapid.IntRange(1, 20).Draw(t, "width")) },
	}
	for _, do := range []func(*Editor){
		(*Editor).Backspace, (*Editor).Delete, (*Editor).Left, (*Editor).Right, (*Editor).LineStart, (*Editor).LineEnd, (*Editor).Start,
		(*Editor).End, (*Editor).WordLeft, (*Editor).WordRight, (*Editor).KillToLineEnd, (*Editor).KillToLineStart, (*Editor).KillWordLeft,
		(*Editor).KillWordRight, (*Editor).KillBlankLeft, (*Editor).Yank, (*Editor).YankPop, (*Editor).Transpose, (*Editor).Undo, (*Editor).Redo,
	} {
		actions = append(actions, func(e *Editor, _ *rapid.T) { do(e) })
	}
	rapid.Check(t, func(t *rapid.T) {
		e := &Editor{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			rapid.SampledFrom(actions).Draw(t, "action")(e, t)
			if e.at < 0 || e.at > len(e.items) {
				t.Fatalf("the cursor is at %d of %d", e.at, len(e.items))
			}
			width := rapid.IntRange(2, 20).Draw(t, "width")
			next := 0
			for _, r := range e.rows(width) {
				if r.start != next {
					t.Fatalf("a row begins at %d, not %d", r.start, next)
				}
				if next = r.end; next < len(e.items) && e.items[next].lineEnd() {
					next++
				}
			}
			lines, y, x := e.View(width, 4)
			if len(lines) > 4 || y < 0 || y >= len(lines) || x < 0 {
				t.Fatalf("%d rows, cursor at %d, %d", len(lines), y, x)
			}
		}
		for range mostUndo {
			e.Undo()
		}
		if !e.Empty() {
			t.Fatalf("%q is left after undoing everything", e.Text())
		}
	})
}
