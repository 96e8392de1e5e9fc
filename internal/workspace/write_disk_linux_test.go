package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk that really is full, and one that really may not be written.
func TestRealDisks(t *testing.T) {
	root := quickDisk(t, "1m")
	if _, err := os.Stat(filepath.Join(root, "..")); err != nil {
		t.Fatal(err)
	}
	var fsys unix.Statfs_t
	if err := unix.Statfs(root, &fsys); err != nil || fsys.Type != unix.TMPFS_MAGIC {
		t.Skip("needs root to mount")
	}
	write(t, filepath.Join(root, "f"), "old")
	w, err := Open(root, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // before the disk goes
	p := mustResolve(t, w, "f")
	big := []byte(strings.Repeat("x", 2<<20))
	if _, err := w.Replace(p, p.Info, big); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("replacing on a full disk: %v", err)
	}
	if _, err := w.Create(mustResolve(t, w, "dir/new"), big); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("creating on a full disk: %v", err)
	}
	if _, err := w.Replace(p, p.Info, []byte("fits")); err != nil {
		t.Errorf("after that: %v", err)
	}
	if err := syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	p = mustResolve(t, w, "f")
	if _, err := w.Replace(p, p.Info, []byte("no")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("replacing on a read-only disk: %v", err)
	}
	if err := w.Remove(p, p.Info); !errors.Is(err, syscall.EROFS) {
		t.Errorf("deleting on a read-only disk: %v", err)
	}
	if got := readBack(t, filepath.Join(root, "f")); got != "fits" {
		t.Errorf("the file holds %q", got)
	}
	noneLeft(t, root)
}

// asUser runs f as an ordinary user as far as files go, on a thread that ends
// with it.
func asUser(t *testing.T, f func()) {
	if os.Getuid() != 0 {
		t.Skip("needs root to be several users")
	}
	const nobody = 65534
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := errors.Join(unix.Setfsgid(nobody), unix.Setfsuid(nobody))
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// userRoot is a folder that any user may write in.
func userRoot(t *testing.T, mode fs.FileMode) string {
	root := t.TempDir()
	for dir := root; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, mode); err != nil {
		t.Fatal(err)
	}
	return root
}

// What belongs to someone else changes hands, and that is said; what may not be
// written is left alone.
func TestFilesOfOthers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		folder fs.FileMode
		note   string // of a replacement that works
		cause  error  // of one that does not
	}{
		{"shared folder", 0o777, "the file belonged to user 0 and belongs to you now", nil},
		{"sticky folder", 0o777 | fs.ModeSticky, "", syscall.EPERM},
		{"read-only folder", 0o555, "", syscall.EACCES},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := userRoot(t, tt.folder)
			path := filepath.Join(root, "f")
			write(t, path, "old")
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			w := openTest(t, root, Options{})
			asUser(t, func() {
				p := mustResolve(t, w, "f")
				out, err := w.Replace(p, p.Info, []byte("new"))
				if tt.cause != nil {
					if !errors.Is(err, tt.cause) {
						t.Errorf("replace: %v", err)
					}
					return
				}
				want := []string{tt.note, "the file's group 0 could not be kept"}
				if err != nil || !slices.Equal(out.Notes, want) {
					t.Errorf("%v, %+v", err, out)
				}
			})
			want := "old"
			if tt.cause == nil {
				want = "new"
			}
			if got := readBack(t, path); got != want {
				t.Errorf("the file holds %q", got)
			}
			noneLeft(t, root)
		})
	}
}

// posixACL is a list that gives the owner and user 12345 all, and others nothing.
func posixACL() []byte {
	acl := []byte{2, 0, 0, 0}
	entry := func(tag, perm uint16, id uint32) {
		acl = append(acl, byte(tag), byte(tag>>8), byte(perm), byte(perm>>8), byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	const none = 0xffffffff
	entry(0x01, 6, none)  // the owner
	entry(0x02, 6, 12345) // a user
	entry(0x04, 4, none)  // the group
	entry(0x10, 6, none)  // the mask
	entry(0x20, 0, none)  // others
	return acl
}

// An access control list is kept; one that the folder gives to new files is not
// added to a file that had none.
func TestReplaceAccessControlLists(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	write(t, path, "old")
	const access, byDefault = "system.posix_acl_access", "system.posix_acl_default"
	if err := unix.Setxattr(path, access, posixACL(), 0); err != nil {
		t.Skipf("no access control lists here: %v", err)
	}
	w := openTest(t, root, Options{})
	replace := func() {
		t.Helper()
		p := mustResolve(t, w, "f")
		if out, err := w.Replace(p, p.Info, []byte("new")); err != nil || len(out.Notes) > 0 {
			t.Fatalf("%v, %v", err, out)
		}
	}
	replace()
	buf := make([]byte, 256)
	if n, err := unix.Getxattr(path, access, buf); err != nil || string(buf[:n]) != string(posixACL()) {
		t.Errorf("the list is % x, %v", buf[:max(n, 0)], err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, "old")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(root, byDefault, posixACL(), 0); err != nil {
		t.Fatal(err)
	}
	replace()
	if n, err := unix.Getxattr(path, access, buf); err == nil {
		t.Errorf("the file has a list now: % x", buf[:n])
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o640 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}
