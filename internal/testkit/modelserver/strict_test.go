package modelserver

import (
	"net/http"
	"strings"
	"testing"
)

func TestStrict(t *testing.T) {
	const (
		user  = `{"role":"user","content":"go"}`
		call  = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		done  = `{"role":"tool","tool_call_id":"1","content":"ok"}`
		aUser = `{"role":"user","content":[{"type":"text","text":"go"}]}`
		aCall = `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}`
		aDone = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}`
		rUser = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
		rCall = `{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`
		rDone = `{"type":"function_call_output","call_id":"1","output":"ok"}`
	)
	for _, tc := range []struct {
		format, wants string
		messages      []string
	}{
		{"chat", "", []string{`{"role":"system","content":"s"}`, user, call, done, user}},
		{"chat", "no result", []string{user, call}},
		{"chat", "no result", []string{user, call, user, done}},
		{"chat", "follows no call", []string{user, done}},
		{"chat", "follows no call", []string{user, call, done, done}},
		{"chat", "empty", []string{`{"role":"user","content":" "}`}},
		{"chat", "before the user", []string{call, done}},
		{"chat", "no JSON object", []string{user, strings.Replace(call, `"{}"`, `"{"`, 1)}},
		{"anthropic", "", []string{aUser, aCall, aDone}},
		{"anthropic", "role", []string{aCall, aDone}},
		{"anthropic", "no result", []string{aUser, aCall}},
		{"anthropic", "no result", []string{aUser, aCall, aUser}},
		{"anthropic", "follows no call", []string{aUser, aDone}},
		{"anthropic", "non-empty", []string{`{"role":"user","content":[{"type":"text","text":""}]}`}},
		{"anthropic", "is empty", []string{aUser, `{"role":"assistant","content":[]}`}},
		{"anthropic", "signature", []string{aUser, `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}`}},
		{"responses", "", []string{rUser, rCall, rDone}},
		{"responses", "no result", []string{rUser, rCall}},
		{"responses", "no result", []string{rUser, rCall, rUser}},
		{"responses", "follows no call", []string{rUser, rDone}},
		{"responses", "without the item", []string{rUser, `{"type":"reasoning"}`, rUser}},
	} {
		key := "messages"
		if tc.format == "responses" {
			key = "input"
		}
		err := Strict(tc.format, []byte(`{"`+key+`":[`+strings.Join(tc.messages, ",")+`]}`))
		switch {
		case tc.wants == "" && err != nil:
			t.Errorf("%s %s: %v", tc.format, tc.messages, err)
		case tc.wants != "" && (err == nil || !strings.Contains(err.Error(), tc.wants)):
			t.Errorf("%s %s: %v, want %q", tc.format, tc.messages, err, tc.wants)
		}
	}
}

func TestStrictServerRefuses(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{{Text: "hi"}, {Text: "hi"}}}, Options{Strict: true})
	if _, body := mustPost(t, s, "chat", `{"model":"m","messages":[{"role":"user","content":""}]}`); !strings.Contains(string(body), "the content is empty") {
		t.Errorf("the server answered %s", body)
	}
	if resp, body := mustPost(t, s, "chat", `{"model":"m","messages":[{"role":"user","content":"x"}]}`); resp.StatusCode != http.StatusOK {
		t.Errorf("the server answered %s", body)
	}
}
