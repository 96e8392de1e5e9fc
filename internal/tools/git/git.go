// Package git holds the five tools that look into a repository: git_status,
// git_diff, git_log, git_show and git_blame.
//
// They run git with fixed argument lists, without a shell, and with everything
// off that a repository could make git run: hooks, fsmonitor, pagers, external
// diffs, textconv, filters, signature checks, submodules, lazy fetches. They
// change nothing, decide nothing, and show no file that Env.MayRead hides.
package git

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// New returns the tools of this package.
func New() []tool.Tool { return []tool.Tool{status{}, diff{}, log{}, show{}, blame{}} }

const (
	// timeLimit is how long one git command may take.
	timeLimit = 30 * time.Second
	// outputLimit is how many bytes of a command's output are kept.
	outputLimit = 200 << 10
	// listLimit is the same for lists that are read here and not shown.
	listLimit = 16 << 20
)

// decode reads a call's input, which has already passed the tool's schema.
func decode[T any](input json.RawMessage) (*T, error) {
	in := new(T)
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return in, nil
}

// place is where a call looks: a path of the project, the root without one.
type place struct{ path workspace.Path }

// planAt plans a call that looks at a path, which need not exist any more.
func planAt(env *tool.Env, path string, input any, at *place) (*tool.Plan, error) {
	if env.Exec == nil {
		return nil, errors.New("no commands can be run in this session, git neither")
	}
	p, err := env.Workspace.Resolve(cmp.Or(path, "."))
	if err != nil {
		return nil, err
	}
	at.path = p
	return &tool.Plan{
		Target: p.Rel, ReadOnly: true, Parallel: true, Input: input,
		Effects: tool.Effects{Reads: []string{p.Abs}, Real: p.Through()},
	}, nil
}

// checkRef refuses what git would take for something else than a commit.
func checkRef(ref string) error {
	switch {
	case strings.HasPrefix(ref, "-"):
		return fmt.Errorf("%q begins with -, as no commit, branch or tag does", ref)
	case strings.ContainsAny(ref, ":"):
		return fmt.Errorf("%q names a file in a commit; give the commit as ref and the file as path", ref)
	case strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("%q holds blanks or control characters, as no commit, branch or tag does", ref)
	}
	return nil
}

// noRepositoryError is told as it is.
type noRepositoryError struct{ folder string }

func (e *noRepositoryError) Error() string { return e.folder + " is not a git repository." }

// repository runs git in the root.
type repository struct {
	env *tool.Env
	// off are settings that switch off what the repository's own would run.
	off [][2]string
}

// quiet are settings under which git starts no other program and looks into no
// other repository.
func quiet() [][2]string {
	return [][2]string{
		{"core.fsmonitor", "false"}, {"core.hooksPath", "/dev/null"}, {"core.untrackedCache", "false"}, {"core.pager", "cat"},
		{"core.quotePath", "false"}, {"log.showSignature", "false"}, {"diff.external", ""}, {"diff.ignoreSubmodules", "dirty"},
		{"diff.submodule", "short"}, {"status.submoduleSummary", "false"}, {"color.ui", "never"}, {"credential.helper", ""},
	}
}

// open finds out which filters the repository's own configuration would run.
func open(ctx context.Context, env *tool.Env) (*repository, error) {
	r := &repository{env: env}
	out, err := r.read(ctx, listLimit, "config", "--null", "--show-scope", "--includes", "--name-only", "--get-regexp", `^(filter|diff|merge)\.`)
	var failed *failedError
	switch {
	case errors.As(err, &failed) && failed.code == 1: // none
		return r, nil
	case err != nil:
		return nil, err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if scope, key := fields[i], fields[i+1]; scope != "system" && scope != "global" {
			if value, ok := neutral(key); ok {
				r.off = append(r.off, [2]string{key, value})
			}
		}
	}
	return r, nil
}

// neutral is the value that switches a setting off which names a program. Git
// takes an empty command for none.
func neutral(key string) (value string, ok bool) {
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch {
	case section == "filter" && name == "required":
		return "false", true
	case section == "filter", section == "diff" && (name == "command" || name == "textconv"), section == "merge" && name == "driver":
		return "", true
	}
	return "", false
}

// failedError is a git command that ended with an error.
type failedError struct {
	code   int
	stderr string
}

func (e *failedError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("git ended with exit code %d", e.code)
	}
	return e.stderr
}

// read runs git and returns what it printed, cut in the middle at limit bytes.
func (r *repository) read(ctx context.Context, limit int, args ...string) (string, error) {
	root := r.env.Workspace.Root()
	res, err := r.env.Exec.Run(ctx, &sandbox.Command{
		Argv: append([]string{"git", "--no-pager", "--no-optional-locks"}, args...), Dir: root,
		Env: gitEnv(r.env.CommandEnv, append(quiet(), r.off...)), Timeout: timeLimit, Limit: limit, ReadOnlyRoot: true,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("run git: %w", err)
	case res.Interrupted:
		return "", tool.ErrInterrupted
	case res.TimedOut:
		return "", fmt.Errorf("git took longer than %s and was stopped", timeLimit)
	case res.ExitCode != 0:
		said := strings.TrimSpace(text(res.Stderr))
		if strings.Contains(said, "not a git repository") {
			return "", &noRepositoryError{root}
		}
		return "", &failedError{code: res.ExitCode, stderr: strings.TrimPrefix(said, "fatal: ")}
	}
	return text(res.Stdout), nil
}

// text is a stream as text; where its middle was cut it says so.
func text(c sandbox.Captured) string {
	if len(c.Tail) == 0 {
		return strings.ToValidUTF8(string(c.Head), "\ufffd")
	}
	left := c.Total - int64(len(c.Head)) - int64(len(c.Tail))
	return strings.ToValidUTF8(string(c.Head), "\ufffd") + fmt.Sprintf("\n[… %d bytes left out; narrow it with path …]\n", left) +
		strings.ToValidUTF8(string(c.Tail), "\ufffd")
}

// gitEnv is the environment of commands without what steers git, and with what
// keeps it from asking, fetching and writing. Settings go through the
// environment: in an argument a name with = in it would be read as another.
func gitEnv(base []string, settings [][2]string) []string {
	env := make([]string, 0, len(base)+8+2*len(settings))
	for _, kv := range base {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "GIT_") && name != "PAGER" && !strings.HasPrefix(name, "LC_") && name != "LANG" && name != "LANGUAGE" {
			env = append(env, kv)
		}
	}
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat",
		"LC_ALL=C.UTF-8", "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, kv := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return env
}

// pathspec are the arguments that name where to look, from -- on. The root needs
// to be named too: the repository may begin above it.
func (at *place) pathspec(root string, hidden []string) []string {
	out := []string{"--", ":(literal)" + relative(root, at.path)}
	for _, h := range hidden {
		out = append(out, ":(exclude,top,literal)"+h)
	}
	return out
}

// relative is a path as git gets it, seen from the root.
func relative(root string, p workspace.Path) string {
	if rel, err := filepath.Rel(root, p.Abs); err == nil {
		return filepath.ToSlash(rel)
	}
	return p.Abs
}

// hidden lists the files of a change that may not be shown, as paths from the
// repository's top. args print them with -z and names only.
func (r *repository) hidden(ctx context.Context, args ...string) ([]string, error) {
	top, err := r.read(ctx, listLimit, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	names, err := r.read(ctx, listLimit, args...)
	if err != nil {
		return nil, err
	}
	var out []string
	for name := range strings.SplitSeq(names, "\x00") {
		if name = strings.TrimLeft(name, "\n"); name != "" && !r.env.MayRead(filepath.Join(strings.TrimSuffix(top, "\n"), filepath.FromSlash(name))) {
			out = append(out, name)
		}
	}
	return out, nil
}

// answer puts a result together, with a note about what was hidden.
func answer(body, empty string, hidden []string) *tool.Output {
	body = strings.TrimRight(body, "\n")
	out := &tool.Output{Text: body, Summary: fmt.Sprintf("%d lines", strings.Count(body, "\n")+1)}
	if body == "" {
		out.Text, out.Summary = empty, strings.ToLower(strings.TrimSuffix(empty, "."))
	}
	if len(hidden) > 0 {
		out.Text += fmt.Sprintf("\n[%d protected files are not shown: %s]", len(hidden), strings.Join(hidden, ", "))
	}
	return out
}

// outcome tells a missing repository as the result that it is.
func outcome(out *tool.Output, err error) (*tool.Output, error) {
	var none *noRepositoryError
	if errors.As(err, &none) {
		return &tool.Output{Text: none.Error(), IsError: true, Summary: "no repository"}, nil
	}
	return out, err
}
