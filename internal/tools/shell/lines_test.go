package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func linesOf(chunks ...string) *lineLog {
	log := &lineLog{}
	s := NewScreen(logLimit)
	s.lines = &splitter{log: log}
	for _, c := range chunks {
		s.Write([]byte(c))
	}
	s.finish()
	return log
}

func TestLinesAreAsATerminalShowsThem(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                      nil,
		"a\nb":                                  {"a", "b"},
		"a\n\nb\n":                              {"a", "", "b"},
		"1%\r2%\r100%\nok\n":                    {"100%", "ok"},
		"\x1b[1mbold\x1b[0m\r\nx":               {"bold", "x"},
		"\x1b]0;title\aok":                      {"ok"},
		"a\x00b\xff\n":                          {"a␀b\uFFFD"},
		strings.Repeat("ä", 2_000):              {strings.Repeat("ä", lineLimit/2)},
		strings.Repeat("x", 20_000) + "\nend\n": {strings.Repeat("x", lineLimit), "end"},
		"y" + strings.Repeat("ä", 2_000) + "\nend": {"y" + strings.Repeat("ä", lineLimit/2-1), "end"},
	} {
		got, lost := linesOf(in).since(0)
		if diff := cmp.Diff(want, got); diff != "" || lost != 0 {
			t.Errorf("%.40q: %s", in, diff)
		}
	}
}

// However the output is cut into pieces, its lines are the same; the newest are
// kept, and what is lost is counted.
func TestLinesDoNotDependOnPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "ä", "\n", "\r", "\x1b[2K", "\b", "\xff", "line\n", strings.Repeat("z", 700)})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(part, 0, 60).Draw(t, "parts")
		whole := strings.Join(parts, "")
		want, _ := linesOf(whole).since(0)
		got, _ := linesOf(parts...).since(0)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A byte that is no UTF-8 takes the same part of a long line whether the cursor went
// back in it or not.
func TestABadByteInALongLine(t *testing.T) {
	long := "\xff" + strings.Repeat("z", 3*lineLimit/2)
	want, _ := linesOf(long + "\r\n").since(0)
	got, _ := linesOf(long+"\r", "\n").since(0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLogKeepsTheNewestLines(t *testing.T) {
	log := &lineLog{}
	changed := log.change()
	for range 3*maxLines + 7 {
		log.add("x")
	}
	log.add("last")
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	lines, lost := log.since(0)
	if len(lines) != maxLines || lines[maxLines-1] != "last" || lost != log.next-maxLines {
		t.Errorf("%d lines, %d lost of %d", len(lines), lost, log.next)
	}
	if lines, lost = log.since(log.next - 1); len(lines) != 1 || lost != 0 {
		t.Errorf("%q, %d", lines, lost)
	}
	if lines, lost = log.since(log.next); len(lines) != 0 || lost != 0 {
		t.Errorf("%q, %d", lines, lost)
	}
}
