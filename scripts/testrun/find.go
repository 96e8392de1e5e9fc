package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type fuzzTarget struct{ dir, name string }

// fuzzTargets finds every fuzz function in the test files under root. Reading the
// sources is much faster than `go test -list`, which links every test binary.
func fuzzTargets(root string) ([]fuzzTarget, error) {
	declared := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)
	var found []fuzzTarget
	err := eachTestFile(root, func(dir string, text []byte) {
		for _, m := range declared.FindAllSubmatch(text, -1) {
			found = append(found, fuzzTarget{dir, string(m[1])})
		}
	})
	return found, err
}

// eachTestFile calls f with the folder (as go test takes it) and text of every
// test file of the module at root, leaving out what the go command leaves out.
func eachTestFile(root string, f func(dir string, text []byte)) error {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name[0] == '.' || name[0] == '_' || name == "testdata" || hasGoMod(path)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f("./"+filepath.ToSlash(filepath.Dir(path)), text)
		return nil
	})
	if err != nil {
		return fmt.Errorf("look through the test files: %w", err)
	}
	return nil
}

// hasGoMod reports whether dir is a module of its own.
func hasGoMod(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
