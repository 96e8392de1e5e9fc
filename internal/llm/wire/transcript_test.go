package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// fakeFormat writes a message as its text; a text "drop" is not sent, and "plain"
// carries no mark.
type fakeFormat struct{ encoded int }

func (f *fakeFormat) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
	dst = AppendField(append(dst, '{'), "system", req.System)
	mark := len(dst)
	return append(dst, `,"messages":[`...), []int{mark}, nil
}

func (f *fakeFormat) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	f.encoded++
	text := m.Blocks[0].Text
	if text == "drop" {
		return dst, -1
	}
	dst = AppendField(append(dst, '{'), "t", text)
	mark := len(dst)
	if text == "plain" {
		mark = -1
	}
	return append(dst, '}'), mark
}

func newFake(mark string) (*Transcript, *fakeFormat) {
	f := &fakeFormat{}
	return NewTranscript(f, "]}", mark), f
}

func sent(t interface{ Fatal(...any) }, b *Body) string {
	data, err := io.ReadAll(&bodyReader{parts: b.parts})
	if err != nil {
		t.Fatal(err)
	}
	if len(data) != b.Size() {
		t.Fatal("size", b.Size(), "sent", len(data))
	}
	return string(data)
}

func mustBody(t interface{ Fatal(...any) }, tr *Transcript, req *llm.Request) *Body {
	b, err := tr.Body(req)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func texts(ss ...string) []*core.Message {
	var out []*core.Message
	for i, s := range ss {
		m := core.UserText(s)
		if i%2 == 1 {
			m.Role = core.RoleAssistant
		}
		out = append(out, m)
	}
	return out
}

func TestTranscriptMarks(t *testing.T) {
	for _, tt := range []struct {
		msgs []string
		want string
	}{
		{nil, `{"system":"s"!,"messages":[]}`},
		{[]string{"a"}, `{"system":"s"!,"messages":[{"t":"a"!}]}`},
		{[]string{"a", "b"}, `{"system":"s"!,"messages":[{"t":"a"!},{"t":"b"!}]}`},
		{[]string{"a", "b", "c"}, `{"system":"s"!,"messages":[{"t":"a"!},{"t":"b"},{"t":"c"!}]}`},
		{[]string{"a", "b", "c", "d", "e"}, `{"system":"s"!,"messages":[{"t":"a"},{"t":"b"},{"t":"c"!},{"t":"d"},{"t":"e"!}]}`},
		{[]string{"a", "b", "plain"}, `{"system":"s"!,"messages":[{"t":"a"!},{"t":"b"!},{"t":"plain"}]}`},
		{[]string{"drop", "b", "drop"}, `{"system":"s"!,"messages":[{"t":"b"!}]}`},
	} {
		tr, _ := newFake("!")
		if got := sent(t, mustBody(t, tr, &llm.Request{System: "s", Messages: texts(tt.msgs...)})); got != tt.want {
			t.Errorf("%q:\n%s\nwant\n%s", tt.msgs, got, tt.want)
		}
	}
}

// TestTranscriptProperties plays any history of requests: each body is what a
// fresh transcript makes, earlier bodies stay as they were, and no message that
// stays in place is encoded twice.
func TestTranscriptProperties(t *testing.T) {
	pool := texts("a", "b", "drop", "plain", strings.Repeat("long ", 50), "ü", "drop", "z")
	rapid.Check(t, func(t *rapid.T) {
		tr, format := newFake("!")
		var last []*core.Message
		var bodies []*Body
		var kept []string
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			req := &llm.Request{System: rapid.SampledFrom([]string{"s", "s", "s", "other"}).Draw(t, "system")}
			req.Messages = append(req.Messages, last[:rapid.IntRange(0, len(last)).Draw(t, "keep")]...)
			same := len(req.Messages)
			for range rapid.IntRange(0, 3).Draw(t, "new") {
				req.Messages = append(req.Messages, rapid.SampledFrom(pool).Draw(t, "message"))
			}
			before := format.encoded
			body := mustBody(t, tr, req)
			if n := format.encoded - before; n > len(req.Messages)-same {
				t.Fatalf("%d messages encoded, %d new", n, len(req.Messages)-same)
			}
			fresh, _ := newFake("!")
			want := mustBody(t, fresh, req)
			got := sent(t, body)
			if got != sent(t, want) || body.Hash() != want.Hash() {
				t.Fatalf("got %s, want %s", got, sent(t, want))
			}
			sum := sha256.Sum256([]byte(strings.ReplaceAll(got, "!", "")))
			if body.Hash() != hex.EncodeToString(sum[:]) {
				t.Fatalf("hash %s of %s", body.Hash(), got)
			}
			bodies, kept, last = append(bodies, body), append(kept, got), req.Messages
		}
		for i, b := range bodies {
			if sent(t, b) != kept[i] {
				t.Fatalf("body %d changed to %s", i, sent(t, b))
			}
		}
	})
}

func TestBodyReader(t *testing.T) {
	parts := [][]byte{[]byte("abc"), nil, []byte("d"), []byte("efg")}
	for size := 1; size < 9; size++ {
		r := &bodyReader{parts: parts}
		var out []byte
		buf := make([]byte, size)
		for {
			n, err := r.Read(buf)
			out = append(out, buf[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
		}
		if string(out) != "abcdefg" {
			t.Errorf("size %d: %q", size, out)
		}
	}
}

// benchFormat is a plain encoder without the fake's special texts.
type benchFormat struct{ fakeFormat }

// BenchmarkBody adds one message of 10 KB to n others and builds the request. Its
// time must not grow with n.
func BenchmarkBody(b *testing.B) {
	for _, n := range []int{0, 100, 400} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			text := strings.Repeat("a line of code;\n", 640)
			var long []*core.Message
			for range n {
				long = append(long, core.UserText(text))
			}
			tr := NewTranscript(&benchFormat{}, "]}", "!")
			msgs := long
			mustBody(b, tr, &llm.Request{Messages: msgs})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if len(msgs) == n+200 {
					b.StopTimer()
					msgs = long
					tr = NewTranscript(&benchFormat{}, "]}", "!")
					mustBody(b, tr, &llm.Request{Messages: msgs})
					b.StartTimer()
				}
				msgs = append(msgs[:len(msgs):len(msgs)], core.UserText(text))
				mustBody(b, tr, &llm.Request{Messages: msgs})
			}
		})
	}
}
