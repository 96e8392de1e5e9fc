package sandbox

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Flat is the view for a backend that mounts nothing: entries of paths as they are
// on the machine, sorted. What lies elsewhere is masked at its path and granted at
// its source. Of two entries for one path the stricter comes later.
func (v *View) Flat() []Entry {
	var flat []Entry
	for _, e := range v.Entries {
		if at := e.Host(); at != e.Path {
			flat = append(flat, Entry{Path: e.Path, Access: Masked, Why: e.Why})
			e.Path = at
		}
		e.Source = ""
		flat = append(flat, e)
	}
	slices.SortStableFunc(flat, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strictness(a.Access)-strictness(b.Access))
	})
	return flat
}

func strictness(a Access) int {
	return slices.Index([]Access{Writable, ReadOnly, Locked, Masked}, a)
}

// InPlace is an environment for a backend that mounts nothing: what it names at
// a path of the view, TMPDIR above all, it names at its source instead.
func (v *View) InPlace(env []string) []string {
	out := slices.Clone(env)
	for i, e := range out {
		name, value, ok := strings.Cut(e, "=")
		if ok && name != "HOME" && filepath.IsAbs(value) {
			out[i] = name + "=" + v.source(value)
		}
	}
	return out
}

// source is where a path of the view lies on the machine.
func (v *View) source(path string) string {
	best := -1
	for i := range v.Entries {
		if covers(v.Entries[i].Path, path) && (best < 0 || len(v.Entries[i].Path) >= len(v.Entries[best].Path)) {
			best = i
		}
	}
	if best < 0 {
		return path
	}
	e := &v.Entries[best]
	return strings.TrimSuffix(e.Host(), "/") + path[len(strings.TrimSuffix(e.Path, "/")):]
}

// covers reports whether path is dir or lies in it. Both are absolute and clean.
func covers(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
