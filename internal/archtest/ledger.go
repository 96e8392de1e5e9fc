package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Ledger compares the modules that the sources import with the rows of
// docs/dependencies.md, and wants every row to be complete.
func Ledger(g Graph, required []string, document string) []string {
	rows := ledgerRows(document)
	used := map[string]string{}
	for _, pkg := range g.packages() {
		for _, i := range g[pkg] {
			if standard(i.Package) || g.own(i.Package) || covers("internal", i.Package) {
				continue
			}
			module := moduleOf(i.Package, required)
			if module == "" {
				module = i.Package
			}
			used[module] = i.Position.String()
		}
	}
	var out []string
	for module, where := range used {
		if rows[module] == nil {
			out = append(out, fmt.Sprintf("%s: module %s has no row in docs/dependencies.md (module, what for, why this one, weight)", where, module))
		}
	}
	for module, cells := range rows {
		if used[module] == "" {
			out = append(out, fmt.Sprintf("docs/dependencies.md: nothing imports %s", module))
		}
		if len(cells) != 4 || slices.Contains(cells, "") {
			out = append(out, fmt.Sprintf("docs/dependencies.md: the row of %s must say what for, why this one, and weight", module))
		}
	}
	slices.Sort(out)
	return out
}

// moduleOf finds the module that holds a package: the longest that it begins with.
func moduleOf(pkg string, modules []string) string {
	best := ""
	for _, m := range modules {
		if covers(m, pkg) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

// ledgerRows reads the rows of the document's table of modules: those whose first
// cell is a module's path in backquotes.
func ledgerRows(document string) map[string][]string {
	_, table, _ := strings.Cut(document, "| module |")
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" && len(rows) > 0 {
			break // the table's end
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if name := strings.Trim(cells[0], "`"); name != cells[0] {
			rows[name] = cells
		}
	}
	return rows
}
