package view

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/protect"
	"garuda/internal/sandbox"
	"garuda/internal/userfile"
)

// ErrLink is in the error of a locked path on which a link stands: a command could
// lead it elsewhere, so nothing is run.
var ErrLink = errors.New("a link stands on a path that must be locked")

// locker collects what is locked. It looks at the disk, and follows no link.
type locker struct {
	b       *Builder
	root    string
	entries []sandbox.Entry
	// plan is set where the project is read-only as a whole.
	plan bool
	// hide are the placeholders that git would see, by the work tree they lie in.
	hide map[string][]string
	// info are the .git/info folders for which a private copy stands.
	info []gitInfo
}

func (l *locker) add(e sandbox.Entry) { l.entries = append(l.entries, e) }

// lock locks a path below dir. A missing one gets a placeholder when it is wanted, or
// the first missing folder on the way to it does.
func (l *locker) lock(dir, rel string, folder, placeholder bool, why string) error {
	return l.lockAs(dir, sandbox.Entry{Path: rel, Folder: folder, Why: why}, placeholder)
}

// lockAs is lock for a placeholder with a text; the entry's path is relative to dir.
func (l *locker) lockAs(dir string, e sandbox.Entry, placeholder bool) error {
	rel := e.Path
	e.Access = sandbox.Locked
	path := filepath.Join(dir, filepath.FromSlash(rel))
	there, err := plain(dir, path)
	if err != nil {
		return err
	}
	if there && (!placeholder || !l.b.mayBePlaceholder(path, e.Text)) {
		l.add(sandbox.Entry{Path: path, Access: sandbox.Locked, Why: e.Why})
		return nil
	}
	if !placeholder {
		return nil
	}
	for up := filepath.Dir(path); up != dir && !exists(up); up = filepath.Dir(up) {
		path, e.Folder, e.Text = up, true, ""
	}
	e.Path, e.Missing = path, true
	l.add(e)
	l.hide[dir] = append(l.hide[dir], filepath.ToSlash(path[len(dir)+1:]))
	return nil
}

// mayBePlaceholder tells of something empty, or with this text, that another command, which still runs,
// may have there to lock the place. It counts as missing: the executor knows which it
// is, and keeps a placeholder for as long as any command needs it.
func (b *Builder) mayBePlaceholder(path, text string) bool {
	if b.opt.InPlace {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|userfile.NonBlocking, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.IsDir() {
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
			return false
		}
		data, err := io.ReadAll(io.LimitReader(f, info.Size()))
		return err == nil && string(data) == text
	}
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// plain tells whether a path below dir exists, and fails where a link stands on it.
func plain(dir, path string) (bool, error) {
	rest := strings.TrimPrefix(path[len(dir):], string(filepath.Separator))
	for at := dir; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && rest != "" && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("look at %s, which must be locked: %w", at, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return false, fmt.Errorf("%s: %w: put a file or folder of its own there, or run the command outside the sandbox", at, ErrLink)
		}
	}
	return true, nil
}

// folder locks, in a folder that commands may write, what decides which programs run:
// git's settings, and those of agents, editors and shells. With placeholders the
// missing ones cannot be made either, but for the start-up files of shells, which no
// program reads from a project.
func (l *locker) folder(dir string, placeholders bool) error {
	startUp := map[string]bool{}
	for _, name := range protect.StartUp() {
		startUp[name] = true
	}
	for _, pattern := range protect.Locked() {
		if pattern == ".git" || strings.HasPrefix(pattern, ".git/") {
			continue // see repository
		}
		name, folder := strings.CutSuffix(pattern, "/**")
		if err := l.lock(dir, name, folder, placeholders && !startUp[pattern], lockedWhy(name)); err != nil {
			return err
		}
	}
	if err := l.repository(dir, placeholders); err != nil {
		return err
	}
	return l.submodules(dir)
}

// watched locks the files that commands may otherwise write and are asked about. One
// that is a link is locked where it leads to in the project: the link itself cannot
// be, nor one that leads nowhere.
func (l *locker) watched(root string) error {
	for _, pattern := range protect.Watched() {
		name, folder := strings.CutSuffix(pattern, "/**")
		rel := filepath.FromSlash(name)
		real, err := filepath.EvalSymlinks(filepath.Join(root, rel))
		switch info, lerr := os.Lstat(filepath.Join(root, rel)); {
		case err == nil && (real == root || !inside(root, real)), err != nil && lerr == nil && info.Mode()&fs.ModeSymlink != 0:
			continue
		case err == nil:
			rel = real[len(root)+1:]
		}
		if err := l.lock(root, rel, folder, true, "changes of it are asked about"); err != nil {
			return err
		}
	}
	return nil
}

func lockedWhy(name string) string {
	switch name {
	case ".garuda":
		return "Garuda's own folder"
	case ".mcp.json":
		return "which servers are started"
	case ".husky":
		return "hooks of git"
	}
	for _, s := range protect.StartUp() {
		if strings.TrimSuffix(s, "/**") == name {
			return "start-up file of a shell or of git"
		}
	}
	return "settings of an agent or editor"
}
