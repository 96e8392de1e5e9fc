// Package archtest holds what the repository demands of itself: who may import
// whom, that no package keeps changing state, that every dependency is accounted
// for, that generated documents are up to date, and that no tracked file tells of
// the machine it was written on.
//
// Its checks are ordinary functions over sources, so that each has a test of its
// own with an offence in it. Nothing of it is ever part of the program.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is this module's path.
const Module = "garuda"

// Graph maps a package to what it imports. Packages of this module are named from
// its root ("internal/core"), others by their import path.
type Graph map[string][]Import

// Import is one import and where it stands.
type Import struct {
	Package  string
	Position token.Position
	// Test is true for an import that only tests have.
	Test bool
}

// ReadGraph reads the imports of every package below root, of all systems' files.
func ReadGraph(root string) (Graph, error) {
	g := Graph{}
	err := eachGoFile(root, func(path string) error {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("read imports: %w", err)
		}
		from := filepath.ToSlash(filepath.Dir(path))
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("read imports of %s: %w", path, err)
			}
			at := set.Position(spec.Pos())
			at.Filename = filepath.ToSlash(path)
			g[from] = append(g[from], Import{inModule(to), at, strings.HasSuffix(path, "_test.go")})
		}
		if _, ok := g[from]; !ok {
			g[from] = nil
		}
		return nil
	})
	return g, err
}

func inModule(path string) string {
	if rest, ok := strings.CutPrefix(path, Module+"/"); ok {
		return rest
	}
	return path
}

// own reports whether the graph has the package's sources.
func (g Graph) own(pkg string) bool {
	_, ok := g[pkg]
	return ok
}

// packages lists the module's packages in order.
func (g Graph) packages() []string {
	var all []string
	for p := range g {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// eachGoFile calls f with the path from root of every Go file that the go command
// would look at.
func eachGoFile(root string, f func(path string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name[0] == '.' || name[0] == '_' || name == "testdata" || ownModule(path)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || name[0] == '.' || name[0] == '_' {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return f(rel)
	})
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// parsed is one package's files, tests left out.
type parsed struct {
	pkg   string
	set   *token.FileSet
	files []*ast.File
}

func (p *parsed) position(n ast.Node) token.Position { return p.set.Position(n.Pos()) }

// parsePackages parses every file of the module but tests.
func parsePackages(root string) ([]*parsed, error) {
	byName := map[string]*parsed{}
	var out []*parsed
	err := eachGoFile(root, func(path string) error {
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		p := byName[pkg]
		if p == nil {
			p = &parsed{pkg: pkg, set: token.NewFileSet()}
			byName[pkg] = p
			out = append(out, p)
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(p.set, filepath.ToSlash(path), text, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		p.files = append(p.files, file)
		return nil
	})
	return out, err
}
