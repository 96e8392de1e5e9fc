package anthropic

import (
	"encoding/json"
	"errors"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/sse"
	"garuda/internal/llm/wire"
)

// event is the union of the stream's events.
type event struct {
	Type    string `json:"type"`
	Message struct {
		ID    wire.Word         `json:"id"`
		Model wire.Word         `json:"model"`
		Usage wire.Maybe[usage] `json:"usage"`
	} `json:"message"`
	Index        wire.Index        `json:"index"`
	ContentBlock json.RawMessage   `json:"content_block"`
	Delta        json.RawMessage   `json:"delta"`
	Usage        wire.Maybe[usage] `json:"usage"`
}

// usage counts are cumulative; a later event replaces those it names.
type usage struct {
	Input      *wire.Count `json:"input_tokens"`
	Output     *wire.Count `json:"output_tokens"`
	CacheRead  *wire.Count `json:"cache_read_input_tokens"`
	CacheWrite *wire.Count `json:"cache_creation_input_tokens"`
	// Written is CacheWrite by how long the entries live.
	Written *struct {
		FiveMinutes wire.Count `json:"ephemeral_5m_input_tokens"`
		Hour        wire.Count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Details *struct {
		Thinking *wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	ServerTools *struct {
		Searches *wire.Count `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// answer gathers one response.
type answer struct {
	reply  *wire.Reply
	emit   func(llm.Event)
	resp   llm.Response
	blocks []*block // by index; nil where a server left one out
	unread bool     // some count of the usage is no number
}

// afterStop is how long the end of the stream may take once the answer is there.
const afterStop = 10 * time.Second

// maxBlocks bounds the indexes a server may use.
const maxBlocks = 10_000

// Complete is true from the stop reason on: it comes behind the last block.
func (a *answer) Complete() bool {
	if a.resp.RawStop == "" {
		return false
	}
	for _, b := range a.blocks {
		if b != nil && !b.closed {
			return false
		}
	}
	return true
}

func (a *answer) Event(sev sse.Event) (bool, error) {
	if string(sev.Name) == "error" {
		return false, a.reply.Failure(sev.Data)
	}
	if wire.IsDone(sev.Data) {
		return a.Complete(), nil // a habit of compatible servers
	}
	var ev event
	if err := wire.Decode(sev.Data, &ev); err != nil {
		return false, a.reply.BadEvent(sev.Data, err)
	}
	switch ev.Type {
	case "message_start":
		a.resp.ID, a.resp.Model = string(ev.Message.ID), string(ev.Message.Model)
		a.count(ev.Message.Usage.Value)
	case "content_block_start":
		return false, a.start(&ev, sev.Data)
	case "content_block_delta":
		b := a.block(int(ev.Index))
		if b == nil || b.closed {
			return false, a.reply.Protocol("the server sent more of block %d, which is not open", ev.Index)
		}
		if err := b.add(ev.Delta, a.emit); err != nil {
			return false, a.reply.BadEvent(sev.Data, err)
		}
	case "content_block_stop":
		if b := a.block(int(ev.Index)); b != nil {
			b.close(a.emit)
		}
	case "message_delta":
		a.count(ev.Usage.Value)
		var d struct {
			StopReason wire.Word `json:"stop_reason"`
		}
		if len(ev.Delta) > 0 {
			if err := json.Unmarshal(ev.Delta, &d); err != nil {
				return false, a.reply.BadEvent(sev.Data, err)
			}
		}
		if d.StopReason != "" {
			if a.resp.RawStop == "" {
				a.reply.Patience(afterStop)
			}
			a.resp.RawStop = string(d.StopReason)
		}
	case "message_stop":
		if a.resp.RawStop == "" {
			return false, a.reply.Protocol("the server ended its answer without a stop reason")
		}
		return true, nil
	case "error":
		return false, a.reply.Failure(sev.Data)
	case "": // compatible servers put bare errors into the stream
		if wire.HoldsError(sev.Data) {
			return false, a.reply.Failure(sev.Data)
		}
	}
	return false, nil // ping, and whatever is added to the protocol
}

func (a *answer) start(ev *event, data []byte) error {
	index := int(ev.Index)
	switch {
	case index < 0:
		return a.reply.Protocol("the server sent a block with the index %d", index)
	case index > maxBlocks:
		return a.reply.Excess("the server sent more than %d blocks", maxBlocks)
	}
	if a.block(index) != nil {
		return a.reply.Protocol("the server began block %d twice", index)
	}
	b, err := newBlock(ev.ContentBlock)
	if err != nil {
		return a.reply.BadEvent(data, err)
	}
	for len(a.blocks) <= index {
		a.blocks = append(a.blocks, nil)
	}
	a.blocks[index] = b
	b.begin(a.emit)
	return nil
}

func (a *answer) block(index int) *block {
	if index < 0 || index >= len(a.blocks) {
		return nil
	}
	return a.blocks[index]
}

func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	if u.CacheWrite == nil && u.Written != nil {
		sum := u.Written.FiveMinutes + u.Written.Hour
		u.CacheWrite = &sum
	}
	set := func(to *int, from *wire.Count) bool {
		if from == nil {
			return false
		}
		if *from == wire.Unread {
			a.unread = true
			return false
		}
		*to = int(*from)
		return true
	}
	total := &a.resp.Usage
	for _, reported := range []bool{
		set(&total.Input, u.Input), set(&total.Output, u.Output),
		set(&total.CacheRead, u.CacheRead), set(&total.CacheWrite, u.CacheWrite),
	} {
		a.resp.UsageReported = a.resp.UsageReported || reported
	}
	if u.Details != nil {
		set(&total.Thinking, u.Details.Thinking)
	}
	if u.ServerTools != nil {
		set(&total.Searches, u.ServerTools.Searches)
	}
}

func (a *answer) response() *llm.Response {
	msg := &core.Message{Role: core.RoleAssistant}
	for _, b := range a.blocks {
		if b == nil {
			continue
		}
		if cb, ok := b.core(); ok {
			msg.Blocks = append(msg.Blocks, cb)
		}
	}
	if a.unread {
		a.resp.Usage, a.resp.UsageReported = core.Usage{}, false
	}
	a.resp.Message = msg
	a.resp.Stop = stopReason(a.resp.RawStop)
	return &a.resp
}

func stopReason(raw string) core.StopReason {
	switch raw {
	case "end_turn":
		return core.StopEndTurn
	case "tool_use":
		return core.StopToolUse
	case "max_tokens", "model_context_window_exceeded": // cut, by either limit
		return core.StopMaxTokens
	case "refusal":
		return core.StopRefusal
	case "pause_turn":
		return core.StopPause
	case "stop_sequence":
		return core.StopSequence
	}
	return core.StopOther
}

// errNoType is a block that does not say what it is.
var errNoType = errors.New("it has no type")
