package wire

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// spelling is one answer of testdata/errors and what it must be read as.
type spelling struct {
	name   string
	want   map[string]string
	status int // 0 for an error in a stream
	header http.Header
	body   string
}

func readSpellings(t *testing.T, file string) []spelling {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []spelling
	for entry := range strings.SplitSeq("\n"+string(text), "\n== ") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		name, rest, _ := strings.Cut(entry, "\n")
		s := spelling{name: name, want: map[string]string{}}
		for {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			if line == "STREAM" {
				break
			}
			if code, ok := strings.CutPrefix(line, "HTTP "); ok {
				if s.status, err = strconv.Atoi(code); err != nil {
					t.Fatalf("%s: %s: %v", file, name, err)
				}
				break
			}
			key, value, ok := strings.Cut(line, ":")
			if !ok {
				t.Fatalf("%s: %s: what is %q?", file, name, line)
			}
			s.want[key] = strings.TrimSpace(value)
		}
		head, body, ok := strings.Cut("\n"+rest, "\n\n")
		if !ok {
			t.Fatalf("%s: %s: no empty line before the body", file, name)
		}
		h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(strings.TrimPrefix(head, "\n") + "\n\n"))).ReadMIMEHeader()
		if err != nil {
			t.Fatalf("%s: %s: %v", file, name, err)
		}
		s.header, s.body = http.Header(h), strings.TrimSpace(body)
		out = append(out, s)
	}
	return out
}

// TestSpellings reads what servers really say.
func TestSpellings(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.txt")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		for _, s := range readSpellings(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+s.name, func(t *testing.T) {
				got := said(s.read())
				for key := range got {
					want := s.want[key]
					if key == "hint" && want != "" && strings.Contains(got[key], want) {
						continue
					}
					if got[key] != want {
						t.Errorf("%s is %q, want %q", key, got[key], want)
					}
				}
				for key := range s.want {
					if _, ok := got[key]; !ok {
						t.Errorf("there is no %q", key)
					}
				}
			})
		}
	}
}

// read has a client read the answer, at a fixed time.
func (s *spelling) read() *llm.Error {
	c := &Client{info: &llm.Info{Spec: "test/m", KeySource: "TEST_KEY"}, key: "sk-0123456789", clock: still{}}
	r := &Reply{client: c, parent: context.Background(), ctx: context.Background(), status: s.status}
	var err error
	if s.status == 0 {
		r.status = http.StatusOK
		err = r.Failure([]byte(s.body))
	} else {
		err = r.classify([]byte(s.body), s.header)
	}
	e, _ := errors.AsType[*llm.Error](err)
	return e
}

func said(e *llm.Error) map[string]string {
	got := map[string]string{"kind": string(e.Kind), "block": e.Block, "hint": e.Hint, "retry": "", "window": "", "image": "", "noretry": ""}
	if e.RetryAfter != 0 {
		got["retry"] = e.RetryAfter.String()
	}
	if e.Window != 0 {
		got["window"] = strconv.Itoa(e.Window)
	}
	if e.Image {
		got["image"] = "yes"
	}
	if e.NoRetry {
		got["noretry"] = "yes"
	}
	return got
}

// still is a clock that stands at the fixtures' time.
type still struct{ core.Clock }

func (still) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestSpan(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"37s": 37 * time.Second, "1.242s. visit": 1242 * time.Millisecond, "1m30s": 90 * time.Second, "20ms": 20 * time.Millisecond,
		"1h2m3.5s": time.Hour + 2*time.Minute + 3500*time.Millisecond, "26 seconds. please": 26 * time.Second,
		"1 minute 5 seconds": 65 * time.Second, "2 days": 48 * time.Hour, "": 0, "soon": 0, "5": 0, "5 apples": 0, "-5s": 0,
		"1e9s": 0, "99999999999999999999h": year, ".s": 0, "2m 5 apples": 2 * time.Minute,
	} {
		if got := span(in); got != want {
			t.Errorf("span(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestResetIn(t *testing.T) {
	now := still{}.Now()
	for in, want := range map[string]time.Duration{
		"6m0s": 6 * time.Minute, "12": 12 * time.Second, "0.5": 500 * time.Millisecond, "2026-01-02T03:04:45Z": 40 * time.Second,
		"2026-01-02T03:04:00Z": 0, "1767323100": 55 * time.Second, "1767323100000": 55 * time.Second, "": 0, "never": 0, "-3": 0, "0": 0,
	} {
		if got := resetIn(in, now); got != want {
			t.Errorf("resetIn(%q) = %v, want %v", in, got, want)
		}
	}
}

// TestMessagesOfGateways: what the user reads is the innermost message, with who said it.
func TestMessagesOfGateways(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"inner\"}}","provider_name":"P"}}}`: "Provider returned error (P): inner",
		`{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}`:                                                                  "inner",
		`[{"error":{"message":"listed"}}]`:                                                   "listed",
		`{"detail":[{"loc":["body","messages",1],"msg":"bad"},{"loc":["body"],"msg":"no"}]}`: "messages.1: bad; no",
		`{"message":{"a":1}}`:           `{"a":1}`,
		`{"error":{"message":"{not"}}`:  "{not",
		`{"error":{"code":7,"type":3}}`: "", // the words for programs stand in
	} {
		if got := parseFailure([]byte(body)).message; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	deep := `{"error":{"message":"x"}}`
	for range 20 {
		deep = `{"error":{"message":` + strconv.Quote(deep) + `}}`
	}
	if got := parseFailure([]byte(deep)); got.message == "" {
		t.Error("nothing is left of an error in an error in an error")
	}
}
