//go:build unix

package config

import (
	"os"
	"syscall"
)

// ownedByRoot refuses a managed policy that somebody but root could have written.
func ownedByRoot(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 {
		return errOpenToOthers("it does not belong to root")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errOpenToOthers("others may write it")
	}
	return nil
}

// ownFile refuses a file in the user's home that somebody else could have written:
// one that everybody may write, or that belongs to another user. Root may take its
// files from anybody's home.
func ownFile(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	me := os.Geteuid()
	if st, ok := info.Sys().(*syscall.Stat_t); ok && me != 0 && st.Uid != 0 && int(st.Uid) != me {
		return errNotOwn("it belongs to another user")
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o002 != 0 {
		return errNotOwn("everybody may write it")
	}
	return nil
}
