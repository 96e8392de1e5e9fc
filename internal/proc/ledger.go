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
)

func (l *ledger) path() string { return filepath.Join(l.dir, l.instance+ledgerSuffix) }

// started adds a process; the file is made with the first.
func (l *ledger) started(p identity) error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	return l.append(p)
}

func (l *ledger) open() error {
	boot, space, err := place()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	l.file, err = os.OpenFile(l.path(), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return err
	}
	if err := l.append(ledgerHead{ledgerVersion, boot, space, l.owner, l.instance}); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
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
