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
	OutputIndex int             `json:"output_index"`
	PartIndex   int             `json:"summary_index"`
	Delta       json.RawMessage `json:"delta"`
	Item        json.RawMessage `json:"item"`
	Response    *response       `json:"response"`
}

type response struct {
	ID         string            `json:"id"`
	Model      string            `json:"model"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *usage `json:"usage"`
}

type usage struct {
	Input   int `json:"input_tokens"`
	Output  int `json:"output_tokens"`
	Details struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// item is what is read of an output item; its own bytes are kept.
type item struct {
	Type    string    `json:"type"`
	CallID  string    `json:"call_id"`
	Name    string    `json:"name"`
	Args    wire.Text `json:"arguments"`
	Summary []part    `json:"summary"`
	Content []part    `json:"content"`
	// Encrypted is what lets a reasoning item go back without state at the server.
	Encrypted string `json:"encrypted_content"`
}

type part struct {
	Type    string    `json:"type"`
	Text    wire.Text `json:"text"`
	Refusal wire.Text `json:"refusal"`
}

// output is one item as it arrives.
type output struct {
	index   int
	item    *item           // once it is done
	raw     json.RawMessage // its bytes
	shown   bool            // deltas of it were emitted
	started bool
	runes   wire.Runes
}

// answer gathers one response.
type answer struct {
	reply    *wire.Reply
	emit     func(llm.Event)
	resp     llm.Response
	final    *response
	outputs  []*output
	refused  bool
	thinking bool // some thinking was shown
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
	if err := json.Unmarshal(sev.Data, &ev); err != nil {
		if wire.HoldsError(sev.Data) {
			return false, a.reply.Failure(sev.Data)
		}
		return false, a.reply.BadEvent(sev.Data, err)
	}
	switch ev.Type {
	case "response.created", "response.in_progress":
		if ev.Response != nil {
			a.resp.ID, a.resp.Model = ev.Response.ID, ev.Response.Model
		}
	case "response.output_item.added":
		return false, a.added(&ev, sev.Data)
	case "response.output_text.delta", "response.refusal.delta":
		return false, a.show(&ev, sev.Data, false)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return false, a.show(&ev, sev.Data, true)
	case "response.reasoning_summary_part.added":
		if ev.PartIndex > 0 && a.thinking {
			a.emit(llm.ThinkingDelta{Text: "\n\n"})
		}
	case "response.output_item.done":
		return false, a.done(ev.OutputIndex, ev.Item, sev.Data)
	case "response.completed", "response.incomplete":
		if ev.Response == nil {
			return false, a.reply.Protocol("the server ended its answer without the response")
		}
		return true, a.finish(ev.Response, sev.Data)
	case "response.failed", "error":
		return false, a.reply.Failure(sev.Data)
	case "":
		if wire.HoldsError(sev.Data) {
			return false, a.reply.Failure(sev.Data)
		}
	}
	return false, nil
}

func (a *answer) output(index int) *output {
	for _, o := range a.outputs {
		if o.index == index {
			return o
		}
	}
	o := &output{index: index}
	a.outputs = append(a.outputs, o)
	return o
}

func (a *answer) added(ev *event, data []byte) error {
	var it item
	if err := json.Unmarshal(ev.Item, &it); err != nil {
		return a.reply.BadEvent(data, err)
	}
	a.start(a.output(ev.OutputIndex), &it)
	return nil
}

// start announces a call as soon as it is named.
func (a *answer) start(o *output, it *item) {
	if it.Type == "function_call" && it.CallID != "" && !o.started {
		o.started = true
		a.emit(llm.ToolCallStarted{ID: it.CallID, Name: it.Name})
	}
}

func (a *answer) show(ev *event, data []byte, thinking bool) error {
	var t wire.Text
	if err := json.Unmarshal(ev.Delta, &t); err != nil {
		return a.reply.BadEvent(data, err)
	}
	o := a.output(ev.OutputIndex)
	o.shown = true
	a.say(o.runes.Push(t), thinking)
	return nil
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
	if o.item != nil {
		return a.reply.Protocol("the server ended output item %d twice", index)
	}
	o.item, o.raw = &it, slices.Clone(raw)
	a.start(o, &it)
	thinking := it.Type == "reasoning"
	a.say(o.runes.Flush(), thinking)
	if o.shown {
		return nil
	}
	if thinking {
		a.say(it.thinking(), true)
	} else if it.Type == "message" {
		a.say(it.text(), false)
	}
	return nil
}

// finish takes the final response. Its output fills in only for a server that
// sent no items.
func (a *answer) finish(r *response, data []byte) error {
	if len(r.Error) > 0 && string(r.Error) != "null" {
		return a.reply.Failure(data)
	}
	if !slices.ContainsFunc(a.outputs, func(o *output) bool { return o.item != nil }) {
		for i, raw := range r.Output {
			if err := a.done(i, raw, data); err != nil {
				return err
			}
		}
	}
	a.final = r
	return nil
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
	if err := json.Unmarshal(data, &r); err != nil {
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
		a.resp.ID = a.final.ID
	}
	if a.final.Model != "" {
		a.resp.Model = a.final.Model
	}
	a.resp.Message = msg
	a.resp.Stop, a.resp.RawStop = a.stop()
	if u := a.final.Usage; u != nil {
		read := min(max(u.Details.Cached, 0), max(u.Input, 0))
		write := min(max(u.Details.CacheWrite, 0), max(u.Input-read, 0))
		a.resp.Usage = core.Usage{Input: max(u.Input-read-write, 0), Output: max(u.Output, 0), CacheRead: read, CacheWrite: write}
		a.resp.UsageReported = true
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
		return core.StopOther, a.final.Status
	}
	return core.StopEndTurn, "completed"
}

// block turns a finished item into a block; false for one that holds nothing.
func (a *answer) block(o *output) (core.Block, bool) {
	it, raw := o.item, string(o.raw)
	switch it.Type {
	case "message":
		text := it.text()
		for _, p := range it.Content {
			a.refused = a.refused || p.Type == "refusal"
		}
		return core.Text(text), !wire.IsBlank(text)
	case "function_call":
		id, input := it.CallID, whole(it.Args)
		if id == "" {
			id = core.NewCallID()
		}
		if wire.IsBlank(input) {
			input = "{}"
		}
		return core.Block{Type: core.BlockToolUse, ID: id, Name: it.Name, Input: input}, true
	case "reasoning":
		// An item that the server keeps only by its id cannot go back: with
		// store off, it is gone.
		if it.Encrypted == "" && len(it.Content) == 0 {
			raw = ""
		}
		text := it.thinking()
		return core.Block{Type: core.BlockThinking, Text: text, Provider: Format, Opaque: raw}, text != "" || raw != ""
	}
	return core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: raw}, true
}

func (it *item) text() string {
	var out strings.Builder
	for _, p := range it.Content {
		out.WriteString(whole(p.Text + p.Refusal))
	}
	return out.String()
}

func (it *item) thinking() string {
	parts := it.Summary
	if len(parts) == 0 {
		parts = it.Content
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, whole(p.Text))
	}
	return strings.Join(texts, "\n\n")
}

// whole is a text that is complete, so that half a rune in it is an error.
func whole(t wire.Text) string {
	var r wire.Runes
	return r.Push(t) + r.Flush()
}
