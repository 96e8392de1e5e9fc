package bwrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Program is the only file that is ever run as bwrap.
const Program = "/usr/bin/bwrap"

// Errors of New and of commands that bwrap did not start.
var (
	// ErrMissing: there is no such program.
	ErrMissing = errors.New("bubblewrap is not installed")
	// ErrTooOld: it is from before 0.8.
	ErrTooOld = errors.New("this bubblewrap is older than 0.8")
	// ErrNotTrusted: somebody besides root could have put it there.
	ErrNotTrusted = errors.New("it is not a program that only root can change")
)

// check reports whether a program may be run as bwrap: root's alone to change, and its
// folders too. setuid says that it makes namespaces as root for everybody.
func check(program string) (setuid bool, err error) {
	for at := program; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("%w: no %s", ErrMissing, program)
		}
		if err != nil {
			return false, err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || st.Uid != 0 || info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
			return false, fmt.Errorf("run %s: %w: see %s", program, ErrNotTrusted, at)
		}
		switch {
		case at == program && (!info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0):
			return false, fmt.Errorf("run %s: %w: it is no program file", program, ErrNotTrusted)
		case at == program:
			setuid = info.Mode()&os.ModeSetuid != 0
		case !info.IsDir():
			return false, fmt.Errorf("run %s: %w: %s is a link", program, ErrNotTrusted, at)
		}
		if at == "/" {
			return setuid, nil
		}
	}
}
