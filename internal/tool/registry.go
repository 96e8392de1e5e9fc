package tool

import (
	"fmt"
	"maps"
	"slices"
)

// Registry holds the tools of a session, sorted by name. It never changes after
// the first call.
type Registry struct {
	// Off says of tools that this session does not have why that is so, by name, in
	// words for the model: "todo.enabled is off". Set before the first call; may be nil.
	Off map[string]string

	tools  []Tool
	names  []string
	byName map[string]Tool
	inputs map[string]*inputSchema
}

// NewRegistry sorts the tools and prepares their schemas. Two tools of one name
// and a schema that is not an object are errors.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{
		byName: make(map[string]Tool, len(tools)),
		inputs: make(map[string]*inputSchema, len(tools)),
	}
	for _, t := range tools {
		spec := t.Spec()
		if _, twice := r.byName[spec.Name]; twice {
			return nil, fmt.Errorf("register tools: two are named %s", spec.Name)
		}
		in, err := newInputSchema(spec)
		if err != nil {
			return nil, fmt.Errorf("register tool %s: %w", spec.Name, err)
		}
		r.byName[spec.Name], r.inputs[spec.Name] = t, in
	}
	r.names = slices.Sorted(maps.Keys(r.byName))
	for _, name := range r.names {
		r.tools = append(r.tools, r.byName[name])
	}
	return r, nil
}

// All returns the tools, sorted by name.
func (r *Registry) All() []Tool { return r.tools }

// Lookup finds a tool by its exact name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// Names lists the tools' names, sorted.
func (r *Registry) Names() []string { return slices.Clone(r.names) }
