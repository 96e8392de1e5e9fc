package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"garuda/internal/sandbox"
)

// ErrNotFound is wrapped by the error for a program that is not there.
var ErrNotFound = errors.New("program not found")

// wellFormed reports what cmd lacks to be run by whatever executor.
func wellFormed(cmd *sandbox.Command) error {
	switch {
	case len(cmd.Argv) == 0 || cmd.Argv[0] == "":
		return errors.New("it names no program")
	case !filepath.IsAbs(cmd.Dir):
		return fmt.Errorf("its working directory %q is not an absolute path", cmd.Dir)
	}
	return nil
}

// Program is the absolute path of what cmd runs. The command's own PATH counts,
// not Garuda's; its relative entries do not, since they would run what the
// project placed there.
func Program(cmd *sandbox.Command) (string, error) {
	switch {
	case filepath.IsAbs(cmd.Argv[0]):
		return cmd.Argv[0], nil
	case strings.ContainsRune(filepath.ToSlash(cmd.Argv[0]), '/'):
		return filepath.Join(cmd.Dir, cmd.Argv[0]), nil
	}
	path := variable(cmd.Env, "PATH")
	if found := LookPath(cmd.Argv[0], path); found != "" {
		return found, nil
	}
	return "", fmt.Errorf("%w in PATH=%s", ErrNotFound, path)
}

// LookPath finds a program in the absolute entries of a PATH; "" when it is in none.
func LookPath(file, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, suffix := range executableSuffixes() {
			full := filepath.Join(dir, file+suffix)
			if executable(full) {
				return full
			}
		}
	}
	return ""
}

// executableSuffixes are what may be left out of a program's name.
func executableSuffixes() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".exe", ".com", ".bat", ".cmd"}
	}
	return []string{""}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" && filepath.Ext(path) != "" || info.Mode()&0o111 != 0 && runtime.GOOS != "windows"
}

// variable is the last value of a name in an environment, as execve's users see it.
func variable(env []string, name string) string {
	value := ""
	for _, e := range env {
		if k, v, ok := strings.Cut(e, "="); ok && (k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name)) {
			value = v
		}
	}
	return value
}
