package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// ChangedState finds package-level variables that are changed after init: those
// that a function assigns to, of this package or another, and those whose type is
// made to be changed (a mutex, an atomic, a sync.Map). Two runtimes live in one
// process, so what one of them changes must be its own.
func ChangedState(root string) ([]Offence, error) {
	packages, err := parsePackages(root)
	if err != nil {
		return nil, err
	}
	var out []Offence
	for _, p := range packages {
		if !within(p.pkg, beside()) {
			out = append(out, p.changedState()...)
		}
	}
	return out, nil
}

func (p *parsed) changedState() []Offence {
	s := &stateCheck{parsed: p, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	config := types.Config{
		// What other packages export is of no interest here, and the files of all
		// systems are checked together, so there are always errors.
		Importer: strangers{}, Error: func(error) {},
	}
	s.pkg, _ = config.Check(p.pkg, p.set, p.files, s.info)
	for _, file := range p.files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Body != nil && !(d.Name.Name == "init" && d.Recv == nil) {
					ast.Inspect(d.Body, s.statement)
				}
			case *ast.GenDecl:
				s.declaration(d)
				// A function that a variable holds runs after init.
				ast.Inspect(d, func(n ast.Node) bool {
					if f, ok := n.(*ast.FuncLit); ok {
						ast.Inspect(f.Body, s.statement)
						return false
					}
					return true
				})
			}
		}
	}
	return s.found
}

// strangers stands in for every imported package with an empty one.
type strangers struct{}

func (strangers) Import(importPath string) (*types.Package, error) {
	name := path.Base(importPath)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(importPath))
	}
	pkg := types.NewPackage(importPath, strings.ReplaceAll(name, "-", "_"))
	pkg.MarkComplete()
	return pkg, nil
}

type stateCheck struct {
	*parsed
	info  *types.Info
	pkg   *types.Package
	found []Offence
}

func (s *stateCheck) statement(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, to := range n.Lhs {
				s.change(to, "is assigned to")
			}
		}
	case *ast.IncDecStmt:
		s.change(n.X, "is assigned to")
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			s.change(n.Key, "is assigned to")
			s.change(n.Value, "is assigned to")
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"delete", "clear", "copy"}, f.Name) && len(n.Args) > 0 {
			s.change(n.Args[0], "is changed by "+f.Name)
		}
	}
	return true
}

// change notes an offence when the expression leads to a package-level variable.
func (s *stateCheck) change(e ast.Expr, how string) {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if p, ok := s.info.Uses[id].(*types.PkgName); ok {
					s.offence(x, p.Name()+"."+x.Sel.Name, how)
					return
				}
			}
			e = x.X
		case *ast.Ident:
			if v, ok := s.info.Uses[x].(*types.Var); ok && v.Parent() == s.pkg.Scope() {
				s.offence(x, x.Name, how)
			}
			return
		default:
			return
		}
	}
}

// declaration notes variables of a type that exists to be changed.
func (s *stateCheck) declaration(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		kinds := []ast.Expr{v.Type}
		for _, value := range v.Values {
			if u, ok := value.(*ast.UnaryExpr); ok {
				value = u.X
			}
			if c, ok := value.(*ast.CompositeLit); ok {
				kinds = append(kinds, c.Type)
			}
		}
		for _, kind := range kinds {
			if name := changeable(kind); name != "" {
				s.offence(v, v.Names[0].Name, "is a "+name)
			}
		}
	}
}

// changeable names the type when it is made to be changed. A sync.Pool holds
// nothing that matters, and sync.OnceValue needs no variable to change.
func changeable(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return changeable(e.X)
	case *ast.IndexExpr: // atomic.Pointer[T]
		return changeable(e.X)
	case *ast.ArrayType:
		return changeable(e.Elt)
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			return ""
		}
		name := pkg.Name + "." + e.Sel.Name
		if pkg.Name == "atomic" || slices.Contains([]string{"sync.Mutex", "sync.RWMutex", "sync.Map", "sync.Once", "sync.WaitGroup", "sync.Cond"}, name) {
			return name
		}
	}
	return ""
}

func (s *stateCheck) offence(at ast.Node, name, how string) {
	s.found = append(s.found, Offence{
		Path: []string{s.parsed.pkg, name}, Where: s.position(at).String(),
		Why: fmt.Sprintf("the package-level variable %s, and two runtimes share it", how),
	})
}
