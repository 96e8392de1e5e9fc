//go:build mutants

package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mutant is one rule, and what takes it away.
type mutant struct {
	// rule is what is lost, with the numbers of the faults that other programs had.
	rule string
	// file is where it stands, from the root of the tree; from is its text there, which
	// must occur once, and to what stands there without it.
	file, from, to string
	// test is the test in that folder that has to fail; "pkg:Test" where it stands in
	// another folder.
	test string
}

func TestEachRuleIsMissed(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range chosen(t, mutants()) {
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			m.check(t, root)
		})
	}
}

// chosen are the mutants that this run tries: all, or every n-th where GARUDA_MUTANTS
// is n.
func chosen(t *testing.T, all []mutant) []mutant {
	t.Helper()
	text := os.Getenv("GARUDA_MUTANTS")
	if text == "" {
		return all
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("GARUDA_MUTANTS is %q, want a number from 1 on", text)
	}
	var out []mutant
	for i := 0; i < len(all); i += n {
		out = append(out, all[i])
	}
	return out
}

// check holds that the test fails without the rule, and returns what it printed.
func (m *mutant) check(t *testing.T, root string) string {
	t.Helper()
	pkg, test := filepath.ToSlash(filepath.Dir(m.file)), m.test
	if at, name, ok := strings.Cut(m.test, ":"); ok {
		pkg, test = at, name
	}
	overlay := m.overlay(t, root)
	out, err := run(t, root, "-count=1", "-overlay", overlay, "-run", "^"+test+"$", "./"+pkg)
	switch {
	case err == nil:
		t.Errorf("%s passes without it, or is not there:\n%s", m.test, out)
	case !strings.Contains(out, "--- FAIL: "+test):
		t.Errorf("%s did not run: %v\n%s", m.test, err, out)
	}
	return out
}

// overlay writes the file without the rule, and the list that shows it to the
// compiler; see the flag -overlay of go build.
func (m *mutant) overlay(t *testing.T, root string) string {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.from); n != 1 {
		t.Fatalf("%s has %q %d times", m.file, m.from, n)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.from, m.to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

func run(t *testing.T, root string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go test %s: %w", strings.Join(args, " "), err)
	}
	return string(out), err
}
