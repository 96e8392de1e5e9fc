package choose

import (
	"fmt"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
)

// Names are the backends that this system might have, the best first.
func Names() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// New makes the executor of one backend, whether or not a trial would succeed. It is
// for tests of each, and for what a session has already found.
func New(name string, opt wrapped.Options) (sandbox.Executor, error) {
	for _, k := range kinds() {
		if k.name == name {
			return k.make(opt)
		}
	}
	return nil, fmt.Errorf("make the sandbox %s: there is none of that name on this system", name)
}
