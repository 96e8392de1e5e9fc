package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/testkit/modelserver"
)

// The real clients, found by name and opened as a run does, against a scripted
// server: text in pieces that cut runes, thinking, a call, usage.
func TestRealClients(t *testing.T) {
	for format, env := range map[string]map[string]string{
		"anthropic": {"GARUDA_MODEL": "anthropic/claude-sonnet-5-5"},
		"chat":      {"GARUDA_MODEL": "openai/gpt-5"},
		"responses": {"GARUDA_MODEL": "r/m"},
		"gemini":    {"GARUDA_MODEL": "gemini/gemini-3-flash-preview"},
	} {
		t.Run(format, func(t *testing.T) {
			srv := modelserver.Start(t, &modelserver.Scenario{
				Wire: modelserver.Wire{Unit: "byte", Fragment: 3, Chunk: 5},
				Steps: []modelserver.Step{{Thinking: "Überlegt 😀.", Text: "Grüße 😀", Usage: &modelserver.Usage{Input: 10, Output: 5, CacheRead: 90},
					Calls: []modelserver.Call{{ID: "call_1", Name: "bash", Input: []byte(`{"command":"echo ü"}`)}}}},
			}, modelserver.Options{})
			env["ANTHROPIC_BASE_URL"], env["OPENAI_BASE_URL"], env["GEMINI_BASE_URL"] = srv.URL(), srv.URL()+"/v1", srv.URL()
			file, err := ParseFile("models.json", []byte(`{"providers": {"r": {"type": "openai-responses", "baseUrl": "`+srv.URL()+`/v1", "apiKeyEnv": "R_KEY"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			const key = "sesame-open"
			r := New(Options{File: file, Lookup: func(n string) (string, bool) { v, ok := env[n]; return v, ok },
				Keys: keys{"ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": key, "GEMINI_API_KEY": key, "R_KEY": key}})
			c, err := r.Choose(t.Context(), Preferences{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			var text string
			resp, err := m.Stream(t.Context(), &llm.Request{System: "s", Messages: []*core.Message{core.UserText("q")}, MaxTokens: 100,
				Tools: []llm.ToolSpec{{Name: "bash", Schema: []byte(`{"type":"object"}`)}}}, func(e llm.Event) {
				if d, ok := e.(llm.TextDelta); ok {
					text += d.Text
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if text != "Grüße 😀" || resp.Message.PlainText() != text || resp.Stop != core.StopToolUse {
				t.Errorf("%q, %+v", text, resp)
			}
			if d := cmp.Diff([]core.Block{{Type: core.BlockToolUse, ID: "call_1", Name: "bash", Input: `{"command":"echo ü"}`}}, resp.Message.ToolUses(),
				cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Opaque" || p.String() == "Provider" }, cmp.Ignore())); d != "" {
				t.Error(d)
			}
			if u := resp.Usage; u.Input != 10 || u.CacheRead != 90 || u.Output != 5 || !resp.UsageReported {
				t.Errorf("%+v", u)
			}
			q := srv.Requests()[0]
			if q.Format != format || !strings.Contains(q.Header.Get("Authorization")+q.Header.Get("X-Api-Key")+q.Header.Get("X-Goog-Api-Key"), key) {
				t.Errorf("%s %v", q.Format, q.Header)
			}
		})
	}
}
