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
