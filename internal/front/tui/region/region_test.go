package region

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/ui/styled"
	"garuda/internal/ui/theme"
)

func lines(texts ...string) []styled.Line {
	var out []styled.Line
	for _, t := range texts {
		out = append(out, styled.Text(styled.Plain, t))
	}
	return out
}

// all is what the terminal holds, scrollback and window, without the blanks at the
// lines' ends and the empty lines at its end.
func all(e *vt.Emulator) []string {
	var out []string
	for y := range e.ScrollbackLen() {
		var b strings.Builder
		for x := range e.Width() {
			if c := e.ScrollbackCellAt(x, y); c != nil {
				b.WriteString(c.Content)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	for line := range strings.SplitSeq(e.String(), "\n") {
		out = append(out, strings.TrimRight(line, " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// What the terminal holds after any frames is what was printed and the live lines,
// in order, nothing lost and nothing twice, with the cursor where it should be.
func TestFrames(t *testing.T) {
	word := rapid.StringMatching("[a-z漢]{0,12}")
	rapid.Check(t, func(t *rapid.T) {
		const width, height = 12, 6
		e := vt.NewEmulator(width, height)
		defer func() { _ = e.Close() }()
		r := New(theme.New(theme.None, true, false), width, height, rapid.Bool().Draw(t, "synchronised"))
		var printed []string
		for n := range rapid.IntRange(1, 12).Draw(t, "frames") {
			f := Frame{Row: rapid.IntRange(-1, 5).Draw(t, "row"), Col: rapid.IntRange(0, 11).Draw(t, "col")}
			for range rapid.IntRange(0, 3).Draw(t, "prints") {
				text := fmt.Sprintf("p%d %s", n, rapid.StringMatching("[a-z]{0,30}").Draw(t, "print"))
				f.Print = append(f.Print, styled.Text(styled.Good, text))
				for rest := text; ; rest = rest[width:] {
					if len(rest) <= width {
						printed = append(printed, strings.TrimRight(rest, " "))
						break
					}
					printed = append(printed, strings.TrimRight(rest[:width], " "))
				}
			}
			var live []string
			for range rapid.IntRange(1, 8).Draw(t, "lives") {
				text := word.Draw(t, "live")
				live = append(live, text)
				f.Live = append(f.Live, styled.Text(styled.Plain, text))
			}
			_, _ = e.Write(r.Draw(f))
			skipped := max(len(live)-height, 0)
			want := append([]string{}, printed...)
			for _, l := range f.Live[skipped:] {
				want = append(want, strings.TrimRight(l.Cut(width).String(), " "))
			}
			for len(want) > 0 && want[len(want)-1] == "" {
				want = want[:len(want)-1]
			}
			got := all(e)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			if row := f.Row - skipped; row >= 0 && row < len(live)-skipped {
				top := max(len(printed)+len(live)-skipped-height, 0)
				at := e.CursorPosition()
				if at.X != f.Col || at.Y != len(printed)+row-top && e.ScrollbackLen() == 0 {
					t.Fatalf("cursor at %v, want row %d, column %d", at, row, f.Col)
				}
			} else if !r.hidden {
				t.Fatal("the cursor is not hidden")
			}
		}
	})
}

func TestOnlyChanges(t *testing.T) {
	r := New(theme.New(theme.None, true, false), 20, 5, true)
	r.Draw(Frame{Live: lines("one", "two", "three"), Row: 2, Col: 5})
	if got := r.Draw(Frame{Live: lines("one", "two", "three"), Row: 2, Col: 5}); got != nil {
		t.Errorf("the same frame wrote %q", got)
	}
	got := string(r.Draw(Frame{Live: lines("one", "2", "three"), Row: 2, Col: 5}))
	if want := "\x1b[?2026h\x1b[?25l\x1b[A\r\x1b[2K2\x1b[B\r\x1b[5C\x1b[?25h\x1b[?2026l"; got != want {
		t.Errorf("one line changed: %q, want %q", got, want)
	}
	got = string(r.Draw(Frame{Live: lines("one", "2", "three"), Row: 2, Col: 1}))
	if want := "\x1b[?2026h\x1b[?25l\r\x1b[C\x1b[?25h\x1b[?2026l"; got != want {
		t.Errorf("the cursor moved: %q, want %q", got, want)
	}
}

// A window that became narrower shows the live lines once: their old rows, of which
// there are more now, are gone, and what was printed above stays.
func TestNarrower(t *testing.T) {
	th := theme.New(theme.None, true, false)
	r := New(th, 20, 10, false)
	r.Draw(Frame{Print: lines("printed"), Live: lines("a line of 18 signs", "short"), Row: 1, Col: 2})
	r.Resize(10, 10)
	// As a terminal shows it that lays lines out anew.
	e := vt.NewEmulator(10, 10)
	defer func() { _ = e.Close() }()
	_, _ = e.WriteString("printed\r\na line of 18 signs\r\nsh")
	_, _ = e.Write(r.Draw(Frame{Live: lines("narrow", "now"), Row: 0}))
	if diff := cmp.Diff([]string{"printed", "narrow", "now"}, all(e)); diff != "" {
		t.Error(diff)
	}
}

func TestLeave(t *testing.T) {
	e := vt.NewEmulator(20, 5)
	defer func() { _ = e.Close() }()
	r := New(theme.New(theme.None, true, false), 20, 5, false)
	_, _ = e.Write(r.Draw(Frame{Print: lines("kept"), Live: lines("a", "b"), Row: -1}))
	_, _ = e.Write(r.Leave())
	_, _ = e.WriteString("$ ")
	if diff := cmp.Diff([]string{"kept", "$"}, all(e)); diff != "" {
		t.Error(diff)
	}
	if e.CursorHidden() {
		t.Error("the cursor stays hidden")
	}
}
