package oracle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicOption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// heard is what an answer means, whoever read it.
type heard struct {
	Text, Thinking string
	// Bound are the signatures, or encrypted contents, in their order.
	Bound []string
	Calls []heardCall
	Stop  core.StopReason
	Usage core.Usage
}

// heardCall is a call with its arguments as the model wrote them.
type heardCall struct{ ID, Name, Input string }

// heardByUs reads the answer at url with our client.
func heardByUs(t testing.TB, f *format, url string) heard {
	t.Helper()
	var h heard
	resp, err := f.model(t, f.models[0], url, f.quirks[0]).Stream(t.Context(), request(core.UserText("hello")), func(e llm.Event) {
		switch e := e.(type) {
		case llm.TextDelta:
			h.Text += e.Text
		case llm.ThinkingDelta:
			h.Thinking += e.Text
		}
	})
	if err != nil {
		t.Fatalf("our client: %v", err)
	}
	if text := strings.Join(textsOf(resp.Message), ""); strings.TrimSpace(text) != strings.TrimSpace(h.Text) {
		t.Errorf("shown %q but kept %q", h.Text, text)
	}
	for _, b := range resp.Message.Blocks {
		switch {
		case b.Type == core.BlockToolUse:
			h.Calls = append(h.Calls, heardCall{b.ID, b.Name, b.Input})
			fallthrough
		case b.Type == core.BlockThinking, b.Type == core.BlockText, b.Type == core.BlockOpaque:
			h.Bound = append(h.Bound, boundIn(b.Opaque)...)
		}
	}
	h.Stop, h.Usage = resp.Stop, resp.Usage
	return h
}

func textsOf(m *core.Message) []string {
	var out []string
	for _, b := range m.Blocks {
		if b.Type == core.BlockText {
			out = append(out, b.Text)
		}
	}
	return out
}

// boundIn finds what a provider's own bytes bind a block with.
func boundIn(opaque string) []string {
	var o struct {
		Signature        string          `json:"signature"`
		Data             string          `json:"data"`
		Encrypted        string          `json:"encrypted_content"`
		ThoughtSignature json.RawMessage `json:"thoughtSignature"`
	}
	if json.Unmarshal([]byte(opaque), &o) != nil {
		return nil
	}
	var thought string
	_ = json.Unmarshal(o.ThoughtSignature, &thought) // absent in most
	var out []string
	for _, s := range []string{o.Signature, o.Data, o.Encrypted, thought} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func hearAnthropic(t testing.TB, url string) heard {
	t.Helper()
	client := anthropic.NewClient(anthropicOption.WithBaseURL(url), anthropicOption.WithAPIKey("k"), anthropicOption.WithMaxRetries(0))
	stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{MaxTokens: 1, Model: "m", Messages: []anthropic.MessageParam{}})
	defer stream.Close()
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatalf("the SDK: %v", err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("the SDK: %v", err)
	}
	var h heard
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			h.Text += b.Text
		case "thinking":
			h.Thinking += b.Thinking
			h.Bound = append(h.Bound, b.Signature)
		case "redacted_thinking":
			h.Bound = append(h.Bound, b.Data)
		case "tool_use":
			h.Calls = append(h.Calls, heardCall{b.ID, b.Name, string(b.Input)})
		}
	}
	h.Stop = map[anthropic.StopReason]core.StopReason{
		anthropic.StopReasonEndTurn: core.StopEndTurn, anthropic.StopReasonToolUse: core.StopToolUse, anthropic.StopReasonMaxTokens: core.StopMaxTokens,
		anthropic.StopReasonRefusal: core.StopRefusal, anthropic.StopReasonPauseTurn: core.StopPause, anthropic.StopReasonStopSequence: core.StopSequence,
		anthropic.StopReasonModelContextWindowExceeded: core.StopMaxTokens,
	}[m.StopReason]
	u := m.Usage
	h.Usage = core.Usage{
		Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		Thinking: int(u.OutputTokensDetails.ThinkingTokens), Searches: int(u.ServerToolUse.WebSearchRequests),
	}
	return h
}

func openaiOptions(url string) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(url + "/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0)}
}

func hearChat(t testing.TB, url string) heard {
	t.Helper()
	client := openai.NewClient(openaiOptions(url)...)
	stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m"})
	defer stream.Close()
	var h heard
	var finish string
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if !acc.AddChunk(chunk) {
			t.Fatalf("the SDK does not take %s", chunk.RawJSON())
		}
		for _, c := range chunk.Choices {
			h.Thinking += extra(c.Delta.JSON.ExtraFields)
			if c.FinishReason != "" {
				finish = c.FinishReason // the accumulator forgets it when a chunk without one follows
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("the SDK: %v", err)
	}
	if len(acc.Choices) == 1 {
		acc.Choices[0].FinishReason = finish
	}
	return h.chat(t, &acc.ChatCompletion)
}

// extra is the thinking in fields that compatible servers add to OpenAI's.
func extra(fields map[string]respjson.Field) string {
	var out string
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var s string
		if f, ok := fields[name]; ok && json.Unmarshal([]byte(f.Raw()), &s) == nil {
			out += s
		}
	}
	return out
}

func (h heard) chat(t testing.TB, c *openai.ChatCompletion) heard {
	t.Helper()
	if len(c.Choices) != 1 {
		t.Fatalf("the SDK has %d choices", len(c.Choices))
	}
	message := c.Choices[0].Message
	h.Text = message.Content + message.Refusal
	for _, call := range message.ToolCalls {
		h.Calls = append(h.Calls, heardCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	h.Stop = map[string]core.StopReason{"stop": core.StopEndTurn, "tool_calls": core.StopToolUse, "function_call": core.StopToolUse,
		"length": core.StopMaxTokens, "content_filter": core.StopRefusal}[c.Choices[0].FinishReason]
	if message.Refusal != "" {
		h.Stop = core.StopRefusal
	}
	u := c.Usage
	h.Usage = core.Usage{
		Input:  int(u.PromptTokens - u.PromptTokensDetails.CachedTokens - u.PromptTokensDetails.CacheWriteTokens),
		Output: int(u.CompletionTokens), CacheRead: int(u.PromptTokensDetails.CachedTokens), CacheWrite: int(u.PromptTokensDetails.CacheWriteTokens),
		Thinking: int(u.CompletionTokensDetails.ReasoningTokens),
	}
	return h
}

func hearResponses(t testing.TB, url string) heard {
	t.Helper()
	client := openai.NewClient(openaiOptions(url)...)
	stream := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: "m"})
	defer stream.Close()
	var last responses.Response
	for stream.Next() {
		if e := stream.Current(); e.Type == "response.completed" || e.Type == "response.incomplete" {
			last = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("the SDK: %v", err)
	}
	return heardResponse(&last)
}

func heardResponse(r *responses.Response) heard {
	var h heard
	var thoughts []string
	h.Stop = core.StopEndTurn
	for _, item := range r.Output {
		switch item.Type {
		case "message":
			for _, p := range item.Content {
				h.Text += p.Text + p.Refusal
				if p.Type == "refusal" {
					h.Stop = core.StopRefusal
				}
			}
		case "reasoning":
			for _, s := range item.Summary {
				thoughts = append(thoughts, s.Text)
			}
			if item.EncryptedContent != "" {
				h.Bound = append(h.Bound, item.EncryptedContent)
			}
		case "function_call":
			h.Calls = append(h.Calls, heardCall{item.CallID, item.Name, item.AsFunctionCall().Arguments})
		}
	}
	h.Thinking = strings.Join(thoughts, "\n\n")
	switch r.IncompleteDetails.Reason {
	case "max_output_tokens":
		h.Stop = core.StopMaxTokens
	case "content_filter":
		h.Stop = core.StopRefusal
	}
	u := r.Usage
	h.Usage = core.Usage{
		Input:  int(u.InputTokens - u.InputTokensDetails.CachedTokens - u.InputTokensDetails.CacheWriteTokens),
		Output: int(u.OutputTokens), CacheRead: int(u.InputTokensDetails.CachedTokens), CacheWrite: int(u.InputTokensDetails.CacheWriteTokens),
		Thinking: int(u.OutputTokensDetails.ReasoningTokens),
	}
	return h
}

func hearGemini(t testing.TB, url string) heard {
	t.Helper()
	var h heard
	contents := []*genai.Content{genai.NewContentFromText("hello", genai.RoleUser)}
	for r, err := range genaiClient(t, url).Models.GenerateContentStream(t.Context(), "m", contents, nil) {
		if err != nil {
			t.Fatalf("the SDK: %v", err)
		}
		h.gemini(r)
	}
	return h
}

func (h *heard) gemini(r *genai.GenerateContentResponse) {
	for _, c := range r.Candidates {
		if c.Content != nil {
			for _, p := range c.Content.Parts {
				h.part(p)
			}
		}
		if c.FinishReason != "" {
			h.Stop = geminiStops()[c.FinishReason]
		}
	}
	if u := r.UsageMetadata; u != nil {
		h.Usage = core.Usage{Input: int(u.PromptTokenCount - u.CachedContentTokenCount + u.ToolUsePromptTokenCount), CacheRead: int(u.CachedContentTokenCount),
			Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), Thinking: int(u.ThoughtsTokenCount)}
	}
}

func (h *heard) part(p *genai.Part) {
	switch {
	case p.FunctionCall != nil:
		input, err := json.Marshal(p.FunctionCall.Args)
		if err != nil {
			panic(err) // it came from JSON
		}
		h.Calls = append(h.Calls, heardCall{p.FunctionCall.ID, p.FunctionCall.Name, string(input)})
	case p.Thought:
		h.Thinking += p.Text
	default:
		h.Text += p.Text
	}
	if len(p.ThoughtSignature) > 0 {
		quoted, err := json.Marshal(p.ThoughtSignature) // as base64
		if err != nil {
			panic(err) // bytes always are JSON
		}
		h.Bound = append(h.Bound, strings.Trim(string(quoted), `"`))
	}
}

// geminiStops is what the API's reasons mean: the answer is whole, cut, refused,
// or there is none.
func geminiStops() map[genai.FinishReason]core.StopReason {
	return map[genai.FinishReason]core.StopReason{
		genai.FinishReasonStop: core.StopEndTurn, genai.FinishReasonMaxTokens: core.StopMaxTokens, genai.FinishReasonContinuation: core.StopMaxTokens,
		genai.FinishReasonSafety: core.StopRefusal, genai.FinishReasonRecitation: core.StopRefusal, genai.FinishReasonLanguage: core.StopRefusal,
		genai.FinishReasonBlocklist: core.StopRefusal, genai.FinishReasonProhibitedContent: core.StopRefusal, genai.FinishReasonSPII: core.StopRefusal,
		genai.FinishReasonImageSafety: core.StopRefusal, genai.FinishReasonImageProhibitedContent: core.StopRefusal, genai.FinishReasonImageRecitation: core.StopRefusal,
	}
}
