package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// layers is the order of docs/architecture.md, from the top. A package may import
// what stands in its own layer or below. A name covers the packages below it.
func layers() [][]string {
	return [][]string{
		{"cmd"},
		{"internal/cli"},
		{"internal/wire", "internal/demo"},
		{"internal/front"},
		{"internal/engine"},
		{"internal/tool", "internal/tools", "internal/policy", "internal/llm", "internal/session"},
		{
			"internal/attack", "internal/sandbox", "internal/proc", "internal/workspace", "internal/watched", "internal/snapshot", "internal/state",
			"internal/audit", "internal/config", "internal/secret", "internal/mcp", "internal/hooks", "internal/skills",
			"internal/lsp", "internal/codeindex", "internal/webfetch", "internal/jobs", "internal/ui", "internal/notebook", "internal/picture", "internal/pdf", "internal/instructions",
		},
		{"internal/nearest", "internal/mention", "internal/profile", "internal/jsonc", "internal/userfile", "internal/gitlink", "internal/pathglob", "internal/protect", "internal/hostname", "internal/netguard"},
		{"internal/core"},
	}
}

// beside are packages that are no part of the program: what they import is their
// affair, and nothing of the program may import them.
func beside() []string {
	return []string{"internal/archtest", "internal/testkit", "internal/sandbox/executortest", "internal/llm/llmtest", "scripts", "test"}
}

// ban says what a package must not reach, directly or through others.
type ban struct {
	from, why string
	to        []string
	// direct bans look at the package's own imports only.
	direct bool
	except []string
}

func bans() []ban {
	return []ban{
		{
			from: "internal/engine", why: "the engine knows no surface, no provider, no tool and no terminal",
			to: []string{
				"internal/front", "internal/tools", "internal/llm/anthropic", "internal/llm/chat", "internal/llm/responses",
				"internal/llm/gemini", "internal/llm/provider", "golang.org/x/term", "charm.land/lipgloss", "charm.land/bubbles",
			},
		},
		{
			from: "internal/tools", why: "a tool declares its effects; it never decides, and knows no model",
			to: []string{"internal/policy", "internal/engine", "internal/llm", "internal/session", "internal/config"},
		},
		{
			from: "internal", why: "only sandbox and proc start processes", direct: true,
			to: []string{"os/exec"}, except: []string{"internal/sandbox", "internal/proc"},
		},
		{
			from: "internal", why: "this package is not among those that may use the network", direct: true,
			to: []string{"net", "net/http", "crypto/tls"}, except: []string{"internal/llm", "internal/webfetch", "internal/netguard", "internal/sandbox/netproxy", "internal/mcp", "internal/jobs", "internal/attack"},
		},
		{from: "internal/ui", why: "ui is strings in, lines out", to: []string{"internal/engine"}},
		{from: "internal/ui", why: "ui is strings in, lines out", to: []string{"os"}, direct: true},
		{from: "cmd", why: "tests and their tools are no part of the program", to: append(beside(), "testing")},
	}
}

// Offence is a broken rule and where it is broken.
type Offence struct {
	// Path leads from the package that must not to what it must not reach.
	Path []string
	// Where is the file and line of the first step.
	Where, Why string
}

func (o Offence) String() string {
	return fmt.Sprintf("%s: %s: %s", o.Where, strings.Join(o.Path, " → "), o.Why)
}

// Direction finds imports that point up, and what is banned.
func (g Graph) Direction() []Offence {
	var out []Offence
	for _, from := range g.packages() {
		if within(from, beside()) {
			continue
		}
		rank := layerOf(from)
		if rank < 0 {
			out = append(out, Offence{[]string{from}, from, "stands in no layer; give it one in internal/archtest/direction.go"})
			continue
		}
		for _, i := range g[from] {
			if to := layerOf(i.Package); !i.Test && g.own(i.Package) && to > rank {
				out = append(out, Offence{[]string{from, i.Package}, i.Position.String(), "imports point down, never up"})
			}
			if from == "internal/core" && !i.Test && !standard(i.Package) && !covers("internal/core", i.Package) {
				out = append(out, Offence{[]string{from, i.Package}, i.Position.String(), "core imports only the standard library"})
			}
		}
		for _, b := range bans() {
			if covers(b.from, from) && !within(from, b.except) {
				out = append(out, g.reach(from, b)...)
			}
		}
	}
	return out
}

// reach finds the shortest way from a package to each thing that is banned for it.
func (g Graph) reach(from string, b ban) []Offence {
	var out []Offence
	seen := map[string]bool{from: true}
	type step struct {
		path  []string
		where string
	}
	queue := []step{{path: []string{from}}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, i := range g[at.path[len(at.path)-1]] {
			if i.Test || seen[i.Package] {
				continue
			}
			seen[i.Package] = true
			next := step{append(slices.Clone(at.path), i.Package), at.where}
			if next.where == "" {
				next.where = i.Position.String()
			}
			if b.hits(i.Package) {
				out = append(out, Offence{next.path, next.where, b.why})
			} else if !b.direct {
				queue = append(queue, next)
			}
		}
	}
	return out
}

// hits reports whether the package is banned. A direct ban is for that very
// package (net, but not net/url), the others also for those below it.
func (b ban) hits(pkg string) bool {
	if b.direct {
		return slices.Contains(b.to, pkg)
	}
	return within(pkg, b.to)
}

// layerOf returns a package's layer from the bottom, or -1.
func layerOf(pkg string) int {
	all := layers()
	for i, layer := range all {
		if within(pkg, layer) {
			return len(all) - 1 - i
		}
	}
	return -1
}

// covers reports whether pkg is the named package or one below it.
func covers(name, pkg string) bool { return pkg == name || strings.HasPrefix(pkg, name+"/") }

func within(pkg string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return covers(n, pkg) })
}

// standard reports whether an import path is the standard library's: its first
// part has no dot, and it is no package of this module.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != "internal" && first != "cmd"
}
