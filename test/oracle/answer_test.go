package oracle

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/testkit/modelserver"
)

// replay serves one recorded stream for every request, size bytes at a time, until
// it is closed.
func replay(stream []byte, size int) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := w.Write(rest[:min(size, len(rest))]); err != nil {
				return // the client has what it wants
			}
			_ = http.NewResponseController(w).Flush()
		}
	}))
}

// compare has both read the same stream.
func compare(t testing.TB, f *format, stream []byte, size int) {
	t.Helper()
	srv := replay(stream, size)
	defer srv.Close()
	ours, theirs := heardByUs(t, f, srv.URL), f.hear(t, srv.URL)
	for i := range theirs.Calls {
		if i < len(ours.Calls) && theirs.Calls[i].ID == "" && ours.Calls[i].ID != "" {
			theirs.Calls[i].ID = ours.Calls[i].ID // a call without an id is given one
		}
	}
	if f.name == "gemini" { // its SDK has arguments decoded only
		for _, h := range []heard{ours, theirs} {
			for i := range h.Calls {
				h.Calls[i].Input = canonical(t, h.Calls[i].Input)
			}
		}
	}
	if theirs.Stop == core.StopEndTurn && len(theirs.Calls) > 0 {
		theirs.Stop = core.StopToolUse // what servers say of an answer with calls differs; that it has some does not
	}
	if d := cmp.Diff(theirs, ours); d != "" {
		t.Errorf("%d bytes at a time: SDK -, ours +:\n%s\nof\n%s", size, d, stream)
	}
}

func canonical(t testing.TB, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// spoken is what the scripted server says for a step.
func spoken(t testing.TB, f *format, step modelserver.Step) []byte {
	t.Helper()
	srv, err := modelserver.New(&modelserver.Scenario{Version: modelserver.Version, Steps: []modelserver.Step{step}}, modelserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	body, path := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[],"input":[]}`, ""
	switch f.name {
	case "anthropic":
		path = "/v1/messages"
	case "chat":
		path = "/v1/chat/completions"
	case "responses":
		path = "/v1/responses"
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %s", resp.Status, err, data)
	}
	return data
}

// steps of the scripted server, that is written from the same documents as our
// clients: here the SDKs judge both.
func steps() map[string]modelserver.Step {
	input := json.RawMessage(`{"path":"ü/😀","n":[1,2.5,null],"deep":{"a":{"b":"<&>"}}}`)
	return map[string]modelserver.Step{
		"text":           {Text: "Hello, Wörld 😀\n\nbye"},
		"one call":       {Text: "I look.", Calls: []modelserver.Call{{ID: "call_a", Name: "read_file", Input: input}}},
		"calls":          {Calls: []modelserver.Call{{Name: "bash", Input: input}, {Name: "bash"}, {Name: "read_file", Input: json.RawMessage(`{"path":""}`)}}},
		"no input":       {Calls: []modelserver.Call{{Name: "bash"}}},
		"thinking":       {Thinking: "Let me see:\nö", Text: "Yes."},
		"all":            {Thinking: "hm", Redacted: "cmVkYWN0ZWQ=", Text: "so", Calls: []modelserver.Call{{Name: "bash", Input: input}}},
		"cut":            {Text: "never en", Stop: "max_tokens"},
		"refusal":        {Text: "I cannot.", Stop: "refusal"},
		"cached":         {Text: "x", Usage: &modelserver.Usage{Input: 12, Output: 34, CacheRead: 5_000, CacheWrite: 0}},
		"reasoned":       {Text: "x", Usage: &modelserver.Usage{Input: 12, Output: 34, Reasoning: 30}},
		"small deltas":   {Text: strings.Repeat("añ😀", 40), Wire: &modelserver.Wire{Fragment: 1}},
		"comments":       {Text: "some text", Thinking: "x", Wire: &modelserver.Wire{Comments: true, Newline: "crlf"}},
		"spread events":  {Text: "some text", Calls: []modelserver.Call{{Name: "bash", Input: input}}, Wire: &modelserver.Wire{Multiline: true}},
		"mixed calls":    {Calls: []modelserver.Call{{Name: "bash", Input: input}, {Name: "read_file", Input: input}}, Wire: &modelserver.Wire{Interleave: true, Fragment: 3}},
		"reasoning":      {Thinking: "in the other field", Text: "x", Wire: &modelserver.Wire{Reasoning: "reasoning"}},
		"cut in a call":  {Calls: []modelserver.Call{{Name: "bash", Raw: `{"command":"ec`}}, Stop: "max_tokens"},
		"stop by itself": {Text: "a", Stop: "end_turn", Calls: []modelserver.Call{{Name: "bash"}}},
	}
}

// TestScripted compares what both make of the scripted server's answers.
func TestScripted(t *testing.T) {
	for _, f := range formats() {
		if f.name == "gemini" {
			continue // the scripted server does not speak it
		}
		for name, step := range steps() {
			if name == "cut in a call" && f.name == "anthropic" {
				continue // the SDK drops the arguments of a call that was cut
			}
			t.Run(f.name+"/"+name, func(t *testing.T) {
				stream := spoken(t, &f, step)
				for _, size := range []int{1, 7, len(stream)} {
					compare(t, &f, stream, size)
				}
			})
		}
	}
}

// TestGeneratedAnswers compares what both make of answers that nobody thought of.
func TestGeneratedAnswers(t *testing.T) {
	for _, f := range formats() {
		if f.name == "gemini" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				step := modelserver.Step{
					Thinking: rapid.StringN(0, 40, 120).Draw(r, "thinking"), Text: "x" + rapid.StringN(0, 200, 600).Draw(r, "text"),
					Wire: &modelserver.Wire{Fragment: rapid.IntRange(1, 30).Draw(r, "fragment"), Comments: rapid.Bool().Draw(r, "comments"),
						Newline: rapid.SampledFrom([]string{"lf", "crlf"}).Draw(r, "newline"), Interleave: rapid.Bool().Draw(r, "interleave")},
					Usage: &modelserver.Usage{Input: rapid.IntRange(0, 1e6).Draw(r, "input"), Output: rapid.IntRange(0, 1e5).Draw(r, "output"), CacheRead: rapid.IntRange(0, 1e6).Draw(r, "cached")},
				}
				for range rapid.IntRange(0, 3).Draw(r, "calls") {
					input, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.StringN(0, 30, 90)).Draw(r, "arguments"))
					if err != nil {
						r.Fatal(err)
					}
					step.Calls = append(step.Calls, modelserver.Call{Name: rapid.SampledFrom([]string{"bash", "read_file"}).Draw(r, "tool"), Input: input})
				}
				stream := spoken(t, &f, step)
				compare(t, &f, stream, rapid.IntRange(1, len(stream)).Draw(r, "size"))
				if t.Failed() {
					r.FailNow()
				}
			})
		})
	}
}

// TestRecordings compares what both make of streams as the providers send them,
// with everything in them that our own scripted server leaves out. Each is a file
// FORMAT_NAME.sse.
func TestRecordings(t *testing.T) {
	for _, f := range formats() {
		files, err := filepath.Glob(filepath.Join("testdata", f.name+"_*.sse"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no recordings of %s: %v", f.name, err)
		}
		for _, name := range files {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".sse"), func(t *testing.T) {
				stream, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, size := range []int{1, 13, len(stream)} {
					compare(t, &f, stream, size)
				}
				compare(t, &f, bytes.ReplaceAll(stream, []byte("\n"), []byte("\r\n")), 11)
			})
		}
	}
}
