package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clone is the list as the file would give it back.
func clone(t *rapid.T, l *items) *items {
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	out := &items{}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever is done to a list: no item waits for itself by any way, nothing is in
// progress or completed by a change that it was to wait for, all that an item names
// is there, and what is said to be free is what became free.
func TestGraphProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &items{Version: version}
		for range rapid.IntRange(1, 8).Draw(t, "items") {
			if _, _, err := l.add("x", ""); err != nil {
				t.Fatal(err)
			}
		}
		ids := func(name string) []string {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(1, len(l.Items)), func(n int) string { return fmt.Sprint("t", n) }), 0, 3).Draw(t, name)
		}
		for range rapid.IntRange(0, 25).Draw(t, "changes") {
			in := &updateInput{
				ID:     fmt.Sprint("t", rapid.IntRange(1, len(l.Items)).Draw(t, "id")),
				Status: rapid.SampledFrom([]string{"", pending, inProgress, completed, stopped}).Draw(t, "status"),
			}
			if rapid.Bool().Draw(t, "waits") {
				in.BlockedBy = ids("blocked_by")
			}
			if rapid.Bool().Draw(t, "blocks") {
				in.Blocks = ids("blocks")
			}
			next := clone(t, l)
			i, err := next.find(in.ID)
			if err != nil {
				t.Fatal(err)
			}
			waitedBefore := waiting(next)
			freed, err := next.apply(i, in)
			if err != nil {
				continue // the session keeps the list as it was
			}
			checkGraph(t, next)
			if in.BlockedBy != nil && in.Blocks == nil && !cmp.Equal(slices.Sorted(slices.Values(in.BlockedBy)), i.BlockedBy) && len(slices.Compact(slices.Sorted(slices.Values(in.BlockedBy)))) != len(i.BlockedBy) {
				t.Fatalf("%s waits for %v, and was to wait for %v", i.ID, i.BlockedBy, in.BlockedBy)
			}
			if (in.Status == inProgress || in.Status == completed) && in.Status != l.status(in.ID) && len(next.waits(i)) > 0 {
				t.Fatalf("%s is %s and waits for %v", i.ID, i.Status, next.waits(i))
			}
			for _, f := range freed {
				if len(next.waits(f)) > 0 || !slices.Contains(next.blocks(i.ID), f.ID) || !waitedBefore[f.ID] && in.Blocks == nil {
					t.Fatalf("%s is said to be free", f.ID)
				}
			}
			l = next
		}
	})
}

func (l *items) status(id string) string {
	i, err := l.find(id)
	if err != nil {
		return ""
	}
	return i.Status
}

func waiting(l *items) map[string]bool {
	out := map[string]bool{}
	for _, i := range l.Items {
		out[i.ID] = len(l.waits(i)) > 0
	}
	return out
}

func checkGraph(t *rapid.T, l *items) {
	// Items with nothing left to wait for are taken away until none is left; in a
	// circle some always are.
	left := map[string][]string{}
	for _, i := range l.Items {
		if _, twice := left[i.ID]; twice {
			t.Fatalf("two items are %s", i.ID)
		}
		left[i.ID] = i.BlockedBy
	}
	for len(left) > 0 {
		before := len(left)
		for id, by := range left {
			if !slices.ContainsFunc(by, func(b string) bool { _, still := left[b]; return still }) {
				delete(left, id)
			}
		}
		if len(left) == before {
			t.Fatalf("these wait for each other: %v", left)
		}
	}
	for _, i := range l.Items {
		for _, id := range i.BlockedBy {
			if l.status(id) == "" || !slices.Contains(l.blocks(id), i.ID) {
				t.Fatalf("%s waits for %s", i.ID, id)
			}
		}
	}
}
