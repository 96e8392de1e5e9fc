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

// noFollow is no flag on Windows: only a program with special rights can make a
// link there.
const noFollow = 0

// syncFolder does nothing: Windows keeps a folder's entries in its own journal,
// and has no call for it.
func syncFolder(*os.Root) error { return nil }

// checkOwner says nothing on Windows, where mode bits do not tell who may read
// a file: the profile folder's access list protects it.
func checkOwner(string, fs.FileInfo) (problem, fix string) { return "", "" }
