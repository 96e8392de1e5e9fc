package config

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"
)

// Scope is how far a project's own settings may set a key.
type Scope string

// The four scopes of page "Settings" in docs/settings.md.
const (
	Freely   Scope = "freely"
	Stricter Scope = "stricter"
	Pinned   Scope = "pinned"
	Never    Scope = "not"
)

// Key is one setting.
type Key struct {
	// Name is the path to it: "limits.maxSteps".
	Name string
	// Type is in words: "integer", "one of auto, os, host", "list of strings".
	Type string
	// Default is JSON text; empty when there is none.
	Default string
	// Unit is what a number counts; empty where that goes without saying.
	Unit    string
	Scope   Scope
	Meaning string

	schema *jsonschema.Schema
	// isList keys add up; the others are replaced.
	isList bool
	decode func(at *document, v *hujson.Value) (change, error)
	// parse reads the text of a command line flag.
	parse func(text string) (change, error)
	reset func(*Settings)
	show  func(*Settings) any
}

// change is one decoded value on its way into the settings.
type change struct {
	set func(*Settings, Source)
	// tighten is all that a project file can do with the value: set what may be
	// set freely, or take the stricter of the value and what stands. It reports
	// whether the value went in. It is nil for a key that a project may not set,
	// and there is no other way from a project file into the settings.
	tighten func(*Settings, Source) bool
}

// reach is a key's scope together with what makes one value stricter than
// another; only a stricter reach has a join.
type reach[T any] struct {
	scope Scope
	// join returns the stricter of what stands and what is wanted.
	join func(stands, wanted T) T
}

func freely[T any]() reach[T] { return reach[T]{scope: Freely} }
func pinned[T any]() reach[T] { return reach[T]{scope: Pinned} }
func never[T any]() reach[T]  { return reach[T]{scope: Never} }

// lower is stricter where 0 stands for "no limit".
func lower[T int | float64]() reach[T] {
	return reach[T]{Stricter, func(stands, wanted T) T {
		if stands == 0 {
			return wanted
		}
		return min(stands, wanted)
	}}
}

// onlyOff and onlyOn switch a thing in one direction.
func onlyOff() reach[bool] {
	return reach[bool]{Stricter, func(stands, wanted bool) bool { return stands && wanted }}
}

func onlyOn() reach[bool] {
	return reach[bool]{Stricter, func(stands, wanted bool) bool { return stands || wanted }}
}

// towards is stricter in the direction of the later of these words.
func towards(loosest ...string) reach[string] {
	rank := func(s string) int {
		for i, w := range loosest {
			if s == w {
				return i
			}
		}
		return -1
	}
	return reach[string]{Stricter, func(stands, wanted string) string {
		if rank(wanted) > rank(stands) {
			return wanted
		}
		return stands
	}}
}

// about is what the table says of a key in words.
type about struct{ name, unit, meaning string }

// single makes a key that holds one value; a later source replaces it.
func single[T comparable](a about, c codec[T], def T, r reach[T], field func(*Settings) *T) Key {
	k := Key{Name: a.name, Unit: a.unit, Meaning: a.meaning, Type: c.words, Scope: r.scope, schema: c.schema}
	var none T
	if def != none || c.zeroIsValue {
		k.Default = marshal(c.show(def))
	}
	k.reset = func(s *Settings) { *field(s) = def }
	k.show = func(s *Settings) any {
		if v := *field(s); v != none || c.zeroIsValue {
			return c.show(v)
		}
		return nil
	}
	take := func(v T) change {
		out := change{set: func(s *Settings, from Source) {
			*field(s) = v
			s.sources[a.name] = []Source{from}
		}}
		switch {
		case r.scope == Freely:
			out.tighten = func(s *Settings, from Source) bool { out.set(s, from); return true }
		case r.join != nil:
			out.tighten = func(s *Settings, from Source) bool {
				stands := *field(s)
				joined := r.join(stands, v)
				if joined != stands {
					*field(s) = joined
					s.sources[a.name] = []Source{from}
				}
				return joined == v
			}
		}
		return out
	}
	k.decode = func(at *document, v *hujson.Value) (change, error) {
		got, err := c.decode(at, v)
		return take(got), err
	}
	if c.parse != nil {
		k.parse = func(text string) (change, error) {
			got, err := c.parse(text)
			return take(got), err
		}
	}
	return k
}

// list makes a key whose values add up over the sources. Each element passes
// through place, which says how it joins the ones that stand; nil appends it.
func list[T any](a about, c codec[T], def []T, r reach[T], field func(*Settings) *[]T, place func([]T, T, Source) []T) Key {
	k := Key{
		Name: a.name, Unit: a.unit, Meaning: a.meaning, Scope: r.scope, isList: true,
		Type:   "list of " + c.plural(),
		schema: &jsonschema.Schema{Type: "array", Items: c.schema},
	}
	if len(def) > 0 {
		k.Default = marshal(def)
	}
	if place == nil {
		place = func(all []T, v T, _ Source) []T { return append(all, v) }
	}
	k.reset = func(s *Settings) { *field(s) = append([]T(nil), def...) }
	k.show = func(s *Settings) any {
		if all := *field(s); len(all) > 0 {
			shown := make([]any, len(all))
			for i, v := range all {
				shown[i] = c.show(v)
			}
			return shown
		}
		return nil
	}
	take := func(values []T) change {
		set := func(s *Settings, from Source) {
			for _, v := range values {
				*field(s) = place(*field(s), v, from)
			}
			if len(values) > 0 {
				s.sources[a.name] = append(s.sources[a.name], from)
			}
		}
		out := change{set: set}
		if r.scope == Freely {
			out.tighten = func(s *Settings, from Source) bool { set(s, from); return true }
		}
		return out
	}
	k.decode = func(at *document, v *hujson.Value) (change, error) {
		got, err := decodeList(at, v, c)
		return take(got), err
	}
	if c.parse != nil {
		k.parse = func(text string) (change, error) {
			got, err := c.parse(text)
			return take([]T{got}), err
		}
	}
	return k
}

// named makes a key that holds a map from names to values; a later source
// replaces the value of a name. A project never sets one.
func named[T any](a about, c codec[T], nameWords, namePattern string, r reach[T], field func(*Settings) *map[string]T) Key {
	closed := &jsonschema.Schema{Type: "object", AdditionalProperties: c.schema}
	if namePattern != "" {
		closed.PropertyNames = &jsonschema.Schema{Pattern: namePattern}
	}
	k := Key{
		Name: a.name, Unit: a.unit, Meaning: a.meaning, Scope: r.scope, isList: true,
		Type: "object: " + nameWords + " to " + c.words, schema: closed,
		reset: func(s *Settings) { *field(s) = map[string]T{} },
		show: func(s *Settings) any {
			if len(*field(s)) == 0 {
				return nil
			}
			shown := map[string]any{}
			for name, v := range *field(s) {
				shown[name] = c.show(v)
			}
			return shown
		},
	}
	k.decode = func(at *document, v *hujson.Value) (change, error) {
		got, err := decodeNamed(at, v, c, nameWords, namePattern)
		return change{set: func(s *Settings, from Source) {
			for name, v := range got {
				(*field(s))[name] = v
			}
			if len(got) > 0 {
				s.sources[a.name] = append(s.sources[a.name], from)
			}
		}}, err
	}
	return k
}

// marshal renders a default or a value for a person; the values of the table are
// plain, so it cannot fail.
func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
