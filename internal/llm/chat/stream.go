package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/sse"
	"garuda/internal/llm/wire"
)

// afterFinish is how long the usage and the end of the stream may take once the
// answer is there. Some servers send neither.
const (
	afterFinish = 10 * time.Second
	afterUsage  = time.Second
)

// chunk is one event of the stream, or the whole of an answer that is not one.
type chunk struct {
	ID      wire.Word         `json:"id"`
	Model   wire.Word         `json:"model"`
	Choices []choice          `json:"choices"`
	Usage   wire.Maybe[usage] `json:"usage"`
	XGroq   struct {
		Usage wire.Maybe[usage] `json:"usage"`
	} `json:"x_groq"`
	Error  json.RawMessage `json:"error"`
	Object wire.Word       `json:"object"` // "error" in older vLLM, which has no member of that name
}

type choice struct {
	Index        wire.Index        `json:"index"`
	Delta        delta             `json:"delta"`
	Message      *delta            `json:"message"`
	FinishReason wire.Word         `json:"finish_reason"`
	Usage        wire.Maybe[usage] `json:"usage"` // Moonshot
	Error        json.RawMessage   `json:"error"` // OpenRouter
}

type delta struct {
	Content          content           `json:"content"`
	Refusal          wire.Text         `json:"refusal"`
	Reasoning        wire.Text         `json:"reasoning"`
	ReasoningContent *wire.Text        `json:"reasoning_content"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta       `json:"tool_calls"`
	FunctionCall     *functionDelta    `json:"function_call"` // what tool_calls replaced; some servers stayed with it
}

// content is a string, or parts (Mistral): text, and thinking that holds parts.
type content struct{ text, thinking wire.Text }

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return c.text.UnmarshalJSON(b)
	}
	var parts []struct {
		Text     wire.Text `json:"text"`
		Thinking *content  `json:"thinking"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		if p.Thinking != nil {
			c.thinking += p.Thinking.text + p.Thinking.thinking
		}
	}
	return nil
}

// answer gathers one response.
type answer struct {
	reply   *wire.Reply
	emit    func(llm.Event)
	info    *llm.Info
	quirks  llm.Quirks
	tools   map[string]bool
	limit   int // the request's output limit in tokens
	resp    llm.Response
	chosen  bool // a choice was there at all
	done    bool // [DONE] was there
	refused bool
	awaited time.Duration // the limit for what follows the answer

	texts     wire.Runes
	reasons   wire.Runes
	tags      tagSplitter
	held      textCalls
	thinking  strings.Builder
	reasoning struct {
		seen    bool // the server has the field reasoning_content, if only an empty one
		short   bool // the server calls it reasoning
		text    strings.Builder
		details details
	}
	calls calls
}

func newAnswer(reply *wire.Reply, emit func(llm.Event), req *llm.Request, enc *encoder) *answer {
	a := &answer{reply: reply, emit: emit, info: enc.info, quirks: enc.quirks, limit: req.MaxTokens, tools: map[string]bool{}}
	for _, t := range req.Tools {
		a.tools[t.Name] = true
	}
	a.tags.implied = a.quirks.ImpliedThink
	a.held = textCalls{mode: a.quirks.TextToolCalls, tools: a.tools, specs: req.Tools}
	a.calls = calls{tools: a.tools, taken: enc.ids, emit: emit}
	return a
}

// decode reads the reply to its end.
func (a *answer) decode() (*llm.Response, error) {
	read := func() error { return a.reply.Each(a) }
	if a.reply.JSON {
		read = a.document
	}
	if err := read(); err != nil {
		return nil, err
	}
	return a.response()
}

// Complete is true from the finish reason on, or when the server said that it
// was done.
func (a *answer) Complete() bool { return a.resp.RawStop != "" || a.done && a.chosen }

func (a *answer) Event(ev sse.Event) (bool, error) {
	if wire.IsDone(ev.Data) {
		a.done = true
		if !a.Complete() {
			return false, a.reply.Protocol("the server's answer holds no choice")
		}
		return true, nil
	}
	if string(ev.Name) == "error" {
		return false, a.reply.Failure(ev.Data)
	}
	if len(bytes.TrimSpace(ev.Data)) == 0 {
		return false, nil
	}
	if err := a.take(ev.Data); err != nil {
		return false, err
	}
	a.await()
	return false, nil
}

// await limits what may follow the answer, once it is there and once more when its
// usage is: what the server goes on sending does not make it last longer.
func (a *answer) await() {
	limit := afterFinish
	if a.resp.UsageReported {
		limit = afterUsage
	}
	if a.Complete() && a.awaited != limit {
		a.awaited = limit
		a.reply.Patience(limit)
	}
}

// document reads an answer that came as one JSON document.
func (a *answer) document() error {
	data, err := a.reply.Document()
	if err != nil {
		return err
	}
	if err := a.take(data); err != nil {
		return err
	}
	if !a.chosen {
		return a.reply.Protocol("the server's answer holds no choice")
	}
	return nil
}

func (a *answer) take(data []byte) error {
	var c chunk
	if err := wire.Decode(data, &c); err != nil {
		if wire.HoldsError(data) {
			return a.reply.Failure(data)
		}
		return a.reply.BadEvent(data, err)
	}
	if present(c.Error) || c.Object == "error" {
		return a.reply.Failure(data)
	}
	if a.resp.ID == "" {
		a.resp.ID = string(c.ID)
	}
	if a.resp.Model == "" {
		a.resp.Model = string(c.Model)
	}
	a.count(c.Usage.Value)
	a.count(c.XGroq.Usage.Value)
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index > 0 {
			continue // only one was asked for
		}
		if present(ch.Error) {
			return a.reply.Failure([]byte(`{"error":` + string(ch.Error) + `}`))
		}
		a.chosen = true
		a.count(ch.Usage.Value)
		var err error
		if ch.Message != nil {
			err = a.add(ch.Message)
		} else {
			err = a.add(&ch.Delta)
		}
		if err != nil {
			return a.reply.Excess("the server sent %v", err)
		}
		if ch.FinishReason != "" {
			a.resp.RawStop = string(ch.FinishReason)
		}
	}
	return nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// count takes the latest usage that counts anything: servers report it at the
// end, in each chunk, or both.
func (a *answer) count(u *usage) {
	if u == nil || u.empty() && a.resp.UsageReported {
		return
	}
	if u.Cost > 0 {
		a.resp.BilledUSD = float64(u.Cost)
	}
	if a.resp.Usage, a.resp.UsageReported = (core.Usage{}), u.readable(); a.resp.UsageReported {
		a.resp.Usage = u.core()
	}
}

// add takes what is new; the error is errManyCalls.
func (a *answer) add(d *delta) error {
	var detailed wire.Text
	for _, raw := range d.ReasoningDetails {
		detailed += a.reasoning.details.add(raw)
	}
	switch {
	case d.ReasoningContent != nil:
		a.reasoning.seen = true
		a.reason(*d.ReasoningContent)
	case d.Reasoning != "":
		a.reasoning.short = true
		a.reason(d.Reasoning)
	default:
		a.reason(detailed)
	}
	a.reason(d.Content.thinking)
	if d.Content.text != "" {
		a.say(a.texts.Push(d.Content.text), false)
	}
	if d.Refusal != "" {
		a.refused = true
		a.say(a.texts.Push(d.Refusal), false)
	}
	for i := range d.ToolCalls {
		if err := a.calls.add(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	if d.FunctionCall != nil {
		return a.calls.add(&callDelta{Function: *d.FunctionCall})
	}
	return nil
}

func (a *answer) reason(t wire.Text) {
	if t == "" {
		return
	}
	a.tags.settled()
	a.think(a.reasons.Push(t))
}

func (a *answer) think(s string) {
	if s != "" {
		a.reasoning.text.WriteString(s)
		a.emit(llm.ThinkingDelta{Text: s})
	}
}

// say sorts content into thinking and text; text that may be a call is not shown
// before it is known to be none.
func (a *answer) say(s string, end bool) {
	thinking, text := a.tags.push(s, end)
	if thinking != "" {
		a.thinking.WriteString(thinking)
		a.emit(llm.ThinkingDelta{Text: thinking})
	}
	if show := a.held.push(text); show != "" {
		a.emit(llm.TextDelta{Text: show})
	}
}

// response ends the answer. It fails where the server says that it did.
func (a *answer) response() (*llm.Response, error) {
	if failure, ok := failedStops()[a.resp.RawStop]; ok {
		return nil, a.reply.Failure([]byte(failure))
	}
	a.think(a.reasons.Flush())
	a.say(a.texts.Flush(), true)
	a.untag()
	a.calls.finish()
	a.resp.Stop = a.stop()
	text, shown := a.held.text(), a.held.shown()
	var found []textCall
	if len(a.calls.list) == 0 && a.resp.Stop != core.StopMaxTokens && a.resp.Stop != core.StopRefusal {
		text, found = a.held.calls()
	}
	if rest, ok := strings.CutPrefix(text, shown); ok && rest != "" {
		a.emit(llm.TextDelta{Text: rest})
	}
	for _, c := range found {
		a.calls.fromText(c)
	}
	a.resp.Message = a.message(text)
	return &a.resp, nil
}

// untag puts right what the beginning of the answer was taken for: thinking that
// no tag ended was text, and text that a tag ended was thinking. What was shown
// stays shown.
func (a *answer) untag() {
	if a.tags.implied {
		text := a.thinking.String()
		a.thinking.Reset()
		if show := a.held.push(text); show != "" {
			a.emit(llm.TextDelta{Text: show})
		}
		return
	}
	if a.tags.tagged || a.reasoning.text.Len() > 0 || !a.info.Thinks && !a.info.Local {
		return
	}
	if thinking, rest, ok := untagged(a.held.text()); ok {
		a.thinking.WriteString(thinking)
		a.held = textCalls{mode: a.held.mode, tools: a.tools, specs: a.held.specs}
		a.held.push(rest)
		a.held.passed = len(rest)
	}
}

// failedStops are the finish reasons that mean that there is no answer, as the
// errors that they stand for.
func failedStops() map[string]string {
	const server = `{"error":{"message":"the server ended its answer with an error","type":"server_error"}}`
	return map[string]string{
		"error":                         server,
		"abort":                         server,                                                                                                            // vLLM, SGLang
		"insufficient_system_resource":  `{"error":{"message":"the server ran out of resources","type":"overloaded"}}`,                                     // DeepSeek
		"network_error":                 `{"error":{"message":"the server lost the connection to its model","type":"server_error"}}`,                       // GLM
		"model_context_window_exceeded": `{"error":{"message":"the context window of the model is exceeded","type":"context_length_exceeded","code":400}}`, // GLM
	}
}

// stop reads the finish reason; what it says of calls is judged elsewhere.
func (a *answer) stop() core.StopReason {
	switch a.resp.RawStop {
	case "length", "max_tokens", "model_length", "max_output_tokens":
		if a.spared() {
			return core.StopToolUse
		}
		return core.StopMaxTokens
	case "content_filter", "refusal", "sensitive", "safety":
		return core.StopRefusal
	case "stop", "end_turn", "eos", "eos_token", "stop_sequence", "tool_calls", "function_call", "tool_use", "":
		if a.refused {
			return core.StopRefusal
		}
		if a.cut() {
			return core.StopMaxTokens
		}
		return core.StopEndTurn
	}
	return core.StopOther
}

// spared reports whether an answer that is said to be cut is not: its calls are
// whole, and it is far from the limit.
func (a *answer) spared() bool {
	used := a.resp.Usage
	if len(a.calls.list) == 0 || !a.resp.UsageReported || a.limit == 0 || used.Output >= a.limit/2 ||
		used.Context() >= a.info.ContextWindow/2 {
		return false
	}
	for _, k := range a.calls.list {
		if !wire.IsObject(k.input.String()) {
			return false
		}
	}
	return true
}

// cut reports whether an answer that is said to be whole was cut at the limit: it
// used all of it, and its last call breaks off.
func (a *answer) cut() bool {
	n := len(a.calls.list)
	return n > 0 && a.limit > 0 && a.resp.Usage.Output >= a.limit && !wire.IsObject(argumentText(a.calls.list[n-1]))
}

func (a *answer) message(text string) *core.Message {
	msg := &core.Message{Role: core.RoleAssistant}
	thought := a.reasoning.text.String()
	if opaque := a.playback(thought); thought != "" || opaque != "" {
		msg.Blocks = append(msg.Blocks, core.Block{Type: core.BlockThinking, Text: thought, Provider: Format, Opaque: opaque})
	}
	if tagged := strings.TrimSpace(a.thinking.String()); tagged != "" {
		msg.Blocks = append(msg.Blocks, core.Block{Type: core.BlockThinking, Text: tagged, Provider: Format})
	}
	if !wire.IsBlank(text) {
		msg.Blocks = append(msg.Blocks, core.Text(text))
	}
	msg.Blocks = append(msg.Blocks, a.calls.blocks()...)
	return msg
}

// playback is what goes back with the message: reasoning_content where the server
// has that field, an empty one too, and OpenRouter's details. Other ways are made
// from the thinking's text, when it is sent; see [llm.Playback].
func (a *answer) playback(thought string) string {
	field := a.quirks.Playback == llm.PlaybackField
	if a.quirks.Playback != llm.PlaybackAsCame && !field {
		return ""
	}
	var out []byte
	switch {
	case a.reasoning.seen:
		out = wire.AppendField(append(out, '{'), "reasoning_content", thought)
	case a.reasoning.short && field:
		out = wire.AppendField(append(out, '{'), "reasoning", thought)
	}
	if len(a.reasoning.details) > 0 {
		if out == nil {
			out = append(out, '{')
		}
		out = append(wire.AppendKey(out, "reasoning_details"), '[')
		for _, d := range a.reasoning.details {
			out = d.append(wire.AppendComma(out))
		}
		out = append(out, ']')
	}
	if out == nil {
		return ""
	}
	return string(append(out, '}'))
}
