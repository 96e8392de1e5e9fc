package view

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/sandbox"
)

// within lists what lies in a folder, without the project and Garuda's own.
func (d *decoy) within(dir string) []string {
	d.t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || path == d.garuda || path == filepath.Dir(d.root) {
			return filepath.SkipDir
		}
		if rel, _ := filepath.Rel(dir, path); rel != "." && !strings.HasPrefix(rel, ".ssh") && !strings.HasPrefix(rel, ".config") && rel != ".netrc" {
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *decoy) closed(b *Builder) {
	d.t.Helper()
	if err := b.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// TestCaches: a cache that is missing is the session's own until the session ends, and
// comes to its place only if something is in it. The home is left as it was else.
func TestCaches(t *testing.T) {
	d := newDecoy(t)
	for _, name := range []string{"go", "npm", "cargo", "mvn", "uv"} {
		d.program(filepath.Join(d.outside, "bin", name))
	}
	d.opt.Path = filepath.Join(d.outside, "bin")
	d.opt.Ask = &makes{oracle: &oracle{}, dir: filepath.Join(d.home, ".npm")}
	b := d.builder()
	viewOf(t, b, &sandbox.Command{})
	if got := d.within(d.home); len(got) != 0 {
		t.Errorf("the first command made %v", got)
	}
	home := b.session.home
	d.file(filepath.Join(home, ".cargo", "registry", "index", "x"), "x")
	d.file(filepath.Join(home, ".cargo", "config.toml"), "x")
	d.file(filepath.Join(home, "go", "pkg", "mod", "m"), "x")
	d.folder(filepath.Join(home, ".m2", "repository"))
	d.file(filepath.Join(d.outside, "evil", "uv", "x"), "x")
	d.link(filepath.Join(d.outside, "evil"), filepath.Join(home, ".cache")) // holds what uv would have
	d.folder(filepath.Join(d.home, "go", "pkg", "mod"))                     // another session was first
	d.closed(b)
	want := []string{".cargo", ".cargo/registry", ".cargo/registry/index", ".cargo/registry/index/x", "go", "go/pkg", "go/pkg/mod"}
	if got := d.within(d.home); !slices.Equal(got, want) {
		t.Errorf("left in the home: %v, want %v", got, want)
	}
	if got := d.within(filepath.Join(d.outside, "evil")); len(got) != 2 {
		t.Errorf("what a link leads to was moved: %v", got)
	}
}

// TestCachesInPlace: a backend for which nothing stands for the home has the caches
// made, and those that stay empty removed.
func TestCachesInPlace(t *testing.T) {
	d := newDecoy(t)
	for _, name := range []string{"npm", "cargo"} {
		d.program(filepath.Join(d.outside, "bin", name))
	}
	d.opt.Path, d.opt.InPlace = filepath.Join(d.outside, "bin"), true
	b := d.builder()
	expect(t, viewOf(t, b, &sandbox.Command{}), map[string]string{filepath.Join(d.home, ".npm"): "write", filepath.Join(d.home, ".cargo", "git"): "write"})
	d.file(filepath.Join(d.home, ".npm", "x"), "x")
	d.closed(b)
	if got := d.within(d.home); !slices.Equal(got, []string{".npm", ".npm/x"}) {
		t.Errorf("left in the home: %v", got)
	}
}

// makes is an oracle whose tools make a folder and say nothing.
type makes struct {
	*oracle
	dir string
}

func (m *makes) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	if filepath.Base(cmd.Argv[0]) == "npm" {
		if err := os.MkdirAll(m.dir, 0o700); err != nil {
			return nil, err
		}
	}
	return m.oracle.Run(ctx, cmd)
}

// TestAskedQuietly: what a tool would write into the home folder goes elsewhere, and
// one that has nothing to name is not asked.
func TestAskedQuietly(t *testing.T) {
	d := newDecoy(t)
	for _, name := range []string{"go", "rustup", "rustc"} {
		d.program(filepath.Join(d.outside, "bin", name))
	}
	d.opt.Path = filepath.Join(d.outside, "bin")
	o := &oracle{}
	d.opt.Ask = o
	d.view()
	if !slices.Equal(o.asked, []string{filepath.Join(d.opt.Path, "go")}) {
		t.Errorf("asked %v", o.asked)
	}
	if !slices.ContainsFunc(o.env, func(v string) bool { return strings.HasPrefix(v, "XDG_CONFIG_HOME="+d.garuda) }) ||
		!slices.Contains(o.env, "GOENV="+filepath.Join(d.home, ".config", "go", "env")) {
		t.Errorf("with %v", o.env)
	}
	d.folder(filepath.Join(d.home, ".rustup"))
	d.view()
	if len(o.asked) != 3 {
		t.Errorf("asked %v", o.asked)
	}
}
