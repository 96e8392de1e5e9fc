package redact_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/session/redact"
)

// However a stream is cut into writes, no secret gets through, and text without
// secrets comes out as it went in.
func TestWriter(t *testing.T) {
	r := redact.New([]string{key, key2})
	plain := strings.Repeat("a line of plain text\n", 400)
	parts := []string{plain, strings.Repeat("x", 9000), key, key2, "\n" + pem + "\n", "\n", "\nDB_PASSWORD=supersecret\n"}
	rapid.Check(t, func(t *rapid.T) {
		var in strings.Builder
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, len(parts)-1), 1, 25).Draw(t, "parts") {
			in.WriteString(parts[n])
		}
		var out bytes.Buffer
		w := redact.NewWriter(&out, r)
		for rest := in.String(); rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 30000).Draw(t, "write"))
			if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatalf("%d %v", m, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{key, key2, "supersecret", "MIIEpAIBAAKC"} {
			if strings.Contains(out.String(), s) {
				t.Fatalf("%q got through", s)
			}
		}
		if a, b := strings.Count(in.String(), "plain text"), strings.Count(out.String(), "plain text"); a != b {
			t.Fatalf("%d lines became %d", a, b)
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriterFails(t *testing.T) {
	w := redact.NewWriter(brokenWriter{}, nil)
	if _, err := w.Write(make([]byte, 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func BenchmarkWriter(b *testing.B) {
	r := redact.New([]string{key2})
	chunk := []byte(strings.Repeat("ok  \tgaruda/internal/session\t0.074s\n", 1000)[:32<<10])
	w := redact.NewWriter(io.Discard, r)
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if _, err := w.Write(chunk); err != nil {
			b.Fatal(err)
		}
	}
}
