package fileread

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/workspace"
)

// A window of a large plain file is what the usual way shows of it.
func TestPlainIsTheUsualWay(t *testing.T) {
	var lines strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&lines, "line %d äöü %s\n", i, strings.Repeat("x", i%50))
	}
	text := lines.String()
	for name, file := range map[string]string{"whole": text, "no final newline": strings.TrimSuffix(text, "\n"), "empty lines": text + "\n\n\n", "long": text + strings.Repeat("ß", 200_000)} {
		env := newEnv(t, map[string]string{"f": file})
		total := workspace.CountLines(file)
		for _, at := range []int{1, 2, 1000, total - 3, total, total + 1} {
			for _, limit := range []int{1, 7, 2000} {
				call := &readCall{lines: workspace.Lines{From: max(1, at), To: max(1, at) + limit - 1}, explicit: true}
				p, err := env.Workspace.Resolve("f")
				if err != nil {
					t.Fatal(err)
				}
				got, gotErr := call.plain(context.Background(), env, env.Workspace, p)
				env.Tracker.Forget()
				page := newPage(call.lines, min(call.lines.To, total))
				page.add(file)
				if at > total {
					if gotErr == nil || !strings.Contains(gotErr.Error(), "past its end") {
						t.Errorf("%s, past the end: %v", name, gotErr)
					}
					continue
				}
				if gotErr != nil || got == nil {
					t.Fatalf("%s, %d: %v, %v", name, at, got, gotErr)
				}
				want := page.output("f", workspace.Style{Newline: workspace.LF}, false, total)
				if diff := cmp.Diff(want.Text, got.Text); diff != "" {
					t.Fatalf("%s, %d lines from %d: %s", name, limit, at, diff)
				}
			}
		}
	}
}

// What is not plain goes the usual way.
func TestPlainLeavesTheRest(t *testing.T) {
	long := strings.Repeat("some text\n", 150_000)
	files := map[string]string{
		"crlf": long + "a\r\n", "mark": "\xef\xbb\xbf" + long, "broken": long + "\xff\n", "cut": long + "\xc3", "binary": "\x00" + long,
		"pdf": "%PDF-1.7\n" + long, "small": "a\n", "n.ipynb": long, "declared": long, ".editorconfig": "[declared]\ncharset = latin1\n",
	}
	env := newEnv(t, files)
	for name := range files {
		p, err := env.Workspace.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		call := &readCall{lines: workspace.Lines{From: 1, To: 1}, explicit: true}
		if out, err := call.plain(context.Background(), env, env.Workspace, p); out != nil || err != nil {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}

// Parts that end anywhere, within a character too, make no difference.
func TestPlainParts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var text []byte
		for range rnd.IntN(300) {
			text = append(text, []string{"a", "\n", "ä", "€", "😀"}[rnd.IntN(5)]...)
		}
		s := plainScan{lines: workspace.Lines{From: 1 + rnd.IntN(20), To: 5 + rnd.IntN(30)}}
		if ok, err := s.read(context.Background(), &dribble{bytes.NewReader(text), rnd}); !ok || err != nil {
			t.Fatalf("%q: %v, %v", text, ok, err)
		}
		want := ""
		for i, l := range strings.SplitAfter(string(text), "\n") {
			if i+1 >= s.lines.From && i+1 <= s.lines.To {
				want += l
			}
		}
		if string(s.kept) != want || s.total != workspace.CountLines(string(text)) {
			t.Fatalf("%q, %v: kept %q of %d lines, want %q", text, s.lines, s.kept, s.total, want)
		}
	}
}

// dribble gives a few bytes at a time.
type dribble struct {
	r   *bytes.Reader
	rnd *rand.Rand
}

func (d *dribble) Read(p []byte) (int, error) { return d.r.Read(p[:min(len(p), 1+d.rnd.IntN(9))]) }
