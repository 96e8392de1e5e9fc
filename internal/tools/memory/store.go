package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"garuda/internal/core"
	"garuda/internal/state"
)

const (
	fileName  = "memory.md"
	hitsName  = "memory.state.json"
	lockName  = "memory.lock"
	lockLimit = 5 * time.Second
)

// Options of a Store.
type Options struct {
	// Dir is the project's .garuda folder, Root the project's real path.
	Dir  *state.Dir
	Root string
	// Home is the user's own folder for this project, where it is noted which facts
	// may be trusted; empty where there is no home. It is made when it is needed.
	Home string
	// Redact takes secrets out of a text, and says whether there was one.
	Redact func(text string) (string, bool)
	Clock  core.Clock
	// Changed is told when facts came or went; may be nil.
	Changed func()
}

// Store is the memory of one project. Its methods may be called from several
// goroutines, and several processes may have one of the same project.
type Store struct{ o Options }

// NewStore makes the store. It reads and makes nothing yet.
func NewStore(o Options) *Store { return &Store{o} }

// Memory is what a project's file holds.
type Memory struct {
	// Facts are in the order of the file, the newest last, at most MaxFacts of each
	// kind of trust.
	Facts []Fact
	// Unusable counts lines that look like facts and are too long, hold hidden
	// characters, or are too many.
	Unusable int
}

// Trusted are the facts that count.
func (m *Memory) Trusted() []Fact { return m.only(true) }

// Foreign are the facts of which nobody on this machine has said yet that they count.
func (m *Memory) Foreign() []Fact { return m.only(false) }

func (m *Memory) only(trusted bool) []Fact {
	var out []Fact
	for _, f := range m.Facts {
		if f.Trusted == trusted {
			out = append(out, f)
		}
	}
	return out
}

// Path is the file's path, for messages.
func (s *Store) Path() string { return filepath.Join(s.o.Dir.Path(), fileName) }

// Load reads the memory; a project that has none has no facts. A fact is trusted
// when the user's home says so: the file lies in the project, and what came with a
// clone, or was written by another program, must first be seen by the user.
func (s *Store) Load() (*Memory, error) {
	folder, err := s.o.Dir.Folder()
	if errors.Is(err, fs.ErrNotExist) {
		return &Memory{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the project's memory: %w", err)
	}
	defer folder.Close()
	file, err := read(folder, fileName, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read the project's memory: %w", err)
	}
	lines, unusable, err := s.parse(file)
	if err != nil {
		return nil, err
	}
	hits := readHits(folder)
	m := &Memory{Unusable: unusable}
	left := map[bool]int{true: MaxFacts, false: MaxFacts}
	for _, l := range slices.Backward(lines) {
		f := l.Fact
		f.Hits = hits[f.hash()]
		if left[f.Trusted]--; left[f.Trusted] < 0 {
			m.Unusable++
			continue
		}
		m.Facts = append(m.Facts, f)
	}
	slices.Reverse(m.Facts)
	return m, nil
}

// read is a file's content; nil where there is none.
func read(folder *state.Folder, name string, limit int64) ([]byte, error) {
	data, err := folder.ReadSmall(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// parse is the package's parse, with what is known of the facts' trust.
func (s *Store) parse(file []byte) (lines []line, unusable int, err error) {
	lines, unusable = parse(file)
	if len(lines) == 0 {
		return nil, unusable, nil
	}
	trust, err := s.readTrust()
	if err != nil {
		return nil, 0, err
	}
	for i := range lines {
		lines[i].Trusted = trust[lines[i].hash()]
	}
	return lines, unusable, nil
}

// checkNew says why a fact cannot be added to these. Those that do not count are
// no hindrance.
func (s *Store) checkNew(f Fact, lines []line) error {
	if s.o.Home == "" {
		return errors.New("there is no home folder to note in that Garuda wrote the fact, so no session would load it")
	}
	known := 0
	for _, l := range lines {
		if !l.Trusted {
			continue
		}
		known++
		if f.sameAs(l.Fact) {
			return fmt.Errorf("it is remembered already: %s", l.Fact)
		}
	}
	if known >= MaxFacts {
		return fmt.Errorf("%s are remembered, the most there may be; forget what is out of date first", count(known))
	}
	return nil
}

// check is checkNew with the facts that the file has now.
func (s *Store) check(f Fact) error {
	lines, err := s.lines()
	if err != nil {
		return err
	}
	return s.checkNew(f, lines)
}

func (s *Store) lines() ([]line, error) {
	folder, err := s.o.Dir.Folder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	file, err := read(folder, fileName, maxFile)
	if err != nil {
		return nil, err
	}
	lines, _, err := s.parse(file)
	return lines, err
}

// add puts a fact at the file's end, where its very line is not there already.
func (s *Store) add(ctx context.Context, f Fact) error {
	folder, err := s.o.Dir.MakeFolder()
	if err != nil {
		return err
	}
	defer folder.Close()
	return s.change(ctx, folder, func(file []byte, lines []line) ([]byte, error) {
		if err := s.checkNew(f, lines); err != nil {
			return nil, err
		}
		out := file
		if !slices.ContainsFunc(lines, func(l line) bool { return l.String() == f.String() }) {
			out = withFact(file, f)
		}
		if len(out) > maxFile {
			return nil, fmt.Errorf("%s would be larger than %d KB; shorten it", s.Path(), maxFile>>10)
		}
		// Noted first: a note without its fact does no harm.
		return out, s.Trust(ctx, []Fact{f})
	})
}

// remove takes these facts out, and no others: where the file no longer holds just
// them it stays as it is.
func (s *Store) remove(ctx context.Context, text string, shown []Fact) error {
	folder, err := s.o.Dir.Folder()
	if err != nil {
		return err
	}
	defer folder.Close()
	err = s.change(ctx, folder, func(file []byte, lines []line) ([]byte, error) {
		gone := matching(lines, text)
		if !slices.EqualFunc(gone, shown, func(l line, f Fact) bool { return l.String() == f.String() }) {
			return nil, errors.New("the memory changed meanwhile, and nothing was deleted; call forget again")
		}
		return without(file, gone), nil
	})
	if err != nil {
		return err
	}
	return s.distrust(ctx, shown)
}

func matching(lines []line, lower string) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return !l.has(lower) })
}

// change rewrites the file; other processes that change it wait.
func (s *Store) change(ctx context.Context, folder *state.Folder, change func(file []byte, lines []line) ([]byte, error)) (err error) {
	lock, err := folder.LockWithin(ctx, s.o.Clock, lockName, lockLimit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	file, err := read(folder, fileName, maxFile)
	if err != nil {
		return err
	}
	lines, _, err := s.parse(file)
	if err != nil {
		return err
	}
	out, err := change(file, lines)
	if err != nil {
		return err
	}
	if err := folder.Replace(fileName, out, true); err != nil {
		return err
	}
	if s.o.Changed != nil {
		s.o.Changed()
	}
	return nil
}

// hitsFile is memory.state.json.
type hitsFile struct {
	Version int            `json:"version"`
	Hits    map[string]int `json:"hits"`
}

const (
	hitsVersion = 1
	hitsLimit   = 1 << 20
	// maxHits bounds what a file of the project's may say.
	maxHits = 1_000_000
)

// readHits gives the counts by the facts' hashes. They only sort, so a file that
// cannot be used counts nothing.
func readHits(folder *state.Folder) map[string]int {
	data, err := read(folder, hitsName, hitsLimit)
	var f hitsFile
	if err == nil && data != nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil || f.Version != hitsVersion {
		if err != nil {
			slog.Warn("the hit counts of the memory are left out", "error", err)
		}
		return nil
	}
	for k, n := range f.Hits {
		f.Hits[k] = min(max(n, 0), maxHits)
	}
	return f.Hits
}

// hit counts that these facts were found.
func (s *Store) hit(ctx context.Context, found []Fact) (err error) {
	folder, err := s.o.Dir.Folder()
	if err != nil {
		return err
	}
	defer folder.Close()
	lock, err := folder.LockWithin(ctx, s.o.Clock, lockName, lockLimit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	file, err := read(folder, fileName, maxFile)
	if err != nil {
		return err
	}
	before := readHits(folder)
	after := hitsFile{Version: hitsVersion, Hits: map[string]int{}}
	counted := hashSet(found)
	lines, _ := parse(file)
	for _, l := range lines { // what is gone is dropped
		h := l.hash()
		n := before[h]
		if counted[h] {
			n = min(n+1, maxHits)
		}
		if n > 0 {
			after.Hits[h] = n
		}
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return folder.Replace(hitsName, append(data, '\n'), false)
}
