// Package instructions reads the files in which people tell agents how to work:
// AGENTS.md, CLAUDE.md and GARUDA.md, the user's own and a project's, with the files
// that they import.
//
// It reads nothing that lies outside the folder tree it was given, however links lead,
// nothing sensitive and nothing that is no regular file, and only so much of each. What
// a project's files say is text for a model: it grants nothing and sets nothing.
package instructions

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"garuda/internal/core"
	"garuda/internal/mention"
	"garuda/internal/state"
	"garuda/internal/workspace"
)

// Names are the files that are read of a folder, the most important last.
func Names() []string { return []string{"AGENTS.md", "CLAUDE.md", "GARUDA.md"} }

const (
	// maxFile is how much of one file is read, in bytes: more than a prompt takes of all
	// of them together.
	maxFile = 1 << 20
	// maxDepth is how deep imports may lie in imports, maxFiles how many files are read
	// at once.
	maxDepth, maxFiles = 4, 100
)

// File is one file of instructions.
type File struct {
	// Name is how it is shown: from the root, with slashes, or in words for a user's.
	Name string
	// Kind is the file of Names that it is, or that imported it.
	Kind string
	// User is true for the user's own.
	User bool
	// Text is LF text in which nothing is hidden.
	Text string
}

// Options of a Loader.
type Options struct {
	Workspace *workspace.Workspace
	Places    workspace.Options
	// MayRead says of a path, absolute, whether it is neither sensitive nor denied.
	MayRead func(abs string) bool
	// User are the user's own files, the most important last.
	User []UserFile
}

// UserFile is a file of the user's own and how it is called.
type UserFile struct{ Path, Name string }

// Loader reads instructions. It is safe for concurrent use.
type Loader struct {
	opt Options
	// tree is the repository's top, or the root; close it after the session.
	tree *workspace.Workspace
	root string

	mu   sync.Mutex
	told map[string]bool // folders below the root whose files were told
}

// Open finds the tree that a project's instructions come from: the root, and the
// folders above it up to the one that holds .git, as far as they are the user's own.
func Open(opt Options) *Loader {
	l := &Loader{opt: opt, tree: opt.Workspace, root: opt.Workspace.Root(), told: map[string]bool{}}
	if top := topOf(l.root); top != l.root {
		// One that may be no root, such as the home folder, is none to read from either.
		if w, err := workspace.Open(top, nil, opt.Places); err == nil {
			l.tree = w
		}
	}
	return l
}

// Close lets go of the tree.
func (l *Loader) Close() {
	if l.tree != l.opt.Workspace {
		l.tree.Close()
	}
}

// topOf is the repository's top above a root: a folder that somebody else can write
// must not bring instructions along, so that the search ends at the first that is not
// the user's.
func topOf(root string) string {
	for dir := root; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		info, err := os.Lstat(up)
		if up == dir || err != nil {
			return root
		}
		if _, mine := state.Owner(info); !mine {
			return root
		}
		dir = up
	}
}

// Session reads what a session begins with: the user's files, then those of the tree
// from its top down to the root. It says what was left out and why; that a file is
// missing is no fault.
func (l *Loader) Session() (files []File, said []string) {
	r := &reading{l: l, seen: map[string]bool{}, texts: map[string]bool{}}
	for _, u := range l.opt.User {
		r.user(u)
	}
	for _, dir := range l.folders(l.tree.Root(), l.root) {
		r.folder(dir)
	}
	return r.files, r.said
}

// Below reads the files of the folders between the root and what was read, absolute
// paths of files, that were not told before.
func (l *Loader) Below(read []string) (files []File, said []string) {
	r := &reading{l: l, seen: map[string]bool{}, texts: map[string]bool{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, file := range read {
		dirs := l.folders(l.root, filepath.Dir(file))
		for _, dir := range dirs[min(1, len(dirs)):] { // the root's own stand in the prompt
			if !l.told[dir] {
				l.told[dir] = true
				r.folder(dir)
			}
		}
	}
	return r.files, r.said
}

// Forget lets the files of folders below the root be told again.
func (l *Loader) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.told)
}

// folders are those from top down to dir; none where dir does not lie in top.
func (l *Loader) folders(top, dir string) []string {
	rel, err := filepath.Rel(top, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	out := []string{top}
	if rel == "." {
		return out
	}
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		out = append(out, filepath.Join(out[len(out)-1], part))
	}
	return out
}

// reading is one pass over files.
type reading struct {
	l     *Loader
	files []File
	said  []string
	// seen are the real paths that were read, texts what stood in them.
	seen, texts map[string]bool
}

func (r *reading) leftOut(name string, err error) {
	r.said = append(r.said, "the instructions in "+core.Visible(name)+" are left out: "+core.Visible(err.Error()))
}

// user reads a file of the user's, and what it imports from its own folder.
func (r *reading) user(u UserFile) {
	if _, err := os.Stat(u.Path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	real, err := filepath.EvalSymlinks(u.Path) // people keep such files elsewhere
	if err != nil {
		r.leftOut(u.Name, err)
		return
	}
	w, err := workspace.Open(filepath.Dir(real), nil, workspace.Options{})
	if err != nil {
		r.leftOut(u.Name, err)
		return
	}
	defer w.Close()
	s := source{w: w, kind: filepath.Base(u.Path), user: true, name: func(rel string) string {
		if rel == filepath.Base(real) {
			return u.Name
		}
		return rel + ", which " + u.Name + " imports"
	}}
	r.file(s, filepath.Base(real), 0)
}

// folder reads the files of one folder of the tree.
func (r *reading) folder(dir string) {
	for _, name := range Names() {
		r.file(source{w: r.l.tree, kind: name, mayRead: r.l.opt.MayRead, name: r.nameOf}, filepath.Join(dir, name), 0)
	}
}

// nameOf is how a file of the tree is shown: from the root.
func (r *reading) nameOf(rel string) string {
	out, err := filepath.Rel(r.l.root, filepath.Join(r.l.tree.Root(), filepath.FromSlash(rel)))
	if err != nil {
		return rel
	}
	return filepath.ToSlash(out)
}

// source is where a file and what it imports come from.
type source struct {
	w       *workspace.Workspace
	kind    string
	user    bool
	mayRead func(string) bool // nil where everything may be read
	name    func(rel string) string
}

var (
	errSensitive = errors.New("it is one of the files that must not be read")
	errTooMany   = errors.New("there are too many instruction files")
	errBinary    = errors.New("it is not text")
)

// file reads one file, and then what it imports.
func (r *reading) file(s source, name string, depth int) {
	p, err := s.w.Resolve(name)
	if err != nil {
		r.leftOut(name, err)
		return
	}
	if !p.Exists || r.seen[p.Real] {
		return
	}
	shown := s.name(p.Rel)
	if depth > 0 && p.Info.Kind == workspace.KindFolder {
		return // a word that happens to be a folder's name
	}
	r.seen[p.Real] = true
	text, err := r.read(s, p)
	if err != nil {
		r.leftOut(shown, err)
		return
	}
	if strings.TrimSpace(text) == "" || r.texts[strings.TrimSpace(text)] {
		return
	}
	r.texts[strings.TrimSpace(text)] = true
	r.files = append(r.files, File{Name: core.Visible(shown), Kind: s.kind, User: s.user, Text: core.Visible(text)})
	if depth < maxDepth {
		r.imports(s, filepath.Dir(p.Abs), text, depth+1)
	}
}

func (r *reading) read(s source, p workspace.Path) (string, error) {
	switch {
	case len(r.files) >= maxFiles:
		return "", errTooMany
	case s.mayRead != nil && (!s.mayRead(p.Abs) || !s.mayRead(p.Real)):
		return "", errSensitive
	}
	c, err := s.w.ReadFile(p)
	if err != nil {
		return "", err
	}
	if workspace.IsBinary(c.Raw) {
		return "", errBinary
	}
	return workspace.Decode(core.WholeAtEnd(c.Raw[:min(len(c.Raw), maxFile)])).LF, nil
}

// imports reads the files that a text points at. A word behind an @ that is no file is
// a word.
func (r *reading) imports(s source, dir, text string, depth int) {
	for _, ref := range mention.Find(mention.Prose(text)) {
		for _, spelling := range ref.Spellings() {
			file := filepath.FromSlash(spelling)
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			p, err := s.w.Resolve(file)
			var outside *workspace.OutsideError
			if errors.As(err, &outside) {
				if looksLikeFile(spelling) {
					r.leftOut(spelling, err)
				}
				break
			}
			if err == nil && p.Exists {
				r.file(s, file, depth)
				break
			}
		}
	}
}

// looksLikeFile tells a path from the name of a package or a person, where nobody may
// look whether it is one.
func looksLikeFile(word string) bool {
	return path.Ext(word) != "" || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "..") || strings.HasPrefix(word, "~/")
}

// Rank orders files by who gets room first where it is short: the lower the sooner.
// GARUDA.md comes before AGENTS.md and that before CLAUDE.md.
func Rank(kind string) int {
	byRoom := []string{"GARUDA.md", "AGENTS.md", "CLAUDE.md"}
	return cmp.Or(slices.Index(byRoom, kind)+1, len(byRoom)+1)
}
