package modelserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// gemini takes one event as a client would.
func (s *spoken) gemini(t *testing.T, data []byte) {
	t.Helper()
	var c struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text      string `json:"text"`
					Thought   bool   `json:"thought"`
					Signature string `json:"thoughtSignature"`
					Call      *struct {
						ID   string          `json:"id"`
						Name string          `json:"name"`
						Args json.RawMessage `json:"args"`
					} `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
			FinishReason string `json:"finishReason"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Candidates[0].Content.Parts {
		s.Signature += p.Signature
		if p.Thought {
			s.Thinking += p.Text
		} else {
			s.Text += p.Text
		}
		if p.Call != nil {
			args := string(p.Call.Args)
			if strings.HasPrefix(args, `"`) {
				args = str(decode(t, p.Call.Args))
			} else {
				var b bytes.Buffer
				if err := json.Compact(&b, p.Call.Args); err != nil {
					t.Fatal(err)
				}
				args = b.String()
			}
			s.Calls = append(s.Calls, spokenCall{p.Call.ID, p.Call.Name, args})
		}
	}
	s.Stop += c.Candidates[0].FinishReason
	if u := at(decode(t, data), "usageMetadata"); u != nil {
		num := func(key string) float64 { f, _ := at(u, key).(float64); return f }
		s.In, s.Out, s.Cached = num("promptTokenCount"), num("candidatesTokenCount")+num("thoughtsTokenCount"), num("cachedContentTokenCount")
	}
}

func TestGeminiAddresses(t *testing.T) {
	step := Step{Thinking: "hm", Text: "ok", Calls: []Call{{Name: "a"}}, Usage: &Usage{Input: 1, Output: 9, Reasoning: 4}}
	s := Start(t, &Scenario{Wire: Wire{NoIDs: true}, Steps: []Step{step, step, {Thinking: "hm", NoUsage: true}}}, Options{})
	ask := func(path string) []byte {
		resp, err := send(t.Context(), s.URL()+path, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s %v", resp.StatusCode, data, err)
		}
		return data
	}
	v := decode(t, ask("/v1beta/models/gemini-x:generateContent"))
	if at(v, "candidates", 0, "content", "parts", 2, "functionCall", "name") != "a" || at(v, "modelVersion") != "gemini-x" ||
		at(v, "usageMetadata", "thoughtsTokenCount") != 4.0 || at(v, "usageMetadata", "candidatesTokenCount") != 5.0 {
		t.Errorf("whole: %v", v)
	}
	list, _ := decode(t, ask("/v1beta/models/gemini-x:streamGenerateContent")).([]any)
	if len(list) != 4 || at(list[2], "candidates", 0, "content", "parts", 0, "functionCall", "id") != nil ||
		str(at(list[2], "candidates", 0, "content", "parts", 0, "thoughtSignature")) == "" {
		t.Errorf("a list: %v", list)
	}
	stream := sse(t, ask("/v1beta/models/gemini-x:streamGenerateContent?alt=sse"))
	last := decode(t, []byte(stream[len(stream)-1]))
	if str(at(last, "candidates", 0, "content", "parts", 0, "thoughtSignature")) == "" || at(last, "usageMetadata") != nil {
		t.Errorf("the signature of an answer without calls: %v", last)
	}
	resp, err := http.Get(s.URL() + "/v1beta/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || at(decode(t, data), "models", 0, "name") != "models/scripted" {
		t.Errorf("%s, %v", data, err)
	}
}

func TestGeminiStrict(t *testing.T) {
	const (
		user  = `{"role":"user","parts":[{"text":"go"}]}`
		calls = `{"role":"model","parts":[{"text":"","thoughtSignature":"s"},{"functionCall":{"id":"1","name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}`
		f     = `{"functionResponse":{"id":"1","name":"f","response":{"output":"x"}}}`
		g     = `{"functionResponse":{"name":"g","response":{"output":"x"}}}`
	)
	done := func(parts ...string) string { return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}` }
	for _, tc := range []struct {
		wants    string
		contents []string
	}{
		{"", []string{user, calls, done(f, g), user}},
		{"the role is", []string{calls, done(f, g)}},
		{"the role is", []string{user, strings.Replace(user, "user", "system", 1)}},
		{"no results", []string{user, calls}},
		{"followed by 0 results", []string{user, calls, user}},
		{"followed by 1 results", []string{user, calls, done(f)}},
		{"in 3 parts", []string{user, calls, done(f, g, `{"text":"and"}`)}},
		{"0 calls are followed by 2", []string{user, done(f, g)}},
		{"result 0 is of g", []string{user, calls, done(g, f)}},
		{`result 0 is of f ""`, []string{user, calls, done(strings.Replace(f, `"id":"1",`, "", 1), g)}},
		{"no JSON object", []string{user, strings.Replace(calls, `"args":{}`, `"args":1`, 1)}},
		{"no JSON object", []string{user, calls, done(strings.Replace(f, `{"output":"x"}`, `"x"`, 1), g)}},
		{"is empty", []string{user, done(`{"text":" "}`)}},
		{"no parts", []string{done()}},
		{"a call of the user", []string{user, strings.Replace(calls, "model", "user", 1)}},
		{"a result of the model", []string{user, strings.Replace(done(f), "user", "model", 1)}},
	} {
		err := Strict("gemini", []byte(`{"contents":[`+strings.Join(tc.contents, ",")+`]}`))
		switch {
		case tc.wants == "" && err != nil:
			t.Errorf("%s: %v", tc.contents, err)
		case tc.wants != "" && (err == nil || !strings.Contains(err.Error(), tc.wants)):
			t.Errorf("%s: %v, want %q", tc.contents, err, tc.wants)
		}
	}
}

func TestGeminiPrefix(t *testing.T) {
	request := func(system, contents string) []byte {
		return []byte(`{"systemInstruction":{"parts":[{"text":"` + system + `"}]},"tools":[{"functionDeclarations":[]}],"contents":[` + contents + `]}`)
	}
	const one, two = `{"role":"user","parts":[{"text":"a"}]}`, `{"role":"model","parts":[{"text":"b"}]}`
	for want, next := range map[string][]byte{
		"": request("s", one+","+two), "system": request("other", one), "messages[0]": request("s", two), "messages": request("s", ""),
	} {
		b, err := Prefix("gemini", request("s", one), next)
		if err != nil || (b == nil) != (want == "") || b != nil && b.Segment != want {
			t.Errorf("%s: %v, %v", want, b, err)
		}
	}
}
