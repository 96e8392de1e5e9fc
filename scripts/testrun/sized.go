package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// sizedTests are the folders and names of the tests below root that one of the names
// concerns: an environment variable that says how much they try, or a package. A test
// is concerned that has the name in it, or anything of its package that has.
func sizedTests(root string, about []string) (dirs, tests []string, err error) {
	packages := map[string][]unit{}
	var bad error
	err = eachTestFile(root, func(dir string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), dir, text, parser.SkipObjectResolution)
		if err != nil {
			bad = err
			return
		}
		for _, d := range file.Decls {
			packages[dir] = append(packages[dir], units(d)...)
		}
	})
	if err == nil && bad != nil {
		err = fmt.Errorf("look for tests that take a size: %w", bad)
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if found := concerned(packages[dir], about); len(found) > 0 {
			dirs, tests = append(dirs, dir), append(tests, found...)
		}
	}
	return dirs, tests, err
}

// unit is a function, a variable or a constant of a package.
type unit struct {
	name string
	node ast.Node
}

// units are what a declaration declares. Methods and TestMain give nothing: through
// them every test would be concerned.
func units(d ast.Decl) []unit {
	var out []unit
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name != "TestMain" {
			out = append(out, unit{d.Name.Name, d})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					out = append(out, unit{name.Name, v})
				}
			}
		}
	}
	return out
}

// concerned are the tests among the units that have one of the names in them, or
// another unit that has.
func concerned(all []unit, about []string) []string {
	names := map[string]bool{}
	for _, n := range about {
		names[n], names[strconv.Quote(n)] = true, true
	}
	var tests []string
	for found := true; found; {
		found = false
		for _, u := range all {
			if names[u.name] || !mentions(u.node, names) {
				continue
			}
			names[u.name], found = true, true
			if strings.HasPrefix(u.name, "Test") {
				tests = append(tests, u.name)
			}
		}
	}
	return tests
}

func mentions(in ast.Node, names map[string]bool) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || names[n.Name]
		case *ast.BasicLit:
			found = found || names[n.Value]
		}
		return !found
	})
	return found
}
