package profile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	for files, want := range map[string][]string{
		"README.md":                  nil,
		"go.mod":                     {"Go: go build ./..., go vet ./..., go test ./... (go.mod)"},
		"package.json":               {"Node: its scripts, run by npm, such as npm test (package.json)"},
		"package.json yarn.lock":     {"Node: its scripts, run by yarn, such as yarn test (package.json)"},
		"pom.xml mvnw":               {"Maven: ./mvnw -B -q -o compile, ./mvnw -B -q -o test (pom.xml)"},
		"build.gradle.kts":           {"Gradle: gradle test --offline -q (build.gradle.kts)"},
		"setup.py":                   {"Python: python3 -m pytest -q (setup.py)"},
		"pyproject.toml .venv":       {"Python: .venv/bin/python -m pytest -q (pyproject.toml)"},
		"pyproject.toml poetry.lock": {"Python: poetry run python -m pytest -q (pyproject.toml)"},
		"Makefile go.mod":            {"Go: go build ./..., go vet ./..., go test ./... (go.mod)", "Make: its targets, often make and make test (Makefile)"},
	} {
		there := strings.Fields(files)
		if d := cmp.Diff(want, Notes(func(name string) bool { return slices.Contains(there, name) })); d != "" {
			t.Errorf("%s: %s", files, d)
		}
	}
}
