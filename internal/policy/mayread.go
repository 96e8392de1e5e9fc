package policy

import (
	"os"
	"path/filepath"
	"sync"

	"garuda/internal/tool"
)

// readCache keeps where folders lead, for searches that ask about many files. It
// is emptied whenever something may have changed them.
type readCache struct{ real sync.Map }

func (c *readCache) clear() { c.real.Clear() }

// MayRead is the answer for one file that a search or a listing came across, an
// absolute path: false for sensitive files, and for those denied to a reading
// tool or hidden by the team policy, in either spelling.
func (e *Engine) MayRead(path string) bool {
	path = filepath.Clean(path)
	if !e.mayReadSpelling(e.spell(path)) {
		return false
	}
	dir, name := filepath.Split(path)
	realDir, ok := e.reads.real.Load(dir)
	if !ok {
		real, err := e.cfg.Resolver.Real(filepath.Clean(dir))
		if err != nil {
			return false
		}
		e.reads.real.Store(dir, real)
		realDir = real
	}
	real := filepath.Join(realDir.(string), name)
	if info, err := os.Lstat(real); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err = e.cfg.Resolver.Real(real); err != nil {
			return false
		}
	}
	return real == path || e.mayReadSpelling(e.spell(real))
}

// MayReadReal is MayRead for a path on which no link stands, its last part
// included, as a walk finds them that follows none. It does not look at the disk.
func (e *Engine) MayReadReal(path string) bool { return e.mayReadSpelling(e.spell(path)) }

func (e *Engine) mayReadSpelling(sp spelling) bool {
	if e.secret(sp.abs, true) && !e.readNamed(sp) {
		return false
	}
	if e.team.hides(sp) != nil {
		return false
	}
	for _, r := range e.rules.deny {
		if r.glob != nil && e.readsFiles(r) && r.glob.matches(sp, true) {
			return false
		}
	}
	return true
}

func (e *Engine) readNamed(sp spelling) bool {
	for _, r := range e.rules.allow {
		if r.glob != nil && e.readsFiles(r) && r.glob.names(sp) {
			return true
		}
	}
	return false
}

// readsFiles tells rules for tools that read.
func (e *Engine) readsFiles(r *rule) bool {
	for name := range r.tools {
		if e.tools[name].Class == tool.ClassRead {
			return true
		}
	}
	return false
}
