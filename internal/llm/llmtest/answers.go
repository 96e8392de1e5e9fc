package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
)

func hello() *llm.Request { return Request(core.UserText("hello")) }

func testText(t *testing.T, d Dialect) {
	s := NewServer(t, d, func(c *llm.ClientConfig) {
		// Headers are added; the key's own stays.
		c.Headers = map[string]string{"X-Extra": "yes", d.KeyHeader: "no"}
	}, Stream(d.Frames(Reply{Text: []string{"Hel", "", "lo, w", "örld"}})...))
	r := MustAsk(t, s.Model, hello())
	want := &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text("Hello, wörld")}}
	if diff := cmp.Diff(want, r.Resp.Message); diff != "" {
		t.Error(diff)
	}
	if r.Text() != "Hello, wörld" || r.Resp.Stop != core.StopEndTurn {
		t.Errorf("text %q, stop %q", r.Text(), r.Resp.Stop)
	}
	if got := s.Header(0); got.Get(d.KeyHeader) != d.KeyPrefix+Key || got.Get("X-Extra") != "yes" || got.Get("Content-Length") == "" {
		t.Errorf("headers %v", got)
	}
	if r.Resp.RequestBytes != len(s.Body(0)) || !json.Valid([]byte(s.Body(0))) {
		t.Errorf("%d bytes counted, sent %s", r.Resp.RequestBytes, s.Body(0))
	}
}

func testCalls(t *testing.T, d Dialect) {
	nested := `{"a":{"b":[1,2.50,{"ü":"😀 \"q\" \\ \n"}]},"c":null}`
	for name, calls := range map[string][]Call{
		"one":       {{ID: "c1", Name: "bash", Args: []string{`{"comm`, `and":"ls"}`}}},
		"parallel":  {{ID: "c1", Name: "bash", Args: []string{`{"command":"a"}`}}, {ID: "c2", Name: "read_file", Args: []string{`{"pa`, `th":"b"}`}}, {ID: "c3", Name: "bash", Args: []string{`{}`}}},
		"empty":     {{ID: "c1", Name: "bash", Args: nil}},
		"nested":    {{ID: "c1", Name: "bash", Args: []string{nested}}},
		"broken":    {{ID: "c1", Name: "bash", Args: []string{`{"command":`}}},
		"same id":   {{ID: "c1", Name: "bash", Args: []string{`{"command":"a"}`}}, {ID: "c1", Name: "bash", Args: []string{`{"command":"b"}`}}},
		"odd names": {{ID: "fn.bash:0", Name: "fn.bash", Args: []string{`{}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "broken" && !d.has(BrokenInput) {
				t.Skip(d.Without[BrokenInput])
			}
			s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}, Calls: calls})...))
			req := hello()
			r := MustAsk(t, s.Model, req)
			if r.Resp.Stop != core.StopToolUse {
				t.Errorf("stop %q", r.Resp.Stop)
			}
			got := r.Resp.Message.ToolUses()
			if len(got) != len(calls) || len(r.Started()) != len(calls) {
				t.Fatalf("calls %v, announced %v", got, r.Started())
			}
			ids := map[string]bool{}
			results := &core.Message{Role: core.RoleUser}
			for i, c := range calls {
				input := strings.Join(c.Args, "")
				if input == "" {
					input = "{}"
				}
				if got[i].Name != c.Name || got[i].Input != input || got[i].ID == "" || ids[got[i].ID] {
					t.Errorf("call %d: %+v", i, got[i])
				}
				if started := r.Started()[i]; started.Name != c.Name {
					t.Errorf("announced %+v", started)
				}
				ids[got[i].ID] = true
				results.Blocks = append(results.Blocks, core.ToolResult(got[i].ID, i == 1, core.Text("done")))
			}
			// What goes back is JSON that the provider can read, whatever came.
			req.Messages = append(req.Messages, r.Resp.Message, results)
			MustAsk(t, s.Model, req)
			if body := s.Body(1); !json.Valid([]byte(body)) {
				t.Errorf("sent %s", body)
			} else if name == "broken" && strings.Contains(body, `{"command":"}`) {
				t.Errorf("broken arguments were sent back: %s", body)
			} else if name == "odd names" && strings.Contains(body, "fn.bash") {
				t.Errorf("an odd name was sent back: %s", body)
			}
		})
	}
}

func testCutArguments(t *testing.T, d Dialect) {
	args := `{"s":"aü€😀\n\"","n":[{}]}`
	var cuts [][]string
	for i := 1; i < len(args); i++ {
		cuts = append(cuts, []string{args[:i], args[i:]})
	}
	cuts = append(cuts, strings.Split(args, ""), bytewise(args))
	var handlers []Handler
	for _, cut := range cuts {
		handlers = append(handlers, Stream(strings.Join(d.Frames(Reply{Calls: []Call{{ID: "c", Name: "bash", Args: cut}}}), "")))
	}
	s := NewServer(t, d, nil, handlers...)
	for _, cut := range cuts {
		r := MustAsk(t, s.Model, hello())
		if got := r.Resp.Message.ToolUses(); len(got) != 1 || got[0].Input != args {
			t.Fatalf("cut %q: %+v", cut, got)
		}
	}
}

func bytewise(s string) []string {
	var out []string
	for i := range len(s) {
		out = append(out, s[i:i+1])
	}
	return out
}

func testBytewiseStream(t *testing.T, d Dialect) {
	text := "aü€😀b"
	whole := strings.Join(d.Frames(Reply{Text: bytewise(text), Calls: []Call{{ID: "c", Name: "bash", Args: []string{`{"a":"ü"}`}}}}), "")
	s := NewServer(t, d, nil, Stream(bytewise(whole)...))
	r := MustAsk(t, s.Model, hello())
	if r.Resp.Message.PlainText() != text || r.Text() != text {
		t.Errorf("text %q, shown %q", r.Resp.Message.PlainText(), r.Text())
	}
	for _, e := range r.Events {
		if d, ok := e.(llm.TextDelta); ok && strings.ContainsRune(d.Text, '\ufffd') {
			t.Errorf("a delta is cut inside a rune: %q", d.Text)
		}
	}
}

func testLineEnds(t *testing.T, d Dialect) {
	whole := strings.Join(d.Frames(Reply{Text: []string{"a", "b"}}), "")
	for _, end := range []string{"\r", "\r\n"} {
		for name, in := range map[string]string{
			"plain":    whole,
			"mark":     "\ufeff" + whole,
			"comments": ": hi\n\n" + strings.ReplaceAll(whole, "data:", ": keep-alive\ndata:"),
			"no end":   strings.TrimRight(whole, "\n"),
		} {
			s := NewServer(t, d, nil, Stream(strings.ReplaceAll(in, "\n", end)))
			if r := MustAsk(t, s.Model, hello()); r.Text() != "ab" {
				t.Errorf("%q %s: %q", end, name, r.Text())
			}
		}
	}
}

func testThinking(t *testing.T, d Dialect) {
	reply := Reply{Thinking: []string{"Let me ", "<think> & ü"}, Signature: "c2ln+/=", Text: []string{"ok"},
		Calls: []Call{{ID: "c1", Name: "bash", Args: []string{`{}`}}}}
	s := NewServer(t, d, nil, Stream(d.Frames(reply)...))
	req := hello()
	r := MustAsk(t, s.Model, req)
	first := r.Resp.Message.Blocks[0]
	if first.Type != core.BlockThinking || first.Text != "Let me <think> & ü" || first.Provider != d.Format || first.Opaque == "" {
		t.Fatalf("%+v", first)
	}
	if r.Thinking() != first.Text || r.Text() != "ok" {
		t.Errorf("shown %q, %q", r.Thinking(), r.Text())
	}
	req.Messages = append(req.Messages, r.Resp.Message, &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c1", false, core.Text("x"))}})
	MustAsk(t, s.Model, req)
	if inner := strings.TrimSuffix(strings.TrimPrefix(first.Opaque, "{"), "}"); !strings.Contains(s.Body(1), inner) {
		t.Errorf("%s\nis not in\n%s", inner, s.Body(1))
	}
}

func testForeignBlocks(t *testing.T, d Dialect) {
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	foreign := `{"secret":"of another provider"}`
	req := Request(
		core.UserText("one"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{
			{Type: core.BlockThinking, Text: "hidden thought", Provider: "other", Opaque: foreign},
			core.Text("answer"),
			{Type: core.BlockOpaque, Provider: "other", Opaque: foreign},
		}},
		core.UserText("two"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockThinking, Text: "hidden thought", Provider: "other", Opaque: foreign}}},
		core.UserText("three"),
	)
	MustAsk(t, s.Model, req)
	body := s.Body(0)
	if strings.Contains(body, "another provider") || strings.Contains(body, "hidden thought") || !strings.Contains(body, "answer") {
		t.Errorf("sent %s", body)
	}
	if strings.Contains(body, `"content":""`) || strings.Contains(body, `"content":[]`) || strings.Contains(body, `"text":""`) {
		t.Errorf("an empty message was sent: %s", body)
	}
}

func testImages(t *testing.T, d Dialect) {
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	image := func(b string) core.Block {
		return core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte(b)}
	}
	MustAsk(t, s.Model, Request(
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.Text("see"), image("first")}},
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: "c1", Name: "read_file", Input: `{"path":"a.png"}`}}},
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{
			core.Text("and"), core.ToolResult("c1", false, image("second")),
			{Type: core.BlockDocument, MediaType: "application/pdf", Name: "a.pdf", Data: []byte("third")},
			{Type: core.BlockDocument, MediaType: "text/plain", Name: "a.txt", Data: []byte("fourth <text>")},
		}},
	))
	body := s.Body(0)
	for _, want := range []string{"image/png", "application/pdf", "a.pdf", "fourth <text>", b64("first"), b64("second"), b64("third")} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if strings.Index(body, `"c1"`) > strings.Index(body, b64("second")) || !json.Valid([]byte(body)) {
		t.Errorf("sent %s", body)
	}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// testOddHistory sends what a journal may hold after trouble.
func testOddHistory(t *testing.T, d Dialect) {
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	MustAsk(t, s.Model, Request(
		core.UserText("one"),
		&core.Message{Role: core.RoleAssistant},
		core.UserText(""),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text(" \n")}},
		core.UserText("two \xff"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: "c1", Name: "bash", Input: "{\"a\":\"\xff\\ud83d\"}"}}},
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c1", true)}},
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockOpaque, Provider: d.Format, Opaque: `{"broken":`}}},
		core.UserText("three"),
	))
	body := s.Body(0)
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, bad := range []string{`"content":""`, `"content":[]`, `"text":""`, `"text":" \n"`, `"broken"`, `\ud83d"`, "\xff", ",,", "[,", ",]"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q is in %s", bad, body)
		}
	}
}

func testStops(t *testing.T, d Dialect) {
	for raw, want := range d.Stops {
		s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}, RawStop: raw})...))
		if r := MustAsk(t, s.Model, hello()); r.Resp.Stop != want || r.Resp.RawStop != raw {
			t.Errorf("%s: got %s (%s), want %s", raw, r.Resp.Stop, r.Resp.RawStop, want)
		}
	}
}

func testUsage(t *testing.T, d Dialect) {
	want := core.Usage{Input: 100, Output: 20, CacheRead: 3000}
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}, Usage: want})...))
	r := MustAsk(t, s.Model, hello())
	if r.Resp.Usage != want || !r.Resp.UsageReported {
		t.Errorf("%+v, reported %v", r.Resp.Usage, r.Resp.UsageReported)
	}
}

func testLargeEvent(t *testing.T, d Dialect) {
	big := strings.Repeat("x", 8<<20)
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{big}})...))
	if r := MustAsk(t, s.Model, hello()); r.Text() != big || r.Resp.Message.PlainText() != big {
		t.Error("8 MB of text did not arrive")
	}
}

// full is a reply that has everything in it.
func full() Reply {
	return Reply{Thinking: []string{"hm", "m"}, Signature: "c2ln", Text: []string{"a", "ü"},
		Calls: []Call{{ID: "c1", Name: "bash", Args: []string{`{"a"`, `:1}`}}, {ID: "c2", Name: "bash", Args: []string{`{}`}}},
		Usage: core.Usage{Input: 1, Output: 2}}
}
