package chat

import (
	"bytes"
	"encoding/json"

	"garuda/internal/llm/wire"
)

// detail is one entry of OpenRouter's reasoning_details. A stream cuts an entry
// into pieces of one index, the signature last; a provider that signs its
// thinking takes it back only as one entry again.
type detail struct {
	raw    json.RawMessage // as it came, while it is the only piece
	key    detailKey
	fields []member
	texts  map[string]*joined
}

type detailKey struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Index *int   `json:"index"`
}

type member struct {
	name  string
	value json.RawMessage
}

// joined is a text that comes in pieces.
type joined struct {
	runes wire.Runes
	text  []byte
}

func (j *joined) add(t wire.Text) { j.text = append(j.text, j.runes.Push(t)...) }
func (j *joined) end() string     { return string(append(j.text, j.runes.Flush()...)) }

// details gathers entries; one that cannot be read is kept as it is.
type details []*detail

// add takes the next piece and returns the readable text of it.
func (d *details) add(raw json.RawMessage) wire.Text {
	next := &detail{raw: bytes.Clone(raw)}
	fields, err := members(raw)
	if err != nil || json.Unmarshal(raw, &next.key) != nil {
		*d = append(*d, next)
		return ""
	}
	next.fields = fields
	shown := textMember(fields, "text") + textMember(fields, "summary")
	if n := len(*d); n > 0 && (*d)[n-1].continuedBy(next) {
		(*d)[n-1].merge(next)
	} else {
		*d = append(*d, next)
	}
	return shown
}

// continuedBy reports whether next is a further piece of the same entry. What is
// encrypted comes whole, and nothing follows a signature.
func (d *detail) continuedBy(next *detail) bool {
	k, n := d.key, next.key
	return (k.Type == "reasoning.text" || k.Type == "reasoning.summary") && k.Type == n.Type &&
		k.Index != nil && n.Index != nil && *k.Index == *n.Index &&
		(k.ID == n.ID || k.ID == "" || n.ID == "") && !has(d.fields, "signature")
}

func (d *detail) merge(next *detail) {
	if d.texts == nil {
		d.raw, d.texts = nil, map[string]*joined{}
		for _, name := range []string{"text", "summary"} {
			if has(d.fields, name) {
				d.texts[name] = &joined{}
				d.texts[name].add(textMember(d.fields, name))
			}
		}
	}
	for _, f := range next.fields {
		switch {
		case !present(f.value):
		case f.name == "text" || f.name == "summary":
			if d.texts[f.name] == nil {
				d.texts[f.name] = &joined{}
				d.set(f)
			}
			d.texts[f.name].add(textMember(next.fields, f.name))
		case !has(d.fields, f.name):
			d.set(f)
		}
	}
	if d.key.ID == "" {
		d.key.ID = next.key.ID
	}
}

// set gives a member its value, in its place where it was null.
func (d *detail) set(f member) {
	for i := range d.fields {
		if d.fields[i].name == f.name {
			d.fields[i] = f
			return
		}
	}
	d.fields = append(d.fields, f)
}

func (d *detail) append(dst []byte) []byte {
	if d.texts == nil {
		return append(dst, d.raw...)
	}
	dst = append(dst, '{')
	for _, f := range d.fields {
		dst = append(wire.AppendString(wire.AppendComma(dst), f.name), ':')
		if t := d.texts[f.name]; t != nil {
			dst = wire.AppendString(dst, t.end())
		} else {
			dst = append(dst, f.value...)
		}
	}
	return append(dst, '}')
}

// members reads an object's members in their order.
func members(raw json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{}
		m.name, _ = name.(string)
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func has(fields []member, name string) bool {
	for _, f := range fields {
		if f.name == name && present(f.value) {
			return true
		}
	}
	return false
}

func textMember(fields []member, name string) wire.Text {
	var t wire.Text
	for _, f := range fields {
		if f.name == name && t.UnmarshalJSON(f.value) == nil {
			return t
		}
	}
	return ""
}
