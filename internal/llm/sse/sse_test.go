package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type event struct {
	Name, Data   string
	Unterminated bool
}

func readAll(t testing.TB, src io.Reader) ([]event, error) {
	t.Helper()
	var out []event
	r := NewReader(src)
	for {
		ev, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		out = append(out, event{string(ev.Name), string(ev.Data), ev.Unterminated})
	}
}

func TestEvents(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []event
	}{
		"empty":                {"", nil},
		"one":                  {"data: a\n\n", []event{{Data: "a"}}},
		"crlf":                 {"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{Name: "x", Data: "a"}, {Data: "b"}}},
		"cr":                   {"data: a\r\rdata: b\r\r", []event{{Data: "a"}, {Data: "b"}}},
		"mixed line ends":      {"data: a\r\n\ndata: b\n\r\n", []event{{Data: "a"}, {Data: "b"}}},
		"lf then cr":           {"data: a\n\rdata: b\n\r", []event{{Data: "a"}, {Data: "b"}}},
		"comment only":         {": ping\n\n: ping\n\n", nil},
		"comment inside":       {"data: a\n: hello\ndata: b\n\n", []event{{Data: "a\nb"}}},
		"multi-line data":      {"data: a\ndata\ndata: b\n\n", []event{{Data: "a\n\nb"}}},
		"one space goes":       {"data:  a\n\n", []event{{Data: " a"}}},
		"no space":             {"data:a\n\n", []event{{Data: "a"}}},
		"colons stay":          {"data: a:b: c\n\n", []event{{Data: "a:b: c"}}},
		"empty data":           {"data:\n\n", []event{{Data: ""}}},
		"name without data":    {"event: x\n\ndata: a\n\n", []event{{Data: "a"}}},
		"unknown fields":       {"id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", []event{{Data: "a"}}},
		"byte order mark":      {"\ufeffdata: a\n\n", []event{{Data: "a"}}},
		"only one mark goes":   {"\ufeff\ufeffdata: a\n\ndata: b\n\n", []event{{Data: "b"}}},
		"part of a mark":       {"\xef\xbb", nil},
		"no blank line at end": {"data: a\n\ndata: b\n", []event{{Data: "a"}, {Data: "b", Unterminated: true}}},
		"no line end at end":   {"data: a\n\ndata: b", []event{{Data: "a"}, {Data: "b", Unterminated: true}}},
		"runes":                {"data: ü€😀\n\n", []event{{Data: "ü€😀"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"whole": strings.NewReader(tt.in),
				"bytes": iotest.OneByteReader(strings.NewReader(tt.in)),
				"err":   iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := readAll(t, src)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("%s: %s", how, d)
				}
			}
		})
	}
}

func TestLargeEvent(t *testing.T) {
	big := strings.Repeat("x", 8<<20)
	got, err := readAll(t, strings.NewReader("data: "+big+"\n\ndata: b\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Data != big || got[1].Data != "b" {
		t.Fatalf("got %d events", len(got))
	}
}

func TestTooLarge(t *testing.T) {
	for name, in := range map[string]string{
		"line":  "data: " + strings.Repeat("x", 200),
		"lines": strings.Repeat("data: xxxxxxxx\n", 20),
		// A comment must not be a way around the bound.
		"comment": ": " + strings.Repeat("x", 200),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(iotest.OneByteReader(strings.NewReader(in + "\n\n")))
			r.maxEvent = 100
			_, err := r.Next()
			if !errors.Is(err, ErrTooLarge) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestBrokenStream(t *testing.T) {
	broken := errors.New("reset")
	got, err := readAll(t, io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
}

// chunks returns its bytes in the given pieces.
type chunks struct {
	data []byte
	cuts []int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := len(c.data)
	if len(c.cuts) > 0 {
		n, c.cuts = min(n, c.cuts[0]), c.cuts[1:]
	}
	n = copy(p, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}

func TestAnyChunkingGivesTheSameEvents(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"data", "event", "data: ", "event: ", ":", " ", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "x", "ü", "😀", "\ufeff", "{\"a\":1}", "\x00", "\xff",
	})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		cuts := rapid.SliceOf(rapid.IntRange(1, 9)).Draw(t, "cuts")
		var a, b []event
		for i, src := range []io.Reader{strings.NewReader(in), &chunks{[]byte(in), cuts}} {
			r := NewReader(src)
			for {
				ev, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				e := event{string(ev.Name), string(ev.Data), ev.Unterminated}
				if i == 0 {
					a = append(a, e)
				} else {
					b = append(b, e)
				}
			}
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "\ufeffevent: x\rdata: a\r\r", ": c\r\n\r\ndata\r\n\r\n", "data: {\"a\":\"\xff\"}\n\ndata: [DONE]"} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		whole, err := readAll(t, bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		var cuts []int
		for range in {
			cuts = append(cuts, int(size%7)+1)
		}
		cut, err := readAll(t, &chunks{in, cuts})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, cut); d != "" {
			t.Fatal(d)
		}
		for _, ev := range whole {
			if strings.ContainsRune(ev.Data, '\r') {
				t.Fatalf("a line end is left in %q", ev.Data)
			}
		}
	})
}

// repeat endlessly returns one event.
type repeat struct {
	event []byte
	pos   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.event[r.pos:])
	r.pos = (r.pos + n) % len(r.event)
	return n, nil
}

func TestNextDoesNotAllocate(t *testing.T) {
	r := NewReader(&repeat{event: []byte("event: delta\ndata: {\"type\":\"text_delta\",\"text\":\"hello\"}\n\n")})
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkNext(b *testing.B) {
	src := &repeat{event: []byte("event: delta\ndata: {\"type\":\"text_delta\",\"text\":\"hello\"}\n\n")}
	r := NewReader(src)
	b.SetBytes(int64(len(src.event)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
