package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"

	"garuda/internal/state"
)

// maxKept is how large a file of Keep's may be, in bytes.
const maxKept = 8 << 20

// Keep changes one small JSON file in the session's folder. It reads the file into
// value, a pointer, which stays as it is where there is no file; calls change; and
// writes what value is then, redacted, in one step and onto the disk, where it
// differs. Calls wait for each other, and other processes are kept out by the
// session's lock. A change that fails leaves the file alone, and is the error.
// Where there is no journal on the disk the file is kept in memory.
func (j *Journal) Keep(ctx context.Context, name string, value any, change func() error) error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	j.mu.Lock()
	folder, closed := j.session, j.closed
	j.mu.Unlock()
	if closed {
		return ErrClosed
	}
	before, err := j.kept(folder, name)
	if err != nil {
		return err
	}
	if before != nil {
		if err := json.Unmarshal(before, value); err != nil {
			return fmt.Errorf("read %s of session %s: %w", name, j.id, err)
		}
	}
	if err := change(); err != nil {
		return err
	}
	if j.store != nil {
		v, _ := j.store.redaction.value(reflect.ValueOf(value))
		value = v.Interface()
	}
	after, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s of session %s: %w", name, j.id, err)
	}
	if after = append(after, '\n'); bytes.Equal(before, after) {
		return nil
	}
	if len(after) > maxKept {
		return fmt.Errorf("%s of session %s: %w: more than %d bytes", name, j.id, state.ErrLarge, maxKept)
	}
	if folder == nil {
		if j.keptFiles == nil {
			j.keptFiles = map[string][]byte{}
		}
		j.keptFiles[name] = after
		return nil
	}
	return folder.Replace(name, after, true)
}

// kept is the file's content, nil where there is none; the keeping lock is held.
func (j *Journal) kept(folder *state.Folder, name string) ([]byte, error) {
	if folder == nil {
		return j.keptFiles[name], nil
	}
	data, err := folder.ReadSmall(name, maxKept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// copyKept copies the files of Keep's from one session's folder to another's.
func copyKept(sessions *state.Folder, id, copyID string) error {
	from, err := sessions.Sub(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	entries, err := from.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		data, err := from.ReadSmall(e.Name(), maxKept)
		if err != nil {
			return err
		}
		to, err := sessions.MakeSub(copyID)
		if err != nil {
			return err
		}
		err = to.WriteNew(e.Name(), data)
		to.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
