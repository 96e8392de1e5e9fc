package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/nearest"
)

// Path is a place inside the workspace, resolved once.
type Path struct {
	// Abs is the path as it was written, cleaned and absolute, below the real
	// path of the root or of an added folder.
	Abs string
	// Real is where it leads through all links. It is what is opened, and the
	// opening follows no link, so a check of Real is a check of the file used.
	Real string
	// Rel is how results show it: relative to the root with slashes, or absolute
	// in an added folder.
	Rel string
	// Exists says whether anything was there, and Info what it was.
	Exists bool
	Info   Info

	mount *mount
	rel   string // Real below mount, with slashes
}

// Through is the path with where it leads, when that is through links; else nil.
// It is what a tool declares of it beside the path.
func (p Path) Through() map[string]string {
	if p.Real == p.Abs {
		return nil
	}
	return map[string]string{p.Abs: p.Real}
}

// maxLinks is how many symbolic links one path may lead through, as in the kernel.
const maxLinks = 40

// Resolve finds the place a path names: relative to the root, or absolute
// inside the root or an added folder; "~/" stands for the home folder. Links
// are followed as far as they stay inside, also those with absolute targets. A
// path whose last parts do not exist resolves too, with Exists false. Errors:
// *OutsideError, *SpecialError for the kernel's trees, *NotFolderError for a
// file in the middle, *PathError.
func (w *Workspace) Resolve(path string) (Path, error) {
	abs, err := w.absolute(path)
	if err != nil {
		return Path{}, err
	}
	if top, ok := kernelTree(abs); ok {
		return Path{}, &SpecialError{Path: path, What: "in " + top + ", which is the kernel's"}
	}
	m, rel, ok := w.locate(abs)
	if !ok {
		return Path{}, &OutsideError{Path: path, LeadsTo: abs, Roots: w.Roots()}
	}
	p := Path{Abs: m.path(rel), mount: m, rel: rel}
	p.Rel = w.Rel(p.Abs)
	info, err := m.dir.lstat(rel)
	switch {
	case err == nil && info.Kind != KindLink:
		p.Exists, p.Info = true, info
	case errors.Is(err, fs.ErrNotExist): // and no link before the missing part
	default:
		if err := w.follow(&p); err != nil {
			return Path{}, err
		}
	}
	p.Real = p.mount.path(p.rel)
	return p, nil
}

// absolute makes a path as a model writes it absolute and clean.
func (w *Workspace) absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", &PathError{Doing: "use", Path: `""`, Err: errors.New("the path is empty; name a file or folder, \".\" is the root")}
	case strings.ContainsRune(path, 0):
		return "", &PathError{Doing: "use", Path: fmt.Sprintf("%q", path), Err: errors.New("the path holds a NUL byte")}
	}
	native := filepath.FromSlash(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok && w.opt.Home != "" {
		native = filepath.Join(w.opt.Home, rest)
	}
	if filepath.IsAbs(native) {
		return filepath.Clean(native), nil
	}
	return filepath.Join(w.Root(), native), nil
}

// locate finds the folder of the workspace that holds a clean absolute path,
// written with the folder's real path or as the user gave it.
func (w *Workspace) locate(abs string) (*mount, string, bool) {
	for _, m := range w.mounts {
		if rel, ok := below(m.real, abs); ok {
			return m, rel, true
		}
	}
	for _, m := range w.mounts {
		if rel, ok := below(m.given, abs); ok {
			return m, rel, true
		}
	}
	return nil, "", false
}

func (m *mount) path(rel string) string {
	if rel == "." {
		return m.real
	}
	return m.real + string(filepath.Separator) + filepath.FromSlash(rel) // both are clean
}

// follow resolves p.mount and p.rel link by link within the directory handles.
// os.Root refuses a link with an absolute target even when that is inside, and
// projects have such links.
func (w *Workspace) follow(p *Path) error {
	f := follower{w: w, p: p, m: p.mount, todo: strings.Split(p.rel, "/")}
	for len(f.todo) > 0 {
		name := f.todo[0]
		f.todo = f.todo[1:]
		var err error
		switch name {
		case "", ".":
		case "..":
			err = f.up()
		default:
			err = f.down(name)
		}
		if err != nil {
			return err
		}
	}
	p.mount, p.rel = f.m, "."
	if len(f.done) > 0 {
		p.rel = strings.Join(f.done, "/")
	}
	if f.missing {
		return nil
	}
	info, err := p.mount.dir.lstat(p.rel)
	p.Exists, p.Info = err == nil, info
	return w.failure("look at", *p, err)
}

// follower is where the following of a path stands.
type follower struct {
	w     *Workspace
	p     *Path
	m     *mount
	done  []string // names that were looked at: no links
	todo  []string
	links int
	// missing: the last name of done does not exist.
	missing bool
}

func (f *follower) up() error {
	if len(f.done) > 0 {
		f.done = f.done[:len(f.done)-1]
		return nil
	}
	return f.jump(filepath.Dir(f.m.real), f.todo)
}

func (f *follower) jump(from string, names []string) error {
	m, rest, where := f.w.enter(from, names)
	if m == nil {
		return &OutsideError{Path: f.p.Rel, LeadsTo: where, Roots: f.w.Roots()}
	}
	f.m, f.done, f.todo = m, nil, rest
	return nil
}

func (f *follower) down(name string) error {
	f.done = append(f.done, name)
	rel := strings.Join(f.done, "/")
	info, err := f.m.dir.lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !slices.Contains(f.todo, ".."):
		f.done = append(f.done, withoutDots(f.todo)...)
		f.todo, f.missing = nil, true
		return nil
	case err != nil:
		return f.w.failure("look at", *f.p, err)
	case info.Kind == KindLink:
		f.done = f.done[:len(f.done)-1]
		return f.through(rel)
	case info.Kind != KindFolder && len(withoutDots(f.todo)) > 0:
		return &NotFolderError{Path: f.w.Rel(f.m.path(rel))}
	}
	return nil
}

// through replaces the link at rel by its target.
func (f *follower) through(rel string) error {
	if f.links++; f.links > maxLinks {
		return &PathError{Doing: "follow", Path: f.p.Rel, Err: fmt.Errorf("it leads through more than %d symbolic links", maxLinks)}
	}
	target, err := f.m.dir.readlink(rel)
	if err != nil {
		return f.w.failure("follow", *f.p, err)
	}
	volume := filepath.VolumeName(target)
	names := append(strings.Split(filepath.ToSlash(target[len(volume):]), "/"), f.todo...)
	if !filepath.IsAbs(target) {
		f.todo = names
		return nil
	}
	return f.jump(volume+string(filepath.Separator), names)
}

// enter walks names down from an absolute folder outside until one of the
// workspace's folders is reached, and returns it with the names that are left;
// or nil, and where the way leads. Nothing outside is looked at: the way must
// consist of the very names of that folder's path.
func (w *Workspace) enter(at string, names []string) (m *mount, rest []string, where string) {
	for i := 0; ; i++ {
		for _, m := range w.mounts {
			if samePath(at, m.real) || samePath(at, m.given) {
				return m, names[i:], at
			}
		}
		if i == len(names) {
			return nil, nil, at
		}
		switch names[i] {
		case "", ".":
		case "..":
			// Only above a real path is the parent of a name known to be its parent.
			if !w.aboveRoot(at) {
				return nil, nil, filepath.Join(append([]string{at}, names[i:]...)...)
			}
			at = filepath.Dir(at)
		default:
			at = filepath.Join(at, names[i])
		}
	}
}

func (w *Workspace) aboveRoot(dir string) bool {
	for _, m := range w.mounts {
		if _, ok := below(dir, m.real); ok {
			return true
		}
	}
	return false
}

func withoutDots(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" || s == "." })
}

// NotFound describes a missing path with names from its folder that look like
// it. Names that keep refuses are not shown; it may be nil, and then none are.
func (w *Workspace) NotFound(p Path, keep func(abs string) bool) error {
	folder := p.rel
	missing := ""
	for folder != "." {
		dir, base := ".", folder
		if i := strings.LastIndexByte(folder, '/'); i >= 0 {
			dir, base = folder[:i], folder[i+1:]
		}
		folder, missing = dir, base
		if info, err := p.mount.dir.lstat(folder); err == nil && info.Kind == KindFolder {
			break
		}
	}
	out := &NotFoundError{Path: p.Rel, Folder: w.Rel(p.mount.path(folder))}
	if keep == nil {
		return out
	}
	entries, err := list(p.mount.dir, folder)
	if err != nil {
		return out
	}
	const enough = 3
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.name)
	}
	slices.Sort(names)
	for len(out.Near) < enough {
		name := nearest.Of(missing, names)
		if name == "" {
			break
		}
		names = slices.DeleteFunc(names, func(s string) bool { return s == name })
		if abs := filepath.Join(p.mount.path(folder), name); keep(abs) {
			out.Near = append(out.Near, w.Rel(abs))
		}
	}
	return out
}

// Split returns the folder that holds p, as a real path, and p's own name.
func (p Path) Split() (dir, name string) {
	return filepath.Dir(p.Real), filepath.Base(p.Real)
}
