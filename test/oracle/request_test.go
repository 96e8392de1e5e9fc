package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// TestRequests judges what each client sends for conversations of every kind.
func TestRequests(t *testing.T) {
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			all := conversations(f.thought)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				t.Run(name, func(t *testing.T) {
					for _, id := range f.models {
						check(t, &f, id, all[name])
					}
				})
			}
		})
	}
}

// TestThinkingLevels asks each model at each level: only words that the SDK has.
func TestThinkingLevels(t *testing.T) {
	levels := []llm.ThinkingLevel{llm.ThinkDefault, llm.ThinkOff, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh, llm.ThinkXHigh, llm.ThinkMax}
	for _, f := range formats() {
		for _, level := range levels {
			for _, limit := range []int{1, 1024, 8_192, 16_384, 32_000} {
				t.Run(fmt.Sprintf("%s/%s/%d", f.name, level, limit), func(t *testing.T) {
					for _, id := range f.models {
						req := request(core.UserText("hello"))
						req.Thinking, req.MaxTokens = level, limit
						check(t, &f, id, req)
					}
				})
			}
		}
	}
}

// TestGeneratedRequests judges conversations that nobody thought of.
func TestGeneratedRequests(t *testing.T) {
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				req := generate(r, f.thought)
				check(t, &f, rapid.SampledFrom(f.models).Draw(r, "model"), req)
				if t.Failed() {
					r.FailNow()
				}
			})
		})
	}
}

func check(t testing.TB, f *format, id string, req *llm.Request) {
	t.Helper()
	for _, q := range f.quirks {
		body := f.sent(t, id, q, req)
		found := slices.DeleteFunc(f.judge(t, body), func(c string) bool {
			return slices.ContainsFunc(known[f.name], func(k exception) bool { return strings.Contains(c, k.complaint) })
		})
		if len(found) > 0 {
			t.Errorf("%s is sent\n%s\nof which %s", id, body, strings.Join(found, "\nand "))
		}
	}
}

// exception is a complaint that is no fault, and why.
type exception struct{ complaint, why string }

var known = map[string][]exception{
	"chat": {
		{"content: null for a openai.ChatCompletionAssistantMessageParamContentUnion", "the API's description lets the content of an answer that has calls be null, and older servers want it there"},
		{".content: the SDK leaves out what is empty", "the same"},
		{"has no reasoning_content", "DeepSeek's own, sent only where it came from the server"},
		{".reasoning_content: the SDK drops", "the same"},
		{"has no reasoning_details", "OpenRouter's own, sent only where it came from the server"},
		{".reasoning_details: the SDK drops", "the same"},
	},
	"gemini": {
		{"request.systemInstruction.role: the SDK adds user", "the API ignores it"},
		{".functionCall.args: the SDK leaves out what is empty", "no arguments, said or left out"},
		{".text: the SDK leaves out what is empty", "a part that is there for its signature, as it came"},
	},
}

func request(msgs ...*core.Message) *llm.Request {
	return &llm.Request{
		System: "You are a test. <b>&\"ü\u2028",
		Tools: []llm.ToolSpec{
			{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
			{Name: "bash", Description: "Runs <cmd> & more.", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"},"seconds":{"type":["integer","null"]}}}`)},
		},
		Messages: msgs, MaxTokens: 16_384, SessionID: "20260102-030405-abcd",
	}
}

func assistant(blocks ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleAssistant, Blocks: blocks}
}

func user(blocks ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleUser, Blocks: blocks}
}

func call(id, name, input string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: name, Input: input}
}

var (
	image    = core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n...")}
	pdf      = core.Block{Type: core.BlockDocument, MediaType: "application/pdf", Name: "a \"b\".pdf", Data: []byte("%PDF-1.7")}
	textFile = core.Block{Type: core.BlockDocument, MediaType: "text/markdown", Name: "notes.md", Data: []byte("# Ü\n")}
)

func conversations(thought func(string) core.Block) map[string]*llm.Request {
	out := map[string]*llm.Request{
		"text":      request(core.UserText("hello")),
		"no system": request(core.UserText("hello")),
		"no tools":  request(core.UserText("hello")),
		"dialogue":  request(core.UserText("one"), assistant(core.Text("two")), core.UserText("three")),
		"one call": request(core.UserText("go"), assistant(core.Text("I look."), call("call_1", "read_file", `{"path":"a"}`)),
			user(core.ToolResult("call_1", false, core.Text("content")))),
		"parallel calls": request(core.UserText("go"),
			assistant(call("call_1", "read_file", `{"path":"a"}`), call("call_2", "bash", `{"command":"ls"}`), call("call_3", "bash", `{"command":"pwd"}`)),
			user(core.ToolResult("call_1", false, core.Text("x")), core.ToolResult("call_2", true, core.Text("y")), core.ToolResult("call_3", false))),
		"error result": request(core.UserText("go"), assistant(call("call_1", "bash", `{}`)), user(core.ToolResult("call_1", true, core.Text("failed")))),
		"nested input": request(core.UserText("go"),
			assistant(call("call_1", "bash", `{"a":[1,2.5e3,{"ü":"\ud83d\ude00 <&>\u2028"}],"b":null,"c":true,"big":12345678901234567890}`)),
			user(core.ToolResult("call_1", false, core.Text("ok")))),
		"empty input":   request(core.UserText("go"), assistant(call("call_1", "bash", "")), user(core.ToolResult("call_1", false, core.Text("ok")))),
		"broken input":  request(core.UserText("go"), assistant(call("call_1", "bash", `{"command":`)), user(core.ToolResult("call_1", true, core.Text("no JSON")))),
		"foreign ids":   request(core.UserText("go"), assistant(call("functions.bash:0|x", "bash", `{}`)), user(core.ToolResult("functions.bash:0|x", false, core.Text("ok")))),
		"image":         request(user(core.Text("what is it?"), image)),
		"document":      request(user(core.Text("read"), pdf, textFile)),
		"image result":  request(core.UserText("go"), assistant(call("call_1", "read_file", `{"path":"a.png"}`)), user(core.ToolResult("call_1", false, core.Text("an image"), image))),
		"only an image": request(core.UserText("go"), assistant(call("call_1", "read_file", `{"path":"a.png"}`)), user(core.ToolResult("call_1", false, image))),
		"documents in results": request(core.UserText("go"), assistant(call("call_1", "read_file", `{"path":"a.pdf"}`)),
			user(core.ToolResult("call_1", false, pdf, textFile))),
		"notes": request(user(core.Text("go"), core.Block{Type: core.BlockText, Text: "[stopped]", Note: "stopped"})),
		"results and words": request(core.UserText("go"), assistant(call("call_1", "bash", `{}`)),
			user(core.Text("and this"), core.ToolResult("call_1", false, core.Text("ok")), image)),
		"thinking": request(core.UserText("go"), assistant(thought("hm <&> ü"), core.Text("yes")), core.UserText("more")),
		"thinking and calls": request(core.UserText("go"), assistant(thought("first"), call("call_1", "bash", `{}`), thought("second"), call("call_2", "bash", `{}`)),
			user(core.ToolResult("call_1", false, core.Text("1")), core.ToolResult("call_2", false, core.Text("2")))),
		"thinking of others": request(core.UserText("go"),
			assistant(core.Block{Type: core.BlockThinking, Text: "hm", Provider: "other", Opaque: `{"x":1}`}, core.Text("yes")), core.UserText("more")),
		"thinking at the end": request(core.UserText("go"), assistant(thought("hm")), core.UserText("more")),
		"blank texts":         request(user(core.Text(" \n"), core.Text("x")), assistant(core.Text(""), core.Text("y")), user(core.Text("z"), core.Text(""))),
		"server tools":        request(core.UserText("search")),
		"free text": request(core.UserText("go"), assistant(call("call_1", "patch", `{"patch":"*** Begin\nü"}`)),
			user(core.ToolResult("call_1", false, core.Text("done")))),
	}
	out["no system"].System = ""
	out["no tools"].Tools = nil
	out["server tools"].ServerTools = []string{"web_search"}
	for _, syntax := range []string{"", "lark", "regex"} {
		free := *out["free text"]
		tool := llm.ToolSpec{Name: "patch", Description: "Patches.", Schema: []byte(`{"type":"object","properties":{"patch":{"type":"string"}},"required":["patch"]}`),
			FreeText: &llm.FreeText{Field: "patch", Syntax: syntax}}
		if syntax != "" {
			tool.FreeText.Definition = "start: /.+/"
		}
		free.Tools = append(slices.Clone(free.Tools), tool)
		out["free text "+syntax] = &free
	}
	long := request(core.UserText("go"))
	for i := range 100 {
		id := fmt.Sprintf("call_%d", i)
		long.Messages = append(long.Messages, assistant(thought(fmt.Sprintf("thought %d", i)), core.Text("step"), call(id, "bash", fmt.Sprintf(`{"command":"echo %d"}`, i))),
			user(core.ToolResult(id, i%7 == 0, core.Text(strings.Repeat("line\n", i)))))
	}
	out["long"] = long
	return out
}

// generate makes a conversation as the loop makes them: each call has its result
// in the next message.
func generate(r *rapid.T, thought func(string) core.Block) *llm.Request {
	text := rapid.StringN(1, 30, 200)
	word := rapid.SampledFrom([]string{"{}", "", `{"command":"ls -l"}`, `{"command":`, `[]`, `{"a":{"b":[1,"ü\u0000",null]}}`, `"x"`})
	attached := func() []core.Block {
		var out []core.Block
		for range rapid.IntRange(0, 3).Draw(r, "parts") {
			out = append(out, rapid.SampledFrom([]core.Block{image, pdf, textFile, core.Text(text.Draw(r, "text")), core.Text(" ")}).Draw(r, "part"))
		}
		return out
	}
	req := request(user(append(attached(), core.Text("x"+text.Draw(r, "prompt")))...))
	calls := 0
	for range rapid.IntRange(0, 6).Draw(r, "steps") {
		var answer, results []core.Block
		for range rapid.IntRange(0, 3).Draw(r, "blocks") {
			switch rapid.IntRange(0, 2).Draw(r, "kind") {
			case 0:
				answer = append(answer, thought(text.Draw(r, "thought")))
			case 1:
				answer = append(answer, core.Text(text.Draw(r, "said")))
			case 2:
				calls++
				id := fmt.Sprintf("call_%d", calls)
				answer = append(answer, call(id, rapid.SampledFrom([]string{"bash", "read_file", "gone tool", "x.y"}).Draw(r, "tool"), word.Draw(r, "input")))
				results = append(results, core.ToolResult(id, rapid.Bool().Draw(r, "failed"), attached()...))
			}
		}
		req.Messages = append(req.Messages, assistant(answer...), user(append(results, core.Text("y"+text.Draw(r, "words")))...))
	}
	req.Thinking = rapid.SampledFrom([]llm.ThinkingLevel{"", "off", "low", "medium", "high", "xhigh", "max"}).Draw(r, "level")
	return req
}
