package session

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"garuda/internal/core"
	"garuda/internal/session/redact"
)

// rewriter changes the strings and bytes inside a record. Records are shared
// with the running engine, so a value that changes is copied on the way, and
// one that does not is used as it is.
type rewriter struct {
	str   func(string) (string, bool)
	bytes func([]byte) ([]byte, bool)
	// block, when set, takes a whole block instead of its fields one by one.
	block func(core.Block) (core.Block, bool)
}

// record returns rec, or a changed copy of it.
func (w rewriter) record(rec Record) (Record, bool) {
	v, changed := w.value(reflect.ValueOf(rec))
	if out, ok := v.Interface().(Record); ok && changed {
		return out, true
	}
	return rec, false
}

var (
	blockType = reflect.TypeFor[core.Block]()
	bytesType = reflect.TypeFor[[]byte]()
)

func (w rewriter) value(v reflect.Value) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		s, changed := w.str(v.String())
		if !changed {
			return v, false
		}
		return reflect.ValueOf(s).Convert(v.Type()), true
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		elem, changed := w.value(v.Elem())
		if !changed {
			return v, false
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(elem)
		return p, true
	case reflect.Struct:
		return w.structure(v)
	case reflect.Slice:
		return w.slice(v)
	case reflect.Map:
		return w.mapping(v)
	default:
		return v, false // numbers and booleans hold no text
	}
}

func (w rewriter) structure(v reflect.Value) (reflect.Value, bool) {
	if w.block != nil && v.Type() == blockType {
		if b, ok := reflect.TypeAssert[core.Block](v); ok {
			b, changed := w.block(b)
			return reflect.ValueOf(b), changed
		}
	}
	out, changed := v, false
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		f, ch := w.value(v.Field(i))
		if !ch {
			continue
		}
		if !changed {
			out, changed = reflect.New(v.Type()).Elem(), true
			out.Set(v)
		}
		out.Field(i).Set(f)
	}
	return out, changed
}

func (w rewriter) slice(v reflect.Value) (reflect.Value, bool) {
	if v.Type() == bytesType {
		b, changed := w.bytes(v.Bytes())
		return reflect.ValueOf(b), changed
	}
	out, changed := v, false
	for i := range v.Len() {
		e, ch := w.value(v.Index(i))
		if !ch {
			continue
		}
		if !changed {
			out, changed = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
			reflect.Copy(out, v)
		}
		out.Index(i).Set(e)
	}
	return out, changed
}

func (w rewriter) mapping(v reflect.Value) (reflect.Value, bool) {
	if v.Len() == 0 {
		return v, false
	}
	out, changed := reflect.MakeMapWithSize(v.Type(), v.Len()), false
	for it := v.MapRange(); it.Next(); {
		key, ch1 := w.value(it.Key())
		val, ch2 := w.value(it.Value())
		out.SetMapIndex(key, val)
		changed = changed || ch1 || ch2
	}
	if !changed {
		return v, false
	}
	return out, true
}

// redaction is the rewriter that takes secrets out.
func redaction(r *redact.Redactor) rewriter {
	w := rewriter{str: r.String, bytes: func(b []byte) ([]byte, bool) { return b, false }}
	var block func(core.Block) (core.Block, bool)
	block = func(b core.Block) (core.Block, bool) {
		changed := false
		set := func(field *string, by func(string) (string, bool)) {
			s, ch := by(*field)
			*field, changed = s, changed || ch
		}
		for _, f := range []*string{&b.Text, &b.ID, &b.Name, &b.MediaType, &b.Note} {
			set(f, r.String)
		}
		set(&b.Input, func(s string) (string, bool) { return redactInput(r, s) })
		set(&b.Opaque, func(s string) (string, bool) { return redactOpaque(r, s) })
		if changed && b.Opaque != "" && b.Type != core.BlockOpaque {
			// It repeats the words or the arguments, perhaps in a way in which the
			// secret is not seen, and is bound to them as they were.
			b.Opaque, b.Provider = "", ""
		}
		if strings.HasPrefix(b.MediaType, "text/") {
			data, ch := r.Bytes(b.Data)
			b.Data, changed = data, changed || ch
		}
		var content []core.Block
		for i, c := range b.Content {
			if c, ch := block(c); ch {
				if content == nil {
					content = append(content, b.Content...)
				}
				content[i] = c
			}
		}
		if content != nil {
			b.Content, changed = content, true
		}
		return b, changed
	}
	w.block = block
	return w
}

// redactInput redacts a call's arguments. What was JSON stays JSON.
func redactInput(r *redact.Redactor, s string) (string, bool) {
	out, changed := r.String(s)
	if changed && !json.Valid([]byte(out)) && json.Valid([]byte(s)) {
		// A secret that reaches over more than one of its strings.
		out = `{"input":"` + redact.Replacement + `"}`
	}
	return out, changed
}

// redactOpaque redacts the readable part of a provider's own block: it repeats
// the visible text or arguments. Its encrypted and signed parts look random,
// hold no text of ours, and stay byte for byte; with them, when nothing else
// changed, the whole block does.
func redactOpaque(r *redact.Redactor, s string) (string, bool) {
	out, changed := r.String(s)
	if !changed {
		return s, false
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil || dec.More() {
		return out, true
	}
	tree, changed = redactTree(r, "", tree)
	if !changed {
		return s, false
	}
	b, err := marshal(tree)
	if err != nil {
		return redact.Replacement, true
	}
	return string(b), true
}

// opaqueKey reports whether a provider's field holds bytes that only it can read.
func opaqueKey(key string, in map[string]any) bool {
	switch key {
	case "encrypted_content", "encrypted_index", "signature", "thoughtSignature", "thought_signature":
		return true
	case "data":
		return in["type"] == "redacted_thinking"
	default:
		return false
	}
}

func redactTree(r *redact.Redactor, key string, v any) (any, bool) {
	changed := false
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if opaqueKey(k, v) {
				continue
			}
			e, ch := redactTree(r, k, e)
			v[k], changed = e, changed || ch
		}
		return v, changed
	case []any:
		for i, e := range v {
			e, ch := redactTree(r, key, e)
			v[i], changed = e, changed || ch
		}
		return v, changed
	case string:
		if out, ch := r.String(v); ch {
			return out, true
		}
	case json.Number:
	default:
		return v, false
	}
	// Alone it is no secret; under its name it may be.
	b, err := marshal(map[string]any{key: v})
	if err != nil {
		return v, false
	}
	if _, ch := r.Bytes(b); ch {
		return redact.Replacement, true
	}
	return v, false
}

// marshal is json.Marshal without the escapes that HTML would need.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
