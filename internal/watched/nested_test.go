package watched

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/workspace"
)

// TestNested: instructions in any folder are watched, also in one that the command
// made, and those of packages are not.
func TestNested(t *testing.T) {
	for _, c := range []struct{ name, before, script, want string }{
		{"changed", "mkdir -p a/b && echo x > a/b/AGENTS.md", "echo evil > a/b/AGENTS.md", "a/b/AGENTS.md true→true"},
		{"made", "", "echo evil > src/CLAUDE.md", "src/CLAUDE.md false→true"},
		{"made with its folders", "", "mkdir -p x/y/z && echo evil > x/y/z/GARUDA.md", "x/y/z/GARUDA.md false→true"},
		{"a link", "", "ln -s x src/AGENTS.md", "src/AGENTS.md false→true"},
		{"removed", "echo x > src/AGENTS.md", "rm src/AGENTS.md", "src/AGENTS.md true→false"},
		{"moved with its folder", "mkdir a && echo x > a/AGENTS.md", "mv a b", "a/AGENTS.md true→false, b/AGENTS.md false→true"},
		{"of packages", "", "mkdir -p node_modules/x src/vendor/y && echo x | tee node_modules/x/AGENTS.md src/vendor/y/AGENTS.md", ""},
		{"other names", "", "echo x > src/README.md", ""},
		{"from a known commit", "git checkout -q other && echo n > src/AGENTS.md && git add -A && git commit -qm n && git checkout -q main", "git checkout -q other", ""},
		{"behind a link", "mkdir ../beside && echo x > ../beside/AGENTS.md", "ln -s ../beside src/l", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			if c.before != "" {
				p.sh(t, c.before)
			}
			if got := p.after(t, New(p.ws, p.git), c.script); got != c.want {
				t.Errorf("changed %q, want %q", got, c.want)
			}
		})
	}
}

// TestNestedIsPutBack: what was made is removed, what was changed is as it was.
func TestNestedIsPutBack(t *testing.T) {
	p := newProject(t)
	p.sh(t, "echo good > src/AGENTS.md")
	look, err := New(p.ws, p.git).Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.sh(t, "echo evil > src/AGENTS.md; mkdir n; echo evil > n/AGENTS.md")
	changes, err := look.Changes(t.Context())
	if err != nil || len(changes) != 2 {
		t.Fatalf("%v, %v", changes, err)
	}
	for _, c := range changes {
		if err := p.ws.PutBack(c.Was); err != nil {
			t.Error(err)
		}
	}
	p.sh(t, `test "$(cat src/AGENTS.md)" = good && test ! -e n/AGENTS.md`)
}

// TestTree: a folder that was not changed is not read again, and one whose times were
// set back is.
func TestTree(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tr := newTree(root)
	tr.files()
	if !tr.known["a"].young {
		t.Error("a folder of this second is not young")
	}
	tr.known["a"].young = false // as if that was long ago
	tr.known["a"].files = []string{"kept"}
	if got := tr.files(); !slices.Equal(got, []string{"a/kept"}) {
		t.Errorf("read again: %v", got)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(dir, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := tr.files(); !slices.Equal(got, []string{"a/AGENTS.md"}) {
		t.Errorf("not read again: %v", got)
	}
}

// TestTreeIsBounded: what lies nearest the root is looked at first.
func TestTreeIsBounded(t *testing.T) {
	root := t.TempDir()
	for i := range maxNested + 20 {
		dir := filepath.Join(root, fmt.Sprintf("d%03d", i), "deep")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{dir, filepath.Dir(dir)} {
			if err := os.WriteFile(filepath.Join(at, "AGENTS.md"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := newTree(root).files()
	if len(got) != maxNested || slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, "deep") }) {
		t.Errorf("%d files: %v", len(got), got[:3])
	}
}

// BenchmarkLook is what each command costs twice, in a project of 50,000 files.
func BenchmarkLook(b *testing.B) {
	root := b.TempDir()
	for i := range 500 {
		dir := filepath.Join(root, fmt.Sprintf("d%d", i%20), fmt.Sprintf("e%d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for k := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", k)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	ws, err := workspace.Open(root, nil, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(ws.Close)
	w := New(ws, nil)
	for b.Loop() {
		if _, err := w.Look(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
