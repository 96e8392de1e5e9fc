package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"garuda/internal/state"
)

// ErrClosed is returned by a journal that was closed.
var ErrClosed = errors.New("the session's journal is closed")

// errTooLarge guards memory against a body that no model would take either.
var errTooLarge = errors.New("the record is larger than 256 MiB")

const maxRecord = 256 << 20

// file is what a journal needs of its file; tests put failing ones in its place.
type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// diskFile is a real one; Sync waits for content only, which is what a reader needs.
type diskFile struct{ *os.File }

func (f diskFile) Sync() error { return state.Datasync(f.File) }

// Journal is one session's file, open for appending. Its methods may be called
// from any goroutine.
//
// A new session's file is made when its first user message is appended, with
// all that came before, so that a session in which nothing was said leaves no
// trace. Each record is redacted and written with one write; Flush waits for the
// disk. When the disk fails, the journal goes on in memory only: what is on disk
// stays readable, the failure is reported once, and Err, Append and Flush return
// it from then on.
type Journal struct {
	id    string
	store *Store // nil for one in memory only

	mu      sync.Mutex
	seq     int64
	pending []numbered // before there is a file
	file    file
	size    int64 // bytes of whole lines in the file
	folder  *state.Folder
	session *state.Folder // the session's own folder
	lock    *state.Lock
	totals  tally
	known   History // without its messages
	buf     bytes.Buffer
	line    []byte
	closed  bool
	failed  error

	written atomic.Int64 // size, for Flush without the lock
	syncMu  sync.Mutex   // held while the disk works; later flushes wait and find their work done
	synced  int64
	listed  bool // the folder's entry for the file is on disk

	keeping   sync.Mutex        // one Keep at a time
	keptFiles map[string][]byte // of a session in memory
}

// numbered is a record that waits for the file.
type numbered struct {
	seq int64
	t   time.Time
	rec Record
}

// Memory makes a journal that keeps nothing.
func Memory(id string) *Journal { return &Journal{id: id} }

// ID is the session's id.
func (j *Journal) ID() string { return j.id }

// LastSeq is the sequence number of the newest record; the first has 1.
func (j *Journal) LastSeq() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seq
}

// Err is why the journal went on in memory, or nil. A run that ends with an
// error here must not end as a success.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// OutputDir makes the folder for spilled command output and returns its path;
// empty where nothing is kept.
func (j *Journal) OutputDir() (string, error) {
	const name = "output"
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.session == nil {
		return "", j.failed
	}
	dir, err := j.session.MakeSub(name)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	return dir.Path(), nil
}

// Append adds a record. The record must not be changed afterwards.
func (j *Journal) Append(rec Record) error {
	j.mu.Lock()
	before := j.failed
	err := j.append(rec)
	report := j.failed != nil && before == nil
	j.mu.Unlock()
	if report {
		j.store.report(err)
	}
	return err
}

func (j *Journal) append(rec Record) error {
	if j.closed {
		return ErrClosed
	}
	totals := j.totals
	rec = j.count(rec)
	j.seq++
	if j.store == nil || j.failed != nil {
		return j.failed
	}
	n := numbered{seq: j.seq, t: j.store.clock.Now(), rec: rec}
	if j.file == nil {
		j.pending = append(j.pending, n)
		if _, said := rec.(*User); !said {
			return nil
		}
		return j.begin()
	}
	err := j.write(n)
	if err != nil && j.failed == nil { // refused: it never was
		j.seq, j.totals = j.seq-1, totals
	}
	return err
}

// count adds a record to the totals, and the totals to a record that ends a turn. One
// behind which nothing before it is needed gets all that is known.
func (j *Journal) count(rec Record) Record {
	j.totals.add(rec)
	j.learn(rec)
	switch r := rec.(type) {
	case *End:
		with, totals := *r, j.totals.Totals
		with.Totals = &totals
		return &with
	case *Compaction:
		if r.Stage >= StageSummary {
			with := *r
			with.State = j.checkpoint()
			return &with
		}
	}
	return rec
}

// begin makes the file and writes what waited for it.
func (j *Journal) begin() error {
	if err := j.create(); err != nil {
		return j.fail(err)
	}
	pending := j.pending
	j.pending = nil
	for _, p := range pending {
		if err := j.write(p); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) create() error {
	sessions, err := j.store.dir.MakeSessions()
	if err != nil {
		return err
	}
	if err := j.lockIn(sessions); err != nil {
		return err
	}
	f, err := sessions.Create(j.id + journalExt)
	if err != nil {
		return err
	}
	j.file = j.store.wrap(diskFile{f})
	return nil
}

// lockIn takes over the folder and the session's lock in it.
func (j *Journal) lockIn(sessions *state.Folder) (err error) {
	j.folder = sessions
	if j.session, err = sessions.MakeSub(j.id); err != nil {
		return err
	}
	j.lock, err = j.session.Lock(lockName)
	return err
}

// write redacts, encodes and writes one record. What cannot be encoded, or is
// too large, is refused and leaves the file as it is.
func (j *Journal) write(n numbered) error {
	rec, redacted := j.store.redaction.record(n.rec)
	rec, err := keepPrompt(rec, j.session)
	if err == nil {
		rec, err = putBlobs(rec, j.session)
	}
	if err != nil {
		return j.fail(err)
	}
	j.buf.Reset()
	enc := json.NewEncoder(&j.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rec); err != nil {
		return fmt.Errorf("encode the %s record: %w", n.rec.RecordType(), err)
	}
	body := bytes.TrimSuffix(j.buf.Bytes(), []byte("\n"))
	if len(body) > maxRecord {
		return fmt.Errorf("encode the %s record: %w", n.rec.RecordType(), errTooLarge)
	}
	j.line = appendLine(j.line[:0], n.seq, n.t, n.rec.RecordType(), redacted, body)
	wrote, err := j.file.Write(j.line)
	if err == nil && wrote < len(j.line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if wrote > 0 {
			// So that nothing is half visible. Where this fails too, a torn last
			// line stays, which every reader drops.
			err = errors.Join(err, j.file.Truncate(j.size))
		}
		return j.fail(state.Explain("write", j.path(), err))
	}
	j.size += int64(len(j.line))
	j.written.Store(j.size)
	return nil
}

func (j *Journal) path() string { return filepath.Join(j.folder.Path(), j.id+journalExt) }

// fail turns the journal into one in memory; the lock is held.
func (j *Journal) fail(err error) error {
	if j.failed == nil {
		j.failed = err
	}
	j.pending = nil
	return j.failed
}

// Flush returns when everything appended before is on disk. Calls that wait
// together share one wait for the disk.
func (j *Journal) Flush() error {
	j.mu.Lock()
	f, failed := j.file, j.failed
	j.mu.Unlock()
	if failed != nil || f == nil {
		return failed
	}
	want := j.written.Load()
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	if j.synced >= want {
		return nil
	}
	now := j.written.Load() // what was appended meanwhile goes along
	err := f.Sync()
	if err == nil && !j.listed {
		err = j.folder.Sync()
	}
	if err != nil {
		return j.failedSync(err)
	}
	j.synced, j.listed = now, true
	return nil
}

func (j *Journal) failedSync(err error) error {
	j.mu.Lock()
	if j.closed { // by another goroutine, which waited for the disk itself
		j.mu.Unlock()
		return ErrClosed
	}
	report := j.failed == nil
	err = j.fail(state.Explain("sync", j.path(), err))
	j.mu.Unlock()
	if report {
		j.store.report(err)
	}
	return err
}

// Close waits for the disk and lets go of the file and its lock. What failed
// before, and was reported then, it does not return again.
func (j *Journal) Close() error {
	before := j.Err()
	err := j.Flush()
	if before != nil {
		err = nil
	}
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed, j.pending = true, nil
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return errors.Join(err, j.release())
}

// release gives lock and folders back.
func (j *Journal) release() error {
	for _, f := range []*state.Folder{j.session, j.folder} {
		if f != nil {
			f.Close()
		}
	}
	if j.lock == nil {
		return nil
	}
	return j.lock.Close()
}
