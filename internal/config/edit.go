package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"garuda/internal/userfile"
)

// Edit changes one of the user's own files. change gets the text as it is, nil for
// a file that does not exist, and returns the new one. Other processes that edit
// the file wait; it is replaced in one step, readable by its owner only, and left
// alone where nothing changed or change fails. Missing folders are made, closed to
// others. Where path is a link, the file it leads to is replaced and the link stays.
func Edit(path string, change func(before []byte) ([]byte, error)) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("wait for other processes: %w", err)
	}
	before, err := userfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		before, err = nil, nil
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	var after []byte
	if err == nil {
		after, err = change(before)
	}
	if err == nil && !bytes.Equal(before, after) {
		err = replaceFile(path, after)
	}
	return errors.Join(err, lock.Unlock())
}

// replaceFile puts text in the file's place so that a reader, and a crash, find the
// old text or the new one and nothing between.
func replaceFile(path string, text []byte) (err error) {
	// CreateTemp makes files that only the owner can read and write.
	temp, err := os.CreateTemp(filepath.Dir(path), ".garuda-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
