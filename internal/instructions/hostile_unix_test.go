//go:build unix

package instructions

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A link brings nothing in from outside the tree, and a FIFO or a device holds nobody
// up.
func TestHostileFiles(t *testing.T) {
	dir, out := top(t), top(t)
	write(t, out, map[string]string{"AGENTS.md": "from outside"})
	write(t, dir, map[string]string{"GARUDA.md": "@fifo @dev.md @in.md", "in/real.md": "inside"})
	for name, target := range map[string]string{
		"AGENTS.md": filepath.Join(out, "AGENTS.md"), "dev.md": "/dev/zero", "in.md": filepath.Join("in", "real.md"), "CLAUDE.md": "CLAUDE.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, said := loader(t, dir).Session()
	if d := cmp.Diff([]string{"GARUDA.md=@fifo @dev.md @in.md", "in.md=inside"}, told(files)); d != "" {
		t.Error(d)
	}
	if len(said) != 4 { // the two files that are links, the FIFO and the device
		t.Errorf("said %q", said)
	}
}
