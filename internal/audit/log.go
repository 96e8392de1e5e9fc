package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"garuda/internal/core"
	"garuda/internal/state"
)

const (
	// FolderName is the folder of all audit logs in Garuda's home.
	FolderName = "audit"
	// checkpointsName is the folder of checkpoints beside a project's logs.
	checkpointsName = "checkpoints"
	logSuffix       = ".jsonl"
)

// Options say where a log is kept, and how much of it.
type Options struct {
	// Home is Garuda's folder, Root the real path of the project's.
	Home, Root string
	Level      Level
	// Checkpoint keeps the end of the log beside it.
	Checkpoint bool
	// Mandatory puts each line on the disk before Append returns.
	Mandatory bool
	// Redact takes secrets out of targets and reasons; nil leaves them.
	Redact func(string) string
	Clock  core.Clock
}

// Folder is the path of a project's logs.
func Folder(home, root string) string {
	sum := sha256.Sum256([]byte(root))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, filepath.Base(root))
	const longest = 60
	return filepath.Join(home, FolderName, strings.TrimLeft(name[:min(len(name), longest)], ".")+"-"+hex.EncodeToString(sum[:4]))
}

// Log is one process's file. It makes nothing before the first line, and is
// safe for concurrent use.
type Log struct {
	o    Options
	path string

	mu     sync.Mutex
	folder *state.Folder
	// checkpoints is nil where none are kept; end is the one of this log.
	checkpoints *state.Folder
	end         checkpoint
	file        *os.File
	name        string
	size        int64
	seq         int64
	prev        string
}

// New prepares a log. Close gives its files back.
func New(o Options) *Log { return &Log{o: o, path: Folder(o.Home, o.Root)} }

// Mandatory says whether a call must not go on without its line.
func (l *Log) Mandatory() bool { return l.o.Mandatory }

// CheckpointError says that a line is on the disk and its checkpoint is not.
type CheckpointError struct{ Err error }

func (e *CheckpointError) Error() string {
	return "the line was written, but its checkpoint could not be written: " + e.Err.Error()
}

func (e *CheckpointError) Unwrap() error { return e.Err }

// Append writes a line, which gets its number, time and hash here. A line that
// the level leaves out is no error. Where the line was written and only its
// checkpoint was not, the error is a *CheckpointError, and the next line's
// checkpoint covers both.
func (l *Log) Append(line Line) error {
	if l.o.Redact != nil {
		line.Target, line.Reason = l.o.Redact(line.Target), l.o.Redact(line.Reason)
	}
	if !l.o.Level.keeps(&line) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	line.Timestamp, line.Seq, line.Prev = stamp(l.o.Clock.Now()), l.seq+1, l.prev
	data, err := line.encode()
	if err != nil {
		return err
	}
	if err := l.write(data); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	// The chain moves on with the line, whatever becomes of the checkpoint: else
	// the next line would bear the same number.
	l.seq, l.prev = line.Seq, line.Hash
	if l.checkpoints == nil {
		return nil
	}
	if err := l.checkpoint(); err != nil {
		return &CheckpointError{Err: err}
	}
	return nil
}

// ready opens a file, where there is none or somebody removed it: what follows
// then goes into a new one.
func (l *Log) ready() error {
	if l.file != nil {
		if l.stands() {
			return nil
		}
		l.close()
	}
	folder, err := state.MakePath(l.path)
	if err != nil {
		return err
	}
	l.folder = folder
	if l.o.Checkpoint {
		if l.checkpoints, err = folder.MakeSub(checkpointsName); err != nil {
			l.close()
			return err
		}
	}
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	l.name = fmt.Sprintf("%s-%d-%s%s", l.o.Clock.Now().UTC().Format("20060102T150405Z"), os.Getpid(), hex.EncodeToString(random[:]), logSuffix)
	if l.file, err = folder.Create(l.name); err != nil {
		l.close()
		return err
	}
	l.end = checkpoint{folder: l.checkpoints, name: l.name + ".json"}
	l.size, l.seq, l.prev = 0, 0, firstPrev
	if l.o.Mandatory {
		// Lines that are on the disk are of no use without the file's name.
		if err := l.syncFolders(); err != nil {
			l.drop()
			return err
		}
	}
	return nil
}

// syncFolders puts the names of the log and of the folders that it lies in on the disk.
func (l *Log) syncFolders() error {
	if err := l.folder.Sync(); err != nil {
		return err
	}
	for path := filepath.Dir(l.path); ; path = filepath.Dir(path) {
		above, err := state.OpenPath(path)
		if err != nil {
			return err
		}
		err = above.Sync()
		above.Close()
		if err != nil || path == l.o.Home || path == filepath.Dir(path) {
			return err
		}
	}
}

// drop gives up a file in which no line stands.
func (l *Log) drop() {
	folder, name := l.folder, l.name
	l.folder = nil
	l.close()
	_ = folder.Remove(name) // what stays is an empty file
	folder.Close()
}

// stands tells whether the file is still where it was made, and as it was left: in
// one that somebody cut, no line could follow the one before. The path is asked
// and not the folder's handle, which stays good when the folder is removed.
func (l *Log) stands() bool {
	ours, err := l.file.Stat()
	if err != nil || ours.Size() != l.size {
		return false
	}
	there, err := os.Lstat(filepath.Join(l.path, l.name))
	return err == nil && os.SameFile(ours, there)
}

// write appends a whole line or, as far as the disk lets it, nothing.
func (l *Log) write(data []byte) error {
	n, err := l.file.Write(data)
	if err == nil && l.o.Mandatory {
		err = l.file.Sync()
	}
	if err == nil {
		l.size += int64(n)
		return nil
	}
	err = state.Explain("write", filepath.Join(l.path, l.name), err)
	if l.size == 0 {
		l.drop()
		return err
	}
	if cut := l.file.Truncate(l.size); cut != nil {
		// Half a line stays. A new file begins a new chain; in this one the next
		// line would stand behind the half one.
		l.close()
		return errors.Join(err, cut)
	}
	return err
}

// checkpoint keeps the end of the log beside it.
func (l *Log) checkpoint() error {
	if !l.checkpoints.Stands() { // somebody moved or removed the folder
		again, err := l.folder.MakeSub(checkpointsName)
		if err != nil {
			return err
		}
		l.end.close()
		l.checkpoints.Close()
		l.checkpoints = again
		l.end = checkpoint{folder: again, name: l.end.name}
	}
	return l.end.put(mark{Seq: l.seq, Hash: l.prev}, l.o.Mandatory)
}

// Close gives the files back. Nothing can be lost by it.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}

func (l *Log) close() {
	if l.file != nil {
		_ = l.file.Close() // every line was written by itself
	}
	l.end.close()
	for _, f := range []*state.Folder{l.folder, l.checkpoints} {
		if f != nil {
			f.Close()
		}
	}
	l.file, l.folder, l.checkpoints = nil, nil, nil
}
