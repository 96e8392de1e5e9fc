// Package snapshot keeps how a project's work tree was before each turn, so that a
// turn can be taken back with all that it changed, by file tools and by commands, and
// taken up again.
//
// The store is a git repository of its own in the user's home: git reads what is in
// it, but is not needed. Beside the objects stand an index that tells which files
// changed since the newest snapshot, the list of points that can be gone back to, and
// while files are being put back a plan by which that can be finished.
//
// It never looks into the project's own .git, never keeps what is ignored, what holds
// secrets by its name or what is larger than MaxFile, and never changes or deletes a
// file that it has not kept first. It asks nobody and prints nothing.
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"garuda/internal/core"
	"garuda/internal/protect"
	"garuda/internal/state"
	"garuda/internal/workspace"
)

const (
	// MaxFile is the size in bytes above which a file is left out.
	MaxFile = 10 << 20
	// MaxStore is the size in bytes of a project's store. The oldest points go first.
	MaxStore = 1 << 30
	// MaxPoints is how many points of each kind are kept: before turns, and before
	// they were taken back.
	MaxPoints = 50
)

// FolderName is the folder of all stores in Garuda's own.
const FolderName = "snapshots"

// Options are what a store must know.
type Options struct {
	// Home is Garuda's own folder, absolute.
	Home      string
	Workspace *workspace.Workspace
	// MayKeep is the policy's answer for one file (an absolute path on which no link
	// stands): one that is hidden from the tools is not kept either. Nil allows all.
	MayKeep func(path string) bool
	Clock   core.Clock
	// MaxStore stands in for the constant, for tests.
	MaxStore int64
}

// Store keeps the snapshots of one project. Its methods may be called from several
// goroutines, and several processes may have the same one: each operation holds a
// lock.
type Store struct {
	opt     Options
	secrets *protect.List

	mu      sync.Mutex // held by each operation
	folder  *state.Folder
	objects *objects
	index   *index
	// indexFile is the file that index was read from or written to.
	indexFile fs.FileInfo
	// said are what went wrong and was mended, for a person.
	said []string
}

// ErrOff is in every error that says that no snapshots can be kept here.
var ErrOff = errors.New("undo is off")

// errFull says that the store would be larger than it may.
var errFull = errors.New("the project's files are more than a store of snapshots may hold")

// ErrGone says that a point is not kept any more, or never was.
var ErrGone = errors.New("the files of that time are not kept")

// New makes a store, which opens its folder when it is first used.
func New(opt Options) *Store {
	if opt.MaxStore == 0 {
		opt.MaxStore = MaxStore
	}
	return &Store{opt: opt, secrets: protect.Compile(protect.Sensitive(), true)}
}

// Path is where the store lies or will lie.
func (s *Store) Path() string {
	sum := sha256.Sum256([]byte(s.opt.Workspace.Root()))
	const enough = 16 // bytes: that two roots have the same is out of the question
	return filepath.Join(s.opt.Home, FolderName, hex.EncodeToString(sum[:enough]))
}

// Close gives back what is open. Nothing can be lost by it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.close()
}

func (s *Store) close() error {
	var err error
	if s.objects != nil {
		err = s.objects.close()
	}
	if s.folder != nil {
		s.folder.Close()
	}
	s.objects, s.folder, s.index, s.indexFile = nil, nil, nil, nil
	return err
}

// lockWait is how long an operation waits for another process.
const lockWait = 10 * time.Second

// locked runs f with the store open and locked. A damaged store is emptied, and f
// runs again on the new one: what was kept in it is gone, which is said.
func (s *Store) locked(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return err
	}
	lock, err := s.folder.LockWithin(ctx, s.opt.Clock, "lock", lockWait)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	err = s.prepare()
	if err == nil {
		err = f()
	}
	if !errors.Is(err, errCorrupt) {
		return err
	}
	s.said = append(s.said, fmt.Sprintf("%v; it is begun anew, and what was kept in it (%s) is gone", err, s.folder.Path()))
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	return f()
}

// open opens the store's folder, which must be this user's own.
func (s *Store) open() error {
	if s.folder != nil {
		if s.folder.Stands() {
			return nil
		}
		if err := s.close(); err != nil { // somebody removed it
			return err
		}
	}
	if s.opt.Home == "" {
		return fmt.Errorf("%w: there is no home folder to keep snapshots in", ErrOff)
	}
	all, err := state.MakePath(filepath.Join(s.opt.Home, FolderName))
	if err != nil {
		return err
	}
	defer all.Close()
	folder, err := all.MakeSub(filepath.Base(s.Path()))
	if err != nil {
		return err
	}
	if err := s.own(folder); err != nil {
		folder.Close()
		return err
	}
	s.folder = folder
	return nil
}

// own refuses a folder of another user: who owns it reads and writes what is in it.
func (s *Store) own(folder *state.Folder) error {
	info, err := folder.Stat(".")
	if err != nil {
		return err
	}
	if uid, mine := state.Owner(info); !mine {
		return fmt.Errorf("%w: %s belongs to user %d", ErrOff, folder.Path(), uid)
	}
	return nil
}

// formatName is the file that tells the version of the store.
const (
	formatName = "format"
	format     = "garuda snapshots 1\n"
)

// prepare makes the store ready, with the lock held.
func (s *Store) prepare() error {
	have, err := s.folder.ReadSmall(formatName, int64(len(format)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = s.lay()
	case errors.Is(err, state.ErrLarge), err == nil && string(have) != format:
		return fmt.Errorf("%w: %s was written by another version of Garuda", ErrOff, s.folder.Path())
	}
	if err != nil {
		return err
	}
	if s.objects == nil {
		s.objects, err = openObjects(s.folder)
		return err
	}
	return s.objects.refresh()
}

// lay makes a folder a git repository that holds nothing.
func (s *Store) lay() error {
	for _, f := range []struct{ name, text string }{
		{"HEAD", "ref: refs/heads/none\n"},
		{"config", "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"},
		{formatName, format},
	} {
		if err := s.folder.Replace(f.name, []byte(f.text), false); err != nil {
			return err
		}
	}
	refs, err := s.folder.MakeSub("refs")
	if err != nil {
		return err
	}
	refs.Close()
	return nil
}

// begin empties the store, but for the lock, which is held.
func (s *Store) begin() error {
	var err error
	if s.objects != nil {
		err = s.objects.close()
	}
	s.objects, s.index, s.indexFile = nil, nil, nil
	entries, listErr := s.folder.ReadDir()
	err = errors.Join(err, listErr)
	for _, e := range entries {
		if e.Name() != "lock" {
			err = errors.Join(err, s.folder.Remove(e.Name()))
		}
	}
	return err
}

// Said gives, once, what went wrong and was mended.
func (s *Store) Said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.said
	s.said = nil
	return out
}

// loadIndex brings the index up to its file; an empty one where there is none that
// can be used: everything is then read again.
func (s *Store) loadIndex() {
	info, err := s.folder.Stat(indexName)
	if err == nil && s.index != nil && s.indexFile != nil && os.SameFile(info, s.indexFile) && info.ModTime().Equal(s.indexFile.ModTime()) {
		return
	}
	s.index, s.indexFile = &index{at: map[string]int32{}}, nil
	if err != nil {
		return
	}
	raw, err := s.folder.ReadSmall(indexName, maxIndex)
	if err != nil {
		return
	}
	x, err := parseIndex(raw)
	if err != nil || !s.objects.has(x.top) {
		return
	}
	x.number()
	s.index, s.indexFile = x, info
}

func (s *Store) saveIndex(x *index) error {
	s.index, s.indexFile = x, nil
	if err := s.folder.Replace(indexName, encodeIndex(x), false); err != nil {
		return err
	}
	info, err := s.folder.Stat(indexName)
	s.indexFile = info
	return err
}

// point is a snapshot that can be gone back to.
type point struct {
	Name string    `json:"name"`
	Top  string    `json:"top"`
	Time time.Time `json:"time"`
	// After is set for what was there before a turn was taken back.
	After bool `json:"after,omitempty"`
}

type pointList struct {
	Version int     `json:"version"`
	Points  []point `json:"points"` // the oldest first
}

const (
	pointsName    = "points.json"
	pointsVersion = 1
	maxPointsFile = 1 << 20
)

func (s *Store) points() ([]point, error) {
	raw, err := s.folder.ReadSmall(pointsName, maxPointsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePoints(raw)
}

func parsePoints(raw []byte) ([]point, error) {
	var list pointList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%w: its list of points: %w", errCorrupt, err)
	}
	if list.Version != pointsVersion {
		return nil, fmt.Errorf("%w: its list of points has the version %d", errCorrupt, list.Version)
	}
	for i := range list.Points {
		if _, err := parseID(list.Points[i].Top); err != nil {
			return nil, fmt.Errorf("%w: its list of points: %w", errCorrupt, err)
		}
	}
	return list.Points, nil
}

func (s *Store) savePoints(points []point) error {
	raw, err := json.MarshalIndent(pointList{Version: pointsVersion, Points: points}, "", " ")
	if err != nil {
		return err
	}
	return s.folder.Replace(pointsName, append(raw, '\n'), true)
}

// addPoint names a snapshot, and forgets the oldest ones of its kind that are too many.
func (s *Store) addPoint(p point) error {
	points, err := s.points()
	if err != nil {
		return err
	}
	points = slices.DeleteFunc(points, func(q point) bool { return q.Name == p.Name })
	points = append(points, p)
	same := 0
	for i := len(points) - 1; i >= 0; i-- {
		if points[i].After != p.After {
			continue
		}
		if same++; same > MaxPoints {
			points = slices.Delete(points, i, i+1)
		}
	}
	return s.savePoints(points)
}

// topOf is the snapshot of a point.
func (s *Store) topOf(name string) (id, error) {
	points, err := s.points()
	if err != nil {
		return id{}, err
	}
	i := slices.IndexFunc(points, func(p point) bool { return p.Name == name })
	if i < 0 {
		return id{}, ErrGone
	}
	return parseID(points[i].Top)
}
