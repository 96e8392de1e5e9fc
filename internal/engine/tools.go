package engine

import (
	"slices"
	"strings"
	"sync"

	"garuda/internal/engine/compact"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// toolList is the session's tools as the model gets them. It only ever grows at
// its end, by deferred tools that tool_search has loaded, so that what was sent
// before stays as it was. It is safe for concurrent use.
type toolList struct {
	mu sync.Mutex
	// specs is never changed, only replaced by a longer list.
	specs    []llm.ToolSpec
	deferred []llm.ToolSpec
	loaded   []string
}

func newToolList(on, deferred []llm.ToolSpec) *toolList {
	return &toolList{specs: slices.Clip(on), deferred: deferred}
}

// current is what the next request lists.
func (l *toolList) current() []llm.ToolSpec {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.specs
}

// waits reports whether a tool is deferred and was not loaded yet.
func (l *toolList) waits(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(name) >= 0 && !slices.Contains(l.loaded, name)
}

func (l *toolList) find(name string) int {
	return slices.IndexFunc(l.deferred, func(s llm.ToolSpec) bool { return s.Name == name })
}

// load puts deferred tools at the list's end, in this order. Those that the list
// holds already are passed over; lost are names of no tool at all.
func (l *toolList) load(names []string) (added []llm.ToolSpec, lost []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		if slices.ContainsFunc(l.specs, func(s llm.ToolSpec) bool { return s.Name == name }) {
			continue
		}
		i := l.find(name)
		if i < 0 {
			lost = append(lost, name)
			continue
		}
		added = append(added, l.deferred[i])
		l.loaded = append(l.loaded, name)
		l.specs = slices.Clip(append(l.specs, l.deferred[i]))
	}
	return added, lost
}

// LoadedTools are the deferred tools that were loaded, in their order.
func (s *Session) LoadedTools() []string {
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	return slices.Clone(s.tools.loaded)
}

// beginTools lists the tools as the session left them: those that it had loaded
// are loaded again, and count before the first request is admitted.
func (a *actor) beginTools() {
	if h := a.s.cfg.History; h != nil {
		if _, lost := a.s.tools.load(h.Tools); len(lost) > 0 {
			a.s.log.publish(Notice{Text: "tools that this session had loaded are not offered any more: " + strings.Join(lost, ", ")})
		}
	}
	a.conv.fixedBytes += toolBytes(a.s.tools.current())
}

func toolBytes(specs []llm.ToolSpec) int {
	n := 0
	for _, s := range specs {
		n += compact.ToolSize(s.Name, s.Description, s.Schema)
	}
	return n
}

// loadTools takes up the deferred tools that these results ask for. The next
// request lists them.
func (t *turnRun) loadTools(results []*tool.CallResult) {
	for _, r := range results {
		if r.Output == nil || len(r.Output.Load) == 0 {
			continue
		}
		added, _ := t.a.s.tools.load(r.Output.Load)
		if len(added) == 0 {
			continue
		}
		rec := &session.Tools{Why: session.ToolsSearched}
		for _, s := range added {
			rec.Added = append(rec.Added, s.Name)
		}
		t.a.journal.append(rec)
		t.a.conv.listMore(toolBytes(added))
	}
}
