package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

// patchRequest offers a tool that takes free text, and asks for searches.
func patchRequest(msgs ...*core.Message) *llm.Request {
	req := llmtest.Request(msgs...)
	req.Tools = append(req.Tools, llm.ToolSpec{
		Name: "apply_patch", Description: "Patches.", Schema: []byte(`{"type":"object","properties":{"patch":{"type":"string"}}}`),
		FreeText: &llm.FreeText{Field: "patch", Syntax: "lark", Definition: "start: \"a\"\n"},
	})
	req.ServerTools = []string{"web_search", "code"}
	return req
}

func quirky(q llm.Quirks) func(*llm.ClientConfig) {
	return func(c *llm.ClientConfig) { c.Quirks = q }
}

func doneFrame(index string, item string) string {
	return frame(`{"type":"response.output_item.done","output_index":%s,"item":%s}`, index, item)
}

const completed = `{"type":"response.completed","response":{"id":"r","status":"completed"}}`

func TestTools(t *testing.T) {
	all := llm.Quirks{CustomTools: true, WebSearch: true, ParallelCalls: "off"}
	for name, tt := range map[string]struct {
		quirks  llm.Quirks
		change  func(*llm.Request)
		has, no string
	}{
		"custom":       {all, nil, `{"type":"custom","name":"apply_patch","description":"Patches.","format":{"type":"grammar","syntax":"lark","definition":"start: \"a\"\n"}},{"type":"web_search"}]`, `"patch"`},
		"free":         {all, func(r *llm.Request) { r.Tools[2].FreeText = &llm.FreeText{Field: "patch"} }, `{"type":"custom","name":"apply_patch","description":"Patches."}`, `"format"`},
		"as schema":    {llm.Quirks{}, nil, `"name":"apply_patch","description":"Patches.","parameters":{"type":"object","properties":{"patch"`, `"custom"`},
		"no search":    {llm.Quirks{CustomTools: true}, nil, `"custom"`, `web_search`},
		"unasked":      {all, func(r *llm.Request) { r.ServerTools = nil }, `"custom"`, `web_search`},
		"search alone": {all, func(r *llm.Request) { r.Tools = nil }, `"tools":[{"type":"web_search"}]`, `custom`},
		"serial":       {all, nil, `"parallel_tool_calls":false,"tools":`, ""},
		"parallel":     {llm.Quirks{ParallelCalls: "on"}, nil, `"parallel_tool_calls":true,"tools":`, ""},
	} {
		s := llmtest.NewServer(t, dialect, quirky(tt.quirks), llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
		req := patchRequest(core.UserText("hello"))
		if tt.change != nil {
			tt.change(req)
		}
		llmtest.MustAsk(t, s.Model, req)
		if body := s.Body(0); !strings.Contains(body, tt.has) || tt.no != "" && strings.Contains(body, tt.no) || strings.Contains(body, "previous_response_id") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestEfforts(t *testing.T) {
	for name, tt := range map[string]struct {
		efforts string
		quirks  llm.Quirks
		level   llm.ThinkingLevel
		want    string
	}{
		"unknown":    {"", llm.Quirks{}, llm.ThinkMax, `"reasoning":{"effort":"xhigh","summary":"auto"}`},
		"unsaid":     {"low,high", llm.Quirks{}, llm.ThinkDefault, `"reasoning":{"summary":"auto"}`},
		"nearest":    {"minimal,low,medium,high", llm.Quirks{}, llm.ThinkXHigh, `"reasoning":{"effort":"high","summary":"auto"}`},
		"off":        {"none,low", llm.Quirks{}, llm.ThinkOff, `"reasoning":{"effort":"none"}`},
		"least":      {"minimal,low", llm.Quirks{}, llm.ThinkOff, `"reasoning":{"effort":"minimal","summary":"auto"}`},
		"off unsaid": {"low,medium", llm.Quirks{ThinkOffWord: "none"}, llm.ThinkOff, `"reasoning":{"effort":"none"}`},
		"refused":    {"low", llm.Quirks{ThinkingField: llm.ThinkUntold}, llm.ThinkHigh, `"reasoning":{"summary":"auto"}`},
		"table":      {"", llm.Quirks{Efforts: "low,max"}, llm.ThinkXHigh, `"reasoning":{"effort":"max","summary":"auto"}`},
	} {
		e := newEncoder(&llm.Info{ID: "m", Thinks: true}, tt.quirks)
		if tt.efforts != "" {
			e.info.Efforts = strings.Split(tt.efforts, ",")
		}
		req := hello()
		req.Thinking = tt.level
		head, _, err := e.AppendHead(nil, req)
		if err != nil || !strings.Contains(string(head), ","+tt.want+`,"instructions"`) {
			t.Errorf("%s: %s, %v", name, head, err)
		}
	}
}

// TestCustomCall has a call of free text arrive, and go back as such, also from a
// model that was opened later.
func TestCustomCall(t *testing.T) {
	input := "*** \"a\"\n\t<ü>"
	call := `{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"apply_patch","input":` + llmtest.Quote(input) + `,"status":"completed"}`
	s := llmtest.NewServer(t, dialect, quirky(llm.Quirks{CustomTools: true}), llmtest.Stream(
		frame(`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"apply_patch","input":""}}`),
		frame(`{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":"*** "}`),
		doneFrame("0", call), frame(completed)),
		llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	req := patchRequest(core.UserText("hello"))
	r := llmtest.MustAsk(t, s.Model, req)
	want := []core.Block{{Type: core.BlockToolUse, ID: "c1", Name: "apply_patch", Input: `{"patch":` + string(mustJSON(input)) + `}`, Provider: Format, Opaque: customMark}}
	if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" || r.Resp.Stop != core.StopToolUse || len(r.Started()) != 1 || r.Text() != "" {
		t.Errorf("%s, %v", d, r.Events)
	}
	image := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("x")}
	req.Messages = append(req.Messages, r.Resp.Message,
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c1", false, core.Text("done"))}},
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: "c2", Name: "apply_patch", Input: `{"patch":"made elsewhere"}`}}},
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c2", false, image)}})
	wantBody := `{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":` + string(mustJSON(input)) + `},` +
		`{"type":"custom_tool_call_output","call_id":"c1","output":"done"},` +
		`{"type":"function_call","call_id":"c2","name":"apply_patch","arguments":"{\"patch\":\"made elsewhere\"}"},` +
		`{"type":"function_call_output","call_id":"c2","output":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,eA=="}]}]}`
	llmtest.MustAsk(t, s.Model, req)
	if !strings.HasSuffix(s.Body(1), wantBody) {
		t.Errorf("sent %s", s.Body(1))
	}
	// A model opened later sends the same, whatever tools it is offered.
	again := llmtest.NewServer(t, dialect, nil, llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	llmtest.MustAsk(t, again.Model, req)
	if !strings.HasSuffix(again.Body(0), wantBody) {
		t.Errorf("sent %s", again.Body(0))
	}
	// An input that was changed since goes as JSON.
	changed := core.Block{Type: core.BlockToolUse, ID: "c1", Name: "apply_patch", Input: `{"patch":1}`, Provider: Format, Opaque: customMark}
	out, _ := newEncoder(&llm.Info{ID: "m"}, llm.Quirks{}).AppendMessage(nil, &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{changed}})
	if !strings.Contains(string(out), `{"type":"function_call","call_id":"c1","name":"apply_patch","arguments":"{\"patch\":1}"}`) {
		t.Errorf("%s", out)
	}
}

func mustJSON(s string) []byte { return wire.AppendString(nil, s) }

func TestSearch(t *testing.T) {
	call := `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"go", "sources":[{"url":"a"},{"url":"b"}]}}`
	open := `{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://go.dev"}}`
	failed := `{"type":"web_search_call","id":"ws_3","status":"failed","action":{"type":"search","queries":["x","y"]}}`
	message := `{"type":"message","id":"msg_1","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Go.","annotations":[{"type":"url_citation","start_index":0, "end_index":2,"url":"a"}]}]}`
	s := llmtest.NewServer(t, dialect, quirky(llm.Quirks{WebSearch: true}), llmtest.Stream(
		frame(`{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws_1","status":"in_progress"}}`),
		frame(`{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1"}`),
		doneFrame("0", call), doneFrame("1", open), doneFrame("2", failed), doneFrame("3", message), frame(completed)),
		llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	req := patchRequest(core.UserText("hello"))
	r := llmtest.MustAsk(t, s.Model, req)
	events := []llm.Event{
		llm.ServerTool{ID: "ws_1", Name: "web_search"},
		llm.ServerTool{ID: "ws_1", Name: "web_search", Input: "go", Done: true, Result: "2 sources"},
		llm.ServerTool{ID: "ws_2", Name: "web_search", Input: "https://go.dev"},
		llm.ServerTool{ID: "ws_2", Name: "web_search", Input: "https://go.dev", Done: true},
		llm.ServerTool{ID: "ws_3", Name: "web_search", Input: "x; y"},
		llm.ServerTool{ID: "ws_3", Name: "web_search", Input: "x; y", Done: true, Result: "failed", IsError: true},
		llm.TextDelta{Text: "Go."},
	}
	if d := cmp.Diff(events, r.Events); d != "" {
		t.Error(d)
	}
	if r.Resp.Usage.Searches != 1 || r.Resp.Message.PlainText() != "Go." {
		t.Errorf("%+v", r.Resp)
	}
	req.Messages = append(req.Messages, r.Resp.Message, core.UserText("go on"))
	llmtest.MustAsk(t, s.Model, req)
	want := call + "," + open + "," + failed + `,{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Go.","annotations":[{"type":"url_citation","start_index":0, "end_index":2,"url":"a"}]}]}`
	if !strings.Contains(s.Body(1), want) {
		t.Errorf("sent %s", s.Body(1))
	}
}
