package snapshot_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestDisks: on a disk that really is full, and one that really may not be written,
// the turn goes on, it is said why there is no undo, and nothing half is left.
func TestDisks(t *testing.T) {
	p := newProject(t)
	must(t, os.MkdirAll(p.home, 0o700))
	if err := syscall.Mount("tmpfs", p.home, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		t.Skip("needs root to mount")
	}
	t.Cleanup(func() {
		must(t, p.store.Close())
		must(t, syscall.Unmount(p.home, 0))
	})
	p.write("f", "one")
	if said := p.keep("point"); len(said) > 0 {
		t.Fatal(said)
	}
	noise := make([]byte, 2<<20)
	for i := range noise {
		noise[i] = byte(i*i>>8 ^ i*2654435761>>16)
	}
	p.write("noise", string(noise))
	said := p.keep("full")
	if len(said) != 1 || !strings.Contains(said[0], "undo is off") {
		t.Error(said)
	}
	p.remove("noise")
	p.write("f", "two")
	if said := p.keep("after"); len(said) > 0 {
		t.Error(said)
	}
	must(t, p.store.Close())
	must(t, syscall.Mount("", p.home, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	p.write("f", "three")
	if said = p.keep("readonly"); len(said) != 1 || !strings.Contains(said[0], "undo is off") {
		t.Error(said)
	}
	must(t, p.store.Close())
	must(t, syscall.Mount("", p.home, "", syscall.MS_REMOUNT, ""))
	p.back("point", "x")
	if !strings.Contains(p.state()["f"], "one") {
		t.Error(p.state())
	}
}
