package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"garuda/internal/state"
)

const (
	trustName    = "memory.json"
	trustVersion = 1
	trustLimit   = 1 << 20
	// maxTrusted is how many facts are noted, of all branches and times; the oldest
	// are dropped, and would be asked about again.
	maxTrusted = 5_000
)

// trustFile is memory.json in the user's folder for the project: the SHA-256 of
// the line of each fact that may be trusted, the oldest first.
type trustFile struct {
	Version int `json:"version"`
	// Root tells another project whose folder has the same name.
	Root  string   `json:"root"`
	Facts []string `json:"facts"`
}

// readTrust gives the hashes of the facts that may be trusted.
func (s *Store) readTrust() (map[string]bool, error) {
	if s.o.Home == "" {
		return nil, nil
	}
	folder, err := state.OpenPath(s.o.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	t, err := s.trustIn(folder)
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(t.Facts))
	for _, h := range t.Facts {
		set[h] = true
	}
	return set, nil
}

func (s *Store) trustIn(folder *state.Folder) (*trustFile, error) {
	data, err := read(folder, trustName, trustLimit)
	t := &trustFile{}
	if err == nil && data != nil {
		err = json.Unmarshal(data, t)
	}
	if err == nil && data != nil && t.Version != trustVersion {
		err = fmt.Errorf("it is of version %d, and this Garuda knows version %d", t.Version, trustVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("read which facts of the memory may be trusted, %s: %w; delete it to be asked anew", filepath.Join(folder.Path(), trustName), err)
	}
	if t.Root != s.o.Root {
		t = &trustFile{}
	}
	return t, nil
}

// Trust notes that the user has seen these facts and said yes to them.
func (s *Store) Trust(ctx context.Context, facts []Fact) error {
	return s.changeTrust(ctx, facts, true)
}

// distrust forgets them, so that a line that comes back by another way is asked about.
func (s *Store) distrust(ctx context.Context, facts []Fact) error {
	if s.o.Home == "" {
		return nil // nothing is trusted
	}
	return s.changeTrust(ctx, facts, false)
}

// changeTrust takes the facts out of what is noted, and puts those to be trusted at
// its end.
func (s *Store) changeTrust(ctx context.Context, facts []Fact, trusted bool) (err error) {
	if s.o.Home == "" {
		return errors.New("there is no home folder to note in which facts may be trusted")
	}
	folder, err := state.MakePath(s.o.Home)
	if err != nil {
		return err
	}
	defer folder.Close()
	lock, err := folder.LockWithin(ctx, s.o.Clock, lockName, lockLimit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	t, err := s.trustIn(folder)
	if err != nil {
		return err
	}
	t.Version, t.Root = trustVersion, s.o.Root
	given := hashSet(facts)
	t.Facts = slices.DeleteFunc(t.Facts, func(h string) bool { return given[h] })
	for _, f := range facts {
		if h := f.hash(); trusted && given[h] {
			delete(given, h) // each once
			t.Facts = append(t.Facts, h)
		}
	}
	t.Facts = t.Facts[max(len(t.Facts)-maxTrusted, 0):]
	data, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return folder.Replace(trustName, append(data, '\n'), true)
}
