package workspace

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// RootError says why a folder may not be worked in.
type RootError struct{ Path, Reason string }

func (e *RootError) Error() string {
	return fmt.Sprintf("%s may not be used: %s. Start Garuda in a project folder", e.Path, e.Reason)
}

// CheckRoot reports why the folder with this real path may not be a root or an
// added folder: a *RootError, or nil. Such a folder would put the user's keys,
// other projects or Garuda's own rules within reach of the tools.
func CheckRoot(real string, opt Options) error {
	refuse := func(reason string) error { return &RootError{Path: real, Reason: reason} }
	clean := filepath.Clean(real)
	if filepath.Dir(clean) == clean {
		return refuse("it is the top of the file system")
	}
	if top, ok := kernelTree(clean); ok {
		return refuse("it lies in " + top + ", which is the kernel's")
	}
	for _, tmp := range sharedTempFolders() {
		if samePath(clean, tmp) {
			return refuse("it is the temporary folder that all programs share")
		}
	}
	for _, home := range spellings(opt.Home) {
		if samePath(clean, home) {
			return refuse("it is your home folder, which holds keys and other projects")
		}
		if _, ok := below(clean, home); ok {
			return refuse("it holds your home folder " + home)
		}
	}
	for _, state := range spellings(opt.GarudaHome) {
		if _, ok := below(clean, state); ok {
			return refuse("it holds Garuda's own folder " + state)
		}
	}
	if otherHome(clean) {
		return refuse("it is a home folder")
	}
	return nil
}

// spellings returns the path and, when links lead elsewhere, where they lead;
// also for a path whose last parts do not exist yet.
func spellings(path string) []string {
	if path == "" {
		return nil
	}
	path = filepath.Clean(path)
	out := []string{path}
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if real = filepath.Join(real, rest); real != path {
				out = append(out, real)
			}
			return out
		}
		if filepath.Dir(dir) == dir {
			return out
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// kernelTree reports whether a clean absolute path lies where the kernel shows
// its own state as files, and which of them.
func kernelTree(path string) (string, bool) {
	if runtime.GOOS == "windows" {
		return "", false
	}
	for _, top := range [...]string{"/proc", "/sys", "/dev"} {
		if _, ok := below(top, path); ok {
			return top, true
		}
	}
	return "", false
}

func sharedTempFolders() []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Clean(os.TempDir())}
	}
	return []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"}
}

// otherHome reports whether the path is the home folder of some user. Only the
// places where systems keep them are looked at: an account such as www-data may
// have a project's folder for its home.
func otherHome(path string) bool {
	parent := filepath.Dir(path)
	switch runtime.GOOS {
	case "windows":
		return strings.EqualFold(filepath.Base(parent), "Users") && filepath.Dir(filepath.Dir(parent)) == filepath.Dir(parent)
	case "darwin":
		return samePath(parent, "/Users") || path == "/var/root" || path == "/private/var/root"
	}
	if path == "/root" {
		return true
	}
	if parent != "/home" {
		return false
	}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return true // whose folder it is cannot be told
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) > 5 && filepath.Clean(fields[5]) == path {
			return true
		}
	}
	return false
}
