//go:build linux || darwin

package workspace

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// keepXattrs copies extended attributes, among them access control lists, and
// names those that the system did not let through. Labels that the kernel gives
// every new file (security.*) are not worth a word.
func keepXattrs(to newFile, from file) (notes []string) {
	conn, err := to.SyscallConn()
	if err != nil {
		return []string{fmt.Sprintf("the file's extended attributes could not be kept: %v", err)}
	}
	_ = from.control(func(src uintptr) {
		_ = conn.Control(func(dst uintptr) { notes = copyXattrs(int(dst), int(src)) })
	})
	return notes
}

func copyXattrs(dst, src int) []string {
	names, err := xattrsOf(src)
	if err != nil {
		return []string{fmt.Sprintf("the file's extended attributes could not be read: %v", err)}
	}
	var lost []string
	for _, name := range names {
		if err := copyXattr(dst, src, name); err != nil && !strings.HasPrefix(name, "security.") {
			lost = append(lost, name)
		}
	}
	// A folder gives new files access control lists that the old file had not.
	given, err := xattrsOf(dst)
	if err != nil {
		return []string{fmt.Sprintf("the new file's extended attributes could not be read: %v", err)}
	}
	for _, name := range given {
		if slices.Contains(names, name) || strings.HasPrefix(name, "security.") {
			continue
		}
		if err := unix.Fremovexattr(dst, name); err != nil {
			return []string{fmt.Sprintf("the file has the extended attribute %s now: %v", name, err)}
		}
	}
	if len(lost) > 0 {
		return []string{"extended attributes that could not be kept: " + strings.Join(lost, ", ")}
	}
	return nil
}

// xattrsOf are the names of a file's extended attributes, none where the file
// system has no such thing.
func xattrsOf(fd int) ([]string, error) {
	size, err := unix.Flistxattr(fd, nil)
	if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(fd, list); err != nil || size == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00"), nil
}

func copyXattr(dst, src int, name string) error {
	const most = 64 << 10 // the kernel's own limit
	value := make([]byte, 256)
	n, err := unix.Fgetxattr(src, name, value)
	if errors.Is(err, unix.ERANGE) {
		value = make([]byte, most)
		n, err = unix.Fgetxattr(src, name, value)
	}
	if err != nil {
		return err
	}
	return unix.Fsetxattr(dst, name, value[:n], 0)
}
