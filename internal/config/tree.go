package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
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
	err := r.group("", jsonc.Member{At: &d.Root, Value: &d.Root}, groups()[""])
	return r.found, r.notices, err
}

type reader struct {
	*document
	found   []entry
	notices []Notice
}

// group reads the object of a group, in which only the allowed names may stand.
func (r *reader) group(path string, in jsonc.Member, allowed []string) error {
	members, err := r.Members(in.Value)
	if err != nil {
		return err
	}
	for _, m := range members {
		name := m.Name
		if path != "" {
			name = path + "." + m.Name
		}
		switch {
		case path == "" && m.Name == "$schema" && m.Value.Value.Kind() == '"':
			// Editors find the schema by it; it says nothing to Garuda.
		case path == "" && m.Name == "model" && m.Value.Value.Kind() == '{':
			err = r.modelObject(m)
		case strings.Contains(m.Name, ".") || !contains(allowed, m.Name):
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

func (r *reader) key(k *Key, m jsonc.Member) error {
	c, err := k.decode(r.document, m.Value)
	if err != nil {
		return err
	}
	line := r.Line(m.At)
	value, err := canonical(m.Value)
	if err != nil {
		return r.Errorf(m.Value, "%w", err)
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
func (r *reader) modelObject(m jsonc.Member) error {
	line := r.Line(m.At)
	r.notices = append(r.notices, Notice{
		Key: "model", Source: r.source, Line: line,
		Text: `the object under "model" is read as "modelInfo"; please rename it`,
	})
	return r.group("modelInfo", m, []string{"contextWindow", "price"})
}

func (r *reader) unknownKey(path string, m jsonc.Member, allowed []string) error {
	name := m.Name
	if path != "" {
		name = path + "." + name
	}
	if k := byName()[name]; k != nil && strings.Contains(m.Name, ".") {
		return r.Errorf(m.At, "unknown key %s; write it nested: %s", jsonc.Quote(m.Name), nested(m.Name))
	}
	if near := nearest.Of(m.Name, allowed); near != "" {
		if path != "" {
			near = path + "." + near
		}
		return r.Errorf(m.At, "unknown key %s%s", jsonc.Quote(name), jsonc.DidYouMean(near))
	}
	// Perhaps it stands in the wrong place: {"maxSteps": 3} for limits.maxSteps.
	var elsewhere string
	for _, k := range table() {
		if strings.HasSuffix(k.Name, "."+m.Name) && elsewhere == "" {
			elsewhere = k.Name
		}
	}
	return r.Errorf(m.At, "unknown key %s%s", jsonc.Quote(name), jsonc.DidYouMean(elsewhere))
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

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
