package view

import (
	"cmp"
	"path/filepath"
	"slices"

	"garuda/internal/sandbox"
)

// settle sorts entries and leaves out those that say nothing new or that would open
// again what one above them closes:
//
//   - of two at one path the stricter counts: hidden, locked, written, read;
//   - below what is hidden or locked there is nothing else, but the project;
//   - a hidden place that nothing shows needs no mask;
//   - what is as its folder is needs no entry of its own.
func settle(entries []sandbox.Entry, root string) []sandbox.Entry {
	strict := func(a sandbox.Access) int {
		return slices.Index([]sandbox.Access{sandbox.Masked, sandbox.Locked, sandbox.Writable, sandbox.ReadOnly}, a)
	}
	slices.SortStableFunc(entries, func(a, b sandbox.Entry) int {
		return cmp.Or(byParts(a.Path, b.Path), cmp.Compare(strict(a.Access), strict(b.Access)))
	})
	entries = slices.CompactFunc(entries, func(a, b sandbox.Entry) bool { return a.Path == b.Path })
	out := entries[:0]
	var above []sandbox.Entry // the entries that hold the one looked at, outermost first
	for _, e := range entries {
		for len(above) > 0 && !inside(above[len(above)-1].Path, e.Path) {
			above = above[:len(above)-1]
		}
		if needless(e, above, root) {
			continue
		}
		out = append(out, e)
		above = append(above, e)
	}
	return out
}

// byParts orders paths part by part: /a, /a/b, /a-b. What lies in a folder follows it
// with nothing else between.
func byParts(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			switch filepath.Separator {
			case rune(a[i]):
				return -1
			case rune(b[i]):
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func needless(e sandbox.Entry, above []sandbox.Entry, root string) bool {
	if e.Path == root {
		return false
	}
	if len(above) == 0 {
		return e.Access == sandbox.Masked || e.Access == sandbox.Locked
	}
	up := above[len(above)-1]
	switch up.Access {
	case sandbox.Masked:
		return true
	case sandbox.Locked:
		return e.Access != sandbox.Masked
	}
	switch e.Access {
	case sandbox.Masked:
		// Nothing of the machine shows in a private folder but what has an entry.
		return up.Source != ""
	case sandbox.Locked:
		return up.Access == sandbox.ReadOnly
	}
	// What may be written above may be here, whatever names it to be read.
	return e.Source == "" && up.Source == "" && (e.Access == up.Access || up.Access == sandbox.Writable)
}
