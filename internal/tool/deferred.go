package tool

import (
	"fmt"

	"garuda/internal/nearest"
)

// NotLoaded is the error of a call to a deferred tool that was not loaded yet.
type NotLoaded struct{ Name string }

func (e *NotLoaded) Error() string {
	return fmt.Sprintf("it is not loaded; call tool_search with the query %q first, and then this again", "select:"+e.Name)
}

// find is the tool of a call, or why there is none, for the model.
func (p *Pipeline) find(name string) (Tool, error) {
	t, ok := p.Registry.Lookup(name)
	switch {
	case !ok:
		return nil, p.unknown(name)
	case p.deferred(name):
		return nil, &NotLoaded{Name: name}
	}
	return t, nil
}

func (p *Pipeline) deferred(name string) bool { return p.NotLoaded != nil && p.NotLoaded(name) }

// unknown is the error for a name that is no tool. One that is deferred may be
// meant; those that are called are listed without them.
func (p *Pipeline) unknown(name string) error {
	if why, off := p.Registry.Off[name]; off {
		return fmt.Errorf("it is off in this session (%s); go on without it, or tell the user what you need it for", why)
	}
	all := p.Registry.Names()
	if near := nearest.Of(name, all); near != "" {
		return fmt.Errorf("there is no tool named %q; did you mean %q?", name, near)
	}
	var listed []string
	for _, n := range all {
		if !p.deferred(n) {
			listed = append(listed, n)
		}
	}
	return fmt.Errorf("there is no tool named %q; the tools are %s", name, join(listed))
}
