package structured

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxChecks is how many parts of a schema may be checked for one value.
const maxChecks = 10_000

// checkRepeats refuses a schema with a part that is checked against itself for one
// and the same value, which a validator would follow until its stack is full, and
// one whose parts refer to each other so often that no check would come to its end.
func checkRepeats(root map[string]any) error {
	w := repeatWalk{root: root, costs: map[string]int{}}
	w.everywhere("", root, 0)
	return w.err
}

type repeatWalk struct {
	root map[string]any
	// costs are how many parts are checked with one, by pointer: 0 while it is
	// being followed.
	costs map[string]int
	err   error
}

// everywhere begins at each part.
func (w *repeatWalk) everywhere(at string, v any, depth int) {
	if w.err != nil || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			w.everywhere(at+"/"+strconv.Itoa(i), e, depth+1)
		}
	case map[string]any:
		w.follow(at, v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.everywhere(at+"/"+escape(key), v[key], depth+1)
		}
	}
}

// follow goes to the parts that hold for the same value, and counts them.
func (w *repeatWalk) follow(at string, v any) int {
	part, ok := v.(map[string]any)
	if !ok || w.err != nil {
		return 0
	}
	if cost, known := w.costs[at]; known {
		if cost == 0 {
			w.err = fmt.Errorf("at %s/: it comes back to itself without a property or an element in between, so nothing could ever be checked by it", at)
		}
		return cost
	}
	w.costs[at] = 0
	cost := 1
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if to, ok := part[key].(string); ok {
			for _, t := range w.targets(to) {
				cost += w.follow(t.at, t.part)
			}
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		cost += w.follow(at+"/"+key, part[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := part[key].([]any)
		for i, e := range list {
			cost += w.follow(at+"/"+key+"/"+strconv.Itoa(i), e)
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		named, _ := part[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			cost += w.follow(at+"/"+key+"/"+escape(name), named[name])
		}
	}
	if cost > maxChecks && w.err == nil {
		w.err = fmt.Errorf("at %s/: more than %d parts would be checked for one value; let fewer of them refer to each other", at, maxChecks)
	}
	w.costs[at] = cost
	return cost
}

// placed is a part with its pointer.
type placed struct {
	at   string
	part any
}

// targets finds what a reference inside the schema may lead to: by pointer, or by
// the name that parts give themselves.
func (w *repeatWalk) targets(to string) []placed {
	to = strings.TrimPrefix(to, "#")
	if plain, err := url.PathUnescape(to); err == nil {
		to = plain
	}
	if to != "" && to[0] != '/' {
		return w.named("", w.root, to, 0)
	}
	if to == "" {
		return []placed{{"", w.root}}
	}
	var v any = w.root
	for token := range strings.SplitSeq(to[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return []placed{{to, v}}
}

// named are the parts with a name; more than one, as it may also stand where it
// names nothing.
func (w *repeatWalk) named(at string, v any, name string, depth int) (out []placed) {
	if depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			out = append(out, w.named(at+"/"+strconv.Itoa(i), e, name, depth+1)...)
		}
	case map[string]any:
		if v["$anchor"] == name || v["$dynamicAnchor"] == name {
			out = append(out, placed{at, v})
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, w.named(at+"/"+escape(key), v[key], name, depth+1)...)
		}
	}
	return out
}
