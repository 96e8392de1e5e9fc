package state

import "os"

// OpenPath opens a folder of the user's own home by its path, whose links are the
// user's own affair; fs.ErrNotExist when there is none.
func OpenPath(path string) (*Folder, error) {
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	return &Folder{root: r, path: path}, nil
}

// Stands tells whether the folder is still at its path; the handle stays good when
// it is moved or removed.
func (f *Folder) Stands() bool {
	ours, err := f.root.Stat(".")
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.path)
	return err == nil && os.SameFile(ours, there)
}

// MakePath is OpenPath for a folder that is made where it is missing, closed to
// others, with those above it.
func MakePath(path string) (*Folder, error) {
	if err := os.MkdirAll(path, folderMode); err != nil {
		return nil, Explain("make", path, err)
	}
	f, err := OpenPath(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.root.Stat("."); err == nil && info.Mode().Perm()&^folderMode != 0 {
		_ = f.root.Chmod(".", folderMode) // as for MakeSub
	}
	return f, nil
}
