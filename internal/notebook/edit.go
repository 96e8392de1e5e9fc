package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Replace gives a cell another source and, unless typ is empty, another type. A
// code cell's outputs are those of its old source and go.
func (n *Notebook) Replace(id, typ, source string) error {
	i, err := n.find(id)
	if err != nil {
		return err
	}
	cell, ok := n.cells.Elements[i].Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("cell %d is no object", i+1)
	}
	if typ == "" {
		typ = str(member(cell, "cell_type"))
	} else if err := checkType(typ); err != nil {
		return err
	}
	_, asLines := member(cell, "source").(*hujson.Array)
	set(cell, "source", encode(source, asLines, n.indentOf(i)))
	set(cell, "cell_type", hujson.String(typ))
	if typ == Code {
		set(cell, "outputs", &hujson.Array{})
		set(cell, "execution_count", hujson.Literal("null"))
	} else {
		remove(cell, "outputs")
		remove(cell, "execution_count")
	}
	return nil
}

// Insert puts a new cell after the one with the id, at the start without one,
// and returns its id.
func (n *Notebook) Insert(after, typ, source string) (id string, err error) {
	if typ == "" {
		return "", errors.New("a new cell needs its cell_type: code or markdown")
	}
	if err := checkType(typ); err != nil {
		return "", err
	}
	at := 0
	if after != "" {
		i, err := n.find(after)
		if err != nil {
			return "", err
		}
		at = i + 1
	}
	id = fmt.Sprintf("cell-%d", at)
	raw := []byte(`{"cell_type":` + string(hujson.String(typ)))
	if typ == Code {
		raw = append(raw, `,"execution_count":null`...)
	}
	if n.ids {
		id = n.newID()
		raw = append(raw, `,"id":`+string(hujson.String(id))...)
	}
	raw = append(raw, `,"metadata":{}`...)
	if typ == Code {
		raw = append(raw, `,"outputs":[]`...)
	}
	src := hujson.Value{Value: encode(source, true, indent{})}
	raw = append(append(raw, `,"source":`...), src.Pack()...)
	value, err := n.indentOf(min(at, len(n.cells.Elements)-1)).format(append(raw, '}'))
	if err != nil {
		return "", err
	}
	n.insert(at, value)
	return id, nil
}

// insert keeps the white space around the list as it is.
func (n *Notebook) insert(at int, value hujson.Value) {
	list := n.cells
	switch {
	case len(list.Elements) == 0:
	case at == len(list.Elements):
		value.BeforeExtra = list.Elements[at-1].BeforeExtra
	default:
		value.BeforeExtra = list.Elements[at].BeforeExtra
	}
	list.Elements = append(list.Elements[:at:at], append([]hujson.ArrayElement{value}, list.Elements[at:]...)...)
	if at == len(list.Elements)-1 && at > 0 {
		list.Elements[at].AfterExtra, list.Elements[at-1].AfterExtra = list.Elements[at-1].AfterExtra, nil
	}
}

// Delete takes a cell out.
func (n *Notebook) Delete(id string) error {
	i, err := n.find(id)
	if err != nil {
		return err
	}
	list := n.cells
	if i == len(list.Elements)-1 && i > 0 {
		list.Elements[i-1].AfterExtra = list.Elements[i].AfterExtra
	}
	list.Elements = append(list.Elements[:i:i], list.Elements[i+1:]...)
	return nil
}

func checkType(typ string) error {
	switch typ {
	case Code, Markdown, Raw:
		return nil
	}
	return fmt.Errorf("there is no cell_type %q; use code, markdown or raw", typ)
}

// encode writes a source as a string or, as notebooks mostly do, as a list of
// lines, each on a line of its own where the text is indented.
func encode(source string, asLines bool, in indent) hujson.ValueTrimmed {
	if !asLines {
		return literal(source)
	}
	list := &hujson.Array{}
	for line := range strings.Lines(source) {
		e := hujson.Value{Value: literal(line)}
		if in.unit != "" {
			e.BeforeExtra = hujson.Extra("\n" + in.deeper(2))
		}
		list.Elements = append(list.Elements, e)
	}
	if in.unit != "" && len(list.Elements) > 0 {
		list.AfterExtra = hujson.Extra("\n" + in.deeper(1))
	}
	return list
}

// literal writes a string as Jupyter does: without escapes that JSON does not need.
func literal(s string) hujson.Literal {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return hujson.Literal(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// set gives a member another value, in its place, or adds it at the end.
func set(o *hujson.Object, name string, v hujson.ValueTrimmed) {
	for i := range slices.Backward(o.Members) { // the last counts
		if str(o.Members[i].Name.Value) == name {
			o.Members[i].Value.Value = v
			return
		}
	}
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: v}}
	if last := len(o.Members) - 1; last >= 0 {
		m.Name.BeforeExtra = o.Members[last].Name.BeforeExtra
		m.Value.BeforeExtra = o.Members[last].Value.BeforeExtra
		m.Value.AfterExtra, o.Members[last].Value.AfterExtra = o.Members[last].Value.AfterExtra, nil
	}
	o.Members = append(o.Members, m)
}

func remove(o *hujson.Object, name string) {
	for i := range slices.Backward(o.Members) { // all that have the name
		if str(o.Members[i].Name.Value) != name {
			continue
		}
		if i == len(o.Members)-1 && i > 0 {
			o.Members[i-1].Value.AfterExtra = o.Members[i].Value.AfterExtra
		}
		o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	}
}

// indent is how a cell stands in the text; the zero value for one on a single line.
type indent struct{ base, unit string }

func (in indent) deeper(n int) string { return in.base + strings.Repeat(in.unit, n) }

// indentOf reads a cell's indentation off the white space before it and before
// its first member.
func (n *Notebook) indentOf(i int) indent {
	const usual = " " // what Jupyter writes
	if i < 0 {
		return indent{base: usual + usual, unit: usual}
	}
	cell := n.cells.Elements[i]
	_, base, ok := cutLast(string(cell.BeforeExtra), "\n")
	o, isObject := cell.Value.(*hujson.Object)
	if !ok || !isObject || len(o.Members) == 0 {
		return indent{}
	}
	_, inner, ok := cutLast(string(o.Members[0].Name.BeforeExtra), "\n")
	if !ok || len(inner) <= len(base) {
		return indent{}
	}
	return indent{base: base, unit: inner[len(base):]}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// format lays a new cell out as the others are.
func (in indent) format(raw []byte) (hujson.Value, error) {
	if in.unit != "" {
		var b bytes.Buffer
		if err := json.Indent(&b, raw, in.base, in.unit); err != nil {
			return hujson.Value{}, fmt.Errorf("lay out the new cell: %w", err)
		}
		raw = b.Bytes()
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return v, fmt.Errorf("lay out the new cell: %w", err)
	}
	return v, nil
}
