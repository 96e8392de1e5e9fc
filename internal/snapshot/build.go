package snapshot

import (
	"fmt"
	"slices"
	"strings"
)

// builder writes the trees of an index.
type builder struct {
	t *taking
	x *index
	w *worker
}

const (
	filesName, manifestName = "files", "manifest"
)

// build writes all trees that are missing, the manifest, and the object that holds
// both, whose name it returns.
func (b *builder) build() (id, error) {
	files, err := b.tree(0, len(b.x.entries), "")
	if err != nil {
		return id{}, err
	}
	entries := make([]entry, len(b.x.entries))
	for i := range entries {
		entries[i] = b.x.entries[i].entry
	}
	m, err := b.t.put(b.w, kindBlob, encodeManifest(entries, b.x.left))
	if err != nil {
		return id{}, err
	}
	top := appendEntry(nil, treeEntry{modeFolder, filesName, files})
	return b.t.put(b.w, kindTree, appendEntry(top, treeEntry{modeFile, manifestName, m}))
}

// tree writes the tree of the folder with this path, whose entries are from lo up to
// hi, its own among them.
func (b *builder) tree(lo, hi int, path string) (id, error) {
	var out []byte
	for i := lo; i < hi; {
		e := &b.x.entries[i]
		rest := e.path[len(path):]
		slash := strings.IndexByte(rest, '/')
		switch {
		case rest == "":
			i++
		case slash < 0:
			out = appendEntry(out, treeEntry{e.gitMode(), rest, e.id})
			i++
		default:
			sub := path + rest[:slash+1]
			end := i + b.endOf(b.x.entries[i:hi], sub)
			if e.path != sub {
				return id{}, fmt.Errorf("keep %s: the folder of it was not seen", e.path)
			}
			if e.id == (id{}) {
				name, err := b.tree(i, end, sub)
				if err != nil {
					return id{}, err
				}
				e.id = name
			}
			out = appendEntry(out, treeEntry{modeFolder, rest[:slash], e.id})
			i = end
		}
	}
	return b.t.put(b.w, kindTree, out)
}

// endOf is how many of the entries, which begin with a folder, are in it.
func (b *builder) endOf(entries []cached, folder string) int {
	after := folder[:len(folder)-1] + string('/'+1)
	n, _ := slices.BinarySearchFunc(entries, after, func(c cached, p string) int { return strings.Compare(c.path, p) })
	return n
}
