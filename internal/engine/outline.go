package engine

import (
	"path/filepath"
	"strings"
	"sync"

	"garuda/internal/core"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// outline is what the session's records say of its work. Its turn writes it, and
// tools and surfaces read it.
type outline struct {
	mu sync.Mutex
	of session.Outline
}

// begin takes up what a resumed journal says.
func (o *outline) begin(from *session.Outline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of = *from
}

func (o *outline) add(rec session.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of.Add(rec)
}

func (o *outline) get() session.Outline {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of
}

// Todos is the list of steps that the model keeps, as it stands; nil where there
// never was one. It must not be changed.
func (s *Session) Todos() []core.Todo { return s.outline.get().Todos }

// Brief implements tool.Briefer.
func (s *Session) Brief() *tool.Brief {
	o := s.outline.get()
	b := &tool.Brief{Goal: o.First, Todos: o.Todos, Answers: o.Answers, Unfinished: o.Unfinished}
	if o.Newest != o.First {
		b.Now = o.Newest
	}
	for _, f := range o.Files {
		b.Files = append(b.Files, tool.ChangedFile{Path: f.Path, Changes: f.Calls})
	}
	return b
}

// fromRoot names files as the journal has them: from the root, with slashes, where
// they lie in it.
func (t *turnRun) fromRoot(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = filepath.ToSlash(path)
		if w := t.cfg.Pipeline.Env.Workspace; w != nil {
			rel, err := filepath.Rel(w.Root(), path)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				out[i] = filepath.ToSlash(rel)
			}
		}
	}
	return out
}
