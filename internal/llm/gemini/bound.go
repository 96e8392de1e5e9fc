package gemini

import (
	"encoding/json"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm/wire"
)

// bound is what the API tied to a text, a call or an image. It is the block's
// Opaque; what the block says itself is not repeated in it.
type bound struct {
	// From is where in a text, in bytes, its signed part begins.
	From int `json:"from"`
	// ID is a call's id, where the server gave one.
	ID string `json:"id"`
	// Signature is a JSON string, as it came.
	Signature json.RawMessage `json:"thoughtSignature"`
}

// boundOf reads a block's; empty for one of another provider.
func boundOf(b *core.Block) bound {
	var v bound
	if b.Provider != Format || json.Unmarshal([]byte(wire.Raw(b.Opaque)), &v) != nil {
		return bound{}
	}
	v.Signature = signature(v.Signature)
	return v
}

// signature is raw where it is a JSON string that holds something, else nil.
func signature(raw json.RawMessage) json.RawMessage {
	if len(raw) <= len(`""`) || raw[0] != '"' {
		return nil
	}
	return raw
}

// bind puts v into the block; a block with nothing bound to it stays plain.
func (v bound) bind(b core.Block) core.Block {
	out := []byte{'{'}
	if v.From > 0 {
		out = wire.AppendInt(out, "from", v.From)
	}
	if v.ID != "" {
		out = wire.AppendField(out, "id", v.ID)
	}
	if out = appendSignature(out, v.Signature); len(out) > 1 {
		b.Provider, b.Opaque = Format, string(append(out, '}'))
	}
	return b
}

// groundingKey begins the opaque block that keeps what a search found. It is for
// the journal: the API takes it nowhere back.
const groundingKey = `{"groundingMetadata":`

func isGrounding(b *core.Block) bool {
	return b.Type == core.BlockOpaque && strings.HasPrefix(b.Opaque, groundingKey)
}
