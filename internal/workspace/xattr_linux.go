package workspace

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keepXattrs copies extended attributes, among them access control lists, and
// names those that the system did not let through. Labels that the kernel gives
// every new file (security.*) are not worth a word.
func keepXattrs(to *os.File, from file) (notes []string) {
	_ = from.control(func(src uintptr) {
		_ = osFile{to}.control(func(dst uintptr) { notes = copyXattrs(int(dst), int(src)) })
	})
	return notes
}

func copyXattrs(dst, src int) []string {
	size, err := unix.Flistxattr(src, nil)
	if err != nil || size == 0 {
		return nil
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(src, list); err != nil {
		return []string{fmt.Sprintf("the file's extended attributes could not be read: %v", err)}
	}
	var lost []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00") {
		if err := copyXattr(dst, src, name); err != nil && !strings.HasPrefix(name, "security.") {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		return []string{"extended attributes that could not be kept: " + strings.Join(lost, ", ")}
	}
	return nil
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
