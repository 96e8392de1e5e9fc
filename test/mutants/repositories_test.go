//go:build mutants

package mutants

import "runtime"

// remembered are the rules on what is kept from one command, turn or start to the
// next, and on what a command may have left for later.
func remembered() []mutant {
	const (
		memory = "internal/sandbox/choose/memory_linux.go"
		links  = "internal/gitlink/gitlink.go"
	)
	out := []mutant{
		{"a submodule's settings are looked at", links, "note(settings)\n\tif what := offending(string(settings)); what != \"\" {", "note(settings)\n\tif what := \"\"; what != \"\" {", "TestPlanted"},
		{"a submodule's hooks are looked at", links, "return hooks(filepath.Join(gitDir, \"hooks\"), note)", "return \"\"", "TestPlanted"},
		{"a submodule takes its settings from itself", links, "!f.own(absolute(gitDir, at)) {", "false {", "TestPlanted"},
		{"submodules in submodules", links, "for _, name := range more {", "for _, name := range more[:0] {", "TestPlanted"},
		{"instructions in folders are watched", "internal/watched/watched.go", "range w.nested.files() {", "range w.nested.files()[:0] {", "TestNested"},
		{"what is put back is what was kept", "internal/snapshot/apply.go", "if !before {\n\t\treturn errChanged", "if !before && false {\n\t\treturn errChanged", "TestChangedMeanwhile"},
	}
	if runtime.GOOS == "linux" {
		out = append(out,
			mutant{"a remembered trial is the user's own", memory, "info.Mode().Perm()&0o077 == 0", "true", "TestATrialIsMade"},
			mutant{"and lies in no link", memory, "unix.O_NOFOLLOW | unix.O_NONBLOCK", "unix.O_NONBLOCK", "TestATrialIsMade"},
			mutant{"and is of the same circumstances", "internal/sandbox/choose/memory.go", "kept == memoryFile{memoryVersion, backend, facts}", "kept == memoryFile{memoryVersion, backend, kept.Facts}", "TestATrialIsMade"},
		)
	}
	return out
}
