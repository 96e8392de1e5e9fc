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
		return nil, errors.New("no commands can be run in this session, git neither; use the file tools")
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

// bareError is a repository without files of its own.
type bareError struct{ folder string }

func (e *bareError) Error() string {
	return e.folder + " is a bare repository, which has history and no files; use git_log and git_show, or git_diff with two commits as base"
}

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
		// What would change the form of what is read here and shown.
		{"diff.orderFile", "/dev/null"}, {"color.diff", "never"}, {"color.status", "never"}, {"blame.coloring", "none"},
		{"i18n.logOutputEncoding", "UTF-8"}, {"log.follow", "false"},
		// Files that a repository could name for git to wait at, or to fail at.
		{"core.attributesFile", "/dev/null"}, {"mailmap.file", "/dev/null"},
	}
}

// open finds out which filters the repository's own configuration would run.
func open(ctx context.Context, env *tool.Env) (*repository, error) {
	r := &repository{env: env}
	fields, err := r.list(ctx, "config", "--null", "--show-scope", "--includes", "--name-only", "--get-regexp", `^((filter|diff|merge)\.|core\.worktree$)`)
	var failed *failedError
	switch {
	case errors.As(err, &failed) && failed.code == 1: // none
		return r, nil
	case err != nil:
		return nil, err
	}
	for i := 0; i+1 < len(fields); i += 2 {
		scope, key := fields[i], fields[i+1]
		if scope == "system" || scope == "global" {
			continue
		}
		if value, ok := neutral(key); ok {
			r.off = append(r.off, [2]string{key, value})
		}
		if key == "core.worktree" {
			if err := r.checkWorkTree(ctx); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// checkWorkTree refuses a repository whose configuration says that its files are
// elsewhere: git would show what lies there, under names of the root. That of a
// submodule names the submodule's own folder.
func (r *repository) checkWorkTree(ctx context.Context) error {
	out, err := r.run(ctx, outputLimit, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	root, top := r.env.Workspace.Root(), strings.TrimSuffix(string(out.Head), "\n")
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return fmt.Errorf("look at the work tree that core.worktree names: %w", err)
	}
	if rel, err := filepath.Rel(real, root); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("the repository's core.worktree says that its files are in %s, which is not this project; it is not looked at", top)
	}
	return nil
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

// read runs git and returns what it printed, cut in the middle at outputLimit
// bytes.
func (r *repository) read(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, outputLimit, args...)
	return text(out), err
}

// list runs git with an argument that makes it end each name with a NUL. The
// names are the bytes that git printed: one that is no valid UTF-8 must still be
// the same name when it goes back to git, or what it hides or switches off would
// not be. For the same reason a list that is not whole is an error.
func (r *repository) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.run(ctx, listLimit, args...)
	switch {
	case err != nil:
		return nil, err
	case len(out.Tail) > 0:
		return nil, fmt.Errorf("git %s lists more than %d MB of names; narrow it with path", args[0], listLimit>>20)
	}
	return strings.Split(string(out.Head), "\x00"), nil
}

func (r *repository) run(ctx context.Context, limit int, args ...string) (out sandbox.Captured, err error) {
	root := r.env.Workspace.Root()
	ctx, pipe := watchForPipes(ctx, r.env.Workspace)
	defer func() {
		if name := pipe(); name != "" && err != nil {
			err = fmt.Errorf("git would wait for ever, as %s is a named pipe where git reads a file; remove it", name)
		}
	}()
	res, err := r.env.Exec.Run(ctx, &sandbox.Command{
		Argv: append([]string{"git", "--no-pager", "--no-optional-locks"}, args...), Dir: root,
		Env: gitEnv(r.env.CommandEnv, append(quiet(), r.off...)), Timeout: timeLimit, Limit: limit, ReadOnlyRoot: true,
	})
	switch {
	case err != nil:
		return out, fmt.Errorf("run git: %w", err)
	case res.Interrupted:
		return out, tool.ErrInterrupted
	case res.TimedOut:
		return out, fmt.Errorf("git took longer than %s and was stopped", timeLimit)
	case res.ExitCode != 0:
		said := strings.TrimSpace(text(res.Stderr))
		if strings.Contains(strings.ToLower(said), "not a git repository") { // git diff warns of it, in capitals, with its whole usage
			return out, &noRepositoryError{root}
		}
		if strings.Contains(said, "must be run in a work tree") {
			return out, &bareError{root}
		}
		return out, &failedError{code: res.ExitCode, stderr: strings.TrimPrefix(said, "fatal: ")}
	}
	return res.Stdout, nil
}

// commit is the id of a commit, branch or tag. Only that: the id of a file's or
// a folder's contents would show what is in it under another name, or under
// none, whatever hides it.
func (r *repository) commit(ctx context.Context, ref string) (string, error) {
	out, err := r.read(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	id := strings.TrimSpace(out)
	var failed *failedError
	switch {
	case errors.As(err, &failed), err == nil && strings.Trim(id, "0123456789abcdef") != "":
		return "", fmt.Errorf("%q is no commit, branch or tag of this repository; git_log lists the newest commits", ref)
	case err != nil:
		return "", err
	}
	return id, nil
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
	// Older versions know no GIT_NO_LAZY_FETCH; without a protocol they can run no
	// uploadpack of the repository's either.
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat",
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
		out = append(out, ":(exclude,literal)"+h)
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
// root. args print them so, with -z and names only.
func (r *repository) hidden(ctx context.Context, args ...string) ([]string, error) {
	names, err := r.list(ctx, args...)
	if err != nil {
		return nil, err
	}
	var out []string
	size := 0
	for _, name := range names {
		if name != "" && !r.mayShow(name) {
			out = append(out, name)
			size += len(name)
		}
	}
	const most = 256 << 10 // far below what can be given to a program
	if size > most {
		return nil, fmt.Errorf("%d of the changed files are protected, too many to leave out one by one; narrow it with path", len(out))
	}
	return out, nil
}

// mayShow tells whether a file's name and contents may be shown; name is its
// path from the root.
func (r *repository) mayShow(name string) bool {
	return r.env.MayRead(filepath.Join(r.env.Workspace.Root(), filepath.FromSlash(name)))
}

// answer puts a result together, with a note about what was hidden.
func answer(body, empty string, hidden int) *tool.Output {
	body = strings.TrimRight(body, "\n")
	out := &tool.Output{Text: body, Summary: fmt.Sprintf("%d lines", strings.Count(body, "\n")+1)}
	if body == "" {
		out.Text, out.Summary = empty, strings.ToLower(strings.TrimSuffix(empty, "."))
	}
	switch {
	case hidden == 1:
		out.Text += "\n[1 protected file is not shown]"
	case hidden > 1:
		out.Text += fmt.Sprintf("\n[%d protected files are not shown]", hidden)
	}
	return out
}

// answer is what git says of the place, or what is known of its path where there
// is nothing: a name with a slip in it must not look like a file without changes.
// What was deleted has changes, and a body.
func (at *place) answer(env *tool.Env, body, empty string, hidden int) *tool.Output {
	out := answer(body, empty, hidden)
	if strings.TrimSpace(body) == "" && !at.path.Exists {
		out.Text += "\n[" + env.Workspace.NotFound(at.path, env.MayRead).Error() + "]"
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
