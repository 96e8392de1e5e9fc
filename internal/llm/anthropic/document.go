package anthropic

import (
	"encoding/json"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// document reads an answer that came as one JSON document: what a proxy that
// does not stream gives, and an error that it sends with status 200.
func (a *answer) document(data []byte) (*llm.Response, error) {
	var msg struct {
		Type       string            `json:"type"`
		ID         wire.Word         `json:"id"`
		Model      wire.Word         `json:"model"`
		Content    []json.RawMessage `json:"content"`
		StopReason wire.Word         `json:"stop_reason"`
		Usage      wire.Maybe[usage] `json:"usage"`
	}
	if err := wire.Decode(data, &msg); err != nil || msg.Type != "message" {
		if wire.HoldsError(data) {
			return nil, a.reply.Failure(data)
		}
		return nil, a.reply.Protocol("the server answered with a document that is no message")
	}
	if msg.StopReason == "" {
		return nil, a.reply.Protocol("the server ended its answer without a stop reason")
	}
	a.resp.ID, a.resp.Model, a.resp.RawStop = string(msg.ID), string(msg.Model), string(msg.StopReason)
	a.count(msg.Usage.Value)
	for i, raw := range msg.Content {
		if err := a.start(&event{Index: wire.Index(i), ContentBlock: raw}, raw); err != nil {
			return nil, err
		}
		a.blocks[i].close(a.emit)
	}
	return a.response(), nil
}
