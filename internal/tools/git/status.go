package git

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/tool"
)

//go:embed git_status.md
var statusDescription string

type status struct{}

type statusInput struct{}

func (status) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "git_status", Description: strings.TrimSpace(statusDescription), Class: tool.ClassRead, Set: "git",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

func (status) Plan(_ context.Context, env *tool.Env, _ json.RawMessage) (*tool.Plan, error) {
	at := &place{}
	return planAt(env, "", at, at)
}

func (status) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	at, ok := c.Plan.Input.(*place)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	return outcome(runStatus(ctx, c.Env, at))
}

func runStatus(ctx context.Context, env *tool.Env, at *place) (*tool.Output, error) {
	r, err := open(ctx, env)
	if err != nil {
		return nil, err
	}
	fields, err := r.list(ctx, append([]string{"status", "--porcelain=v2", "-z", "--branch", "--show-stash", "--untracked-files=normal", "--ignore-submodules=dirty"},
		at.pathspec(env.Workspace.Root(), nil)...)...)
	if err != nil {
		return nil, err
	}
	// Git names files from the top of the repository, which may be above the root.
	prefix, err := r.run(ctx, outputLimit, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	hidden := 0
	head, files := readStatus(fields, func(name string) (shown string, ok bool) {
		name = fromRoot(name, strings.TrimSuffix(string(prefix.Head), "\n"))
		if !r.mayShow(name) {
			hidden++
			return "", false
		}
		return strings.ToValidUTF8(name, "\ufffd"), true
	})
	const most = 500
	left := 0
	if len(files) > most {
		left = len(files) - most
		files = files[:most]
	}
	body := head
	switch {
	case len(files) == 0:
		body += "\nNothing is changed."
	default:
		body += "\n" + strings.Join(files, "\n")
	}
	if left > 0 {
		body += fmt.Sprintf("\n[%d more]", left)
	}
	out := answer(body, "", hidden)
	out.Summary = fmt.Sprintf("%d changed", len(files)+left)
	return out, nil
}

// fromRoot is a path from the top of the repository as one from the root, which
// has this prefix there.
func fromRoot(name, prefix string) string {
	if rest, ok := strings.CutPrefix(name, prefix); ok {
		return cmp.Or(rest, "./")
	}
	return strings.Repeat("../", strings.Count(prefix, "/")) + name
}

// readStatus puts the second porcelain format into words. shown is how a file's
// name is shown, if it may be.
func readStatus(fields []string, shown func(name string) (string, bool)) (head string, files []string) {
	branch, upstream, distance, commit, stash := "", "", "", "", ""
	for i := 0; i < len(fields); i++ {
		line := fields[i]
		switch {
		case strings.HasPrefix(line, "# branch.oid "):
			commit = strings.TrimPrefix(line, "# branch.oid ")
		case strings.HasPrefix(line, "# branch.head "):
			branch = strings.TrimPrefix(line, "# branch.head ")
		case strings.HasPrefix(line, "# branch.upstream "):
			upstream = strings.TrimPrefix(line, "# branch.upstream ")
		case strings.HasPrefix(line, "# branch.ab "):
			distance = strings.TrimPrefix(line, "# branch.ab ")
		case strings.HasPrefix(line, "# stash "):
			stash = strings.TrimPrefix(line, "# stash ")
		case strings.HasPrefix(line, "1 "):
			files = append(files, inWords(line, 8, "", shown)...)
		case strings.HasPrefix(line, "2 ") && i+1 < len(fields):
			i++
			files = append(files, inWords(line, 9, fields[i], shown)...)
		case strings.HasPrefix(line, "u "):
			if parts := strings.SplitN(line, " ", 11); len(parts) == 11 {
				if name, ok := shown(parts[10]); ok {
					files = append(files, "conflict: "+name)
				}
			}
		case strings.HasPrefix(line, "? "):
			if name, ok := shown(line[2:]); ok {
				files = append(files, "untracked: "+name)
			}
		}
	}
	return branchLine(branch, commit, upstream, distance, stash), files
}

// inWords tells what happened to one file in the index and in the work tree.
func inWords(line string, before int, from string, shown func(string) (string, bool)) []string {
	parts := strings.SplitN(line, " ", before+1)
	if len(parts) <= before || len(parts[1]) != 2 {
		return nil
	}
	name, ok := shown(parts[before])
	if !ok {
		return nil
	}
	if from != "" {
		if from, ok = shown(from); !ok {
			from = "a protected file"
		}
	}
	var out []string
	for i, where := range []string{"staged ", ""} {
		what, ok := map[byte]string{'M': "modified", 'T': "type changed", 'A': "new", 'D': "deleted", 'R': "renamed", 'C': "copied"}[parts[1][i]]
		switch {
		case !ok:
		case from != "" && (parts[1][i] == 'R' || parts[1][i] == 'C'):
			out = append(out, where+what+": "+from+" → "+name)
		default:
			out = append(out, where+what+": "+name)
		}
	}
	return out
}

func branchLine(branch, commit, upstream, distance, stash string) string {
	const short = 10
	s := "On branch " + branch
	if branch == "(detached)" {
		s = "On no branch, at " + commit[:min(short, len(commit))]
	}
	if commit == "(initial)" {
		s += ", without a commit yet"
	}
	if upstream != "" {
		var ahead, behind int
		if n, _ := fmt.Sscanf(distance, "+%d -%d", &ahead, &behind); n == 2 {
			s += fmt.Sprintf(", %d ahead and %d behind %s", ahead, behind, upstream)
		} else {
			s += ", upstream " + upstream + " (gone)"
		}
	}
	if stash != "" {
		s += ", " + stash + " stashed"
	}
	return s + "."
}
