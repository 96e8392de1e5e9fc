package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// removeTree removes a session's folder with whatever commands made in it: links are
// removed and never followed, folders without permissions are opened first, and trees
// of any depth are lifted apart, since a path in them may be longer than the system
// takes and every level that is open costs a descriptor.
//
// Every step starts at the folder's own handle, so nothing outside can be reached.
func removeTree(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = emptyTree(root)
	root.Close()
	if err != nil {
		return err
	}
	return os.Remove(dir)
}

// liftPrefix begins the names of folders that were lifted to the top.
const liftPrefix = "lifted-"

func emptyTree(root *os.Root) error {
	if err := openUp(root, "."); err != nil {
		return err
	}
	lifted := 0
	for {
		names, err := list(root, ".")
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		for _, e := range names {
			if e.IsDir() {
				if err := removeFolder(root, e.Name(), &lifted); err != nil {
					return err
				}
			} else if err := root.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
}

// removeFolder removes one folder at the top; the folders in it come to the top.
func removeFolder(root *os.Root, name string, lifted *int) error {
	if err := openUp(root, name); err != nil {
		return err
	}
	entries, err := list(root, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(name, e.Name())
		if !e.IsDir() {
			if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if err := openUp(root, path); err != nil { // moving a folder changes it
			return err
		}
		if err := lift(root, path, lifted); err != nil {
			return err
		}
	}
	return root.Remove(name)
}

// lift moves a folder to the top, under a name that nothing has there.
func lift(root *os.Root, path string, lifted *int) error {
	for {
		*lifted++
		to := liftPrefix + strconv.Itoa(*lifted)
		if _, err := root.Lstat(to); err == nil {
			continue
		}
		return root.Rename(path, to)
	}
}

// openUp gives us every right to a folder of ours.
func openUp(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || info.Mode().Perm()&0o700 == 0o700 {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s was exchanged while it was removed", name)
	}
	return root.Chmod(name, 0o700)
}

// list reads a folder's entries.
func list(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
