package policy

import (
	"os"
	"path"
	"slices"
	"strings"
)

// Bounds of the search for the files that a pattern in a command stands for. What
// lies beyond them is not looked at.
const (
	maxGlobEntries = 4096
	maxGlobMatches = 256
)

// globber expands patterns as bash does: part by part, each in the folders that the
// parts before it met.
type globber struct{ entries, matches int }

// glob lists what an absolute pattern stands for at this moment.
func glob(pattern string) []string {
	g := globber{entries: maxGlobEntries, matches: maxGlobMatches}
	var out []string
	g.expand("", strings.Split(strings.TrimPrefix(pattern, "/"), "/"), &out)
	return out
}

func (g *globber) expand(dir string, parts []string, out *[]string) {
	// A path without pattern characters is followed without looking.
	for len(parts) > 0 && !strings.ContainsAny(parts[0], `*?[\`) {
		dir, parts = dir+"/"+parts[0], parts[1:]
	}
	if len(parts) == 0 {
		if g.matches > 0 && exists(dir) {
			g.matches--
			*out = append(*out, dir)
		}
		return
	}
	for _, name := range g.names(dir) {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(strings.TrimPrefix(parts[0], `\`), ".") {
			continue
		}
		if ok, err := path.Match(parts[0], name); err == nil && ok {
			g.expand(dir+"/"+name, parts[1:], out)
		}
		if g.matches == 0 {
			return
		}
	}
}

// names lists a folder as far as the bound allows, in order. A folder that cannot
// be read holds nothing for the command either.
func (g *globber) names(dir string) []string {
	if g.entries == 0 {
		return nil
	}
	f, err := os.Open(dir + "/")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(g.entries)
	if err != nil {
		return nil // it is empty, or no folder
	}
	g.entries -= len(names)
	slices.Sort(names)
	return names
}
