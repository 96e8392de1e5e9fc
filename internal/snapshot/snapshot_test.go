package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// changeTree does something to the tree at random.
func changeTree(t *rapid.T, p *project) {
	names := []string{
		"a", "b", "A", "dir/c", "dir/sub/d", "dir-x", "dir.x/e", "new\nline", "not\xffutf8", ".GIT/config", "deep/er/and/er/f",
		"git~1", ".gitmodules", "sp ace/ü", "empty",
	}
	name := rapid.SampledFrom(names).Draw(t, "name")
	path := p.path(name)
	text := strings.Repeat(rapid.SampledFrom([]string{"", "x", "text\n", "\x00\x01"}).Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "n"))
	clear := func() {
		for at := p.root; at != path; {
			rest := strings.TrimPrefix(path, at+"/")
			first, _, more := strings.Cut(rest, "/")
			at = filepath.Join(at, first)
			info, err := os.Lstat(at)
			if err == nil && (!more || !info.IsDir()) {
				must(p.t, os.RemoveAll(at))
			}
		}
		must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	}
	switch rapid.IntRange(0, 6).Draw(t, "do") {
	case 0:
		must(p.t, os.RemoveAll(path))
	case 1:
		clear()
		must(p.t, os.MkdirAll(path, 0o755))
	case 2:
		clear()
		must(p.t, os.Symlink(rapid.SampledFrom([]string{"a", "dir", "../..", "nowhere", "/etc/passwd"}).Draw(t, "target"), path))
	case 3:
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
			mode := rapid.SampledFrom([]os.FileMode{0o600, 0o644, 0o755, 0o700, 0o775}).Draw(t, "mode")
			must(p.t, os.Chmod(path, mode))
		}
	default:
		clear()
		must(p.t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// TestUndoGivesBack is the whole promise: whatever changed, undo gives back the tree
// as it was, redo the tree as it became, also in a process that knows nothing of it.
func TestUndoGivesBack(t *testing.T) {
	var p *project
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		if n%20 == 0 { // stores with a past are part of it
			p = newProject(t)
		}
		n++
		for range rapid.IntRange(0, 12).Draw(r, "before") {
			changeTree(r, p)
		}
		before := p.state()
		point, after := fmt.Sprint("point", n), fmt.Sprint("after", n)
		if said := p.keep(point); len(said) > 0 {
			r.Fatal(said)
		}
		for range rapid.IntRange(1, 12).Draw(r, "changes") {
			changeTree(r, p)
		}
		changed := p.state()
		if rapid.Bool().Draw(r, "reopen") {
			p.reopen()
		}
		if result := p.back(point, after); len(result.Failed) > 0 {
			r.Fatal(result.Failed)
		}
		if diff := cmp.Diff(hideGit(before), hideGit(p.state())); diff != "" {
			r.Fatalf("undo (-was +is):\n%s", diff)
		}
		if result := p.back(after, point+"again"); len(result.Failed) > 0 {
			r.Fatal(result.Failed)
		}
		if diff := cmp.Diff(hideGit(changed), hideGit(p.state())); diff != "" {
			r.Fatalf("redo (-was +is):\n%s", diff)
		}
	})
}

// hideGit leaves out what no snapshot covers: .git, whatever it is.
func hideGit(state map[string]string) map[string]string {
	out := map[string]string{}
	for path, what := range state {
		if !strings.Contains("/"+path+"/", "/.git/") {
			out[path] = what
		}
	}
	return out
}
