package session

import (
	"fmt"
	"os"
	"path/filepath"

	"garuda/internal/state"
)

// ForeignError says that a journal may not be this user's: a project can bring
// journals along, and what stands in one would pass for the user's own words.
// Garuda's are their user's and closed to everybody else; what git or an archive
// unpacks usually is not.
type ForeignError struct {
	ID, Path string
	// Problem says what is wrong with the file, Fix the command that accepts it.
	Problem, Fix string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("its journal %s %s, so it may have come with the project and not from you; look at it with "+
		"`garuda sessions show %s`, and if it is yours: %s", e.Path, e.Problem, e.ID, e.Fix)
}

// checkOwn returns a *ForeignError for a journal that is not only this user's. A
// conversation that is only read, for a list or an export, need not be.
func (s *Store) checkOwn(id string) error {
	sessions, err := s.folderOf(id)
	if err != nil {
		return err
	}
	defer sessions.Close()
	info, err := sessions.Stat(id + journalExt)
	if err != nil {
		return err
	}
	path := filepath.Join(sessions.Path(), id+journalExt)
	if uid, mine := state.Owner(info); !mine {
		return &ForeignError{ID: id, Path: path, Problem: fmt.Sprintf("belongs to another user (uid %d)", uid),
			Fix: fmt.Sprintf("chown %d %q", os.Geteuid(), path)}
	}
	const others = 0o077
	if perm := info.Mode().Perm(); perm&others != 0 && sessions.KeepsModes() {
		return &ForeignError{ID: id, Path: path, Problem: fmt.Sprintf("is open to other users (mode %04o)", perm),
			Fix: fmt.Sprintf("chmod 600 %q", path)}
	}
	return nil
}
