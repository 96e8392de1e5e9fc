package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/state"
)

const (
	// sessionsFolder is the folder of private folders below Garuda's own.
	sessionsFolder = "sandbox"
	// sessionPrefix begins the name of each, and lockName is a file in it that is
	// locked while its session lives.
	sessionPrefix = "session-"
	lockName      = "lock"
	// guardName is the lock for making a session's folder and for finding those that
	// nobody uses.
	guardName = "sessions.lock"
	guardWait = 5 * time.Second
	// tempAt is where commands see the session's temporary folder, and TMPDIR.
	tempAt = "/tmp"
	// homelessAt is where commands see a home when the user's cannot be one.
	homelessAt = "/home/garuda"
)

// session is the private folder of a session, 0700 and outside the project. It holds
// tmp and home, which commands write, and copies of settings, which they only see.
type session struct {
	dir             string
	tmp, home       string
	tempAt, homeAt  string
	copies          string
	lock            *state.Lock
	inPlace, closed bool
	// caches are kept with the session's end, and made are folders in the user's home
	// that were made for it.
	caches []cache
	made   []string
}

// newSession makes the private folder. A lock that ends with this process, however it
// ends, tells Sweep that it is in use.
func newSession(opt *Options) (_ *session, err error) {
	real, err := parentOf(opt)
	if err != nil {
		return nil, err
	}
	dir, lock, err := newPrivate(real, opt.Clock)
	if err != nil {
		return nil, err
	}
	s := &session{dir: dir, lock: lock, tempAt: tempAt, homeAt: homeAt(opt), inPlace: opt.InPlace}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for _, sub := range []struct {
		name string
		path *string
	}{{"tmp", &s.tmp}, {"home", &s.home}, {"settings", &s.copies}} {
		*sub.path = filepath.Join(dir, sub.name)
		if err := os.Mkdir(*sub.path, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// newPrivate makes a folder below parent, and takes its lock.
func newPrivate(parent string, clock core.Clock) (dir string, lock *state.Lock, err error) {
	folder, err := state.MakePath(parent)
	if err != nil {
		return "", nil, err
	}
	defer folder.Close()
	guard, err := folder.LockWithin(context.Background(), clock, guardName, guardWait)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, guard.Close()) }()
	if dir, err = os.MkdirTemp(parent, sessionPrefix); err != nil {
		return "", nil, err
	}
	own, err := state.OpenPath(dir)
	if err == nil {
		defer own.Close()
		lock, err = own.Lock(lockName)
	}
	if err != nil {
		return "", nil, errors.Join(err, removeTree(dir))
	}
	return dir, lock, nil
}

// PrivateFolder makes a folder beside those of sessions, for whatever has to be gone
// afterwards: done removes it, and so does Sweep when this process was killed.
func PrivateFolder(clock core.Clock, garudaHome string) (dir string, done func() error, err error) {
	dir, lock, err := newPrivate(realPath(sessionsParent(garudaHome)), clock)
	if err != nil {
		return "", nil, fmt.Errorf("make a private folder: %w", err)
	}
	s := &session{dir: dir, lock: lock}
	return dir, s.close, nil
}

// parentOf is the real path of the folder in which a private folder is made.
func parentOf(opt *Options) (string, error) {
	parent := opt.Parent
	if parent == "" {
		parent = sessionsParent(opt.GarudaHome)
	}
	real := realPath(parent)
	if inside(opt.Root, real) {
		return "", fmt.Errorf("%s lies in the project", real)
	}
	return real, nil
}

// checkParent tells, without making anything, whether a private folder can be made.
func checkParent(opt *Options) error {
	real, err := parentOf(opt)
	if err != nil {
		return err
	}
	folder, err := state.OpenPath(real)
	if err == nil {
		folder.Close()
		return mayWrite(real)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		if exists(dir) || dir == filepath.Dir(dir) {
			return mayWrite(dir)
		}
	}
}

// sessionsParent is where private folders are made and looked for.
func sessionsParent(garudaHome string) string {
	if garudaHome != "" {
		return filepath.Join(garudaHome, sessionsFolder)
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("garuda-sandbox-%d", os.Getuid()))
}

// homeAt is where commands see their home: where the user's lies, unless that place
// holds what the system needs.
func homeAt(opt *Options) string {
	if opt.Home == "" {
		return homelessAt
	}
	home := realPath(opt.Home)
	for _, needed := range append(systemFolders(), "/etc", "/proc", "/dev", tempAt) {
		if inside(home, strings.TrimSuffix(needed, "*")) {
			return homelessAt
		}
	}
	return home
}

// private are the two folders that commands write and that end with the session.
func (s *session) private() []sandbox.Entry {
	return []sandbox.Entry{
		{Path: s.tempAt, Source: s.tmp, Access: sandbox.Writable, Why: "the session's temporary files"},
		{Path: s.homeAt, Source: s.home, Access: sandbox.Writable, Why: "the session's own home folder, empty at first"},
	}
}

// newFolder makes a folder for copies.
func (s *session) newFolder(pattern string) (string, error) { return os.MkdirTemp(s.dir, pattern) }

// makeRoom makes the folders and files in the session's own folders on which entries
// of the view lie. A command may have put something else there meanwhile, such as a
// link: that is removed, and nothing is ever made behind it.
func (s *session) makeRoom(entries []sandbox.Entry) error {
	if s.inPlace {
		return nil
	}
	var holders []sandbox.Entry // outermost first
	for i := range entries {
		e := &entries[i]
		for len(holders) > 0 && !inside(holders[len(holders)-1].Path, e.Path) {
			holders = holders[:len(holders)-1]
		}
		if n := len(holders); n > 0 && holders[n-1].Source != "" && s.owns(holders[n-1].Source) && !e.Missing {
			if err := s.makePlace(holders[n-1], e); err != nil {
				return err
			}
		}
		holders = append(holders, *e)
	}
	return nil
}

func (s *session) owns(source string) bool { return inside(s.dir, source) }

func (s *session) makePlace(holder sandbox.Entry, e *sandbox.Entry) error {
	info, err := os.Stat(e.Host())
	if err != nil {
		return err
	}
	rel := strings.TrimPrefix(e.Path[len(holder.Path):], string(filepath.Separator))
	if cheap(filepath.Join(holder.Source, rel), holder.Source, info.IsDir()) {
		return nil
	}
	if top, err := os.Lstat(holder.Source); err == nil && top.Mode().Perm()&0o700 != 0o700 {
		if err := os.Chmod(holder.Source, 0o700); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(holder.Source)
	if err != nil {
		return err
	}
	defer root.Close()
	parts := strings.Split(rel, string(filepath.Separator))
	for i := range parts {
		at := filepath.Join(parts[:i+1]...)
		folder := i+1 < len(parts) || info.IsDir()
		if err := placeAt(root, at, folder); err != nil {
			return fmt.Errorf("make room for %s: %w", e.Path, err)
		}
	}
	return nil
}

// cheap tells, with a few looks, that a place is there already, and no link on the way.
func cheap(path, top string, folder bool) bool {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() != folder || !folder && !info.Mode().IsRegular() {
		return false
	}
	for dir := filepath.Dir(path); dir != top; dir = filepath.Dir(dir) {
		if !isFolder(dir) {
			return false
		}
	}
	return true
}

// placeAt makes one folder or empty file, in the place of anything else.
func placeAt(root *os.Root, at string, folder bool) error {
	info, err := root.Lstat(at)
	if err == nil && (folder && info.IsDir() || !folder && info.Mode().IsRegular()) {
		if folder && info.Mode().Perm()&0o700 != 0o700 {
			return root.Chmod(at, 0o700)
		}
		return nil
	}
	if err == nil {
		if err := root.RemoveAll(at); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if folder {
		return root.Mkdir(at, 0o700)
	}
	f, err := root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// close keeps the caches, removes everything else, and then gives the lock back.
func (s *session) close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	kept := s.keep()
	err := removeTree(s.dir)
	if err != nil {
		err = fmt.Errorf("remove the session's private folder %s: %w", s.dir, err)
	}
	return errors.Join(kept, err, s.lock.Close())
}

// Sweep removes the private folders of sessions that were killed: those below
// garudaHome that no process holds. parent is Options.Parent. It returns how many
// there were, and is quick when there are none.
func Sweep(ctx context.Context, clock core.Clock, garudaHome, parent string) (int, error) {
	if parent == "" {
		parent = sessionsParent(garudaHome)
	}
	folder, err := state.OpenPath(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	orphans, err := orphaned(ctx, clock, folder)
	removed := 0
	for dir, lock := range orphans {
		if ctx.Err() == nil {
			rerr := removeTree(dir)
			if rerr == nil {
				removed++
			}
			err = errors.Join(err, rerr)
		}
		err = errors.Join(err, lock.Close())
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("remove the private folders of sessions that were killed: %w", err)
	}
	return removed, err
}

// orphaned takes the locks of the sessions whose processes are gone. The guard keeps a
// session that is being made from looking like one.
func orphaned(ctx context.Context, clock core.Clock, parent *state.Folder) (map[string]*state.Lock, error) {
	guard, err := parent.LockWithin(ctx, clock, guardName, guardWait)
	if err != nil {
		return nil, err
	}
	entries, err := parent.ReadDir()
	out := map[string]*state.Lock{}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), sessionPrefix) {
			continue
		}
		lock, lockErr := lockSession(parent, e.Name())
		var taken *state.LockedError
		switch {
		case errors.As(lockErr, &taken) || errors.Is(lockErr, fs.ErrNotExist):
		case lockErr != nil:
			err = errors.Join(err, lockErr)
		default:
			out[filepath.Join(parent.Path(), e.Name())] = lock
		}
	}
	return out, errors.Join(err, guard.Close())
}

func lockSession(parent *state.Folder, name string) (*state.Lock, error) {
	dir, err := parent.Sub(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Lock(lockName)
}
