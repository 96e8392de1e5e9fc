// Package watched sees what a command did to the files that git must be able to
// write, and that all the same decide what other programs run or are told:
// AGENTS.md, workflows and the like (package protect names them). It tells a change
// that came with another commit, which was there before, from one that the command
// made itself.
//
// It sees the files of the root's own folder, the workflows, and the instructions for
// agents in folders further down, as far as its bounds go; and it finds repositories
// that commands planted for git to look into (package gitlink).
//
// It asks nobody and decides nothing.
package watched

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"garuda/internal/gitlink"
	"garuda/internal/protect"
	"garuda/internal/workspace"
)

// maxFiles is how many files a watched folder may hold.
const maxFiles = 200

// ErrTooMany is wrapped by the error of Look for a folder with more files than can
// be kept.
var ErrTooMany = errors.New("it holds too many files to be watched")

// Git runs git in the project, where it cannot change it, and returns what it
// printed.
type Git func(ctx context.Context, args ...string) ([]byte, error)

// Watcher watches one project for one session.
type Watcher struct {
	ws  *workspace.Workspace
	git Git
	// known are the commits that the repository's refs and their logs named when
	// the first command began. Those that a command made are not trusted, also not
	// once a branch names them.
	known func() map[string]bool
	// links finds the submodules, and first are those that ran programs before.
	links *gitlink.Finder
	first func() standing
	// nested finds the instructions in the project's folders.
	nested *tree
	// mu guards what first gives.
	mu sync.Mutex
}

// New makes the watcher of a session.
func New(ws *workspace.Workspace, git Git) *Watcher {
	w := &Watcher{ws: ws, git: git, links: gitlink.NewFinder(ws.Root()), nested: newTree(ws.Root())}
	w.known = sync.OnceValue(func() map[string]bool { return namedCommits(ws.Root()) })
	w.first = sync.OnceValue(w.lookFirst)
	return w
}

// Begin says that a command is about to run: the commits that are named now are the
// ones that are trusted, and so are the repositories that are submodules. Look says it too; a command that nobody looks after needs it,
// since it can make commits as well. A nil Watcher does nothing.
func (w *Watcher) Begin() {
	if w != nil {
		w.known()
		w.first()
	}
}

// Look is how the watched files are at one moment.
type Look struct {
	w     *Watcher
	files map[string]*workspace.Kept
	// head is the commit that is checked out; "" where that cannot be told.
	head string
}

// Look keeps the watched files as they are now.
func (w *Watcher) Look(ctx context.Context) (*Look, error) {
	w.Begin()
	l := &Look{w: w, files: map[string]*workspace.Kept{}, head: headCommit(w.ws.Root())}
	for _, pattern := range protect.Watched() {
		folder, whole := strings.CutSuffix(pattern, "/**")
		var err error
		if whole {
			err = l.keepFolder(ctx, folder)
		} else {
			err = l.keep(pattern)
		}
		if err != nil {
			return nil, fmt.Errorf("look at %s before a command: %w", folder, err)
		}
	}
	for _, rel := range w.nested.files() {
		if err := l.keep(rel); err != nil {
			return nil, fmt.Errorf("look at %s before a command: %w", rel, err)
		}
	}
	return l, nil
}

// keep keeps an entry, and what it leads to where it is a link.
func (l *Look) keep(rel string) error {
	k, err := l.w.ws.Keep(rel)
	if elsewhere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	l.files[rel] = k
	if k.Kind != workspace.KindLink || !k.Exists {
		return nil
	}
	p, err := l.w.ws.Resolve(rel)
	if err != nil || path.IsAbs(p.Rel) {
		return nil //nolint:nilerr // it leads out of the project: what is there is not the project's
	}
	real := l.w.ws.Rel(p.Real)
	if l.files[real] != nil {
		return nil
	}
	if k, err = l.w.ws.Keep(real); err != nil {
		return err
	}
	l.files[real] = k
	return nil
}

func (l *Look) keepFolder(ctx context.Context, folder string) error {
	from, err := l.w.ws.ResolveEntry(folder)
	if elsewhere(err) || err == nil && !from.Exists {
		return nil
	}
	if err != nil {
		return err
	}
	if from.Info.Kind != workspace.KindFolder {
		return l.keep(folder)
	}
	var mu sync.Mutex
	var names []string
	_, err = l.w.ws.Walk(ctx, from, workspace.WalkOptions{IncludeIgnored: true}, func(_ int, e *workspace.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		if len(names) >= maxFiles {
			return ErrTooMany
		}
		if p := e.Path(); p.Info.Kind != workspace.KindFolder {
			names = append(names, p.Rel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := l.keep(name); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere tells errors about places that the project does not hold.
func elsewhere(err error) bool {
	var outside *workspace.OutsideError
	var file *workspace.NotFolderError
	return errors.As(err, &outside) || errors.As(err, &file)
}

// Change is a watched file that is no longer what it was, or that got another name
// (a hard link): through that one it could be changed later, by a command that finds
// the file itself locked.
type Change struct {
	// Was is what it was, and Is what it is now.
	Was, Is *workspace.Kept
}

// Changes are the watched files that differ from this look, sorted, without those
// whose new text came with another commit that was known before.
func (l *Look) Changes(ctx context.Context) ([]Change, error) {
	now, err := l.w.Look(ctx)
	if err != nil {
		return nil, err
	}
	var out []Change
	for rel, was := range l.files {
		is := now.files[rel]
		if is == nil { // a file of a folder, or what a link led to
			if is, err = l.w.ws.Keep(rel); err != nil {
				return nil, err
			}
		}
		if !was.Same(is) || is.Links > was.Links {
			out = append(out, Change{was, is})
		}
	}
	for rel, is := range now.files {
		if l.files[rel] == nil && !ledTo(rel) {
			out = append(out, Change{&workspace.Kept{Rel: rel}, is})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Was.Rel, b.Was.Rel) })
	if len(out) == 0 || now.head == l.head || !l.w.trusts(ctx, now.head) {
		return out, nil
	}
	return slices.DeleteFunc(out, func(c Change) bool { return c.fromCommit(ctx, l.w.git, now.head) }), nil
}

// trusts tells whether a commit was named when the first command began, by itself
// or by a tag.
func (w *Watcher) trusts(ctx context.Context, commit string) bool {
	if commit == "" || w.known()[commit] {
		return commit != ""
	}
	tags, err := w.git(ctx, "for-each-ref", "--format=%(objectname)", "--points-at", commit, "refs/tags")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(strings.Fields(string(tags)), func(id string) bool { return w.known()[id] })
}

// ledTo tells a file that is only looked at because a link leads there by now: the
// link is the change.
func ledTo(rel string) bool {
	list := protect.Compile(protect.Watched(), false)
	return !list.Has("/" + rel)
}

// fromCommit tells whether the file is what a commit says. Git makes no hard links.
func (c Change) fromCommit(ctx context.Context, git Git, commit string) bool {
	if c.Is.Links > max(1, c.Was.Links) {
		return false
	}
	repo := objects{git}
	mode, id, err := repo.entry(ctx, commit, c.Is.Rel)
	if errors.Is(err, errNotInTree) {
		return !c.Is.Exists
	}
	isLink := mode == "120000"
	if err != nil || !c.Is.Exists || c.Is.TooLarge || isLink != (c.Is.Kind == workspace.KindLink) {
		return false
	}
	text, err := repo.read(ctx, "blob", id)
	if err != nil {
		return false
	}
	if isLink {
		return string(text) == c.Is.Target
	}
	crlf := []byte("\r\n")
	return bytes.Equal(text, c.Is.Data) || bytes.Equal(bytes.ReplaceAll(text, crlf, crlf[1:]), bytes.ReplaceAll(c.Is.Data, crlf, crlf[1:]))
}

// Diff shows the changes as unified diffs.
func Diff(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		if c.Was.TooLarge || c.Is.TooLarge {
			fmt.Fprintf(&b, "%s: too large to be shown\n", c.Was.Rel)
			continue
		}
		if c.Was.Same(c.Is) {
			fmt.Fprintf(&b, "%s: has another name by now (a hard link), through which it could be changed unseen\n", c.Was.Rel)
			continue
		}
		b.WriteString(udiff.Unified(name(c.Was, "a/"), name(c.Is, "b/"), text(c.Was), text(c.Is)))
	}
	return b.String()
}

func name(k *workspace.Kept, side string) string {
	if !k.Exists {
		return "/dev/null"
	}
	return side + k.Rel
}

// text is what an entry holds, for a person.
func text(k *workspace.Kept) string {
	switch {
	case !k.Exists:
		return ""
	case k.Kind == workspace.KindFile:
		return workspace.Decode(k.Data).LF
	case k.Kind == workspace.KindLink:
		return "a symbolic link to " + k.Target + "\n"
	}
	return k.Kind.String() + "\n"
}

// Names are the changed files.
func Names(changes []Change) []string {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Was.Rel
	}
	return names
}
