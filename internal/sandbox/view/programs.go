package view

import (
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/proc"
)

// ProgramPlaces are what a server or hook needs besides what every command sees: the
// folder of its program, and those of arguments that are absolute paths, as the user's
// own configuration names them. Where such a path lies in a tree of packages it is the
// whole outermost one, since programs take what they need from there. Which of these
// may be shown is for Builder.With to say.
func (b *Builder) ProgramPlaces(argv []string) []Place {
	var out []Place
	for i, arg := range argv {
		file := arg
		if i == 0 && !strings.ContainsRune(filepath.ToSlash(arg), '/') {
			file = proc.LookPath(arg, b.trustedPath())
		}
		if !filepath.IsAbs(file) {
			continue
		}
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			continue
		}
		place := real
		if !isFolder(real) {
			place = filepath.Dir(real)
		}
		if tree := b.packageTree(place); tree != "" {
			place = tree
		}
		why := "an argument of " + filepath.Base(argv[0])
		if i == 0 {
			why = "the program " + filepath.Base(argv[0])
		}
		out = append(out, Place{place, why})
	}
	return out
}

// packageTree is the outermost folder above or at dir that holds packages and may be
// shown: one called node_modules or site-packages, or that a file marks as one.
func (b *Builder) packageTree(dir string) string {
	tree := ""
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if marksPackages(dir) && b.rules.check(dir, dir) == nil {
			tree = dir
		}
	}
	return tree
}

func marksPackages(dir string) bool {
	switch filepath.Base(dir) {
	case "node_modules", "site-packages":
		return true
	}
	return slices.ContainsFunc([]string{"pyvenv.cfg", "go.mod", "package.json"}, func(mark string) bool {
		return exists(filepath.Join(dir, mark))
	})
}
