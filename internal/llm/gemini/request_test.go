package gemini

import (
	"net/http"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

func TestFamilies(t *testing.T) {
	for id, want := range map[string]family{
		"gemini-2.5-pro":              {google: true, version: 25, pro: true},
		"gemini-2.5-flash-lite":       {google: true, version: 25, lite: true},
		"gemini-3-pro-preview":        {google: true, version: 30, pro: true},
		"google/gemini-3.7-flash":     {google: true, version: 37},
		"models/gemini-4-argon":       {google: true, version: 40},
		"gemini-flash-latest":         {google: true, version: newest},
		"gemini-2.0-flash-001":        {google: true, version: 20},
		"gemini-999999999999-x":       {google: true, version: newest},
		"gemma-4-27b-it":              {version: newest},
		"":                            {version: newest},
		"tunedModels/my-own-x123":     {version: newest},
		"gemini-3.1-pro-preview-tool": {google: true, version: 31, pro: true},
	} {
		if got := familyOf(id); got != want {
			t.Errorf("%q: %+v", id, got)
		}
	}
}

func TestThinkingLevels(t *testing.T) {
	const thoughts = `"includeThoughts":true`
	level := func(l string) string { return `"thinkingLevel":"` + l + `",` + thoughts }
	budget := func(n string) string { return `"thinkingBudget":` + n + `,` + thoughts }
	for _, tc := range []struct {
		id, efforts string
		level       llm.ThinkingLevel
		max         int
		want        string
	}{
		{"gemini-3-pro-preview", "low,high", llm.ThinkDefault, 64_000, thoughts},
		{"gemini-3-pro-preview", "low,high", llm.ThinkMax, 64_000, level("HIGH")},
		{"gemini-3-pro-preview", "low,high", llm.ThinkMedium, 64_000, level("LOW")},
		{"gemini-3-pro-preview", "low,high", llm.ThinkOff, 64_000, `"thinkingLevel":"LOW"`},
		{"gemini-3-flash-preview", "minimal,low,medium,high", llm.ThinkOff, 64_000, `"thinkingLevel":"MINIMAL"`},
		{"gemini-3-flash-preview", "minimal,low,medium,high", llm.ThinkLow, 64_000, level("LOW")},
		{"gemini-4-argon", "", llm.ThinkMedium, 64_000, level("MEDIUM")},
		{"gemini-4-argon", "", llm.ThinkXHigh, 64_000, level("HIGH")},
		{"gemini-4-argon", "", llm.ThinkOff, 64_000, `"thinkingLevel":"LOW"`},
		{"gemini-flash-latest", "", llm.ThinkHigh, 64_000, level("HIGH")},
		{"gemini-2.5-flash", "", llm.ThinkDefault, 64_000, thoughts},
		{"gemini-2.5-flash", "", llm.ThinkOff, 64_000, `"thinkingBudget":0`},
		{"gemini-2.5-flash", "", llm.ThinkLow, 64_000, budget("1024")},
		{"gemini-2.5-flash", "", llm.ThinkMedium, 64_000, budget("8192")},
		{"gemini-2.5-flash", "", llm.ThinkMax, 64_000, budget("24576")},
		{"gemini-2.5-flash", "", llm.ThinkMax, 8_000, budget("7000")},
		{"gemini-2.5-flash-lite", "", llm.ThinkLow, 100, budget("512")},
		{"gemini-2.5-flash-lite", "", llm.ThinkOff, 64_000, `"thinkingBudget":0`},
		{"gemini-2.5-pro", "low,medium,high", llm.ThinkOff, 64_000, `"thinkingBudget":128`},
		{"gemini-2.5-pro", "low,medium,high", llm.ThinkHigh, 64_000, budget("24576")},
		{"gemini-2.5-pro", "low,medium,high", llm.ThinkXHigh, 64_000, budget("32768")},
	} {
		info := &llm.Info{ID: tc.id, Thinks: true}
		if tc.efforts != "" {
			info.Efforts = strings.Split(tc.efforts, ",")
		}
		if got, want := string(appendThinking([]byte{'{'}, info, familyOf(tc.id), tc.level, tc.max)), `{"thinkingConfig":{`+tc.want+`}`; got != want {
			t.Errorf("%s %q: %s, want %s", tc.id, tc.level, got, want)
		}
		info.Thinks = false
		if got := appendThinking([]byte{'{'}, info, familyOf(tc.id), tc.level, tc.max); string(got) != "{" {
			t.Errorf("%s does not think: %s", tc.id, got)
		}
	}
}

func TestHead(t *testing.T) {
	s := server(t, "gemini-3-pro", plain()...)
	req := hello()
	req.Tools = append(req.Tools, llm.ToolSpec{Name: "none", Description: "Takes nothing."})
	llmtest.MustAsk(t, s.Model, req)
	want := `{"systemInstruction":{"parts":[{"text":"You are a test. <b>&\"ü\u2028"}]},"tools":[{"functionDeclarations":[` +
		`{"name":"read_file","description":"Reads.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},` +
		`{"name":"bash","description":"Runs <cmd> & more.","parametersJsonSchema":{"type":"object","properties":{"command":{"type":"string"}}}},` +
		`{"name":"none","description":"Takes nothing.","parametersJsonSchema":{"type":"object","properties":{}}}]}],` +
		`"generationConfig":{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true}},"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	if got := s.Body(0); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	llmtest.MustAsk(t, s.Model, &llm.Request{Messages: req.Messages})
	if got, want := s.Body(1), `{"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`; got != want {
		t.Errorf("got %s", got)
	}
}

// TestAddress: what a base URL may end in, and where a model is asked.
func TestAddress(t *testing.T) {
	for _, tc := range []struct{ id, base, want string }{
		{"gemini-3-pro", "", "/v1beta/models/gemini-3-pro:streamGenerateContent"},
		{"gemini-3-pro", "/v1beta/", "/v1beta/models/gemini-3-pro:streamGenerateContent"},
		{"models/gemini-3-pro", "/gateway", "/gateway/v1beta/models/gemini-3-pro:streamGenerateContent"},
		{"tunedModels/mine", "", "/v1beta/tunedModels/mine:streamGenerateContent"},
		{"google/gemini?x", "", "/v1beta/models/google%2Fgemini%3Fx:streamGenerateContent"},
	} {
		var asked string
		s := llmtest.NewServer(t, dialect, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			asked = r.URL.EscapedPath() + "?" + r.URL.RawQuery
			llmtest.Stream(plain()...)(w, r, nil)
		})
		m, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "g/" + tc.id, ID: tc.id}, BaseURL: s.URL + tc.base})
		if err != nil {
			t.Fatal(err)
		}
		llmtest.MustAsk(t, m, hello())
		m.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		if asked != tc.want+"?alt=sse" {
			t.Errorf("%s at %q: %s", tc.id, tc.base, asked)
		}
	}
}

// TestUnsignedCalls: a call of another model gets the signature that says so, on
// the first call of an answer, where one is demanded.
func TestUnsignedCalls(t *testing.T) {
	call := func(id string) core.Block {
		return core.Block{Type: core.BlockToolUse, ID: id, Name: "bash", Input: "{}"}
	}
	msgs := func(calls ...core.Block) []*core.Message {
		results := &core.Message{Role: core.RoleUser}
		for _, c := range calls {
			results.Blocks = append(results.Blocks, core.ToolResult(c.ID, false, core.Text("x")))
		}
		return []*core.Message{core.UserText("a"), {Role: core.RoleAssistant, Blocks: calls}, results}
	}
	signed := bound{ID: "b", Signature: []byte(`"cw=="`)}.bind(call("b"))
	foreign := signed
	foreign.Provider = "chat"
	const plainCall, dummy = `{"functionCall":{"name":"bash","args":{}}}`, `{"functionCall":{"name":"bash","args":{}},"thoughtSignature":"skip_thought_signature_validator"}`
	for _, tc := range []struct {
		id    string
		calls []core.Block
		want  string
	}{
		{"gemini-3-pro", []core.Block{call("a"), call("b")}, dummy + "," + plainCall},
		{"gemini-3-pro", []core.Block{foreign}, dummy},
		{"gemini-3-pro", []core.Block{signed, call("a")}, `{"functionCall":{"id":"b","name":"bash","args":{}},"thoughtSignature":"cw=="},` + plainCall},
		{"gemini-2.5-pro", []core.Block{call("a")}, plainCall},
		{"gemma-4", []core.Block{call("a")}, plainCall},
	} {
		s := server(t, tc.id, plain()...)
		llmtest.MustAsk(t, s.Model, llmtest.Request(msgs(tc.calls...)...))
		if !strings.Contains(s.Body(0), `{"role":"model","parts":[`+tc.want+`]}`) {
			t.Errorf("%s: sent %s, want %s", tc.id, s.Body(0), tc.want)
		}
	}
}

// TestMedia: images and documents stand in the result itself where the model takes
// them there, and else behind the turn of results.
func TestMedia(t *testing.T) {
	image := func(kind string) core.Block {
		return core.Block{Type: core.BlockImage, MediaType: kind, Data: []byte("i")}
	}
	pdf := core.Block{Type: core.BlockDocument, MediaType: "application/pdf", Name: "a.pdf", Data: []byte("p")}
	text := core.Block{Type: core.BlockDocument, MediaType: "text/plain", Name: "a.txt", Data: []byte("t")}
	req := llmtest.Request(
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{image("image/png"), pdf, text}},
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: "c", Name: "read_file", Input: "{}"}}},
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c", false, core.Text("see"), image("image/png"), image("image/gif"), pdf, text), core.Text("well?")}},
	)
	const (
		png  = `{"inlineData":{"mimeType":"image/png","data":"aQ=="}}`
		gif  = `{"inlineData":{"mimeType":"image/gif","data":"aQ=="}}`
		doc  = `{"inlineData":{"mimeType":"application/pdf","data":"cA=="}}`
		head = `{"role":"user","parts":[` + png + `,{"text":"a.pdf:"},` + doc + `,{"text":"a.txt\nt"}]}`
		said = `{"functionResponse":{"name":"read_file","response":{"output":"see\n\na.pdf\n\na.txt\nt"}`
		by   = `{"role":"user","parts":[{"text":"Returned by the call of read_file:"},`
	)
	for id, want := range map[string]string{
		"gemini-3-pro":   said + `,"parts":[` + png + `,` + doc + `]}}]},` + by + gif + `,{"text":"well?"}]}]}`,
		"gemini-2.5-pro": said + `}}]},` + by + png + `,` + gif + `,{"text":"a.pdf:"},` + doc + `,{"text":"well?"}]}]}`,
	} {
		s := server(t, id, plain()...)
		llmtest.MustAsk(t, s.Model, req)
		if body := s.Body(0); !strings.HasSuffix(body, want) || !strings.Contains(body, `"contents":[`+head+",") {
			t.Errorf("%s sent %s", id, body)
		}
	}
}

// TestHistoryOfOthers: an image without what bound it, and thinking that led to
// nothing, stay out; a signature that was changed on disk is no signature.
func TestHistoryOfOthers(t *testing.T) {
	s := server(t, "gemini-3-pro", plain()...)
	odd := func(opaque string) core.Block {
		return core.Block{Type: core.BlockText, Text: "Grüße", Provider: Format, Opaque: opaque}
	}
	llmtest.MustAsk(t, s.Model, llmtest.Request(core.UserText("a"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{
			odd(`{"from":3,"thoughtSignature":"cw=="}`), // inside the ü
			odd(`{"from":99,"thoughtSignature":"cw=="}`), odd(`{"from":-1,"thoughtSignature":"cw=="}`),
			odd(`{"thoughtSignature":7}`), odd(`{"thoughtSignature":""}`), odd(`{`),
			{Type: core.BlockThinking, Text: "hm", Provider: Format, Opaque: `{"text":"hm","thought":true}`},
			{Type: core.BlockOpaque, Provider: Format, Opaque: groundingKey + `{}}`},
		}}, core.UserText("b"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{
			{Type: core.BlockThinking, Text: "hm", Provider: Format, Opaque: `{"text":"hm","thought":true}`},
			{Type: core.BlockOpaque, Provider: Format, Opaque: groundingKey + `{}}`},
		}}, core.UserText("c")))
	const signed, unsigned = `{"text":"Grüße","thoughtSignature":"cw=="}`, `{"text":"Grüße"}`
	want := `[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[` + strings.Join([]string{signed, signed, signed, unsigned, unsigned, unsigned}, ",") +
		`]},{"role":"user","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}]}`
	if !strings.HasSuffix(s.Body(0), want) {
		t.Errorf("sent %s\nwant %s", s.Body(0), want)
	}
}
