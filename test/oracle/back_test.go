package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/testkit/modelserver"
)

// TestAnswersGoBack has our clients send back what they made of an answer, with
// results for its calls: citations, signatures, phases and blocks of servers'
// tools must be what the SDKs' request types take.
func TestAnswersGoBack(t *testing.T) {
	for _, f := range formats() {
		if f.name != "gemini" {
			for name, step := range steps() {
				t.Run(f.name+"/"+name, func(t *testing.T) { goBack(t, &f, spoken(t, &f, step)) })
			}
		}
		files, err := filepath.Glob(filepath.Join("testdata", f.name+"_*.sse"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".sse"), func(t *testing.T) {
				stream, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				goBack(t, &f, stream)
			})
		}
	}
}

func goBack(t *testing.T, f *format, stream []byte) {
	t.Helper()
	srv := replay(stream, len(stream))
	defer srv.Close()
	model := f.model(t, f.models[0], srv.URL, f.quirks[0])
	resp, err := model.Stream(t.Context(), request(core.UserText("hello")), func(llm.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	next := user()
	for _, c := range resp.Message.ToolUses() {
		next.Blocks = append(next.Blocks, core.ToolResult(c.ID, false, core.Text("done")))
	}
	next.Blocks = append(next.Blocks, core.Text("go on"))
	for _, id := range f.models {
		check(t, f, id, request(core.UserText("hello"), resp.Message, next))
	}
}

// TestStopWords: each reason for an end that an SDK knows means something to us.
func TestStopWords(t *testing.T) {
	const anthropicPkg, genaiPkg = "github.com/anthropics/anthropic-sdk-go", "google.golang.org/genai"
	all := formats()
	for _, word := range constantsOf(anthropicPkg)["StopReason"] {
		t.Run("anthropic/"+word, func(t *testing.T) {
			srv := replay(spoken(t, &all[0], modelserver.Step{Text: "x", Stop: word}), 1000)
			defer srv.Close()
			if h := heardByUs(t, &all[0], srv.URL); h.Stop == core.StopOther || h.Stop == "" {
				t.Errorf("stop is %q", h.Stop)
			}
		})
	}
	ours := geminiStops()
	for _, word := range constantsOf(genaiPkg)["FinishReason"] {
		switch word {
		case "FINISH_REASON_UNSPECIFIED", // no reason
			"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL": // an error, asked for again
			continue
		}
		t.Run("gemini/"+word, func(t *testing.T) {
			stream := `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"x"}]},"finishReason":"` + word + `"}]}` + "\n\n"
			srv := replay([]byte(stream), 1000)
			defer srv.Close()
			h := heardByUs(t, &all[3], srv.URL)
			want := core.StopOther
			for reason, stop := range ours {
				if string(reason) == word {
					want = stop
				}
			}
			if h.Stop != want {
				t.Errorf("stop is %q, want %q", h.Stop, want)
			}
		})
	}
}
