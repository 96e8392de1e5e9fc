package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/tailscale/hujson"

	"garuda/internal/nearest"
)

// entry is one key that a document sets.
type entry struct {
	key    *Key
	change change
	line   int
	// value is the JSON text in one form for all its spellings.
	value string
}

// groups are the names that hold keys ("limits", "modelInfo.price") with what
// stands directly in them; "" is the top.
var groups = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, k := range table() {
		parts := strings.Split(k.Name, ".")
		for i, part := range parts {
			group := strings.Join(parts[:i], ".")
			if names := out[group]; len(names) == 0 || names[len(names)-1] != part {
				out[group] = appendNew(names, part)
			}
		}
	}
	return out
})

func appendNew(names []string, name string) []string {
	for _, n := range names {
		if n == name {
			return names
		}
	}
	return append(names, name)
}

// entries decodes every key that the document sets, in its order.
func (d *document) entries() ([]entry, []Notice, error) {
	r := reader{document: d}
	err := r.group("", member{at: &d.root, value: &d.root}, groups()[""])
	return r.found, r.notices, err
}

type reader struct {
	*document
	found   []entry
	notices []Notice
}

// group reads the object of a group, in which only the allowed names may stand.
func (r *reader) group(path string, in member, allowed []string) error {
	members, err := r.members(in.value)
	if err != nil {
		return err
	}
	for _, m := range members {
		name := m.name
		if path != "" {
			name = path + "." + m.name
		}
		switch {
		case path == "" && m.name == "$schema" && m.value.Value.Kind() == '"':
			// Editors find the schema by it; it says nothing to Garuda.
		case path == "" && m.name == "model" && m.value.Value.Kind() == '{':
			err = r.modelObject(m)
		case strings.Contains(m.name, ".") || !contains(allowed, m.name):
			err = r.unknownKey(path, m, allowed)
		case byName()[name] != nil:
			err = r.key(byName()[name], m)
		default:
			err = r.group(name, m, groups()[name])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) key(k *Key, m member) error {
	c, err := k.decode(r.document, m.value)
	if err != nil {
		return err
	}
	line, _ := r.position(m.at.StartOffset)
	value, err := canonical(m.value)
	if err != nil {
		return r.errorf(m.value, "%w", err)
	}
	r.found = append(r.found, entry{k, c, line, value})
	return nil
}

// canonical writes a value so that no spelling hides what it says, or makes it
// another: without comments, keys in order, escapes only where JSON needs them.
func canonical(v *hujson.Value) (string, error) {
	plain := v.Clone()
	plain.Standardize()
	dec := json.NewDecoder(bytes.NewReader(plain.Pack()))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(out)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// modelObject reads {contextWindow, price} under model, where an earlier Garuda
// kept them, as modelInfo.
func (r *reader) modelObject(m member) error {
	line, _ := r.position(m.at.StartOffset)
	r.notices = append(r.notices, Notice{
		Key: "model", Source: r.source, Line: line,
		Text: `the object under "model" is read as "modelInfo"; please rename it`,
	})
	return r.group("modelInfo", m, []string{"contextWindow", "price"})
}

func (r *reader) unknownKey(path string, m member, allowed []string) error {
	name := m.name
	if path != "" {
		name = path + "." + name
	}
	if k := byName()[name]; k != nil && strings.Contains(m.name, ".") {
		return r.errorf(m.at, "unknown key %s; write it nested: %s", quote(m.name), nested(m.name))
	}
	if near := nearest.Of(m.name, allowed); near != "" {
		if path != "" {
			near = path + "." + near
		}
		return r.errorf(m.at, "unknown key %s%s", quote(name), didYouMean(near))
	}
	// Perhaps it stands in the wrong place: {"maxSteps": 3} for limits.maxSteps.
	var elsewhere string
	for _, k := range table() {
		if strings.HasSuffix(k.Name, "."+m.name) && elsewhere == "" {
			elsewhere = k.Name
		}
	}
	return r.errorf(m.at, "unknown key %s%s", quote(name), didYouMean(elsewhere))
}

// nested writes a dotted name as it stands in a file: {"limits": {"maxSteps": …}}.
func nested(name string) string {
	parts := strings.Split(name, ".")
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "{%q: ", p)
	}
	return b.String() + "…" + strings.Repeat("}", len(parts))
}

// unknown is the error for a name that an object inside a value may not have.
func (d *document) unknown(m member, what string, known []string) error {
	return d.errorf(m.at, "%s has no %s%s", what, quote(m.name), didYouMean(nearest.Of(m.name, known)))
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
