package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/session/redact"
	"garuda/internal/state"
)

// place is a project and the user's folder for it.
type place struct{ root, home string }

func newPlace(t testing.TB) *place {
	t.Helper()
	return &place{root: t.TempDir(), home: filepath.Join(t.TempDir(), "projects", "0a1b2c3d")}
}

// store is another process's view of the place each time.
func (p *place) store(t testing.TB) *Store {
	t.Helper()
	dir, err := state.Open(p.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dir.Close)
	return NewStore(Options{
		Dir: dir, Root: p.root, Home: p.home, Clock: core.SystemClock, Redact: redact.New(nil).String,
	})
}

func (p *place) path(name string) string { return filepath.Join(p.root, ".garuda", name) }

func (p *place) write(t testing.TB, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path("x")), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path(fileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *place) read(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(p.path(fileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// load gives the texts of the facts that count, and of those that do not.
func load(t testing.TB, s *Store) (trusted, foreign string) {
	t.Helper()
	m, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return texts(m.Trusted()), texts(m.Foreign())
}

func texts(facts []Fact) string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = f.Text
	}
	return strings.Join(out, ", ")
}

// yes is the user who says yes to all that is there.
func yes(t testing.TB, s *Store) {
	t.Helper()
	m, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trust(t.Context(), m.Facts); err != nil {
		t.Fatal(err)
	}
}
