//go:build unix

package workspace

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// Opening a pipe waits for its other end; opening a device may do anything. None
// of these calls may wait, so a test that hangs has failed.
func TestSpecialFiles(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		symlink(t, "pipe", filepath.Join(root, "topipe"))
		l, err := net.Listen("unix", filepath.Join(root, "sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		w := open(root)
		cases := map[string]string{"pipe": "a named pipe", "topipe": "a named pipe", "sock": "a socket"}
		if os.Getuid() == 0 && runtime.GOOS == "linux" {
			const null = 1<<8 | 3
			if err := syscall.Mknod(filepath.Join(root, "null"), syscall.S_IFCHR|0o666, null); err == nil {
				cases["null"] = "a device"
			}
		}
		for name, what := range cases {
			p := mustResolve(t, w, name)
			_, err := w.ReadFile(p)
			var special *SpecialError
			if !errors.As(err, &special) || special.What != what {
				t.Errorf("reading %s: %v, want %s", name, err, what)
			}
			if _, err := w.Replace(p, Info{}, nil); err == nil {
				t.Errorf("%s was replaced", name)
			}
		}
		_, err = w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(_ int, e *Entry) error {
			if f, err := e.Open(); err == nil {
				f.Close()
				t.Errorf("the walk opened %s, %s", e.Name, e.Kind)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A pipe that takes the place of a file between the look and the opening must
// not make anyone wait.
func TestPipeInAFilesPlace(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		write(t, filepath.Join(root, "f"), "x")
		w := open(root)
		p := mustResolve(t, w, "f")
		if err := os.Remove(filepath.Join(root, "f")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(root, "f"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := w.ReadFile(p); err == nil {
			t.Error("a pipe was read")
		}
		e := Entry{Name: "f", Kind: KindFile, w: w, mount: p.mount, rel: "f", dir: p.mount.dir}
		if f, err := e.Open(); err == nil {
			f.Close()
			t.Error("a pipe was opened as the file that a walk saw")
		}
	})
}

func TestUnreadableFolders(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "closed", "f"), "x")
	write(t, filepath.Join(root, "open", "f"), "x")
	if err := os.Chmod(filepath.Join(root, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(root, "closed"), 0o755)
	w := openTest(t, root, Options{})
	report, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(int, *Entry) error { return nil })
	if err != nil || report.UnreadableCount != 1 || report.Unreadable[0] != "closed" {
		t.Errorf("walk: %v, %+v", err, report)
	}
	if _, err := w.Resolve("closed/f"); err == nil {
		t.Error("a file in a closed folder was found")
	}
}
