package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// failure is what a server says went wrong, whatever shape it says it in.
type failure struct {
	status int
	// names are the words for programs: type, code, status and reasons, with
	// spaces between them. code is the code alone.
	names, code    string
	message, param string
	// window is the server's context in tokens, where a field says so.
	window int
	// retry is Google's RetryInfo, such as "37s". daily is true when one of the
	// quotas that it names counts by the day.
	retry string
	daily bool
	// limits are headers that OpenRouter hands on inside an error.
	limits map[string]string
	// page is true for HTML: something else than a model API answered.
	page bool
}

// HoldsError reports whether a document or an event without a type is an error:
// it has a member of that name which is not null.
func HoldsError(data []byte) bool {
	var v struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(firstOf(data), &v) == nil && !isNull(v.Error)
}

// maxNested bounds how deep an error may hold another: gateways wrap what they get.
const maxNested = 4

// parseFailure reads the shapes in use: {"error":{…}} (Anthropic, OpenAI, Google
// and most others), the same in a list (Google), {"error":"text"} (Ollama,
// LM Studio, xAI), a bare {"message","type","code"} (older vLLM, Mistral, Amazon),
// {"detail":…} (FastAPI), {"response":{"error":{…}}} (Responses), any of these as
// the text of another (gateways), and plain text or HTML (proxies).
func parseFailure(body []byte) failure { return parseNested(body, maxNested) }

func parseNested(body []byte, depth int) failure {
	body = firstOf(body)
	var outer struct {
		errorObject
		Error    json.RawMessage `json:"error"`
		Response struct {
			Error json.RawMessage `json:"error"`
		} `json:"response"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return plainFailure(body)
	}
	inner := outer.Error
	if isNull(inner) {
		inner = outer.Response.Error
	}
	if isNull(inner) {
		f := outer.failure(depth)
		if f.message == "" && f.names == "" {
			f.message = excerpt(body)
		}
		return f
	}
	if text := ""; json.Unmarshal(inner, &text) == nil {
		f := outer.failure(depth)
		f.message = text
		f.unwrap(text, depth)
		return f
	}
	var object errorObject
	if json.Unmarshal(inner, &object) != nil {
		return failure{message: excerpt(inner)}
	}
	return object.failure(depth)
}

// firstOf is the first element of a list that is not empty, and data otherwise.
func firstOf(data []byte) []byte {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '[' {
		return data
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || len(list) == 0 || list[0][0] != '{' {
		return data
	}
	return list[0]
}

// errorObject is the union of what servers put into an error. No field's type may
// make the others unreadable, so each takes any value.
type errorObject struct {
	Message  json.RawMessage `json:"message"`
	Type     Number          `json:"type"`
	AWSType  Number          `json:"__type"`
	Code     Number          `json:"code"`
	Status   Number          `json:"status"` // Google's name for the code
	Param    Number          `json:"param"`
	Detail   json.RawMessage `json:"detail"`
	Details  json.RawMessage `json:"details"`
	Window   Number          `json:"n_ctx"`
	Metadata json.RawMessage `json:"metadata"`
}

func (o *errorObject) failure(depth int) failure {
	f := failure{
		code: string(o.Code), param: string(o.Param),
		names: joined(string(o.Type), string(o.AWSType), string(o.Code), string(o.Status)),
	}
	f.window, _ = strconv.Atoi(string(o.Window)) // what is no number says nothing
	if !isNull(o.Message) {
		f.message = textOf(o.Message)
		if text := fastAPI(o.Message, &f); text != "" {
			f.message = text
		}
		f.unwrap(f.message, depth)
	}
	if f.message == "" && !isNull(o.Detail) {
		f.message = textOf(o.Detail)
		if text := fastAPI(o.Detail, &f); text != "" {
			f.message = text
		}
	}
	f.google(o.Details)
	f.openRouter(o.Metadata, depth)
	return f
}

func joined(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// unwrap reads a message that is itself an error's JSON.
func (f *failure) unwrap(text string, depth int) {
	if depth == 0 || !strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.HasPrefix(strings.TrimSpace(text), "[{") || !json.Valid([]byte(text)) {
		return
	}
	f.take(parseNested([]byte(text), depth-1))
}

// take adds what an error inside this one says.
func (f *failure) take(inner failure) {
	f.message = inner.message
	f.names = joined(f.names, inner.names)
	f.window, f.daily = max(f.window, inner.window), f.daily || inner.daily
	if f.param == "" {
		f.param = inner.param
	}
	if f.retry == "" {
		f.retry = inner.retry
	}
}

// fastAPI reads the list of complaints that servers built on FastAPI give (vLLM,
// Mistral): [{"loc":["body","messages",3,"content"],"msg":"…"}], alone or as the
// member "detail". The first one's place becomes the parameter.
func fastAPI(raw json.RawMessage, f *failure) string {
	type complaint struct {
		Loc []Number        `json:"loc"`
		Msg json.RawMessage `json:"msg"`
	}
	var list []complaint
	if json.Unmarshal(raw, &list) != nil {
		var object struct {
			Detail []complaint `json:"detail"`
		}
		if json.Unmarshal(raw, &object) != nil {
			return ""
		}
		list = object.Detail
	}
	var said []string
	for _, c := range list {
		var place []string
		for _, p := range c.Loc {
			if p != "body" {
				place = append(place, string(p))
			}
		}
		where := strings.Join(place, ".")
		if f.param == "" {
			f.param = where
		}
		said = append(said, strings.TrimPrefix(where+": "+textOf(c.Msg), ": "))
	}
	return strings.Join(said, "; ")
}

// google reads the details of a google.rpc.Status: ErrorInfo, RetryInfo and
// QuotaFailure.
func (f *failure) google(raw json.RawMessage) {
	var details []struct {
		Reason     Number `json:"reason"`
		RetryDelay Number `json:"retryDelay"`
		Violations []struct {
			QuotaID Number `json:"quotaId"`
		} `json:"violations"`
	}
	if isNull(raw) || json.Unmarshal(raw, &details) != nil {
		return
	}
	for _, d := range details {
		f.names = joined(f.names, string(d.Reason))
		if d.RetryDelay != "" {
			f.retry = string(d.RetryDelay)
		}
		for _, v := range d.Violations {
			f.daily = f.daily || strings.Contains(string(v.QuotaID), "PerDay")
		}
	}
}

// openRouter reads what OpenRouter tells of the provider behind it: it says
// "Provider returned error" itself, and puts the provider's words into raw.
func (f *failure) openRouter(raw json.RawMessage, depth int) {
	var meta struct {
		Raw       json.RawMessage            `json:"raw"`
		Provider  Number                     `json:"provider_name"`
		ErrorType Number                     `json:"error_type"`
		Headers   map[string]json.RawMessage `json:"headers"`
	}
	if isNull(raw) || json.Unmarshal(raw, &meta) != nil {
		return
	}
	f.names = joined(f.names, string(meta.ErrorType))
	for k, v := range meta.Headers {
		if f.limits == nil {
			f.limits = map[string]string{}
		}
		f.limits[k] = textOf(v)
	}
	if isNull(meta.Raw) || depth == 0 {
		return
	}
	said, outer := textOf(meta.Raw), f.message
	inner := parseNested([]byte(said), depth-1)
	if inner.message == "" {
		inner.message = said
	}
	f.take(inner)
	if meta.Provider != "" {
		outer += fmt.Sprintf(" (%s)", meta.Provider)
	}
	f.message = strings.TrimSpace(outer + ": " + inner.message)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// plainFailure makes one line of a body that is not JSON. Of a page only the
// title is of use.
func plainFailure(body []byte) failure {
	s := strings.TrimSpace(string(body))
	lower := strings.ToLower(s)
	f := failure{page: strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html") || strings.HasPrefix(lower, "<head")}
	if from := strings.Index(lower, "<title>"); from >= 0 && len(lower) == len(s) {
		f.page = true
		if to := strings.Index(lower[from:], "</title>"); to > 0 {
			s = s[from+len("<title>") : from+to]
		}
	}
	if s != "" {
		f.message = excerpt([]byte(s))
	}
	return f
}
