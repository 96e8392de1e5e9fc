package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Picture draws the imports between the parts of the program as a Mermaid chart.
// A part is a folder of internal with all below it; an arrow that follows from
// others is left out, so that the chart shows the shape and not every line.
func (g Graph) Picture() string {
	edges := map[string]map[string]bool{}
	for _, pkg := range g.packages() {
		if within(pkg, beside()) {
			continue
		}
		from := part(pkg)
		if edges[from] == nil {
			edges[from] = map[string]bool{}
		}
		for _, i := range g[pkg] {
			if to := part(i.Package); !i.Test && g.own(i.Package) && to != from {
				edges[from][to] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, layer := range layers() {
		var present []string
		for _, name := range layer {
			for p := range edges {
				if covers(name, p) || "internal/"+p == name {
					present = append(present, p)
				}
			}
		}
		slices.Sort(present)
		if len(present) > 0 {
			fmt.Fprintf(&b, "  subgraph %s_layer [\" \"]\n    %s\n  end\n", present[0], strings.Join(present, "\n    "))
		}
	}
	for _, from := range sorted(edges) {
		for _, to := range sorted(edges[from]) {
			if !byDetour(edges, from, to) {
				fmt.Fprintf(&b, "  %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// part is the name that a package's folder has in the picture.
func part(pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, "internal/"), "/")
	return name
}

// byDetour reports whether to is reached from from by another way than straight.
func byDetour(edges map[string]map[string]bool, from, to string) bool {
	seen := map[string]bool{from: true}
	var walk func(at string) bool
	walk = func(at string) bool {
		if at == to {
			return true
		}
		if seen[at] {
			return false
		}
		seen[at] = true
		return slices.ContainsFunc(sorted(edges[at]), walk)
	}
	for _, next := range sorted(edges[from]) {
		if next != to && walk(next) {
			return true
		}
	}
	return false
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
