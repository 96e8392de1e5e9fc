package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writers may change files, each where it says. Everything below a project's root
// goes through workspace, snapshot or state.
func writers() map[string]string {
	return map[string]string{
		"internal/workspace": "the project's files",
		"internal/snapshot":  "the project's files, when changes are taken back",
		"internal/state":     "the project's .garuda folder",
		"internal/config":    "the user's settings for a project, in the home folder",
		"internal/proc":      "spilled output, in a folder that it is given, and the list of running processes",
		"internal/sandbox":   "its own temporary folders",
		"internal/secret":    "the copies of keys in this process's own memory, and the credentials file in the home folder",
		"internal/audit":     "the audit log, in the home folder",
		"internal/attack":    "decoys, in a folder that it is given",
		"internal/demo":      "a temporary folder of its own",
		"internal/cli":       "the temporary folder of the demo, and files that the user names",
	}
}

// FileWrites finds uses of package os that change files, in packages that may not.
func FileWrites(root string) ([]Offence, error) {
	changing := strings.Fields(`WriteFile Create CreateTemp Mkdir MkdirAll MkdirTemp Rename Remove RemoveAll
		Chmod Chown Lchown Chtimes Symlink Link Truncate O_CREATE O_WRONLY O_RDWR O_APPEND O_TRUNC`)
	return eachCall(root, "os", func(pkg, function string) string {
		if !slices.Contains(changing, function) || writerOf(pkg) {
			return ""
		}
		return "only workspace, snapshot and state write below the root; who else writes stands in internal/archtest/sources.go"
	})
}

func writerOf(pkg string) bool {
	for name := range writers() {
		if covers(name, pkg) {
			return true
		}
	}
	return false
}

// GrantMakers finds callers of tool.NewGrant outside package policy.
func GrantMakers(root string) ([]Offence, error) {
	return eachCall(root, "tool", func(pkg, function string) string {
		if function != "NewGrant" || pkg == "internal/policy" {
			return ""
		}
		return "only the policy lets a call run"
	})
}

// eachCall looks at every use of a function of the package with the local name,
// and makes an offence of those for which judge gives a reason.
func eachCall(root, local string, judge func(pkg, function string) string) ([]Offence, error) {
	packages, err := parsePackages(root)
	if err != nil {
		return nil, err
	}
	var out []Offence
	for _, p := range packages {
		if within(p.pkg, beside()) {
			continue
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == local {
					if why := judge(p.pkg, sel.Sel.Name); why != "" {
						out = append(out, Offence{[]string{p.pkg, local + "." + sel.Sel.Name}, p.position(sel).String(), why})
					}
				}
				return true
			})
		}
	}
	return out, nil
}

// maxLines is where a file has more than one subject.
const maxLines = 500

// Shape finds files that are too long, and packages whose name says nothing.
func Shape(root string) ([]Offence, error) {
	vague := []string{"util", "utils", "helper", "helpers", "common", "manager", "misc", "shared", "base"}
	var out []Offence
	err := eachGoFile(root, func(path string) error {
		path = filepath.ToSlash(path)
		dir := filepath.Base(filepath.Dir(path))
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".go"), "_test")
		if slices.Contains(vague, dir) || slices.Contains(vague, name) {
			out = append(out, Offence{[]string{path}, path, "the name says nothing of what is in it"})
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			out = append(out, Offence{[]string{path}, path, fmt.Sprintf("%d lines; a file of more than %d has more than one subject", n, maxLines)})
		}
		return nil
	})
	return out, err
}
