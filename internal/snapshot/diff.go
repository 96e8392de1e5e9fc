package snapshot

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one entry that differs between two snapshots.
type Change struct {
	// Path is the entry's from the root, with slashes; a folder's ends in one.
	Path string
	// What is Added, Removed, Modified, or ModeOnly where the contents are the same.
	What What

	from, to *entry // nil where nothing is
}

// What is how an entry differs.
type What byte

const (
	Added    What = '+'
	Removed  What = '-'
	Modified What = '~'
	ModeOnly What = 'm'
)

func changeOf(from, to *entry) Change {
	c := Change{from: from, to: to, What: Modified}
	switch {
	case from == nil:
		c.Path, c.What = to.path, Added
	case to == nil:
		c.Path, c.What = from.path, Removed
	default:
		c.Path = to.path
		if from.mode&typeMask == to.mode&typeMask && (from.isFolder() || from.id == to.id) {
			c.What = ModeOnly
		}
	}
	return c
}

// shot is a snapshot that was read back.
type shot struct {
	files id
	*manifest
}

func (o *objects) shot(top id) (*shot, error) {
	raw, err := o.read(top, kindTree)
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(raw)
	if err != nil {
		return nil, err
	}
	if len(tree) != 2 || tree[0].name != filesName || tree[1].name != manifestName {
		return nil, fmt.Errorf("%w: a snapshot does not hold what one holds", errCorrupt)
	}
	if raw, err = o.read(tree[1].id, kindBlob); err != nil {
		return nil, err
	}
	m, err := parseManifest(raw)
	if err != nil {
		return nil, err
	}
	return &shot{files: tree[0].id, manifest: m}, nil
}

// comparison finds what differs between two snapshots.
type comparison struct {
	o        *objects
	from, to *shot
	out      []Change
	seen     map[string]bool
}

// compare lists what differs, sorted by path.
func (o *objects) compare(from, to *shot) ([]Change, error) {
	c := &comparison{o: o, from: from, to: to, seen: map[string]bool{}}
	whole := from.usual != to.usual
	if from.files != to.files || whole {
		if err := c.folder("", &from.files, &to.files, whole); err != nil {
			return nil, err
		}
	}
	if !whole {
		if err := c.modes(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return c.out, nil
}

// folder compares two trees, of which one may be missing. With whole it goes down
// into equal ones too.
func (c *comparison) folder(path string, from, to *id, whole bool) error {
	a, err := c.list(path, from, c.from)
	if err != nil {
		return err
	}
	b, err := c.list(path, to, c.to)
	if err != nil {
		return err
	}
	for len(a) > 0 || len(b) > 0 {
		var x, y *entry
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].path < b[0].path:
			x, a = &a[0], a[1:]
		case len(a) == 0 || b[0].path < a[0].path:
			y, b = &b[0], b[1:]
		default:
			x, y, a, b = &a[0], &b[0], a[1:], b[1:]
		}
		if err := c.pair(x, y, whole); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) pair(x, y *entry, whole bool) error {
	if x == nil || y == nil || x.mode != y.mode || x.id != y.id && !x.isFolder() {
		change := changeOf(x, y)
		c.seen[change.Path] = true
		c.out = append(c.out, change)
	}
	var from, to *id
	if x != nil && x.isFolder() {
		from = &x.id
	}
	if y != nil && y.isFolder() {
		to = &y.id
	}
	if from == nil && to == nil || from != nil && to != nil && *from == *to && !whole {
		return nil
	}
	name := x
	if name == nil {
		name = y
	}
	return c.folder(name.path, from, to, whole)
}

// list is what a tree holds, sorted by path; nothing for a nil one.
func (c *comparison) list(path string, tree *id, in *shot) ([]entry, error) {
	if tree == nil {
		return nil, nil
	}
	return c.o.list(path, *tree, in)
}

func (o *objects) list(path string, tree id, in *shot) ([]entry, error) {
	raw, err := o.read(tree, kindTree)
	if err != nil {
		return nil, err
	}
	lines, err := parseTree(raw)
	if err != nil {
		return nil, err
	}
	out := make([]entry, len(lines))
	for i, l := range lines {
		full := path + sortName(l)
		out[i] = entry{path: full, mode: in.mode(full, l.mode), id: l.id}
	}
	return out, nil
}

// modes finds the entries in equal trees whose permissions differ. Both snapshots
// have the same usual ones, so that only those can that a manifest names.
func (c *comparison) modes() error {
	names := map[string]bool{}
	for path := range c.from.manifest.modes {
		names[path] = true
	}
	for path := range c.to.manifest.modes {
		names[path] = true
	}
	for path := range names {
		if c.seen[path] || c.from.modes[path] == c.to.modes[path] && hasKey(c.from.modes, path) && hasKey(c.to.modes, path) {
			continue
		}
		x, err := c.o.lookup(c.from, path)
		if err != nil {
			return err
		}
		y, err := c.o.lookup(c.to, path)
		if err != nil {
			return err
		}
		if x != nil && y != nil && x.mode != y.mode {
			c.out = append(c.out, changeOf(x, y))
		}
	}
	return nil
}

func hasKey(m map[string]uint32, path string) bool {
	_, ok := m[path]
	return ok
}

// lookup finds one entry of a snapshot; nil where there is none.
func (o *objects) lookup(in *shot, path string) (*entry, error) {
	tree, at := in.files, ""
	for {
		rest := path[len(at):]
		next := path
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			next = at + rest[:slash+1]
		}
		entries, err := o.list(at, tree, in)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.path == next })
		if i < 0 {
			return nil, nil
		}
		if next == path {
			return &entries[i], nil
		}
		tree, at = entries[i].id, next
	}
}
