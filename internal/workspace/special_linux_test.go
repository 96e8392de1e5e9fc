package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestProcMountedInside(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to mount")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "proc")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("proc", dir, "proc", 0, ""); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	w := openTest(t, root, Options{})
	if c, err := w.ReadFile(mustResolve(t, w, "proc/self/environ")); err == nil {
		t.Errorf("read %d bytes of an environment", len(c.Raw))
	}
	report, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(_ int, e *Entry) error {
		if strings.HasPrefix(e.Path().Rel, "proc/") {
			t.Errorf("the walk came across %s", e.Path().Rel)
			return ErrSkipFolder
		}
		return nil
	})
	if err != nil || report.UnreadableCount != 1 {
		t.Errorf("walk: %v, %+v", err, report)
	}
	w.Close()
	w.mounts = nil
}
