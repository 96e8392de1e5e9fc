package responses

import (
	"encoding/json"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// webSearch is Garuda's name, and the provider's, for its search of the web.
const webSearch = "web_search"

// The types of output items that are read; others are kept as they came.
const (
	typeMessage    = "message"
	typeReasoning  = "reasoning"
	typeCall       = "function_call"
	typeCustomCall = "custom_tool_call"
	typeSearch     = "web_search_call"
)

// item is what is read of an output item; its own bytes are kept.
type item struct {
	Type    string    `json:"type"`
	ID      wire.Word `json:"id"`
	CallID  wire.Word `json:"call_id"`
	Name    wire.Word `json:"name"`
	Status  wire.Word `json:"status"`
	Args    wire.Text `json:"arguments"`
	Input   wire.Text `json:"input"` // of a custom tool
	Phase   string    `json:"phase"`
	Summary []part    `json:"summary"`
	Content []part    `json:"content"`
	// Encrypted is what lets a reasoning item go back without state at the server.
	Encrypted string `json:"encrypted_content"`
	Action    struct {
		Type    string            `json:"type"`
		Query   string            `json:"query"`
		Queries []string          `json:"queries"`
		URL     string            `json:"url"`
		Sources []json.RawMessage `json:"sources"`
	} `json:"action"`
}

type part struct {
	Type        string          `json:"type"`
	Text        wire.Text       `json:"text"`
	Refusal     wire.Text       `json:"refusal"`
	Annotations json.RawMessage `json:"annotations"`
}

// isCall reports whether the item is a call that Garuda must answer.
func (it *item) isCall() bool { return it.Type == typeCall || it.Type == typeCustomCall }

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

// searchEvent says what a search of the provider's is about, or what came of it.
func (it *item) searchEvent(done bool) llm.ServerTool {
	ev := llm.ServerTool{ID: string(it.ID), Name: webSearch, Done: done, Input: it.Action.Query}
	if ev.Input == "" {
		ev.Input = strings.Join(it.Action.Queries, "; ")
	}
	if ev.Input == "" {
		ev.Input = it.Action.URL
	}
	if !done {
		return ev
	}
	ev.IsError = it.Status == "failed"
	switch n := len(it.Action.Sources); {
	case ev.IsError:
		ev.Result = string(it.Status)
	case n == 1:
		ev.Result = "1 source"
	case n > 1:
		ev.Result = fmt.Sprintf("%d sources", n)
	}
	return ev
}

// billed reports whether the item is a search that the provider bills: opening a
// page it found costs nothing more.
func (it *item) billed() bool {
	return it.Type == typeSearch && it.Status != "failed" && (it.Action.Type == "" || it.Action.Type == "search")
}

// textExtra is what the provider told of a text beside it, and wants back: which
// part of its work it is, and the pages that it cites.
type textExtra struct {
	Phase       string          `json:"phase,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// textBlock keeps the extra of a message's text with it. Citations are bound to
// places in one part, so those of several are not kept.
func (it *item) textBlock() core.Block {
	b := core.Text(it.text())
	var annotations string
	if len(it.Content) == 1 && it.Content[0].Type == "output_text" {
		if raw := string(it.Content[0].Annotations); strings.HasPrefix(raw, "[{") {
			annotations = raw
		}
	}
	if it.Phase == "" && annotations == "" {
		return b
	}
	out := []byte{'{'}
	if it.Phase != "" {
		out = wire.AppendField(out, "phase", it.Phase)
	}
	if annotations != "" {
		out = append(wire.AppendKey(out, "annotations"), annotations...)
	}
	b.Provider, b.Opaque = Format, string(append(out, '}'))
	return b
}

// extraOf reads back what textBlock kept; nil for a text without.
func extraOf(b *core.Block) *textExtra {
	if b.Provider != Format || wire.Raw(b.Opaque) == "" {
		return nil
	}
	var extra textExtra
	if json.Unmarshal([]byte(b.Opaque), &extra) != nil {
		return nil
	}
	return &extra
}

// customMark is the Opaque of a call to a custom tool. Its input is kept as every
// format keeps it, an object with one field.
const customMark = `{"type":"custom_tool_call"}`

func (it *item) customBlock(id, field string) core.Block {
	input := append(wire.AppendString([]byte{'{'}, field), ':')
	input = append(wire.AppendString(input, whole(it.Input)), '}')
	return core.Block{Type: core.BlockToolUse, ID: id, Name: string(it.Name), Input: string(input), Provider: Format, Opaque: customMark}
}

// freeText is the text of a call to a custom tool; false for any other call.
func freeText(b *core.Block) (string, bool) {
	if b.Provider != Format || b.Opaque != customMark {
		return "", false
	}
	var fields map[string]wire.Text
	if json.Unmarshal([]byte(b.Input), &fields) != nil || len(fields) != 1 {
		return "", false
	}
	for _, text := range fields {
		return whole(text), true
	}
	return "", false
}
