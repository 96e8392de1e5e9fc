package plain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/tool"
)

func TestReadLines(t *testing.T) {
	long := strings.Repeat("x", terminalLine)
	for _, tt := range []struct {
		name, in string
		terminal bool
		want     []string
		wantErr  error
	}{
		{"lines", "one\ntwo\r\n\nthree", false, []string{"one", "two", "", "three"}, nil},
		{"nothing", "", false, nil, nil},
		{"not UTF-8", "a\xffb\n", false, []string{"a\uFFFDb"}, nil},
		{"too long", "a\n" + strings.Repeat("x", maxLine+1) + "\nb\n", false, []string{"a", "", "b"}, errLineTooLong},
		{"as long as may be", strings.Repeat("x", maxLine-1) + "\n", false, []string{"10485759 bytes"}, nil},
		{"cut by the terminal", long + "\nb\n", true, []string{long, "b"}, errLineCut},
		{"as long, but no terminal", long + "\n", false, []string{long}, nil},
		{"keys", "ab\x1b[A\x1bOBc\x1b[200~d\x1b[201~\n", true, []string{"abcd"}, nil},
		{"keys, but no terminal", "a\x1b[A\n", false, []string{"a\x1b[A"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := make(chan typedLine, 10)
			readLines(strings.NewReader(tt.in), tt.terminal, core.SystemClock, out, nil)
			var got []string
			var err error
			for l := range out {
				if len(l.text) > 10_000 {
					l.text = fmt.Sprintf("%d bytes", len(l.text))
				}
				got = append(got, l.text)
				err = errors.Join(err, l.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if !errors.Is(err, tt.wantErr) {
				t.Errorf("error %v, want %v", err, tt.wantErr)
			}
		})
	}
}

func FuzzWithoutKeys(f *testing.F) {
	for _, s := range []string{"", "a\x1b[1;5Cb", "\x1b", "\x1b[", "\x1bO", "\x1b[é", "\x1b\x1b[A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := withoutKeys(s)
		if strings.Contains(got, "\x1b") {
			t.Errorf("withoutKeys(%q) = %q", s, got)
		}
		if !strings.Contains(s, "\x1b") && got != s {
			t.Errorf("withoutKeys(%q) changed it to %q", s, got)
		}
	})
}

func TestParseAnswer(t *testing.T) {
	both := &tool.Question{SessionRule: "bash(make)", ProjectRule: "bash(make)"}
	for _, tt := range []struct {
		text string
		q    *tool.Question
		want tool.Answer
		ok   bool
	}{
		{"y", both, tool.Answer{Choice: tool.AnswerOnce}, true},
		{" YES ", both, tool.Answer{Choice: tool.AnswerOnce}, true},
		{"y  but be quick ", both, tool.Answer{Choice: tool.AnswerOnce, Comment: "but be quick"}, true},
		{"a", both, tool.Answer{Choice: tool.AnswerSession}, true},
		{"p", both, tool.Answer{Choice: tool.AnswerProject}, true},
		{"n please use make test", both, tool.Answer{Choice: tool.AnswerDeny, Comment: "please use make test"}, true},
		{"no", both, tool.Answer{Choice: tool.AnswerDeny}, true},
		{"a", &tool.Question{ProjectRule: "x"}, tool.Answer{}, false},
		{"p", &tool.Question{SessionRule: "x"}, tool.Answer{}, false},
		{"", both, tool.Answer{}, false},
		{"yy", both, tool.Answer{}, false},
		{"yep", both, tool.Answer{}, false},
		{"always", both, tool.Answer{}, false},
		{"/yes", both, tool.Answer{}, false},
	} {
		got, err := parseAnswer(tt.text, tt.q)
		if (err == nil) != tt.ok || tt.ok && !cmp.Equal(got, tt.want) {
			t.Errorf("parseAnswer(%q) = %+v, %v; want %+v, ok %v", tt.text, got, err, tt.want, tt.ok)
		}
	}
}

func TestParseCommand(t *testing.T) {
	for _, tt := range []struct{ text, name, args, err string }{
		{"hello /help", "", "", ""},
		{"/etc/hosts is wrong", "", "", ""},
		{"/help", "help", "", ""},
		{"  /quit  ", "exit", "", ""},
		{"/sessions", "sessions", "", ""},
		{"/sessions list", "sessions", "", ""},
		{"/sessions 3", "sessions", "3", ""},
		{"/sessions rename 3 A title", "sessions rename", "3 A title", ""},
		{"/sessions  delete\t3", "sessions delete", "3", ""},
		{"/sessions renamed", "sessions", "renamed", ""},
		{"/plan do this\nand that", "plan", "do this\nand that", ""},
		{"/clear", "new", "", ""},
		{"/model 2", "models", "2", ""},
		{"/sesions", "", "", "there is no command /sesions; did you mean /sessions?"},
		{"/", "", "", "there is no command /; /help lists them"},
		{"/xyzzy", "", "", "there is no command /xyzzy; /help lists them"},
	} {
		cmd, args, err := parseCommand(tt.text)
		name, problem := "", ""
		if cmd != nil {
			name = cmd.name
		}
		if err != nil {
			problem = err.Error()
		}
		if name != tt.name || args != tt.args || problem != tt.err {
			t.Errorf("parseCommand(%q) = %q, %q, %q", tt.text, name, args, problem)
		}
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"", "/", "//", "/help", "/sessions delete 1", "a\n/b", "/\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cmd, _, err := parseCommand(s)
		if cmd != nil && err != nil {
			t.Errorf("parseCommand(%q) gives a command and the error %v", s, err)
		}
		if !strings.HasPrefix(strings.TrimSpace(s), "/") && (cmd != nil || err != nil) {
			t.Errorf("parseCommand(%q) takes a prompt for a command", s)
		}
	})
}

// TestWrapKeepsEverything: the pieces together are the visible text, and none
// is wider than the limit.
func TestWrapKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune(" \tab世　\u202e\x1b")))).Draw(t, "text")
		limit := rapid.IntRange(narrowest, 100).Draw(t, "limit")
		pieces := wrap(text, limit)
		if got, want := strings.Join(pieces, ""), core.Visible(text); got != want {
			t.Fatalf("pieces %q join to %q, want %q", pieces, got, want)
		}
		for _, p := range pieces {
			if !utf8.ValidString(p) {
				t.Fatalf("piece %q is cut inside a character", p)
			}
			used := 0
			for _, r := range p {
				used += columns(r)
			}
			if used > limit {
				t.Fatalf("piece %q takes %d columns of %d", p, used, limit)
			}
		}
	})
}

func TestWrapBreaksAfterBlanks(t *testing.T) {
	got := wrap("yes, always in this project; adds to your settings the rule bash(go test)", 40)
	want := []string{"yes, always in this project; adds to ", "your settings the rule bash(go test)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrap (-want +got):\n%s", diff)
	}
	if got := wrap(strings.Repeat("x", 45), 40); len(got) != 2 || len(got[0]) != 40 {
		t.Errorf("a long word is cut into %q", got)
	}
}

// TestHang: what does not fit goes on below the text it belongs to.
func TestHang(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  []string
	}{
		{"  /todo   the list of steps", 40, []string{"  /todo   the list of steps"}},
		{"  /todo   the list of steps that the model keeps", 34, []string{"  /todo   the list of steps that ", "          the model keeps"}},
		{"  /todo [a long word]    the list of steps", 30, []string{"  /todo [a long word]    the ", "  list of steps"}},
		{"! rate limit; another attempt in a while", 26, []string{"! rate limit; another ", "  attempt in a while"}},
		{"  ⎿ one two three four five six seven", 26, []string{"  ⎿ one two three four ", "    five six seven"}},
		{"a\x1b" + strings.Repeat("b", 25), 24, []string{"a␛" + strings.Repeat("b", 22), "bbb"}},
	} {
		if diff := cmp.Diff(c.want, hang(c.text, c.limit)); diff != "" {
			t.Errorf("%q in %d (-want +got):\n%s", c.text, c.limit, diff)
		}
	}
}
