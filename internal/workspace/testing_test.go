package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(killedRoot); root != "" {
		if err := killedWriter(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1) // it only ends by being killed
	}
	goleak.VerifyTestMain(m)
}

func openTest(t testing.TB, root string, opt Options) *Workspace {
	t.Helper()
	w, err := Open(root, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func mustResolve(t testing.TB, w *Workspace, path string) Path {
	t.Helper()
	p, err := w.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// write makes a file with its folders.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachFolder runs a test with every implementation of folder that this system has.
func eachFolder(t *testing.T, test func(t *testing.T, open func(root string) *Workspace)) {
	for _, impl := range []struct {
		name string
		open func(string) (folder, error)
	}{{"native", openFolder}, {"os.Root", openRootFolder}} {
		t.Run(impl.name, func(t *testing.T) {
			test(t, func(root string) *Workspace {
				w := openTest(t, root, Options{})
				dir, err := impl.open(w.Root())
				if err != nil {
					t.Fatal(err)
				}
				w.mounts[0].dir.close()
				w.mounts[0].dir = dir
				return w
			})
		})
	}
}

func symlink(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}
