package stage

import "syscall"

// makePrivate keeps what is mounted here from the machine, and the other way round.
func makePrivate() *failure {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return because("separate the mounts", err)
	}
	return nil
}

// openSources takes every tree of the machine that is shown, before anything covers
// it: each path is walked once, here, and a link in it ends the stage.
func (s *stage) openSources() *failure {
	machine, err := open("/", oPath|syscall.O_DIRECTORY)
	if err != nil {
		return because("open /", err)
	}
	s.sources = make([]int, len(s.policy.Mounts))
	for i, m := range s.policy.Mounts {
		s.sources[i] = -1
		if m.Source == "" {
			continue
		}
		if s.sources[i], err = treeAt(machine, m.Source); err != nil {
			return because(m.Source, explainLink(err))
		}
	}
	s.devices = make([]int, len(deviceNames))
	for i, name := range deviceNames {
		if s.devices[i], err = treeAt(machine, "/dev/"+name); err != nil {
			return because("/dev/"+name, err)
		}
	}
	return nil
}

// treeAt takes the tree at a path below an open folder.
func treeAt(dir int, path string) (int, error) {
	fd, err := openBeneath(dir, path)
	if err != nil {
		return -1, err
	}
	tree, err := cloneTree(fd, "")
	_ = closeFile(fd) // it only named a place
	return tree, err
}

type linkError struct{}

func (linkError) Error() string { return "a symbolic link lies in its path" }

func explainLink(err error) error {
	if err == syscall.ELOOP { //nolint:errorlint // what package syscall returns is not wrapped
		return linkError{}
	}
	return err
}

// makeRoot begins the view: an empty file system that lies over the machine's.
func (s *stage) makeRoot() *failure {
	var err error
	if s.root, err = newFilesystem("tmpfs", attrNoSuid|attrNoDev, "mode", "0755", "size", "16m"); err != nil {
		return because("make a file system in memory", err)
	}
	over, err := open("/", oPath)
	if err == nil {
		err = attach(s.root, over)
	}
	if err == nil {
		err = syscall.Fchdir(s.root)
	}
	if err != nil {
		return because("put it over /", err)
	}
	for _, dir := range []string{"dev", "run", "proc"} {
		if err := mkdir(here, dir, 0o755); err != nil {
			return because("make /"+dir, err)
		}
	}
	if err := s.mountNew("/run", "tmpfs", attrNoSuid|attrNoDev, "mode", "0755", "size", "16m"); err != nil {
		return because("make /run", err)
	}
	return s.makeMasks()
}

// masksPath is where the empty file and folder lie until the view is complete.
const masksPath = "/.empty"

func (s *stage) makeMasks() *failure {
	err := mkdir(here, masksPath[1:], 0o755)
	if err == nil {
		err = s.mountNew(masksPath, "tmpfs", attrNoSuid|attrNoDev|attrNoExec, "mode", "0755", "size", "4k")
	}
	if err == nil {
		s.masks, err = openBeneath(s.root, masksPath)
	}
	if err == nil {
		err = mkdir(s.masks, "folder", 0o555)
	}
	if err == nil {
		err = makeFile(s.masks, "file", 0o444)
	}
	if err != nil {
		return because("make what hides files", err)
	}
	return nil
}

// mountNew makes a file system and puts it at a path of the view.
func (s *stage) mountNew(path, kind string, attributes uintptr, options ...string) error {
	fd, err := newFilesystem(kind, attributes, options...)
	if err != nil {
		return err
	}
	return s.attachAt(fd, path)
}

// attachAt puts a tree at a path of the view, and closes it.
func (s *stage) attachAt(tree int, path string) error {
	place, err := openBeneath(s.root, path)
	if err == nil {
		err = attach(tree, place)
		_ = closeFile(place) // it only named a place
	}
	_ = closeFile(tree) // it is mounted, or not wanted
	return err
}

// makeView makes the mounts and links of the policy.
func (s *stage) makeView() *failure {
	for i, m := range s.policy.Mounts {
		if err := s.mount(m, s.sources[i]); err != nil {
			return because(m.Path, explainLink(err))
		}
	}
	for _, l := range s.policy.Links {
		parent, name := split(l.Path)
		dir, err := s.makeFolders(parent)
		if err == nil {
			err = symlink(l.Target, dir, name)
			_ = closeFile(dir) // it only named a place
		}
		if err != nil {
			return because(l.Path, explainLink(err))
		}
	}
	return nil
}

func (s *stage) mount(m Mount, tree int) error {
	flags := uint64(0)
	if m.Kind == Mask {
		flags = syscall.O_NOFOLLOW // what hides a link lies over the link
	}
	place, err := openPlace(s.root, m.Path, flags)
	if err == syscall.ENOENT && m.Create { //nolint:errorlint // what package syscall returns is not wrapped
		place, err = s.makePlace(m.Path, tree)
	}
	if err == syscall.ENOENT && m.Kind == Mask { //nolint:errorlint // see above
		return nil // it has gone since it was seen: there is nothing to hide
	}
	if err != nil {
		return err
	}
	defer func() { _ = closeFile(place) }()
	switch {
	case m.Kind == Mask:
		tree, err = s.mask(place)
	case tree < 0:
		tree, err = cloneTree(place, "")
	}
	if err != nil {
		return err
	}
	defer func() { _ = closeFile(tree) }()
	attributes := uint64(attrNoSuid | attrNoDev)
	if m.Kind == ReadOnly || m.Kind == Mask {
		attributes |= attrReadOnly
	}
	if err := setAttributes(tree, attributes, atRecursive); err != nil {
		return err
	}
	return attach(tree, place)
}

// mask takes the empty file or folder, whichever fits the place.
func (s *stage) mask(place int) (int, error) {
	folder, err := isFolder(place)
	if err != nil {
		return -1, err
	}
	if folder {
		return cloneTree(s.masks, "folder")
	}
	return cloneTree(s.masks, "file")
}

func isFolder(fd int) (bool, error) {
	var st syscall.Stat_t
	err := syscall.Fstat(fd, &st)
	return st.Mode&syscall.S_IFMT == syscall.S_IFDIR, err
}

// makePlace makes a folder or an empty file for a tree to be mounted on.
func (s *stage) makePlace(path string, tree int) (int, error) {
	folder, err := isFolder(tree)
	if err != nil {
		return -1, err
	}
	if folder {
		return s.makeFolders(path)
	}
	parent, name := split(path)
	dir, err := s.makeFolders(parent)
	if err != nil {
		return -1, err
	}
	defer func() { _ = closeFile(dir) }()
	if err := makeFile(dir, name, 0o644); err != nil {
		return -1, err
	}
	return openBeneath(s.root, path)
}

// makeFolders makes what is missing of a path and opens it.
func (s *stage) makeFolders(path string) (int, error) {
	fd, err := openBeneath(s.root, path)
	if err != syscall.ENOENT { //nolint:errorlint // what package syscall returns is not wrapped
		return fd, err
	}
	parent, name := split(path)
	dir, err := s.makeFolders(parent)
	if err != nil {
		return -1, err
	}
	defer func() { _ = closeFile(dir) }()
	if err := mkdir(dir, name, 0o755); err != nil {
		return -1, err
	}
	return openBeneath(s.root, path)
}

// split is the folder of an absolute path, and the name in it.
func split(path string) (parent, name string) {
	i := len(path) - 1
	for path[i] != '/' {
		i--
	}
	if i == 0 {
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}

// pivot makes the view the whole of what there is, and closes its top.
func (s *stage) pivot() *failure {
	if err := detach(masksPath[1:]); err != nil {
		return because("take away what hides files", err)
	}
	if err := removeFolder(masksPath[1:]); err != nil {
		return because("take away what hides files", err)
	}
	if err := pivotRoot(".", "."); err != nil {
		return because("change the root", err)
	}
	if err := detach("."); err != nil {
		return because("leave the machine's root", err)
	}
	if err := enter("/"); err != nil {
		return because("enter the new root", err)
	}
	if err := setAttributes(s.root, attrReadOnly, 0); err != nil {
		return because("close the new root", err)
	}
	if err := enter(s.policy.Dir); err != nil {
		return because("enter the working directory "+s.policy.Dir, err)
	}
	return nil
}
