package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// parts are the pieces of a request that providers cache: the system prompt, each
// tool and each message, as bytes.
func (d Dialect) parts(t testing.TB, body string) []string {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var out []string
	for _, key := range []string{"tools", d.List} {
		var list []json.RawMessage
		if err := json.Unmarshal(object[key], &list); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		for _, p := range list {
			out = append(out, string(p))
		}
		if key == "tools" && d.System != "" {
			out = append(out, string(object[d.System]))
		}
	}
	return out
}

// request is what of a body is the request.
func (d Dialect) request(body string) string {
	if d.Request == nil {
		return body
	}
	return d.Request(body)
}

func (d Dialect) plain(body string) string {
	if d.CacheMark == "" {
		return body
	}
	return strings.ReplaceAll(body, d.CacheMark, "")
}

// Conversation answers each step with a call and gives back its result, for n
// steps, and calls check with each step's request.
func Conversation(t testing.TB, d Dialect, n int, check func(step int, s *Server, r Result)) {
	var handlers []Handler
	odd := `{"path":`
	if !d.has(BrokenInput) {
		odd = `{}`
	}
	for i := range n {
		handlers = append(handlers, Stream(d.Frames(Reply{
			Thinking: []string{fmt.Sprintf("thought %d", i)}, Signature: fmt.Sprintf("sig%d", i), Text: []string{"step <&> ü"},
			Calls: []Call{
				{ID: fmt.Sprintf("c%d", i), Name: "bash", Args: []string{fmt.Sprintf(`{ "command" : "echo %d"}`, i)}},
				{ID: fmt.Sprintf("d%d", i), Name: "read_file", Args: []string{odd}},
			},
		})...))
	}
	s := NewServer(t, d, nil, handlers...)
	req := hello()
	for i := range n {
		r := MustAsk(t, s.Model, req)
		check(i, s, r)
		results := &core.Message{Role: core.RoleUser}
		for _, c := range r.Resp.Message.ToolUses() {
			results.Blocks = append(results.Blocks, core.ToolResult(c.ID, false, core.Text(fmt.Sprintf("result %d\n\t<ü>", i))))
		}
		next := *req
		next.Messages = append(append([]*core.Message{}, req.Messages...), r.Resp.Message, results)
		req = &next
	}
}

// testStablePrefix is the bar of page 01: what was sent is sent again, byte for
// byte, and only new messages follow.
func testStablePrefix(t *testing.T, d Dialect) {
	const steps = 20
	var before []string
	var last string
	Conversation(t, d, steps, func(step int, s *Server, r Result) {
		whole := d.plain(s.Body(step))
		body := d.request(whole)
		now := d.parts(t, body)
		if len(now) <= len(before) {
			t.Fatalf("step %d: %d parts after %d", step, len(now), len(before))
		}
		for i := range before {
			if before[i] != now[i] {
				t.Fatalf("step %d: part %d changed from\n%s\nto\n%s", step, i, before[i], now[i])
			}
		}
		// Not the parts alone: all bytes before the end of the list.
		if step > 0 && !strings.HasPrefix(body, strings.TrimSuffix(last, "]}")) {
			t.Fatalf("step %d does not begin with step %d", step, step-1)
		}
		sum := sha256.Sum256([]byte(whole))
		if r.Resp.RequestHash != hex.EncodeToString(sum[:]) || r.Resp.RequestBytes != len(s.Body(step)) {
			t.Errorf("step %d: hash %s, %d bytes", step, r.Resp.RequestHash, r.Resp.RequestBytes)
		}
		before, last = now, body
	})
}

// testChangedRequest compares a client that has sent other things before with a
// fresh one: both must send the same.
func testChangedRequest(t *testing.T, d Dialect) {
	ok := Stream(d.Frames(Reply{Text: []string{"ok"}})...)
	base := []*core.Message{core.UserText("one"), {Role: core.RoleAssistant, Blocks: []core.Block{core.Text("two")}}, core.UserText("three")}
	grown := append(append([]*core.Message{}, base...), &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text("four")}}, core.UserText("five"))
	change := func(msgs []*core.Message, f func(*llm.Request)) *llm.Request {
		r := Request(msgs...)
		if f != nil {
			f(r)
		}
		return r
	}
	requests := []*llm.Request{
		change(base, nil),
		change(grown, nil),
		change(base[:2], nil), // shorter
		change(grown, func(r *llm.Request) { r.MaxTokens = 32_000 }),
		change(grown, func(r *llm.Request) { r.System = "" }),
		change(grown, func(r *llm.Request) { r.System = "other" }),
		change(grown, func(r *llm.Request) { r.Tools = r.Tools[:1] }),
		change(grown, func(r *llm.Request) { r.Tools = nil }),
		change(grown, func(r *llm.Request) { r.Thinking = llm.ThinkHigh }),
		change([]*core.Message{core.UserText("new"), grown[1]}, nil),
		change(append([]*core.Message{core.UserText("summary")}, grown[3:]...), nil),
		change(base, nil),
		change(base, nil), // the very same
	}
	used := NewServer(t, d, nil, ok)
	for i, req := range requests {
		got := MustAsk(t, used.Model, req)
		fresh := NewServer(t, d, nil, ok)
		want := MustAsk(t, fresh.Model, req)
		if used.Body(i) != fresh.Body(0) || got.Resp.RequestHash != want.Resp.RequestHash {
			t.Fatalf("request %d:\n%s\nbut a fresh client sends\n%s", i, used.Body(i), fresh.Body(0))
		}
	}
}

func testBadSchema(t *testing.T, d Dialect) {
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	req := hello()
	req.Tools[1].Schema = []byte(`{"type":`)
	e := WantError(t, Ask(t.Context(), s.Model, req).Err, llm.ErrBadRequest)
	if !strings.Contains(e.Message, "bash") || s.Requests() != 0 {
		t.Errorf("%v after %d requests", e, s.Requests())
	}
	MustAsk(t, s.Model, hello())
}
