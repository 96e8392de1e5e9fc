package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// FuzzStream feeds a client's decoder whatever a server may send: it must end, in
// either one response or one typed error.
func FuzzStream(f *testing.F, d Dialect, decode func(*wire.Reply, func(llm.Event)) (*llm.Response, error)) {
	f.Add(strings.Join(d.Frames(full()), ""))
	f.Add(d.ErrorFrame)
	f.Add(strings.Join(d.Frames(Reply{Text: []string{`{"name":"bash","arguments":{}}`}}), ""))
	info := &llm.Info{Spec: "test/m", ID: "m"}
	f.Fuzz(func(t *testing.T, in string) {
		reply := wire.Recorded(t.Context(), info, strings.NewReader(in))
		defer reply.Close()
		resp, err := decode(reply, func(llm.Event) {})
		if (resp == nil) == (err == nil) {
			t.Fatalf("%v, %v", resp, err)
		}
		if err != nil {
			if _, ok := errors.AsType[*llm.Error](err); !ok {
				t.Fatalf("an error without type: %v", err)
			}
			return
		}
		for _, b := range wire.Finish(resp, &wire.Body{}).Message.Blocks {
			if !utf8.ValidString(b.Text) || b.Type == core.BlockToolUse && b.ID == "" {
				t.Fatalf("%+v", b)
			}
		}
	})
}

// BenchmarkStep is one step of a long conversation, over a real connection: 400
// messages of 10 KB have been sent, one more is added, and the whole is sent. The
// encoding alone is BenchmarkBody in package wire.
func BenchmarkStep(b *testing.B, d Dialect) {
	answer := strings.Join(d.Frames(Reply{Text: []string{"ok"}}), "")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		Stream(answer)(w, r, nil)
	}))
	defer srv.Close()
	m, err := d.New(llm.ClientConfig{Info: &llm.Info{Spec: "test/m", ID: "m"}, BaseURL: srv.URL + d.Base})
	if err != nil {
		b.Fatal(err)
	}
	defer closeIdle(m)
	long := Conversation10KB(400)
	req := Request(long...)
	step := func() {
		if _, err := m.Stream(context.Background(), req, func(llm.Event) {}); err != nil {
			b.Fatal(err)
		}
	}
	step()
	b.ReportAllocs()
	for b.Loop() {
		if len(req.Messages) == 500 {
			b.StopTimer()
			req.Messages = long
			step()
			b.StartTimer()
		}
		req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)], message10KB(len(req.Messages)))
		step()
	}
}

// Conversation10KB is n messages of 10 KB, by turns the user's and the model's.
func Conversation10KB(n int) []*core.Message {
	msgs := make([]*core.Message, n)
	for i := range msgs {
		msgs[i] = message10KB(i)
	}
	return msgs
}

func message10KB(i int) *core.Message {
	role := core.RoleUser
	if i%2 == 1 {
		role = core.RoleAssistant
	}
	return &core.Message{Role: role, Blocks: []core.Block{core.Text(strings.Repeat("a line of code;\n", 640))}}
}
