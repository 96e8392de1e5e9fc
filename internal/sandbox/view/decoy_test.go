package view

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/sandbox"
)

// decoy is a machine made up for a test: a home with secrets, a project, a folder
// beside both.
type decoy struct {
	t                                *testing.T
	dir, home, garuda, root, outside string
	opt                              Options
}

func newDecoy(t *testing.T) *decoy {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &decoy{t: t, dir: dir, home: filepath.Join(dir, "users", "u"), outside: filepath.Join(dir, "outside")}
	d.garuda = filepath.Join(d.home, ".garuda")
	d.root = filepath.Join(d.home, "src", "p")
	for _, folder := range []string{d.root, d.garuda, d.outside} {
		d.folder(folder)
	}
	d.file(filepath.Join(d.home, ".ssh", "id_ed25519"), "SECRET")
	d.file(filepath.Join(d.home, ".config", "gh", "hosts.yml"), "SECRET")
	d.file(filepath.Join(d.home, ".netrc"), "SECRET")
	d.opt = Options{Root: d.root, Home: d.home, GarudaHome: d.garuda, Path: "/usr/bin:/bin"}
	return d
}

func (d *decoy) folder(path string) {
	d.t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		d.t.Fatal(err)
	}
}

func (d *decoy) file(path, text string) {
	d.t.Helper()
	d.folder(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *decoy) link(target, path string) {
	d.t.Helper()
	d.folder(filepath.Dir(path))
	if err := os.Symlink(target, path); err != nil {
		d.t.Fatal(err)
	}
}

// repository makes what git takes for one.
func (d *decoy) repository(dir string) {
	d.file(filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	d.file(filepath.Join(dir, "config"), "[core]\n\tbare = false\n")
	d.folder(filepath.Join(dir, "objects"))
	d.folder(filepath.Join(dir, "refs"))
	d.file(filepath.Join(dir, "hooks", "commit-msg.sample"), "")
	d.file(filepath.Join(dir, "info", "exclude"), "# mine\n*.swp")
}

func (d *decoy) builder() *Builder {
	d.t.Helper()
	b, err := NewBuilder(d.opt)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := b.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return b
}

func (d *decoy) view() *sandbox.View {
	d.t.Helper()
	return viewOf(d.t, d.builder(), &sandbox.Command{Dir: d.root})
}

func viewOf(t *testing.T, b *Builder, cmd *sandbox.Command) *sandbox.View {
	t.Helper()
	v, err := b.View(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// at is the entry that counts for a path, and nil where nothing is seen.
func at(v *sandbox.View, path string) *sandbox.Entry {
	var best *sandbox.Entry
	for i := range v.Entries {
		if inside(v.Entries[i].Path, path) {
			best = &v.Entries[i]
		}
	}
	return best
}

// sees tells what a command sees at a path of the machine: nothing, or an access.
func sees(v *sandbox.View, path string) string {
	e := at(v, path)
	switch {
	case e == nil:
		return "nothing"
	case e.Access == sandbox.Masked:
		return "hidden"
	case e.Missing:
		return "placeholder"
	case e.Source != "" && e.Source+strings.TrimPrefix(path, e.Path) != path && e.Access == sandbox.Writable:
		return "nothing" // the session's own folder stands there
	}
	return e.Access.String()
}

// expect checks what a command sees of each path.
func expect(t *testing.T, v *sandbox.View, want map[string]string) {
	t.Helper()
	for path, access := range want {
		if got := sees(v, path); got != access {
			t.Errorf("%s: %s, want %s", path, got, access)
		}
	}
}
