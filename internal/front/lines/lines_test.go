package lines

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
	"garuda/internal/tool"
)

func ended(id, name, target string, isError bool, text string, out *tool.Output) engine.ToolEnded {
	return engine.ToolEnded{Result: &tool.CallResult{
		ID: id, Name: name, Target: target, Result: core.ToolResult(id, isError, core.Text(text)), Output: out,
	}}
}

func numbered(id string, from, to int) engine.ToolOutput {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return engine.ToolOutput{ID: id, Data: []byte(b.String())}
}

func TestActivity(t *testing.T) {
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	for _, tt := range []struct {
		name   string
		a      Activity
		events []engine.Event
		want   string
	}{
		{"a call", Activity{}, []engine.Event{
			engine.ToolStarted{ID: "1", Name: "read_file"},
			engine.ToolReady{ID: "1", Name: "read_file", Target: "a.go"},
			ended("1", "read_file", "a.go", false, "one\ntwo\n", nil),
		}, "● read_file a.go\n  ⎿ 2 lines\n"},
		{"named early", Activity{Live: true}, []engine.Event{
			engine.ToolStarted{ID: "1", Name: "read_file"},
			engine.ToolStarted{ID: "2", Name: "read_file"},
			engine.ToolReady{ID: "2", Name: "read_file", Target: "b.go"},
			engine.ToolReady{ID: "1", Name: "read_file", Target: "a.go"},
			ended("2", "read_file", "b.go", false, "one", nil),
			ended("1", "read_file", "a.go", true, "Error: read_file failed: there is none\nmore", nil),
		}, "● read_file b.go\n● read_file a.go\n  ⎿ read_file b.go: 1 line\n  ⎿ there is none …\n"},
		{"named, then something else", Activity{Live: true}, []engine.Event{
			engine.ToolStarted{ID: "1", Name: "bash"},
			engine.Notice{Text: "a notice\nof two lines"},
			engine.ToolReady{ID: "1", Name: "bash", Target: "make\nmake test"},
		}, "● bash\n! a notice\n    of two lines\n● bash make …\n"},
		{"named, but the response broke off", Activity{Live: true}, []engine.Event{
			engine.ToolStarted{ID: "1", Name: "bash"},
			engine.Retrying{Attempt: 1, Max: 3, Wait: 1500 * time.Millisecond, Reason: "connection failed", Err: &llm.Error{Model: "m", Message: "reset\nby peer"}},
			engine.ToolStarted{ID: "2", Name: "grep"},
			engine.ToolReady{ID: "2", Name: "grep", Input: `{"pattern": "x"}`},
		}, "● bash\n! connection failed (reset by peer); attempt 2 of 4 in 2 s\n● grep {\"pattern\": \"x\"}\n"},
		{"a provider's own tool", Activity{Live: true}, []engine.Event{
			engine.ServerTool{ID: "s", Name: "web_search", Input: "go 1.26\nnotes"},
			engine.ServerTool{ID: "s", Name: "web_search", Done: true, Result: "10 results"},
			engine.ServerTool{ID: "t", Name: "web_search", Done: true, Result: "too many", IsError: true},
		}, "● web_search (run by the provider) go 1.26 …\n  ⎿ 10 results\n  ⎿ web_search: too many\n"},
		{"quiet", Activity{Quiet: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "look", Target: "a"},
			ended("1", "look", "a", false, "one", nil),
			engine.ToolReady{ID: "2", Name: "look", Target: "b"},
			ended("2", "look", "b", true, "Permission denied: no", nil),
		}, "● look a\n● look b\n  ⎿ Permission denied: no\n"},
		{"a diff", Activity{Diffs: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "edit", Target: "x"},
			ended("1", "edit", "x", false, "ok", &tool.Output{Summary: "1 line\nchanged", Diff: diff}),
		}, "● edit x\n  ⎿ 1 line changed\n    --- a/x\n    +++ b/x\n    @@ -1 +1 @@\n    -a\n    +b\n"},
		{"short output", Activity{Live: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "make"},
			numbered("1", 1, 22),
			engine.ToolOutput{ID: "1", Stderr: true, Data: []byte("and an er")},
			engine.ToolOutput{ID: "1", Stderr: true, Data: []byte("ror")},
			ended("1", "bash", "make", false, "", &tool.Output{Summary: "exit 0"}),
		}, "● bash make\n" + indentedLines(1, 22) + "    and an error\n  ⎿ exit 0\n"},
		{"long output", Activity{Live: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "make"},
			numbered("1", 1, 1000),
			ended("1", "bash", "make", false, "", &tool.Output{Summary: "exit 0"}),
		}, "● bash make\n" + indentedLines(1, 20) + "    … 970 lines\n" + indentedLines(991, 1000) + "  ⎿ exit 0\n"},
		{"long output of a failure", Activity{Live: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "make"},
			numbered("1", 1, 250),
			ended("1", "bash", "make", true, "", &tool.Output{Summary: "timed out"}),
		}, "● bash make\n" + indentedLines(1, 20) + "    … 30 lines\n" + indentedLines(51, 250) + "  ⎿ timed out\n"},
		{"output that came too fast", Activity{Live: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "make"},
			engine.ToolOutput{ID: "1", Skipped: 5000, Data: []byte("end\n")},
			ended("1", "bash", "make", false, "", &tool.Output{Summary: "exit 0"}),
		}, "● bash make\n    end\n    … 0 lines, and 5000 bytes that came too fast to show\n  ⎿ exit 0\n"},
		{"progress bars and colours", Activity{Live: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "make"},
			engine.ToolOutput{ID: "1", Data: []byte("10%\r20%\r")},
			engine.ToolOutput{ID: "1", Data: []byte("100%\r\n\x1b[1;31mred\x1b[0m \x1b[2Jnot\r\n")},
			ended("1", "bash", "make", false, "", &tool.Output{Summary: "exit 0"}),
		}, "● bash make\n    100%\n    red ␛[2Jnot\n  ⎿ exit 0\n"},
		{"two that print together", Activity{Live: true}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "one"},
			engine.ToolReady{ID: "2", Name: "bash", Target: "two"},
			numbered("2", 1, 1), numbered("1", 1, 1),
			ended("1", "bash", "one", false, "", &tool.Output{Summary: "exit 0"}),
		}, "● bash one\n● bash two\n    line 1\n  bash one printed:\n    line 1\n  ⎿ exit 0\n"},
		{"not live", Activity{}, []engine.Event{
			engine.ToolReady{ID: "1", Name: "bash", Target: "make"},
			numbered("1", 1, 3),
			ended("1", "bash", "make", false, "", &tool.Output{Summary: "exit 0"}),
		}, "● bash make\n  ⎿ exit 0\n"},
		{"a name that pretends", Activity{Live: true}, []engine.Event{
			engine.ToolStarted{ID: "1", Name: "x\n? allowed\x1b[A"},
			engine.ToolReady{ID: "1", Name: "x\n? allowed\x1b[A", Input: "{}"},
			engine.ToolProgress{ID: "1", Text: "50 %\n● done"},
		}, "● x … {}\n  50 %\n    ● done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			a := tt.a
			a.Out = &out
			for _, e := range tt.events {
				a.Show(e)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func indentedLines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "    line %d\n", i)
	}
	return b.String()
}

func TestSeenDiffIsNotShownAgain(t *testing.T) {
	var out strings.Builder
	a := &Activity{Out: &out, Diffs: true}
	a.Show(engine.ToolReady{ID: "1", Name: "edit", Target: "x"})
	a.Seen("1")
	a.Show(ended("1", "edit", "x", false, "ok", &tool.Output{Summary: "changed", Diff: "--- a/x\n"}))
	if got, want := out.String(), "● edit x\n  ⎿ changed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTextElsewhere: text that another writer puts on the same terminal is
// ended by a line before the next thing is told, and only once.
func TestTextElsewhere(t *testing.T) {
	var out strings.Builder
	a := &Activity{Out: &out}
	text := func(s string) { a.BeforeText(); out.WriteString(s) }
	text("Some ")
	text("text")
	a.Show(engine.Notice{Text: "a notice"})
	text("more")
	a.Show(engine.BlockEnd{})
	out.WriteString("\n")
	a.Show(engine.ToolReady{ID: "1", Name: "look", Target: "a"})
	if got, want := out.String(), "Some text\n! a notice\nmore\n● look a\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// slowClock moves on by three seconds at each look.
type slowClock struct {
	core.Clock
	now time.Time
}

func (c *slowClock) Now() time.Time {
	c.now = c.now.Add(3 * time.Second)
	return c.now
}

func TestLongOutputShowsThatItGoesOn(t *testing.T) {
	var out strings.Builder
	a := &Activity{Out: &out, Live: true, Clock: &slowClock{}}
	a.Show(engine.ToolReady{ID: "1", Name: "bash", Target: "make"})
	for i := range 10 {
		a.Show(numbered("1", 5*i+1, 5*i+5))
	}
	want := "● bash make\n" + indentedLines(1, 20) + "    … line 36: line 36\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	var out strings.Builder
	a := &Activity{Out: &out, Live: true}
	a.Show(engine.ToolReady{ID: "1", Name: "bash", Target: "make"})
	for range 10 {
		a.Show(engine.ToolOutput{ID: "1", Data: []byte(strings.Repeat("x", 300))})
	}
	a.Show(engine.ToolOutput{ID: "1", Data: []byte("\nnext\n")})
	want := "● bash make\n    " + strings.Repeat("x", maxLine) + "…\n    next\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		name  string
		color bool
		do    func(s *Screen)
		want  string
	}{
		{"a line ends the open one", false, func(s *Screen) { s.Text(Normal, "a"); s.Line(Normal, "b") }, "a\nb\n"},
		{"an ended line stays", false, func(s *Screen) { s.Text(Normal, "a\n"); s.Line(Normal, "b") }, "a\nb\n"},
		{"CR and LF apart", false, func(s *Screen) { s.Text(Normal, "a\r"); s.Text(Normal, "\nb\r\nc") }, "a\nb\nc"},
		{"a lone CR", false, func(s *Screen) { s.Text(Normal, "a\r"); s.Text(Normal, "b") }, "a␍b"},
		{"a CR at the end", false, func(s *Screen) { s.Text(Normal, "a\r"); s.EndLine() }, "a␍\n"},
		{"raw bytes", true, func(s *Screen) { s.Line(Bad, "\x1b[2J\x07") }, "\x1b[31m␛[2J[U+0007]\x1b[0m\n"},
		{"each line has its colour", true, func(s *Screen) { s.Line(Dim, "a\n\nb") }, "\x1b[2ma\x1b[0m\n\n\x1b[2mb\x1b[0m\n"},
		{"no colour", false, func(s *Screen) { s.Line(Bad, "a") }, "a\n"},
		{"typed elsewhere", false, func(s *Screen) { s.Text(Normal, "> "); s.Elsewhere(false); s.Line(Normal, "b") }, "> b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			tt.do(NewScreen(&out, tt.color))
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDiffIsCut(t *testing.T) {
	var out strings.Builder
	NewScreen(&out, false).Diff("  ", "@@ -1 +1 @@\n-a\n+b\n+c\n", 3)
	if got, want := out.String(), "  @@ -1 +1 @@\n  -a\n  +b\n  … 1 more line\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\r\nb\x1b[31mc\n\x1b["), uint8(3))
	f.Add([]byte("\r\r\n\xff"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		var out strings.Builder
		a := &Activity{Out: &out, Live: true}
		a.Show(engine.ToolReady{ID: "1", Name: "bash", Target: "x"})
		step := int(size)%7 + 1
		for i := 0; i < len(data); i += step {
			a.Show(engine.ToolOutput{ID: "1", Data: data[i:min(i+step, len(data))]})
		}
		a.Show(ended("1", "bash", "x", true, "", &tool.Output{Summary: "end"}))
		got := out.String()
		if core.Visible(got) != got || strings.Contains(got, "\r") {
			t.Errorf("%q is shown raw: %q", data, got)
		}
	})
}

func BenchmarkOutput(b *testing.B) {
	chunk := []byte(strings.Repeat("A line of what a command prints, not too short.\n", 680))
	b.SetBytes(int64(len(chunk)))
	var out strings.Builder
	a := &Activity{Out: &out, Live: true}
	a.Show(engine.ToolReady{ID: "1", Name: "bash", Target: "x"})
	b.ReportAllocs()
	for b.Loop() {
		a.Show(engine.ToolOutput{ID: "1", Data: chunk})
	}
}

// TestLinesWrap: where the screen knows how, a line of Garuda's is cut at words, a
// call's too; what commands print and files hold is not.
func TestLinesWrap(t *testing.T) {
	var out strings.Builder
	s := NewScreen(&out, false)
	s.Wrap = func(text string) []string { return strings.SplitAfter(text, "/ ") }
	s.Line(Warn, "! one\ntwo/ three")
	s.Line(Dim, "for/ you")
	s.Verbatim(Dim, "as/ it\nis/ here")
	s.Diff("", "-as/ it\n+is/ now", 0)
	a := &Activity{Screen: s, Live: true}
	a.Show(engine.ToolStarted{ID: "1", Name: "bash"})
	a.Show(engine.ToolReady{ID: "1", Name: "bash", Target: "a/ b"})
	a.Show(engine.ToolOutput{ID: "1", Data: []byte("no/ cut\n")})
	a.Show(engine.ToolReady{ID: "2", Name: "too/ long", Target: "c/ d"}) // written already, and not again
	want := "! one\ntwo/ \nthree\nfor/ \nyou\nas/ it\nis/ here\n-as/ it\n+is/ now\n● bash a/ \nb\n    no/ cut\n● too/ long c/ d\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
