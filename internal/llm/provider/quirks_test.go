package provider

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/anthropic/anthropictest"
	"garuda/internal/llm/chat"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/responses"
)

// quirkCase is a model and what is sent to it because of its rows.
type quirkCase struct {
	provider, base, model string
	format                string // "chat" where empty
	level                 llm.ThinkingLevel
	has                   []string
	no                    []string
}

const (
	openAI     = "https://api.openai.com/v1"
	openRouter = "https://openrouter.ai/api/v1"
	groq       = "https://api.groq.com/openai/v1"
	mistral    = "https://api.mistral.ai/v1"
	moonshot   = "https://api.moonshot.ai/v1"
	local      = "http://localhost:1/v1"
)

const understood = `{"role":"assistant","content":"Understood."}`

func quirkCases() []quirkCase {
	return []quirkCase{
		{"mine", "https://llm.example/v1", "plain", "", llm.ThinkHigh,
			[]string{`"max_tokens":`, `"stream_options":`, `"reasoning_effort":"high"`, `"content":null,"reasoning_content":"why"`, `"role":"system"`}, []string{understood, "parallel_tool_calls", "cache"}},
		{"mine", local, "org/Devstral-Small", "", "", []string{`"content":"r"},` + understood + `,{"role":"user","content":"next"}`}, nil},
		{"mine", local, "gemma-3-27b", "", "", []string{understood, `"role":"system"`}, nil},
		{"mine", local, "google/gemma-2-9b", "", "", []string{`[{"role":"user","content":"You are`, understood}, []string{`"role":"system"`}},
		{"mine", local, "moonshotai/Kimi-K2", "", "", []string{`"id":"functions.bash:0"`, `"tool_call_id":"functions.bash:0"`}, nil},

		{"anthropic", "https://api.anthropic.com", "claude-sonnet-5", "anthropic", "", []string{`{"type":"web_search_20250305","name":"web_search"`}, nil},
		{"vertex", "https://proxy.example", "claude-sonnet-4-6", "anthropic", "", []string{"web_search_20250305"}, nil},
		{"bedrock", "https://proxy.example", "us.anthropic.claude-sonnet-5", "anthropic", "", nil, []string{"web_search_20250305"}},
		{"mine", "https://proxy.example", "claude-sonnet-5", "anthropic", "", nil, []string{"web_search_20250305"}},

		{"openai", openAI, "gpt-5", "chat", llm.ThinkOff, []string{`"max_completion_tokens":`, `"prompt_cache_key":"20`, `"role":"developer"`, `"reasoning_effort":"minimal"`}, []string{`"max_tokens"`}},
		{"azure", "https://x.openai.azure.com/openai/v1", "gpt-4o", "", "", []string{`"max_completion_tokens":`, `"role":"system"`}, nil},
		{"openai", openAI, "gpt-5.1", "responses", llm.ThinkOff, []string{`{"type":"web_search"}`, `{"type":"custom","name":"apply_patch"`, `"effort":"none"`}, nil},
		{"openai", openAI, "gpt-4.1-nano", "responses", "", []string{`{"type":"web_search"}`, `"parallel_tool_calls":false`}, []string{`"custom"`}},
		{"openai", "https://llm.example/v1", "gpt-5", "responses", "", nil, []string{`web_search`, `"custom"`}},

		{"openrouter", openRouter, "x/y", "", llm.ThinkHigh, []string{`"reasoning":{"effort":"high"}`}, []string{"cache_control", "reasoning_effort"}},
		{"openrouter", openRouter, "x/y", "", llm.ThinkOff, []string{`"reasoning":{"enabled":false}`}, nil},
		{"openrouter", openRouter, "anthropic/claude-sonnet-4.5", "", "", []string{`"cache_control":{"type":"ephemeral"}`}, nil},
		{"openrouter", openRouter, "google/gemini-3-flash-preview", "", "", []string{`"cache_control":{"type":"ephemeral"}`}, nil},
		{"openrouter", openRouter, "openai/gpt-5-mini", "", llm.ThinkOff, []string{`"reasoning":{"effort":"low"}`}, nil},
		{"openrouter", openRouter, "moonshotai/kimi-k2.5", "", "", []string{`"content":"a","reasoning_content":""`}, nil},

		{"deepseek", "https://api.deepseek.com/v1", "deepseek-v4-pro", "", llm.ThinkXHigh, []string{`"thinking":{"type":"enabled"},"reasoning_effort":"high"`, `"content":"a","reasoning_content":""`, `"reasoning_content":"why"`}, nil},
		{"deepseek", "https://api.deepseek.com/v1", "deepseek-v4-pro", "", llm.ThinkOff, []string{`"thinking":{"type":"disabled"}`}, []string{"reasoning_effort"}},
		{"xai", "https://api.x.ai/v1", "grok-4-0709", "", llm.ThinkHigh, nil, []string{"reasoning_effort"}},
		{"xai", "https://api.x.ai/v1", "grok-4.5", "", llm.ThinkHigh, []string{`"reasoning_effort":"high"`}, nil},
		{"xai", "https://api.x.ai/v1", "grok-4.20-multi-agent", "", llm.ThinkHigh, []string{`"reasoning_effort":"high"`}, nil},
		{"xai", "https://api.x.ai/v1", "grok-4.3", "", llm.ThinkOff, []string{`"reasoning_effort":"none"`}, nil},
		{"xai", "https://api.x.ai/v1", "grok-4.5", "responses", "", []string{`{"type":"web_search"}`}, nil},
		{"groq", groq, "openai/gpt-oss-120b", "", llm.ThinkLow, []string{`"reasoning_effort":"low"`}, []string{"reasoning_content"}},
		{"groq", groq, "qwen/qwen3-32b", "", llm.ThinkHigh, []string{`"reasoning_effort":"default"`}, nil},
		{"groq", groq, "qwen/qwen3-32b", "", llm.ThinkOff, []string{`"reasoning_effort":"none"`}, nil},
		{"groq", groq, "moonshotai/kimi-k2-instruct", "", llm.ThinkHigh, nil, []string{"reasoning_effort"}},
		{"cerebras", "https://api.cerebras.ai/v1", "zai-glm-4.7", "", "", []string{`"max_completion_tokens"`}, []string{"reasoning_content"}},
		{"mistral", mistral, "mistral-medium-latest", "", llm.ThinkLow, []string{understood, `"reasoning_effort":"high"`, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}]`}, []string{"stream_options", "functions.bash", "reasoning_content"}},
		{"mistral", mistral, "mistral-medium-latest", "", llm.ThinkOff, []string{`"reasoning_effort":"none"`}, nil},
		{"mistral", mistral, "magistral-medium-latest", "", llm.ThinkHigh, nil, []string{"reasoning_effort"}},
		{"kimi", moonshot, "kimi-k2.6", "", llm.ThinkOff, []string{`"thinking":{"type":"disabled"}`, `"content":"a","reasoning_content":""`, `functions.bash:0`}, nil},
		{"kimi", moonshot, "kimi-k2.6", "", llm.ThinkHigh, []string{`"thinking":{"type":"enabled"}`}, []string{"reasoning_effort"}},
		{"kimi", moonshot, "kimi-k2-thinking-turbo", "", llm.ThinkOff, nil, []string{`"thinking"`}},
		{"glm", "https://api.z.ai/api/paas/v4", "glm-5.2", "", llm.ThinkOff, []string{`"thinking":{"type":"disabled"}`}, nil},
		{"qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3.6-plus", "", llm.ThinkHigh, []string{`"enable_thinking":true`}, []string{"reasoning_effort"}},
		{"minimax", "https://api.minimax.io/v1", "MiniMax-M2", "", llm.ThinkHigh, []string{`"content":"<think>\nwhy\n</think>\n\n"`}, []string{"reasoning_effort", "reasoning_content"}},

		{"ollama", local, "qwen3:8b", "", llm.ThinkOff, []string{`"reasoning_effort":"none"`}, nil},
		{"lmstudio", local, "qwen3-8b", "", "", []string{`"content":""`, understood}, []string{`"content":null`}},
		{"llamacpp", local, "qwen3-8b", "", llm.ThinkOff, []string{`"chat_template_kwargs":{"enable_thinking":false,"thinking":false}`, understood, `"parallel_tool_calls":true`}, nil},
		{"vllm", local, "Qwen/Qwen3-8B", "", llm.ThinkHigh, []string{`"chat_template_kwargs":{"enable_thinking":true`, understood}, []string{"parallel_tool_calls"}},
		{"llamacpp", local, "Llama-3.1-8B", "", "", []string{`"parallel_tool_calls":false`}, nil},
		{"vllm", local, "Qwen/QwQ-32B", "", "", nil, nil}, // what it answers is TestImpliedThink
	}
}

// TestQuirkTable asks each model something in the middle of a conversation and
// looks at what is sent; each row must have been needed for some model.
func TestQuirkTable(t *testing.T) {
	used := make([]bool, len(quirkTable))
	for _, tt := range quirkCases() {
		t.Run(tt.provider+"/"+tt.model+" "+string(tt.level), func(t *testing.T) {
			quirks := quirksOf(tt.provider, tt.base, tt.model, llm.Quirks{})
			for i := range quirkTable {
				host := strings.Split(strings.TrimPrefix(strings.TrimPrefix(tt.base, "https://"), "http://"), "/")[0]
				used[i] = used[i] || quirkTable[i].matches(tt.provider, strings.Split(host, ":")[0], strings.ToLower(tt.model))
			}
			body := askWith(t, tt, quirks)
			for _, want := range tt.has {
				if !strings.Contains(body, want) {
					t.Errorf("%s is not in %s", want, body)
				}
			}
			for _, bad := range tt.no {
				if strings.Contains(body, bad) {
					t.Errorf("%s is in %s", bad, body)
				}
			}
		})
	}
	for i, r := range quirkTable {
		if !used[i] {
			t.Errorf("no case for the row %v %v %v: %s", r.providers, r.hosts, r.models, r.why)
		}
	}
}

// askWith sends a conversation with thinking, a call, its result and two turns.
func askWith(t *testing.T, tt quirkCase, quirks llm.Quirks) string {
	t.Helper()
	d := llmtest.Dialect{New: chat.New, Format: chat.Format}
	answer := []string{llmtest.Data(`{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`), llmtest.Data("[DONE]")}
	if tt.format == "responses" {
		d = llmtest.Dialect{New: responses.New, Format: responses.Format}
		answer = []string{llmtest.Data(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}}`)}
	}
	if tt.format == "anthropic" {
		d = llmtest.Dialect{New: anthropic.New, Format: anthropic.Format}
		answer = anthropictest.Frames(llmtest.Reply{Text: []string{"ok"}})
	}
	s := llmtest.NewServer(t, d, func(c *llm.ClientConfig) {
		c.Info.Provider, c.Info.ID, c.Quirks = tt.provider, tt.model, quirks
		if tt.provider == "openai" && tt.model == "gpt-5" {
			c.Info.Efforts = []string{"minimal", "low", "medium", "high"}
		}
	}, llmtest.Stream(answer...))
	const id = "functions.bash:0"
	req := llmtest.Request(core.UserText("first"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text("a")}},
		core.UserText("second"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{
			{Type: core.BlockThinking, Provider: d.Format, Text: "why", Opaque: `{"reasoning_content":"why"}`},
			{Type: core.BlockToolUse, ID: id, Name: "bash", Input: `{}`}}},
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult(id, false, core.Text("r"))}},
		core.UserText("next"))
	req.Tools = append(req.Tools, llm.ToolSpec{Name: "apply_patch", Description: "Patches.", FreeText: &llm.FreeText{Field: "patch"}})
	req.ServerTools, req.Thinking = []string{"web_search"}, tt.level
	llmtest.MustAsk(t, s.Model, req)
	if !json.Valid([]byte(s.Body(0))) {
		t.Fatalf("not JSON: %s", s.Body(0))
	}
	return s.Body(0)
}

func TestQuirkRows(t *testing.T) {
	for i, r := range quirkTable {
		if r.why == "" || r.quirks == (llm.Quirks{}) {
			t.Errorf("row %d says nothing", i)
		}
		for _, p := range r.models {
			if _, err := path.Match(p, ""); err != nil || p != strings.ToLower(p) {
				t.Errorf("pattern %q: %v", p, err)
			}
		}
		for _, name := range r.providers {
			if _, ok := builtinNamed(name); !ok {
				t.Errorf("row %d: there is no provider %s", i, name)
			}
		}
	}
	// A host is compared whole, or from a dot on.
	for host, want := range map[string]bool{
		"api.openai.com": true, "eu.api.openai.com": true, "x.openai.azure.com": true,
		"api.openai.com.evil.example": false, "xapi.openai.com": false, "openai.azure.com": false, "": false,
	} {
		if got := quirksOf("openai", "https://"+host+"/v1", "m", llm.Quirks{}).CacheKey; got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	if q := quirksOf("vllm", local, "qwq-32b", llm.Quirks{}); !q.ImpliedThink {
		t.Errorf("%+v", q)
	}
}

// TestOverlay sets each field of the quirks alone: none is forgotten, and the one
// on top counts.
func TestOverlay(t *testing.T) {
	for i := range reflect.TypeFor[llm.Quirks]().NumField() {
		name := reflect.TypeFor[llm.Quirks]().Field(i).Name
		set := func(s string) (q llm.Quirks) {
			switch f := reflect.ValueOf(&q).Elem().Field(i); f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.String:
				f.SetString(s)
			default:
				t.Fatalf("%s is a %s", name, f.Kind())
			}
			return q
		}
		a, b := set("a"), set("b")
		if overlay(a, llm.Quirks{}) != a || overlay(llm.Quirks{}, a) != a || overlay(a, b) != b {
			t.Errorf("%s is lost", name)
		}
	}
}
