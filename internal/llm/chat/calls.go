package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// callDelta is a piece of a call, or a whole one.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"` // Gemini: what binds thinking to the call
}

// arguments are a piece of JSON text in a string, or an object where a server
// forgot to put it into one.
type arguments struct{ wire.Text }

func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		a.Text = wire.Text(b)
		return nil
	}
	return a.Text.UnmarshalJSON(b)
}

// calls joins pieces into calls.
type calls struct {
	tools map[string]bool
	taken map[string]bool // ids of the conversation's earlier calls
	emit  func(llm.Event)
	list  []*call
}

type call struct {
	index   int
	given   string // the id as the server gives it
	id      string // the id that is used, once it is announced
	name    string
	input   strings.Builder
	runes   wire.Runes
	opaque  string
	started bool
}

func (c *calls) add(d *callDelta) {
	k := c.find(d)
	if k == nil {
		k = &call{index: len(c.list), given: d.ID}
		if d.Index != nil {
			k.index = *d.Index
		}
		c.list = append(c.list, k)
	}
	if k.given == "" {
		k.given = d.ID
	}
	k.addName(d.Function.Name, c.tools)
	if present(d.Extra) {
		k.opaque = `{"extra_content":` + string(d.Extra) + `}`
	}
	k.input.WriteString(k.runes.Push(d.Function.Arguments.Text))
	// The name may still be coming in pieces, and the id with the next piece.
	if c.tools[k.name] && k.given != "" || k.input.Len() > 0 {
		c.start(k)
	}
}

// find returns the call that a piece belongs to, nil for a new one. Pieces are
// joined by index; servers that give none send the id, or whole calls.
func (c *calls) find(d *callDelta) *call {
	if d.Index == nil && d.ID == "" {
		return c.continued(d.Function.Name)
	}
	for i := len(c.list) - 1; i >= 0; i-- {
		k := c.list[i]
		switch {
		case d.Index == nil && k.given == d.ID && !k.whole():
			return k
		case d.Index == nil || k.index != *d.Index:
		case d.ID != "" && k.given != "" && d.ID != k.given && d.Function.Name != "" && k.whole():
			return nil // a server that gives every call the same index
		default:
			return k
		}
	}
	return nil
}

// continued is the last call, where a piece with neither index nor id can belong
// to it.
func (c *calls) continued(name string) *call {
	if len(c.list) == 0 {
		return nil
	}
	last := c.list[len(c.list)-1]
	if name == "" || name == last.name && last.input.Len() > 0 && !last.whole() {
		return last
	}
	return nil
}

// whole reports whether the arguments are a JSON object already, so that nothing
// can follow.
func (k *call) whole() bool {
	s := k.input.String()
	return strings.HasSuffix(s, "}") && wire.IsObject(s)
}

// addName takes the name whole, repeated, grown or in pieces.
func (k *call) addName(s string, tools map[string]bool) {
	switch {
	case s == "" || s == k.name || tools[k.name]:
	case strings.HasPrefix(s, k.name):
		k.name = s
	default:
		k.name += s
	}
}

// start announces a call, with the id that it keeps.
func (c *calls) start(k *call) {
	if k.started {
		return
	}
	k.started, k.id = true, c.unique(k.given)
	c.emit(llm.ToolCallStarted{ID: k.id, Name: k.name})
}

// unique makes an id where there is none, and another where it is taken.
func (c *calls) unique(id string) string {
	if id == "" {
		return core.NewCallID()
	}
	for n, try := 2, id; ; n++ {
		if !c.taken[try] && !c.used(try) {
			return try
		}
		try = fmt.Sprintf("%s_%d", id, n)
	}
}

func (c *calls) used(id string) bool {
	for _, k := range c.list {
		if k.id == id {
			return true
		}
	}
	return false
}

// finish announces what was not yet; a call without a name is none.
func (c *calls) finish() {
	kept := c.list[:0]
	for _, k := range c.list {
		k.input.WriteString(k.runes.Flush())
		if k.name == "" && k.input.Len() == 0 {
			continue
		}
		c.start(k)
		kept = append(kept, k)
	}
	c.list = kept
}

func (c *calls) fromText(t textCall) {
	k := &call{index: len(c.list), name: t.name}
	k.input.WriteString(t.input)
	c.list = append(c.list, k)
	c.start(k)
}

func (c *calls) blocks() []core.Block {
	var out []core.Block
	for _, k := range c.list {
		b := core.Block{Type: core.BlockToolUse, ID: k.id, Name: k.name, Input: argumentText(k.input.String()), Opaque: k.opaque}
		if k.opaque != "" {
			b.Provider = Format
		}
		out = append(out, b)
	}
	return out
}

// argumentText mends the two habits that are no mistake of the model: nothing at
// all for no arguments, and a placeholder {} before the real ones. Anything else
// that is broken stays as it is, for input validation to name.
func argumentText(s string) string {
	if wire.IsBlank(s) {
		return "{}"
	}
	if rest, ok := strings.CutPrefix(s, "{}"); ok && wire.IsObject(rest) {
		return strings.TrimSpace(rest)
	}
	return s
}
