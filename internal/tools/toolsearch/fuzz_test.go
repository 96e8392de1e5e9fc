package toolsearch

import (
	"encoding/json"
	"slices"
	"testing"

	"garuda/internal/testkit/tooltest"
)

// Whatever a model asks, each tool is loaded at most once, only deferred ones are,
// and an answer is never empty.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"select:repl", "SELECT: repl,,task_list", "task", "+mail a the", "", "select:", "+", "\u017felect:x", "\xff\xfe", "mcp__mail__send odd"} {
		f.Add(q, 0)
		f.Add(q, 50)
	}
	s := New(deferred())
	var known []string
	for _, d := range deferred() {
		known = append(known, d.Name)
	}
	f.Fuzz(func(t *testing.T, query string, limit int) {
		raw, err := json.Marshal(input{Query: query, Limit: max(limit, 0)})
		if err != nil {
			t.Fatal(err)
		}
		out, err := tooltest.Run(nil, s, json.RawMessage(raw))
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if out.Text == "" || out.Summary == "" {
			t.Errorf("%q: says nothing", query)
		}
		for i, name := range out.Load {
			if !slices.Contains(known, name) || slices.Contains(out.Load[:i], name) {
				t.Errorf("%q: loads %q", query, out.Load)
			}
		}
	})
}
