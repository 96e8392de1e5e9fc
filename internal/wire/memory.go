package wire

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/config"
	"garuda/internal/engine/prompt"
	"garuda/internal/front/lines"
	"garuda/internal/front/plain"
	"garuda/internal/tool"
	"garuda/internal/tools/brief"
	"garuda/internal/tools/memory"
	"garuda/internal/tools/shell"
	"garuda/internal/tools/tasks"
	"garuda/internal/tools/todo"
)

// ownTools are those for the session's own plan, items and memory.
func ownTools(s *System) []tool.Tool {
	var sources []tasks.Source
	if s.background != nil {
		sources = append(sources, backgroundWork{s.background})
	}
	return slices.Concat(todo.New(), tasks.New(sources...), memory.New(s.memory), brief.New())
}

// backgroundWork is the background commands as task_stop takes them.
type backgroundWork struct{ b *shell.Background }

func (w backgroundWork) Running() []tasks.Work {
	var out []tasks.Work
	for _, c := range w.b.List() {
		if c.Running {
			out = append(out, tasks.Work{ID: c.ID, Text: c.Text})
		}
	}
	return out
}

func (w backgroundWork) Has(id string) bool {
	return slices.ContainsFunc(w.b.List(), func(c shell.Command) bool { return c.ID == id })
}

func (w backgroundWork) Stop(ctx context.Context, id string) (string, error) {
	return w.b.Stop(ctx, id)
}

// openMemory makes the store of the project's memory; it reads and makes nothing.
func (s *System) openMemory() error {
	o := memory.Options{
		Dir: s.state, Root: s.workspace.Root(), Redact: s.redactor.String, Clock: s.clock,
		Changed: func() { s.memoryChanged.Store(true) },
	}
	if s.places.garuda != "" {
		o.Home = filepath.Dir(config.UserProjectFile(s.places.garuda, o.Root))
	}
	s.memory = memory.NewStore(o)
	return nil
}

// memoryNoUse says why the memory's tools have no use here: there is no memory,
// there is nothing in it, or nothing would allow the call.
func (s *System) memoryNoUse(out map[string]string) {
	for _, name := range []string{"remember", "recall", "forget"} {
		switch {
		case s.options.NoMemory:
			out[name] = "--no-memory"
		case s.places.garuda == "":
			out[name] = "there is no home folder"
		case name == "recall":
			if m, err := s.memory.Load(); err == nil && len(m.Trusted()) == 0 {
				out[name] = "nothing is remembered yet"
			}
		case !s.options.Attended && !s.options.Yolo && !s.mayAllow(name):
			out[name] = "nobody answers questions here"
		}
	}
}

// mayAllow reports whether an allow rule may be for a tool.
func (s *System) mayAllow(name string) bool {
	return slices.ContainsFunc(s.settings.Permissions.Allow, func(r config.Rule) bool {
		pattern, _, _ := strings.Cut(r.Text, "(")
		ok, err := path.Match(strings.TrimSpace(pattern), name)
		return ok && err == nil
	})
}

// remembered are the facts for the prompt, and what a person should know of the rest.
func (s *System) remembered() (facts []prompt.Fact, said []string) {
	if s.options.NoMemory {
		return nil, nil
	}
	m, err := s.memory.Load()
	if err != nil {
		return nil, []string{"the memory is left out: " + err.Error()}
	}
	for _, f := range m.Trusted() {
		facts = append(facts, prompt.Fact{Kind: f.Kind, Text: f.Text, Hits: f.Hits})
	}
	if n := len(m.Foreign()); n > 0 {
		said = append(said, fmt.Sprintf("%s holds %s that Garuda did not write on this machine; left out until you say yes (/memory in the chat)",
			s.memory.Path(), lines.Count(n, "fact")))
	}
	if m.Unusable > 0 {
		said = append(said, fmt.Sprintf("%s holds %s that cannot be used: longer than %d characters, with hidden characters, or too many",
			s.memory.Path(), lines.Count(m.Unusable, "line"), memory.MaxText))
	}
	return facts, said
}

// Memory is what the project's memory holds, the oldest first.
func (h *Host) Memory(context.Context) ([]plain.Fact, error) {
	m, err := h.sys.memory.Load()
	if err != nil {
		return nil, err
	}
	out := make([]plain.Fact, len(m.Facts))
	for i, f := range m.Facts {
		out[i] = plain.Fact(f)
	}
	return out, nil
}

// TrustMemory notes that the person said yes to these facts. A session in which
// nothing was said yet begins anew, with them.
func (h *Host) TrustMemory(ctx context.Context, facts []plain.Fact) (loaded bool, err error) {
	list := make([]memory.Fact, len(facts))
	for i, f := range facts {
		list[i] = memory.Fact(f)
	}
	if err := h.sys.memory.Trust(ctx, list); err != nil {
		return false, err
	}
	h.sys.memoryChanged.Store(true)
	if h.sys.options.NoMemory || h.s.Busy() || h.s.Totals().Turns > 0 {
		return false, nil
	}
	return true, h.replace(SessionOptions{}, nil)
}
