package shell

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/sandbox"
)

// Sandbox is what bash knows of the isolation of its commands. Its functions may be
// nil, and then the answer is no.
type Sandbox struct {
	// MayLeave reports whether a command may ask to run without isolation: there is
	// a sandbox, and nothing requires it.
	MayLeave func() bool
	// Offers reports whether the input that asks for it is described. Nil: where
	// MayLeave says so. What is described grants nothing.
	Offers func() bool
	// Locked reports whether the sandbox keeps commands from changing what lies at
	// this path (absolute and clean) inside the project.
	Locked func(abs string) bool
	// Network says in words what commands may reach: "no host", "only example.com".
	Network func() string
	// Limits are those of its commands.
	Limits sandbox.Limits
}

func (s *Sandbox) offers() bool {
	if s.Offers != nil {
		return s.Offers()
	}
	return s.mayLeave()
}

func (s *Sandbox) mayLeave() bool { return s.MayLeave != nil && s.MayLeave() }

// What commands say when the sandbox stood in the way. They run in the language C
// where that matters, and else mostly in English too; a hint that is missing costs
// the model one look more.
var (
	writeRefused   = []string{"read-only file system", "erofs"}
	changeRefused  = []string{"read-only file system", "device or resource busy", "operation not permitted", "permission denied", "erofs", "ebusy", "eperm"}
	missing        = []string{"no such file or directory", "enoent"}
	networkRefused = []string{
		"could not resolve", "name resolution", "name or service not known", "network is unreachable", "no such host",
		"enotfound", "eai_again", "enetunreach", "unable to resolve", "nodename nor servname", "getaddrinfo",
	}
)

// maxNamed is how many paths or hosts a hint names.
const maxNamed = 5

// confinement says what the sandbox kept a command from, for the model: nothing
// where nothing shows. said is what the command printed.
func confinement(s *Sandbox, call *bashCall, res *sandbox.Result, failed bool, said []string, root string) []string {
	var out []string
	locked := lockedPaths(s, call.text, said, root)
	if len(locked) > 0 {
		out = append(out, "the sandbox keeps commands from changing "+list(locked))
	}
	hosts := len(res.Refused) > 0
	if hosts {
		out = append(out, "the sandbox did not let it reach "+list(res.Refused))
	}
	if failed {
		switch where := pathsBeside(said, missing, root); {
		case !hosts && says(said, networkRefused):
			out = append(out, "commands in the sandbox can reach "+s.network())
		case len(locked) > 0:
		case call.readOnly && says(said, writeRefused):
			out = append(out, "plan mode: commands cannot write in the project now, only in /tmp")
		case says(said, writeRefused):
			out = append(out, "commands in the sandbox can write only in the project, /tmp and their own home folder")
		case len(where) > 0:
			out = append(out, "in the sandbox there may be nothing at "+list(where)+", also where this machine has it")
		}
	}
	out = append(out, limitsHit(s.Limits, res, failed, said)...)
	if len(out) > 0 && !call.readOnly && s.mayLeave() {
		out[len(out)-1] += "; what cannot work there can be asked for with outside_sandbox"
	}
	return out
}

func (s *Sandbox) network() string {
	if s.Network == nil {
		return "no host"
	}
	return s.Network()
}

// list names some of many.
func list(names []string) string {
	if rest := len(names) - maxNamed; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), rest)
	}
	return strings.Join(names, ", ")
}

func says(lines, texts []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return holdsOne(line, texts) })
}

// holdsOne reports whether a line holds one of the texts, in any case.
func holdsOne(line string, texts []string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(line, t) })
}

// lockedPaths are the locked paths that a command wrote to by its text, or that
// stand in what it said about a change that failed; from the root, each once.
func lockedPaths(s *Sandbox, text string, said []string, root string) []string {
	if s.Locked == nil {
		return nil
	}
	var out []string
	add := func(word string) {
		if word == "" {
			return
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(root, word)
		}
		word = filepath.Clean(word)
		rel, err := filepath.Rel(root, word)
		if err != nil || !filepath.IsLocal(rel) || !s.Locked(word) {
			return
		}
		if rel = filepath.ToSlash(rel); !slices.Contains(out, rel) {
			out = append(out, rel)
		}
	}
	for _, w := range written(text) {
		add(w)
	}
	for _, line := range said {
		if holdsOne(line, changeRefused) {
			for _, w := range pathWords(line) {
				add(w)
			}
		}
	}
	return out
}

// pathsBeside are the absolute paths outside the root in lines that hold one of the
// texts, each once.
func pathsBeside(said, texts []string, root string) []string {
	var out []string
	for _, line := range said {
		if !holdsOne(line, texts) {
			continue
		}
		for _, w := range pathWords(line) {
			rel, err := filepath.Rel(root, filepath.Clean(w))
			if filepath.IsAbs(w) && (err != nil || !filepath.IsLocal(rel)) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// pathWords are the words of a line that may be paths.
func pathWords(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t'\"`‘’“”,;:()[]<>=", r) })
	return slices.DeleteFunc(words, func(w string) bool { return strings.Trim(w, "./") == "" })
}
