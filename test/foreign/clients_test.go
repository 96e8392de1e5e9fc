//go:build foreign

package foreign

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/chat"
	"garuda/internal/llm/gemini"
	"garuda/internal/llm/responses"
)

// format is a wire format that aimock speaks, and a model that thinks in it.
type format struct {
	name, kind, base, model string
	new                     func(llm.ClientConfig) (llm.Model, error)
}

func formats() []format {
	return []format{
		{"anthropic", "anthropic", "", "claude-opus-5", anthropic.New},
		{"responses", "openai-responses", "/v1", "gpt-5", responses.New},
		{"chat", "openai-compatible", "/v1", "gpt-5", chat.New},
		{"gemini", "gemini", "", "gemini-2.5-pro", gemini.New},
	}
}

// conversation is a client with what was said so far.
type conversation struct {
	t        *testing.T
	model    llm.Model
	messages []*core.Message
}

// talk begins a conversation; header adds headers, by which aimock takes orders.
func (f *format) talk(t *testing.T, header ...string) *conversation {
	t.Helper()
	headers := map[string]string{}
	for i := 0; i < len(header); i += 2 {
		headers[header[i]] = header[i+1]
	}
	m, err := f.new(llm.ClientConfig{
		Info:    &llm.Info{Spec: "mock/" + f.model, Provider: "mock", ID: f.model, Format: f.name, Thinks: true, ContextWindow: 100_000},
		BaseURL: aimock + f.base, Key: "sk-foreign", Headers: headers,
	})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := m.(interface{ CloseIdleConnections() }); ok {
		t.Cleanup(c.CloseIdleConnections)
	}
	return &conversation{t: t, model: m}
}

// answer is a response with what was shown while it came.
type answer struct {
	*llm.Response
	text, thinking string
}

func (c *conversation) try(m *core.Message) (answer, error) {
	c.messages = append(c.messages, m)
	var a answer
	var err error
	a.Response, err = c.model.Stream(c.t.Context(), &llm.Request{
		System: "You are a test.", Messages: c.messages, MaxTokens: 16_384, Thinking: llm.ThinkHigh,
		Tools: []llm.ToolSpec{
			{Name: "bash", Description: "Runs.", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
			{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		},
	}, func(e llm.Event) {
		switch e := e.(type) {
		case llm.TextDelta:
			a.text += e.Text
		case llm.ThinkingDelta:
			a.thinking += e.Text
		}
	})
	if err == nil {
		c.messages = append(c.messages, a.Message)
	}
	return a, err
}

func (c *conversation) ask(m *core.Message) answer {
	c.t.Helper()
	a, err := c.try(m)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// each runs a test for every format.
func each(t *testing.T, test func(*testing.T, *format)) {
	need(t)
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) { test(t, &f) })
	}
}

func TestText(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		a := f.talk(t).ask(core.UserText("say hello"))
		if want := "Grüße 😀, and\n\n\"quotes\" <&>."; a.text != want || a.Message.PlainText() != want {
			t.Errorf("shown %q, kept %q", a.text, a.Message.PlainText())
		}
		if a.thinking != "Let me think." || a.Stop != core.StopEndTurn {
			t.Errorf("thinking %q, stop %s", a.thinking, a.Stop)
		}
	})
}

func TestPace(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		if a := f.talk(t).ask(core.UserText("say it slowly")); a.text != "One letter 😀 at a time." {
			t.Errorf("%q", a.text)
		}
		if a := f.talk(t).ask(core.UserText("say it like a person")); a.text != "Some words with pauses in between." {
			t.Errorf("%q", a.text)
		}
		if a := f.talk(t, "X-Aimock-Chaos-Latency", "300").ask(core.UserText("say hello")); a.Stop != core.StopEndTurn {
			t.Errorf("%+v", a.Response)
		}
	})
}

// TestTools has two calls answered: aimock takes the second turn only if it finds
// the results where the format puts them.
func TestTools(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		c := f.talk(t)
		a := c.ask(core.UserText("use two tools"))
		calls := a.Message.ToolUses()
		if len(calls) != 2 || a.text != "I look." || a.Stop != core.StopToolUse {
			t.Fatalf("%d calls, text %q, stop %s", len(calls), a.text, a.Stop)
		}
		want := map[string]any{"path": "ü/😀.go", "deep": map[string]any{"a": []any{1.0, 2.5, nil, true}}}
		if d := cmp.Diff(want, decoded(t, calls[0].Input)); d != "" || calls[0].Name != "read_file" || calls[0].ID != "call_one" {
			t.Errorf("first call %+v: %s", calls[0], d)
		}
		if d := cmp.Diff(map[string]any{}, decoded(t, calls[1].Input)); d != "" || calls[1].Name != "bash" || calls[1].ID != "call_two" {
			t.Errorf("second call %+v: %s", calls[1], d)
		}
		a = c.ask(&core.Message{Role: core.RoleUser, Blocks: []core.Block{
			core.ToolResult(calls[0].ID, false, core.Text("first result")), core.ToolResult(calls[1].ID, true, core.Text("second result"))}})
		if a.text != "Both are done." {
			t.Errorf("%q", a.text)
		}
	})
}

func decoded(t *testing.T, input string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(input), &v); err != nil {
		t.Fatalf("%q: %v", input, err)
	}
	return v
}

func TestCallBeforeText(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		a := f.talk(t).ask(core.UserText("use a tool first"))
		if calls := a.Message.ToolUses(); len(calls) != 1 || calls[0].ID != "call_one" || a.text != "That was the call." || a.Stop != core.StopToolUse {
			t.Errorf("%+v, text %q, stop %s", a.Message, a.text, a.Stop)
		}
	})
}

// TestThinkingGoesBack continues a conversation whose thinking is signed.
func TestThinkingGoesBack(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		c := f.talk(t)
		a := c.ask(core.UserText("think in secret"))
		if a.thinking != "Hm." || a.text != "Done." {
			t.Fatalf("thinking %q, text %q", a.thinking, a.text)
		}
		if f.name == "anthropic" {
			var kept []string
			for _, b := range a.Message.Blocks {
				if b.Type == core.BlockThinking {
					kept = append(kept, b.Opaque)
				}
			}
			if all := strings.Join(kept, ""); len(kept) != 2 || !strings.Contains(all, `"signature":"c2lnbmVk"`) || !strings.Contains(all, `"data":"c2VjcmV0"`) {
				t.Errorf("kept %q", kept)
			}
		}
		if a := c.ask(core.UserText("say hello")); a.Stop != core.StopEndTurn {
			t.Errorf("stop %s", a.Stop)
		}
	})
}

func TestCutAnswer(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		want := core.StopMaxTokens
		if f.name == "responses" {
			want = core.StopOther // aimock says that the answer is incomplete, but not why
		}
		if a := f.talk(t).ask(core.UserText("write too much")); a.Stop != want || a.text != "This never en" {
			t.Errorf("stop %s (%s), text %q", a.Stop, a.RawStop, a.text)
		}
	})
}

func TestErrors(t *testing.T) {
	for prompt, want := range map[string]llm.ErrorKind{
		"refuse the key": llm.ErrAuth,
		"be busy":        llm.ErrRateLimit,
		"fall over":      llm.ErrServer,
		"be overloaded":  llm.ErrOverloaded,
		"be unavailable": llm.ErrOverloaded,
		"be too small":   llm.ErrContextOverflow,
	} {
		t.Run(prompt, func(t *testing.T) {
			each(t, func(t *testing.T, f *format) {
				_, err := f.talk(t).try(core.UserText(prompt))
				e := typed(t, err, want)
				if e.Streaming || e.Kind == llm.ErrRateLimit && e.RetryAfter <= 0 {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// TestChaos has aimock answer with the faults that a header orders.
func TestChaos(t *testing.T) {
	for fault, want := range map[string][]llm.ErrorKind{
		"Drop":       {llm.ErrServer},
		"Malformed":  {llm.ErrProtocol},
		"Ratelimit":  {llm.ErrRateLimit},
		"Disconnect": {llm.ErrNetwork},
	} {
		t.Run(fault, func(t *testing.T) {
			each(t, func(t *testing.T, f *format) {
				a, err := f.talk(t, "X-Aimock-Chaos-"+fault, "1").try(core.UserText("say hello"))
				e := typed(t, err, want...)
				if a.text != "" || e.Kind == llm.ErrRateLimit && e.RetryAfter <= 0 {
					t.Errorf("text %q, %+v", a.text, e)
				}
			})
		})
	}
}

// TestBrokenStream: what began and did not end is an error, never an answer.
func TestBrokenStream(t *testing.T) {
	for _, prompt := range []string{"stop in the middle", "hang up"} {
		t.Run(prompt, func(t *testing.T) {
			each(t, func(t *testing.T, f *format) {
				a, err := f.talk(t).try(core.UserText(prompt))
				e := typed(t, err, llm.ErrNetwork, llm.ErrProtocol)
				if a.Response != nil || a.text+a.thinking != "" && !e.Streaming {
					t.Errorf("%+v, after %q", e, a.text)
				}
			})
		})
	}
}

func typed(t *testing.T, err error, kinds ...llm.ErrorKind) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want one of %q", err, kinds)
	}
	for _, k := range kinds {
		if e.Kind == k {
			return e
		}
	}
	t.Fatalf("got kind %s, want one of %q: %v", e.Kind, kinds, e)
	return nil
}
