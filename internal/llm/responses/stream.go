package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/sse"
	"garuda/internal/llm/wire"
)

// event is the union of the stream's events.
type event struct {
	Type        string          `json:"type"`
	OutputIndex wire.Index      `json:"output_index"`
	PartIndex   wire.Index      `json:"summary_index"`
	Delta       json.RawMessage `json:"delta"`
	Text        wire.Text       `json:"text"`      // of output_text.done
	Refusal     wire.Text       `json:"refusal"`   // of refusal.done
	Args        wire.Text       `json:"arguments"` // of function_call_arguments.done
	Input       wire.Text       `json:"input"`     // of custom_tool_call_input.done
	Item        json.RawMessage `json:"item"`
	Response    *response       `json:"response"`
}

type response struct {
	ID         wire.Word         `json:"id"`
	Model      wire.Word         `json:"model"`
	Status     wire.Word         `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage wire.Maybe[usage] `json:"usage"`
}

type usage struct {
	Input   wire.Count `json:"input_tokens"`
	Output  wire.Count `json:"output_tokens"`
	Details struct {
		Cached     wire.Count `json:"cached_tokens"`
		CacheWrite wire.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	// Cost is what OpenRouter charged, in US dollars.
	Cost wire.Dollars `json:"cost"`
}

func (u *usage) readable() bool {
	return wire.Readable(u.Input, u.Output, u.Details.Cached, u.Details.CacheWrite, u.OutputDetails.Reasoning)
}

func (u *usage) core() core.Usage {
	read := min(max(u.Details.Cached, 0), max(u.Input, 0))
	write := min(max(u.Details.CacheWrite, 0), max(u.Input-read, 0))
	return core.Usage{
		Input: int(max(u.Input-read-write, 0)), Output: int(max(u.Output, 0)), CacheRead: int(read), CacheWrite: int(write),
		Thinking: int(min(max(u.OutputDetails.Reasoning, 0), max(u.Output, 0))),
	}
}

// output is one item as it arrives.
type output struct {
	index   int
	begun   item            // what is known of it before it is done
	item    *item           // once it is done
	raw     json.RawMessage // its bytes
	shown   bool            // deltas of it were emitted
	callID  string          // the id that a call was announced with
	runes   wire.Runes
	text    strings.Builder // the deltas' text, thinking or arguments
	settled bool            // the text is whole
}

// answer gathers one response.
type answer struct {
	reply    *wire.Reply
	emit     func(llm.Event)
	tools    []llm.ToolSpec
	resp     llm.Response
	final    *response
	outputs  []*output
	refused  bool
	thinking bool // some thinking was shown
	tooMany  bool // items came beyond maxOutputs
}

// Complete is true once the final response was there.
func (a *answer) Complete() bool { return a.final != nil }

func (a *answer) Event(sev sse.Event) (bool, error) {
	if wire.IsDone(sev.Data) {
		return a.Complete(), nil // a habit of compatible servers
	}
	var ev event
	if string(sev.Name) == "error" {
		return false, a.reply.Failure(sev.Data)
	}
	if err := wire.Decode(sev.Data, &ev); err != nil {
		if wire.HoldsError(sev.Data) {
			return false, a.reply.Failure(sev.Data)
		}
		return false, a.reply.BadEvent(sev.Data, err)
	}
	done, err := a.take(&ev, sev.Data)
	if a.tooMany {
		return false, a.reply.Excess("the server sent more than %d output items", maxOutputs)
	}
	return done, err
}

func (a *answer) take(ev *event, data []byte) (done bool, err error) {
	switch ev.Type {
	case "response.created", "response.in_progress":
		if ev.Response != nil {
			a.resp.ID, a.resp.Model = string(ev.Response.ID), string(ev.Response.Model)
		}
	case "response.output_item.added":
		return false, a.added(ev, data)
	case "response.output_text.delta":
		return false, a.grow(ev, data, typeMessage)
	case "response.refusal.delta":
		a.refused = true
		return false, a.grow(ev, data, typeMessage)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return false, a.grow(ev, data, typeReasoning)
	case "response.function_call_arguments.delta":
		return false, a.grow(ev, data, typeCall)
	case "response.custom_tool_call_input.delta":
		return false, a.grow(ev, data, typeCustomCall)
	case "response.output_text.done", "response.refusal.done", "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		a.settle(ev)
	case "response.reasoning_summary_part.added":
		if ev.PartIndex > 0 && a.thinking {
			a.emit(llm.ThinkingDelta{Text: "\n\n"})
			a.output(int(ev.OutputIndex)).text.WriteString("\n\n")
		}
	case "response.output_item.done":
		return false, a.done(int(ev.OutputIndex), ev.Item, data)
	case "response.completed", "response.incomplete":
		if ev.Response == nil {
			return false, a.reply.Protocol("the server ended its answer without the response")
		}
		return true, a.finish(ev.Response, data)
	case "response.failed", "response.cancelled", "response.error", "error":
		return false, a.reply.Failure(data)
	default:
		if ev.Type == "" && wire.HoldsError(data) {
			return false, a.reply.Failure(data)
		}
	}
	return false, nil
}

// output is the item of an index: the last one, for servers that give several
// the same.
func (a *answer) output(index int) *output {
	for i := len(a.outputs) - 1; i >= 0; i-- {
		if a.outputs[i].index == index {
			return a.outputs[i]
		}
	}
	return a.open(index)
}

// maxOutputs bounds the items of one answer. Each delta's is looked for among them.
const maxOutputs = 10_000

func (a *answer) open(index int) *output {
	if len(a.outputs) >= maxOutputs {
		a.tooMany = true
		return a.outputs[maxOutputs-1] // the answer is given up
	}
	o := &output{index: index}
	a.outputs = append(a.outputs, o)
	return o
}

// another reports whether an item is not the one of its index that is done
// already, but a further one.
func another(done *output, it *item) bool {
	return done.item != nil && it.ID != "" && done.item.ID != "" && it.ID != done.item.ID
}

func (a *answer) added(ev *event, data []byte) error {
	var it item
	if err := json.Unmarshal(ev.Item, &it); err != nil {
		return a.reply.BadEvent(data, err)
	}
	o := a.output(int(ev.OutputIndex))
	if another(o, &it) {
		o = a.open(int(ev.OutputIndex))
	}
	o.begun = it
	a.start(o, &it)
	return nil
}

// start announces a call, or a search, as soon as it is named.
func (a *answer) start(o *output, it *item) {
	switch {
	case o.callID != "":
	case it.isCall() && it.CallID != "":
		o.callID = string(it.CallID)
		a.emit(llm.ToolCallStarted{ID: o.callID, Name: string(it.Name)})
	case it.Type == typeSearch && it.ID != "":
		o.callID = string(it.ID)
		a.emit(it.searchEvent(false))
	}
}

// grow takes a delta. One that comes when its item is done says nothing new.
func (a *answer) grow(ev *event, data []byte, kind string) error {
	var t wire.Text
	if err := json.Unmarshal(ev.Delta, &t); err != nil {
		return a.reply.BadEvent(data, err)
	}
	o := a.output(int(ev.OutputIndex))
	if o.item != nil {
		return nil
	}
	if o.begun.Type == "" {
		o.begun.Type = kind
	}
	s := o.runes.Push(t)
	o.text.WriteString(s)
	if kind == typeMessage || kind == typeReasoning {
		o.shown = true
		a.say(s, kind == typeReasoning)
	}
	return nil
}

// settle takes a text or arguments as they finally are, for a server that never
// ends the item itself.
func (a *answer) settle(ev *event) {
	o := a.output(int(ev.OutputIndex))
	final := whole(ev.Text + ev.Refusal + ev.Args + ev.Input)
	if o.item != nil || final == "" {
		return
	}
	if o.begun.Type == typeMessage && o.settled {
		return // a further part of the message: the deltas have it
	}
	o.settled = true
	if o.begun.Type != typeMessage || !o.shown {
		o.text.Reset()
		o.text.WriteString(final)
	}
}

func (a *answer) say(s string, thinking bool) {
	switch {
	case s == "":
	case thinking:
		a.thinking = true
		a.emit(llm.ThinkingDelta{Text: s})
	default:
		a.emit(llm.TextDelta{Text: s})
	}
}

// done takes an item as it finally is. It counts, whatever the deltas were; a
// server that sends none has it shown now.
func (a *answer) done(index int, raw json.RawMessage, data []byte) error {
	var it item
	if err := json.Unmarshal(raw, &it); err != nil {
		return a.reply.BadEvent(data, err)
	}
	o := a.output(index)
	if another(o, &it) {
		o = a.open(index)
	}
	if o.item != nil {
		return a.reply.Protocol("the server ended output item %d twice", index)
	}
	if rest := o.text.String(); it.Type == typeCall && it.Args == "" {
		it.Args = wire.Text(rest) // the deltas had them
	} else if it.Type == typeCustomCall && it.Input == "" {
		it.Input = wire.Text(rest)
	}
	o.raw = slices.Clone(raw)
	a.end(o, &it)
	return nil
}

// end closes an item and shows what of it was not shown yet.
func (a *answer) end(o *output, it *item) {
	o.item = it
	if it.isCall() && it.CallID == "" && o.callID == "" {
		it.CallID = wire.Word(core.NewCallID())
	}
	a.start(o, it)
	thinking := it.Type == typeReasoning
	if rest := o.runes.Flush(); thinking || it.Type == typeMessage {
		a.say(rest, thinking)
	}
	switch {
	case it.Type == typeSearch:
		a.emit(it.searchEvent(true))
	case o.shown:
	case thinking:
		a.say(it.thinking(), true)
	case it.Type == typeMessage:
		a.say(it.text(), false)
	}
}

// finish takes the final response. Its output fills in what the server sent no
// items for; and what came in deltas alone is put together from those.
func (a *answer) finish(r *response, data []byte) error {
	if len(r.Error) > 0 && string(r.Error) != "null" || r.Status == "failed" || r.Status == "cancelled" {
		return a.reply.Failure(data)
	}
	complete := slices.ContainsFunc(a.outputs, func(o *output) bool { return o.item != nil })
	for i, raw := range r.Output {
		if complete && !a.missing(i, raw) {
			continue
		}
		if err := a.done(i, raw, data); err != nil {
			return err
		}
	}
	for _, o := range a.outputs {
		if o.item != nil {
			continue
		}
		if it := o.fromDeltas(); it != nil {
			a.end(o, it)
		}
	}
	a.final = r
	return nil
}

// missing reports whether the final response's item at i is one that was begun
// and never ended.
func (a *answer) missing(i int, raw json.RawMessage) bool {
	var it item
	if json.Unmarshal(raw, &it) != nil {
		return false
	}
	return slices.ContainsFunc(a.outputs, func(o *output) bool {
		return o.index == i && o.item == nil && o.begun.Type == it.Type
	})
}

// fromDeltas makes an item of what came of it; nil where that is nothing. A call
// may be cut: why the answer ended says so.
func (o *output) fromDeltas() *item {
	it, text := o.begun, wire.Text(o.text.String())
	switch it.Type {
	case typeMessage:
		it.Content = []part{{Type: "output_text", Text: text}}
	case typeReasoning:
		it.Summary, it.Content, it.Encrypted = []part{{Text: text}}, nil, ""
	case typeCall, typeCustomCall:
		if it.Name == "" {
			return nil
		}
		it.Args, it.Input = text, text
		return &it
	}
	if text == "" {
		return nil
	}
	return &it
}

// document reads an answer that was not streamed.
func (a *answer) document() error {
	data, err := a.reply.Document()
	if err != nil {
		return err
	}
	if wire.HoldsError(data) {
		return a.reply.Failure(data)
	}
	var r response
	if err := wire.Decode(data, &r); err != nil {
		return a.reply.BadEvent(data, err)
	}
	if r.Status != "completed" && r.Status != "incomplete" {
		return a.reply.Protocol("the server's answer has the status %q", r.Status)
	}
	return a.finish(&r, data)
}

func (a *answer) response() *llm.Response {
	msg := &core.Message{Role: core.RoleAssistant}
	slices.SortStableFunc(a.outputs, func(x, y *output) int { return x.index - y.index })
	for _, o := range a.outputs {
		if o.item == nil {
			continue // never finished, so no part of the answer
		}
		if b, ok := a.block(o); ok {
			msg.Blocks = append(msg.Blocks, b)
		}
	}
	if a.final.ID != "" {
		a.resp.ID = string(a.final.ID)
	}
	if a.final.Model != "" {
		a.resp.Model = string(a.final.Model)
	}
	a.resp.Message = msg
	a.resp.Stop, a.resp.RawStop = a.stop()
	if u := a.final.Usage.Value; u != nil && u.readable() {
		a.resp.Usage, a.resp.UsageReported = u.core(), true
		a.resp.BilledUSD = float64(u.Cost)
	}
	for _, o := range a.outputs {
		if o.item != nil && o.item.billed() {
			a.resp.Usage.Searches++
		}
	}
	return &a.resp
}

func (a *answer) stop() (core.StopReason, string) {
	if reason := a.final.Incomplete.Reason; reason != "" {
		switch reason {
		case "max_output_tokens", "max_tokens":
			return core.StopMaxTokens, reason
		case "content_filter":
			return core.StopRefusal, reason
		}
		return core.StopOther, reason
	}
	if a.refused {
		return core.StopRefusal, "refusal"
	}
	if a.final.Status == "incomplete" {
		return core.StopOther, string(a.final.Status)
	}
	return core.StopEndTurn, "completed"
}

// block turns a finished item into a block; false for one that holds nothing.
func (a *answer) block(o *output) (core.Block, bool) {
	it, raw := o.item, string(o.raw)
	switch it.Type {
	case typeMessage:
		for _, p := range it.Content {
			a.refused = a.refused || p.Type == "refusal"
		}
		b := it.textBlock()
		return b, !wire.IsBlank(b.Text)
	case typeCall:
		input := whole(it.Args)
		if wire.IsBlank(input) {
			input = "{}"
		}
		return core.Block{Type: core.BlockToolUse, ID: o.callID, Name: string(it.Name), Input: input}, true
	case typeCustomCall:
		return it.customBlock(o.callID, a.field(string(it.Name))), true
	case typeReasoning:
		// An item that the server keeps only by its id cannot go back: with
		// store off, it is gone.
		if it.Encrypted == "" && len(it.Content) == 0 {
			raw = ""
		}
		text := it.thinking()
		return core.Block{Type: core.BlockThinking, Text: text, Provider: Format, Opaque: raw}, text != "" || raw != ""
	}
	return core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: raw}, raw != ""
}

// field is what a tool that takes free text calls its input.
func (a *answer) field(tool string) string {
	for _, t := range a.tools {
		if t.Name == tool && t.FreeText != nil {
			return t.FreeText.Field
		}
	}
	return "input"
}
