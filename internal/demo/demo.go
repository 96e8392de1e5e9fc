// Package demo holds what `garuda demo` works on: a small project with a failing
// test in POSIX shell, and the scenario of a model that mends it with the real
// tools. The scenario demands what each result must say, so a demo in which
// something went otherwise ends with an error.
//
// It runs nothing itself.
package demo

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"garuda/internal/llm"
	"garuda/internal/llm/script"
)

//go:embed project scenario.json
var files embed.FS

// Task is the same for the scripted model and a real one.
const Task = "The test in this folder fails. Run it with `sh test.sh`, find the mistake in convert.sh, mend it, and run the test again."

// TestCommand checks the project.
const TestCommand = "sh test.sh"

// Rules are the allow rules for exactly the calls that the task needs.
func Rules() []string { return []string{"edit_file(convert.sh)", "bash(" + TestCommand + ")"} }

// Write puts the sample project into a folder.
func Write(dir string) error {
	for from, to := range map[string]string{
		"convert.sh": "convert.sh", "test.sh": "test.sh", "README.md": "README.md", "env": ".env",
	} {
		b, err := files.ReadFile("project/" + from)
		if err != nil {
			return fmt.Errorf("read the sample project: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o600); err != nil {
			return fmt.Errorf("write the sample project: %w", err)
		}
	}
	return nil
}

// Model is the scripted model.
func Model() (llm.Model, error) {
	b, err := files.ReadFile("scenario.json")
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	s, err := script.Parse("scenario.json", b)
	if err != nil {
		return nil, err
	}
	return script.New(s, script.Options{})
}
