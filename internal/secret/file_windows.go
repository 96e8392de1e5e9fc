package secret

import (
	"errors"
	"io/fs"
	"os"
)

// openNoFollow opens a file that is not a link. Windows has no O_NOFOLLOW: the
// file that was looked at must be the one that was opened.
func openNoFollow(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, errIsLink
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errIsLink
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkOwner says nothing on Windows, where mode bits do not tell who may read
// a file: the profile folder's access list protects it.
func checkOwner(string, fs.FileInfo) (problem, fix string) { return "", "" }
