package gemini

import (
	"net/http"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// TestTwoAnswersInOneStream: what a server puts behind an answer is no part of it.
func TestTwoAnswersInOneStream(t *testing.T) {
	text := func(more, s, reason string) string {
		if reason != "" {
			reason = `,"finishReason":"` + reason + `"`
		}
		return llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":"` + s + `"}]}` + reason + `}]` + more + `}`)
	}
	const end = `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}`
	stop := llmtest.Data(end)
	for name, tt := range map[string]struct {
		frames []string
		want   string
	}{
		"one":                       {[]string{text("", "one", ""), stop}, "one"},
		"two":                       {[]string{text("", "one", ""), stop, text("", "two", ""), llmtest.Data(`{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":7}}`)}, "one"},
		"two in one chunk each":     {[]string{text(`,"responseId":"a"`, "one", "STOP"), text(`,"responseId":"b"`, "two", "STOP")}, "one"},
		"a reason with every chunk": {[]string{text(`,"responseId":"a"`, "one", "STOP"), text(`,"responseId":"a"`, " more", "STOP"), stop}, "one more"},
		"the usage behind it":       {[]string{text("", "one", "STOP"), llmtest.Data(`{"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}`)}, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			r := llmtest.MustAsk(t, server(t, "gemini-3-pro", tt.frames...).Model, hello())
			if r.Text() != tt.want || r.Resp.Message.PlainText() != tt.want || r.Resp.Stop != core.StopEndTurn {
				t.Errorf("%q, %+v", r.Text(), r.Resp)
			}
			if u := r.Resp.Usage; r.Resp.UsageReported && u != (core.Usage{Input: 1, Output: 2}) {
				t.Errorf("%+v", u)
			}
		})
	}
}

// TestReasonsWithoutEnd: a server that gives its reason over and over does not hold
// the answer back for longer than what follows one may take.
func TestReasonsWithoutEnd(t *testing.T) {
	const reason = `{"candidates":[{"finishReason":"STOP"}]}`
	var s *llmtest.Server
	s = llmtest.NewServer(t, dialect, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		llmtest.Stream(llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}`))(w, r, nil)
		for r.Context().Err() == nil {
			noted := s.Clock.Looked(1)
			llmtest.Stream(llmtest.Data(reason))(w, r, nil)
			select {
			case <-noted:
				s.Clock.Advance(afterStop / 2)
			case <-r.Context().Done():
			}
		}
	})
	if r := llmtest.MustAsk(t, s.Model, hello()); r.Text() != "ok" {
		t.Errorf("%+v", r.Resp)
	}
}

// TestBrokenChunks: one that may have held text is an error, also where the server
// gave a reason before.
func TestBrokenChunks(t *testing.T) {
	first := llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":"one"}]},"finishReason":"STOP"}]}`)
	_ = llmtest.WantError(t, llmtest.Ask(t.Context(), server(t, "gemini-3-pro", first, llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":tw}]}}]}`)).Model, hello()).Err, llm.ErrProtocol)
	if r := llmtest.MustAsk(t, server(t, "gemini-3-pro", first, llmtest.Data(`{"usageMetadata":{`)).Model, hello()); r.Text() != "one" {
		t.Errorf("%+v", r.Resp)
	}
}
