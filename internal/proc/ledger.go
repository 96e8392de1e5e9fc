package proc

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ledger is the file in ~/.garuda/running that says what this Garuda runs, for
// the next one to end if this one is killed. Its first line is a ledgerHead,
// each further one the identity of a command's process; when nothing runs, only
// the head stands. It is not synced: it matters only while the machine is up.
type ledger struct {
	dir      string
	owner    identity
	instance string
	file     *os.File
	head     int64
}

// ledgerHead says whose file it is.
type ledgerHead struct {
	V int `json:"v"`
	// Boot and Namespace say where Owner's number means anything.
	Boot      string   `json:"boot"`
	Namespace string   `json:"namespace,omitempty"`
	Owner     identity `json:"owner"`
	// Instance begins the CommandVariable of everything that was started.
	Instance string `json:"instance"`
}

const (
	ledgerVersion = 1
	ledgerSuffix  = ".jsonl"
	// unfinishedSuffix is the file's until its head is written: whoever sweeps must
	// find a whole head, whenever Garuda was killed.
	unfinishedSuffix = ".new"
)

func (l *ledger) path() string { return filepath.Join(l.dir, l.instance+ledgerSuffix) }

// started adds a process.
func (l *ledger) started(p identity) error {
	if err := l.open(); err != nil {
		return err
	}
	return l.append(p)
}

// open makes the file, if there is none yet. It must be there before the first
// process is: one that a kill of Garuda leaves behind is then found by its mark.
func (l *ledger) open() error {
	if l.file != nil {
		return nil
	}
	boot, space, err := place()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	unfinished := l.path() + unfinishedSuffix
	file, err := os.OpenFile(unfinished, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return err
	}
	l.file = file
	err = l.append(ledgerHead{ledgerVersion, boot, space, l.owner, l.instance})
	var info fs.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err == nil {
		err = os.Rename(unfinished, l.path())
	}
	if err != nil {
		l.file = nil
		return errors.Join(err, file.Close(), os.Remove(unfinished))
	}
	l.head = info.Size()
	return nil
}

func (l *ledger) append(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(b, '\n'))
	return err
}

// idle drops the processes, which have all ended.
func (l *ledger) idle() error {
	if l.file == nil || l.head == 0 {
		return nil
	}
	return l.file.Truncate(l.head)
}

func (l *ledger) remove() error {
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Close(), os.Remove(l.path()))
	l.file = nil
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
