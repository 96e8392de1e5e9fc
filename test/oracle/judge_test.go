package oracle

import (
	"reflect"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// TestJudge has the judge find each kind of fault: a judge that lets everything
// pass proves nothing.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name string
		typ  reflect.Type
		body string
		want string // in the one complaint; empty for none
	}{
		{"right", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, ""},
		{"unknown member", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","max_tokens":1,"messages":[],"max_output":1}`, "has no max_output"},
		{"unknown member deep down", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x","note":1}]}]}`, "messages[0].content[0]: anthropic.TextBlockParam has no note"},
		{"missing member", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","messages":[]}`, "no max_tokens"},
		{"mistyped", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","max_tokens":"1","messages":[]}`, "1 for a int64"},
		{"fraction", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","max_tokens":1.5,"messages":[]}`, "1.5 for a int64"},
		{"role", reflect.TypeFor[anthropic.MessageNewParams](),
			`{"model":"m","max_tokens":1,"messages":[{"role":"tool","content":[]}]}`, `"tool" is none of`},
		{"kind of block", reflect.TypeFor[anthropic.ContentBlockParamUnion](), `{"type":"video","text":"x"}`, "video"},
		{"effort", reflect.TypeFor[openai.ChatCompletionNewParams](),
			`{"model":"m","messages":[],"reasoning_effort":"enormous"}`, `"enormous" is none of`},
		{"null", reflect.TypeFor[openai.ChatCompletionNewParams](), `{"model":"m","messages":null}`, "null"},
		{"constant", reflect.TypeFor[responses.FunctionToolParam](),
			`{"type":"func","name":"x","parameters":{},"strict":false}`, `func, not "function"`},
		{"twice", reflect.TypeFor[anthropic.MessageNewParams](), `{"model":"m","model":"n"}`, "comes twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := complaints(tt.typ, []byte(tt.body))
			if tt.want == "" && len(found) > 0 || tt.want != "" && !strings.Contains(strings.Join(found, "\n"), tt.want) {
				t.Errorf("want %q, got %q", tt.want, found)
			}
		})
	}
}

func complaints(t reflect.Type, body []byte) []string {
	v, err := parse(body)
	if err != nil {
		return []string{err.Error()}
	}
	return judge(t, v, "request")
}
