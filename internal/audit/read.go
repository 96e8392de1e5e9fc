package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/state"
)

// lineLimit is how long a line can be that this package wrote, at six bytes of
// JSON a byte of text, and some.
const lineLimit = 8*2*textLimit + 64<<10

// Reader reads the logs of one project.
type Reader struct {
	path   string
	folder *state.Folder
}

// Open opens a project's logs for reading. Where there are none yet it gives a
// Reader of nothing.
func Open(home, root string) (*Reader, error) {
	r := &Reader{path: Folder(home, root)}
	folder, err := state.OpenPath(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	r.folder = folder
	return r, nil
}

// Path is the logs' folder.
func (r *Reader) Path() string { return r.path }

// Close gives the folder back.
func (r *Reader) Close() {
	if r.folder != nil {
		r.folder.Close()
	}
}

// files lists the logs, the oldest first.
func (r *Reader) files() ([]string, error) {
	if r.folder == nil {
		return nil, nil
	}
	return list(r.folder, logSuffix)
}

func list(folder *state.Folder, suffix string) ([]string, error) {
	entries, err := folder.ReadDir()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Lines gives every line that can be read, the oldest first, until yield says no.
// Lines that are not what was written are left out here: Verify names them.
func (r *Reader) Lines(yield func(file string, l *Line) bool) error {
	names, err := r.files()
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	// Files of two processes overlap in time.
	var all []located
	for _, name := range names {
		err := r.each(name, func(raw []byte, whole bool) bool {
			if l, err := decode(raw); err == nil && whole {
				all = append(all, located{name, l})
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b located) int { return strings.Compare(a.line.Timestamp, b.line.Timestamp) })
	for _, at := range all {
		if !yield(at.file, at.line) {
			return nil
		}
	}
	return nil
}

type located struct {
	file string
	line *Line
}

// each gives the lines of a file; whole is false for a last one without its end.
func (r *Reader) each(name string, yield func(raw []byte, whole bool) bool) error {
	path := filepath.Join(r.path, name)
	f, err := r.folder.Open(name)
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, lineLimit)
	for {
		raw, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("read the audit log %s: a line is longer than any that Garuda writes", path)
		case errors.Is(err, io.EOF):
			if len(raw) > 0 {
				yield(raw, false)
			}
			return nil
		case err != nil:
			return fmt.Errorf("read the audit log %s: %w", path, err)
		}
		if !yield(bytes.TrimSuffix(raw, []byte("\n")), true) {
			return nil
		}
	}
}
