package search

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"garuda/internal/nearest"
)

// fileTypes are grep's names for kinds of files: endings with a dot, or whole names.
func fileTypes() map[string]string {
	return map[string]string{
		"c":          ".c .h",
		"cpp":        ".cc .cpp .cxx .c++ .hh .hpp .hxx .h .inl",
		"cs":         ".cs",
		"css":        ".css .scss .sass .less",
		"docker":     "Dockerfile .dockerfile",
		"elixir":     ".ex .exs",
		"go":         ".go",
		"html":       ".html .htm",
		"java":       ".java",
		"js":         ".js .jsx .mjs .cjs .vue",
		"json":       ".json .jsonc",
		"kotlin":     ".kt .kts",
		"lua":        ".lua",
		"make":       "Makefile makefile GNUmakefile .mk .mak",
		"md":         ".md .markdown .mdx",
		"php":        ".php",
		"proto":      ".proto",
		"py":         ".py .pyi",
		"rb":         ".rb .gemspec Gemfile Rakefile",
		"rust":       ".rs",
		"scala":      ".scala .sbt",
		"sh":         ".sh .bash .zsh",
		"sql":        ".sql",
		"swift":      ".swift",
		"toml":       ".toml",
		"ts":         ".ts .tsx .mts .cts",
		"txt":        ".txt",
		"xml":        ".xml .xsd .xsl",
		"yaml":       ".yaml .yml",
		"zig":        ".zig",
		"python":     ".py .pyi",
		"typescript": ".ts .tsx .mts .cts",
		"javascript": ".js .jsx .mjs .cjs .vue",
		"ruby":       ".rb .gemspec Gemfile Rakefile",
		"markdown":   ".md .markdown .mdx",
	}
}

// typeFilter returns what tells whether a name is of a type.
func typeFilter(name string) (func(file string) bool, error) {
	types := fileTypes()
	endings, ok := types[name]
	if !ok {
		names := slices.Sorted(maps.Keys(types))
		if near := nearest.Of(name, names); near != "" {
			return nil, fmt.Errorf("there is no type %q; did you mean %q?", name, near)
		}
		return nil, fmt.Errorf("there is no type %q; use glob, or one of %s", name, strings.Join(names, ", "))
	}
	list := strings.Fields(endings)
	return func(file string) bool {
		for _, e := range list {
			if e[0] == '.' && strings.HasSuffix(file, e) || file == e {
				return true
			}
		}
		return false
	}, nil
}
