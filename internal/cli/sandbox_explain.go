package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"garuda/internal/core"
	"garuda/internal/wire"
)

func explainHead(out io.Writer, c *wire.Confinement) {
	fmt.Fprintf(out, "Commands run in the sandbox %s. What is not named here does not exist for them.\n", c.Backend)
	for _, w := range c.Weaknesses {
		fmt.Fprintln(out, core.Visible(w))
	}
	for _, b := range c.Better {
		fmt.Fprintln(out, core.Visible(b))
	}
}

// explainShort says it on a screen: what is alike is put together.
func explainShort(out io.Writer, c *wire.Confinement) error {
	explainHead(out, c)
	project := ""
	for _, l := range c.Places {
		if l.Why == "the project" {
			project = l.Path
		}
	}
	parts := map[string][]string{}
	var caches, settings, system []string
	for _, l := range c.Places {
		tool, cache := strings.CutSuffix(l.Why, ": a cache")
		ofTool, copied := strings.CutPrefix(strings.TrimSuffix(l.Why, ", a copy without credentials"), "settings of ")
		switch {
		case l.Access == "write" && cache:
			caches = append(caches, strings.TrimSuffix(strings.TrimPrefix(tool, "a "), " names it"))
		case l.Access == "read" && copied:
			settings = append(settings, strings.TrimSuffix(ofTool, " names it"))
		case l.Access == "read" && inFolder("/etc", l.Path):
			system = append(system, "parts of /etc")
		case l.Access == "read" && l.Why == "the system":
			system = append(system, l.Path)
		case l.Access == "write":
			parts[l.Access] = append(parts[l.Access], l.Path+" ("+l.Why+")")
		default:
			parts[l.Access] = append(parts[l.Access], shortIn(project, l.Path))
		}
	}
	parts["write"] = append(parts["write"], together("caches of ", caches)...)
	read := append(together("", system), parts["read"]...)
	parts["read"] = append(read, together("settings without credentials, of ", settings)...)
	for _, part := range explainedParts() {
		if items := parts[part.access]; len(items) > 0 {
			fmt.Fprintf(out, "\n%s:\n", part.title)
			wrapList(out, items)
		}
	}
	explainRest(out, c)
	if n := len(c.Left); n > 0 {
		fmt.Fprintf(out, "Left out, although asked for or found: %d.\n", n)
	}
	_, err := fmt.Fprintln(out, "\nEvery place, and why: garuda sandbox explain --all")
	return err
}

// explainedParts are the kinds of places, in the order in which they are told.
func explainedParts() []struct{ access, title string } {
	return []struct{ access, title string }{
		{"write", "They may write"}, {"read", "They may read"},
		{"locked", "They may read, but not change or make"}, {"hidden", "They find empty"},
	}
}

func explainRest(out io.Writer, c *wire.Confinement) {
	fmt.Fprintf(out, "\nThey may reach %s.\n", core.Visible(c.Network))
	fmt.Fprintf(out, "Their environment has %s.\n", core.Visible(strings.Join(slices.Sorted(slices.Values(c.Env)), ", ")))
	fmt.Fprintln(out, "Bounds: "+boundsInWords(c)+".")
}

// together is one item for many names, each once; none for none.
func together(before string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return []string{before + strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")}
}

// shortIn is a path, from the project's folder where it lies in it.
func shortIn(project, path string) string {
	if project != "" && path != project && inFolder(project, path) {
		return path[len(project)+1:]
	}
	return path
}

func inFolder(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// maxWide is how wide a line of a list becomes, and maxListed how much of it is named.
const maxWide, maxListed = 100, 40

// wrapList prints items with commas between, in lines.
func wrapList(out io.Writer, items []string) {
	if more := len(items) - maxListed; more > 0 {
		items = append(slices.Clone(items[:maxListed]), fmt.Sprintf("and %d more", more))
	}
	line := " "
	for i, item := range items {
		item = core.Visible(item)
		if i < len(items)-1 {
			item += ","
		}
		if len(line) > 1 && len(line)+1+len(item) > maxWide {
			fmt.Fprintln(out, line)
			line = " "
		}
		line += " " + item
	}
	fmt.Fprintln(out, line)
}

// explainWhole names every place.
func explainWhole(out io.Writer, c *wire.Confinement) error {
	explainHead(out, c)
	for _, part := range explainedParts() {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		titled := false
		for _, l := range c.Places {
			if l.Access != part.access {
				continue
			}
			if !titled {
				fmt.Fprintf(out, "\n%s:\n", part.title)
				titled = true
			}
			where := l.Path
			if l.Host != "" {
				where += " (" + l.Host + ")"
			}
			fmt.Fprintf(w, "  %s\t%s\n", core.Visible(where), core.Visible(l.Why))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	explainRest(out, c)
	for _, l := range c.Left {
		fmt.Fprintf(out, "Left out: %s: %s\n", core.Visible(l.Path), core.Visible(l.Why))
	}
	return nil
}
