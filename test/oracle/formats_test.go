package oracle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"garuda/internal/core"
	"garuda/internal/llm"
	ourAnthropic "garuda/internal/llm/anthropic"
	ourChat "garuda/internal/llm/chat"
	ourGemini "garuda/internal/llm/gemini"
	ourResponses "garuda/internal/llm/responses"
)

// format is one wire format: our client, and what its SDK says of a request.
type format struct {
	name string
	new  func(llm.ClientConfig) (llm.Model, error)
	// base goes behind a server's address.
	base string
	// models are ids that differ in how they are asked to think.
	models []string
	// quirks are those of the providers that the SDK knows; see package provider.
	quirks []llm.Quirks
	// judge lists what the SDK's types do not know of a request's body.
	judge func(t testing.TB, body []byte) []string
	// thought is an answer's thinking as the provider binds it, for the history.
	thought func(text string) core.Block
	// hear reads the answer at url with the SDK.
	hear func(t testing.TB, url string) heard
}

func formats() []format {
	plain := llm.Quirks{}
	openAI := llm.Quirks{MaxTokensField: "max_completion_tokens", CacheKey: true, CustomTools: true, WebSearch: true,
		SystemRole: "developer", ThinkOffWord: "none", Efforts: "minimal,low,medium,high,xhigh,max", ParallelCalls: "off"}
	return []format{
		{
			name: "anthropic", new: ourAnthropic.New, quirks: []llm.Quirks{plain},
			models: []string{"claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5-5", "claude-someday-9", "a-model"},
			judge:  judgeStainless[anthropic.MessageNewParams],
			thought: func(text string) core.Block {
				return core.Block{Type: core.BlockThinking, Text: text, Provider: "anthropic",
					Opaque: object("type", "thinking", "thinking", text, "signature", "c2lnbmF0dXJl")}
			},
			hear: hearAnthropic,
		}, {
			name: "responses", new: ourResponses.New, base: "/v1", quirks: []llm.Quirks{openAI, plain},
			models: []string{"gpt-5", "o4-mini", "gpt-5.3-codex"},
			judge:  judgeStainless[responses.ResponseNewParams],
			thought: func(text string) core.Block {
				return core.Block{Type: core.BlockThinking, Text: text, Provider: "responses",
					Opaque: `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":` + quoted(text) + `}],"encrypted_content":"gAAA+/=="}`}
			},
			hear: hearResponses,
		}, {
			name: "chat", new: ourChat.New, base: "/v1", quirks: []llm.Quirks{plain, openAI},
			models: []string{"gpt-5", "gpt-4.1"},
			judge:  judgeStainless[openai.ChatCompletionNewParams],
			thought: func(text string) core.Block {
				return core.Block{Type: core.BlockThinking, Text: text, Provider: "chat"}
			},
			hear: hearChat,
		}, {
			name: "gemini", new: ourGemini.New, quirks: []llm.Quirks{plain},
			models: []string{"gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro-preview", "gemma-3-27b-it"},
			judge:  judgeGemini,
			thought: func(text string) core.Block {
				return core.Block{Type: core.BlockThinking, Text: text, Provider: "gemini",
					Opaque: `{"text":` + quoted(text) + `,"thought":true}`}
			},
			hear: hearGemini,
		},
	}
}

// model makes our client of a model at a server.
func (f *format) model(t testing.TB, id, url string, quirks llm.Quirks) llm.Model {
	t.Helper()
	m, err := f.new(llm.ClientConfig{
		Info:    &llm.Info{Spec: "oracle/" + id, Provider: "oracle", ID: id, Format: f.name, Thinks: true, ContextWindow: 100_000},
		BaseURL: url + f.base, Key: "sk-oracle", Quirks: quirks,
	})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := m.(interface{ CloseIdleConnections() }); ok {
		t.Cleanup(c.CloseIdleConnections)
	}
	return m
}

// sent is the body that our client sends for req.
func (f *format) sent(t testing.TB, id string, quirks llm.Quirks, req *llm.Request) []byte {
	t.Helper()
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		http.Error(w, `{"error":{"message":"only listening"}}`, http.StatusBadRequest)
	}))
	defer srv.Close()
	if _, err := f.model(t, id, srv.URL, quirks).Stream(t.Context(), req, func(llm.Event) {}); err == nil || body == nil {
		t.Fatalf("nothing was sent: %v", err)
	}
	return body
}

// judgeStainless judges a body with the request type T of an SDK that generated
// its types from the API's description. T leaves out the member stream, which
// the SDK adds when it sends.
func judgeStainless[T any](t testing.TB, body []byte) []string {
	t.Helper()
	v, err := parse(body)
	if err != nil {
		return []string{err.Error()}
	}
	request, _ := v.(map[string]any)
	if request["stream"] != true {
		return []string{"stream is not true"}
	}
	delete(request, "stream")
	out := judge(reflect.TypeFor[T](), request, "request")
	return append(out, again[T](t, request)...)
}

// again has the SDK itself read the request and write it: nothing may be lost.
func again[T any](t testing.TB, request map[string]any) []string {
	t.Helper()
	plain, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var params T
	if err := json.Unmarshal(plain, &params); err != nil {
		return []string{"the SDK cannot read it: " + err.Error()}
	}
	written, err := json.Marshal(params)
	if err != nil {
		return []string{"the SDK cannot write it: " + err.Error()}
	}
	v, err := parse(written)
	if err != nil {
		return []string{"the SDK writes no JSON: " + err.Error()}
	}
	return differences(request, v, "request")
}

// differences lists where two JSON values differ.
func differences(ours, theirs any, path string) []string {
	if reflect.DeepEqual(ours, theirs) {
		return nil
	}
	switch a := ours.(type) {
	case map[string]any:
		if b, ok := theirs.(map[string]any); ok {
			var out []string
			for _, k := range sortedKeys(a) {
				if other, there := b[k]; there {
					out = append(out, differences(a[k], other, path+"."+k)...)
				} else if isEmpty(a[k]) {
					out = append(out, fmt.Sprintf("%s.%s: the SDK leaves out what is empty", path, k))
				} else {
					out = append(out, fmt.Sprintf("%s.%s: the SDK drops %.200v", path, k, a[k]))
				}
			}
			for _, k := range sortedKeys(b) {
				if _, there := a[k]; !there {
					out = append(out, fmt.Sprintf("%s.%s: the SDK adds %.200v", path, k, b[k]))
				}
			}
			return out
		}
	case json.Number:
		b, ok := theirs.(json.Number)
		x, err := a.Float64()
		if y, err2 := b.Float64(); ok && errors.Join(err, err2) == nil && x == y {
			return nil // one number, written in another way
		}
	case []any:
		if b, ok := theirs.([]any); ok && len(a) == len(b) {
			var out []string
			for i := range a {
				out = append(out, differences(a[i], b[i], fmt.Sprintf("%s[%d]", path, i))...)
			}
			return out
		}
	}
	return []string{fmt.Sprintf("%s: %.200v is read as %.200v", path, ours, theirs)}
}

func isEmpty(v any) bool {
	object, isObject := v.(map[string]any)
	return v == nil || v == any("") || isObject && len(object) == 0
}

// geminiRequest is the body of generateContent. The SDK builds it from types
// that it exports one by one only.
type geminiRequest struct {
	Contents          []*genai.Content        `json:"contents" api:"required"`
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Tools             []*genai.Tool           `json:"tools"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

// judgeGemini judges a body with the types, and has the SDK send the same
// conversation: what it writes must be what we wrote.
func judgeGemini(t testing.TB, body []byte) []string {
	t.Helper()
	// The API takes this word where a signature is missing; to the SDK's types it
	// is bytes like any.
	const word = "skip_thought_signature_validator"
	body = bytes.ReplaceAll(body, []byte(word), []byte(base64.StdEncoding.EncodeToString([]byte(word))))
	v, err := parse(body)
	if err != nil {
		return []string{err.Error()}
	}
	out := judge(reflect.TypeFor[geminiRequest](), v, "request")
	var request geminiRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return append(out, "the SDK cannot read it: "+err.Error())
	}
	return append(out, differences(v, sentByGenai(t, &request), "request")...)
}

func sentByGenai(t testing.TB, request *geminiRequest) any {
	t.Helper()
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { body, _ = io.ReadAll(r.Body) }))
	defer srv.Close()
	config := &genai.GenerateContentConfig{SystemInstruction: request.SystemInstruction, Tools: request.Tools, ToolConfig: request.ToolConfig}
	if g := request.GenerationConfig; g != nil {
		config.MaxOutputTokens, config.ThinkingConfig = g.MaxOutputTokens, g.ThinkingConfig
	}
	for range genaiClient(t, srv.URL).Models.GenerateContentStream(t.Context(), "m", request.Contents, config) {
		break
	}
	v, err := parse(body)
	if err != nil {
		t.Fatalf("the SDK sent %q: %v", body, err)
	}
	return v
}

func genaiClient(t testing.TB, url string) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always is JSON
	}
	return string(b)
}

// object writes a JSON object of string members, in this order.
func object(pairs ...string) string {
	out := "{"
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out += ","
		}
		out += quoted(pairs[i]) + ":" + quoted(pairs[i+1])
	}
	return out + "}"
}
