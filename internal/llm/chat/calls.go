package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// callDelta is a piece of a call, or a whole one.
type callDelta struct {
	Index    *wire.Index     `json:"index"`
	ID       wire.Word       `json:"id"`
	Function functionDelta   `json:"function"`
	Extra    json.RawMessage `json:"extra_content"` // Gemini: what binds thinking to the call
}

type functionDelta struct {
	Name      wire.Word `json:"name"`
	Arguments arguments `json:"arguments"`
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

// maxCalls bounds the calls of one answer. Each piece is looked for among them.
const maxCalls = 10_000

var errManyCalls = errors.New("more than 10,000 calls in one answer")

// calls joins pieces into calls.
type calls struct {
	tools map[string]bool
	taken map[string]bool // ids of the conversation's earlier calls
	emit  func(llm.Event)
	list  []*call
	used  map[string]bool // ids of this answer
	next  map[string]int  // the number after the last that a stem was given
}

type call struct {
	index   int
	given   string // the id as the server gives it
	id      string // the id that is used, once it is announced
	name    string
	input   strings.Builder
	shape   shape
	first   string // the first piece of input
	last    string // the last one
	runes   wire.Runes
	opaque  string
	started bool
}

func (c *calls) add(d *callDelta) error {
	if d.Index != nil && *d.Index < 0 {
		d.Index = nil
	}
	k := c.find(d)
	if k == nil {
		if len(c.list) >= maxCalls {
			return errManyCalls
		}
		k = &call{index: len(c.list), given: string(d.ID)}
		if d.Index != nil {
			k.index = int(*d.Index)
		}
		c.list = append(c.list, k)
	}
	if k.given == "" {
		k.given = string(d.ID)
	}
	k.addName(string(d.Function.Name), c.tools)
	if present(d.Extra) {
		k.opaque = `{"extra_content":` + string(d.Extra) + `}`
	}
	if piece := k.runes.Push(d.Function.Arguments.Text); piece != "" {
		if k.input.Len() == 0 {
			k.first = piece
		}
		k.input.WriteString(piece)
		k.shape.push(piece)
		k.last = piece
	}
	// The name may still be coming in pieces or last of all, and the id with the
	// next piece.
	if c.tools[k.name] && k.given != "" || k.input.Len() > 0 && k.name != "" {
		c.start(k)
	}
	return nil
}

// find returns the call that a piece belongs to, nil for a new one. Pieces are
// joined by index; servers that give none send the id, or whole calls.
func (c *calls) find(d *callDelta) *call {
	if d.Index == nil && d.ID == "" {
		return c.continued(string(d.Function.Name))
	}
	for i := len(c.list) - 1; i >= 0; i-- {
		k := c.list[i]
		switch {
		case d.Index == nil && k.given == string(d.ID) && !k.whole():
			return k
		case d.Index == nil || k.index != int(*d.Index):
		case d.ID != "" && k.given != "" && string(d.ID) != k.given && d.Function.Name != "" && k.endsBefore(string(d.Function.Name)):
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
	if k.shape.closed && !k.shape.checked {
		k.shape.checked, k.shape.valid = true, wire.IsObject(k.input.String())
	}
	return k.shape.closed && k.shape.valid
}

// shape follows the brackets of a JSON object that arrives in pieces, so that it is
// checked as a whole once only, when the last one closes.
type shape struct {
	depth           int
	quoted, escaped bool
	closed          bool // the object ends with the last byte
	checked, valid  bool
}

func (s *shape) push(piece string) {
	s.closed, s.checked = false, false
	for i := range len(piece) {
		c := piece[i]
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
		case s.quoted:
		case c == '{', c == '[':
			s.depth++
		case c == '}', c == ']':
			s.depth--
			s.closed = s.depth == 0 && i == len(piece)-1
		}
	}
}

// endsBefore reports whether a piece with another id and this name begins another
// call: the arguments are whole, or there are none and the name is another.
func (k *call) endsBefore(name string) bool {
	return k.whole() || k.input.Len() == 0 && !strings.HasPrefix(name, k.name)
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

// unique makes an id where there is none, and another where it is taken. Kimi's
// ids end in a number that counts the conversation's calls: the next one is right.
func (c *calls) unique(id string) string {
	if id == "" {
		return core.NewCallID()
	}
	stem, sep, n := id, "_", 2
	if at := strings.LastIndexByte(id, ':'); at >= 0 {
		if count, err := strconv.Atoi(id[at+1:]); err == nil && count >= 0 {
			stem, sep, n = id[:at], ":", count+1
		}
	}
	if c.used == nil {
		c.used, c.next = map[string]bool{}, map[string]int{}
	}
	// Where the last one of this stem ended, the search goes on: a server may give
	// ten thousand calls one id.
	n = max(n, c.next[stem+sep])
	try := id
	for ; c.taken[try] || c.used[try]; n++ {
		try = stem + sep + strconv.Itoa(n)
	}
	c.used[try], c.next[stem+sep] = true, n
	return try
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
		b := core.Block{Type: core.BlockToolUse, ID: k.id, Name: k.name, Input: argumentText(k), Opaque: k.opaque}
		if k.opaque != "" {
			b.Provider = Format
		}
		out = append(out, b)
	}
	return out
}

// argumentText mends the habits that are no mistake of the model: nothing at all
// for no arguments, a placeholder {} before the real ones, all of them once more
// in the last piece, and each piece with all that came so far. Anything else that
// is broken stays as it is, for input validation to name.
func argumentText(k *call) string {
	s := k.input.String()
	if wire.IsBlank(s) {
		return "{}"
	}
	if wire.IsObject(s) {
		return s
	}
	if first, rest, ok := firstObject(s); ok && wire.IsObject(rest) {
		rest = strings.TrimSpace(rest)
		if strings.TrimSpace(first) == "{}" || sameJSON(first, rest) {
			return rest
		}
	}
	if wire.IsObject(k.last) && strings.HasPrefix(k.last, k.first) {
		return k.last
	}
	return s
}

// firstObject cuts the JSON object off with which s begins.
func firstObject(s string) (first, rest string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(s))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil || raw[0] != '{' {
		return "", s, false
	}
	return string(raw), s[dec.InputOffset():], true
}

func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && x.String() == y.String()
}
