package sandbox

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// EnvOptions say what a command's environment is built from.
type EnvOptions struct {
	// Lookup reads one variable of Garuda's environment (os.LookupEnv).
	Lookup func(name string) (string, bool)
	// Allow are further names that the user's settings pass on (env.allow).
	Allow []string
	// Secret reports names that are never passed on, also when allowed: those
	// whose values Garuda took as provider keys. May be nil.
	Secret func(name string) bool
}

// BuildEnv makes the environment of a command, sorted. It is built and not
// filtered: what is not named here or in env.allow does not exist for a
// command, so no key, token or agent socket reaches one by being forgotten.
func BuildEnv(opt EnvOptions) []string {
	vars := map[string]string{}
	take := func(names []string) {
		for _, name := range names {
			if !passable(name) || opt.Secret != nil && opt.Secret(name) {
				continue
			}
			if v, ok := opt.Lookup(name); ok && !strings.ContainsRune(v, 0) {
				vars[name] = v
			}
		}
	}
	take(basicVariables)
	if runtime.GOOS == "windows" {
		take(windowsVariables)
	}
	take(opt.Allow)
	vars["PATH"] = cleanPath(vars["PATH"])
	for name, v := range fixedVariables {
		vars[name] = v
	}
	env := make([]string, 0, len(vars))
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}

// basicVariables are what programs need of a user's environment. CI is not
// among them: it makes tools behave as if nobody watched.
var basicVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "TZ",
	"LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
	"LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
}

// windowsVariables are those without which most programs there do not start or
// do not find their files.
var windowsVariables = []string{
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "TEMP", "TMP",
	"USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
	"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "CommonProgramFiles",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS",
}

// fixedVariables keep programs from waiting for a person: nobody is there to
// type, and no pager to scroll. They win over env.allow.
var fixedVariables = map[string]string{
	"GIT_TERMINAL_PROMPT": "0",
	"GIT_EDITOR":          "true",
	"PAGER":               "cat",
	"GIT_PAGER":           "cat",
}

// passable reports whether a name can be a variable of an environment.
func passable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }

// cleanPath is the PATH without its relative and empty entries, which would run
// what the project placed there, or the system's own when nothing is left.
func cleanPath(path string) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(entries) == 0 && runtime.GOOS != "windows" {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(entries, string(filepath.ListSeparator))
}

// WithEnv is an environment with these variables in it, in the place of its own of
// the same names. It changes neither.
func WithEnv(env, more []string) []string {
	names := make(map[string]bool, len(more))
	for _, kv := range more {
		name, _, _ := strings.Cut(kv, "=")
		names[name] = true
	}
	out := make([]string, 0, len(env)+len(more))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !names[name] {
			out = append(out, kv)
		}
	}
	return append(out, more...)
}
