package watched

import (
	"fmt"
	"path"
	"strings"

	"garuda/internal/gitlink"
)

// Planted is a repository that git looks into for the project's own status, and that
// would have it run a program; a command made it so.
type Planted struct{ gitlink.Repository }

// Rel is what makes it a repository, as a path from the root.
func (p *Planted) Rel() string { return path.Join(p.Path, ".git") }

// standing are the repositories that were so before the first command, or that were
// allowed since, by what is said of them.
type standing map[string]bool

func key(r *gitlink.Repository) string { return r.Path + "\x00" + r.Why + "\x00" + r.Sum }

// lookFirst looks at the repositories before the first command.
func (w *Watcher) lookFirst() standing {
	all := standing{}
	found, err := w.links.Repositories()
	if err != nil {
		return all // it is said after the command, since it fails then too
	}
	for i := range found {
		if found[i].Why != "" {
			all[key(&found[i])] = true
		}
	}
	return all
}

// Planted finds the repositories that commands have planted until now. It is cheap
// where the project's index was not changed and names no submodule.
func (w *Watcher) Planted() ([]Planted, error) {
	found, err := w.links.Repositories()
	if err != nil {
		return nil, fmt.Errorf("look for repositories that a command planted: %w", err)
	}
	first := w.first()
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Planted
	for _, r := range found {
		if r.Why != "" && !first[key(&r)] {
			out = append(out, Planted{r})
		}
	}
	return out, nil
}

// Allow says that repositories stay as they are: they are planted no more.
func (w *Watcher) Allow(all []Planted) {
	first := w.first()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		first[key(&all[i].Repository)] = true
	}
}

// SetAside gives what makes each a repository another name, so that git finds none
// there, and says what became of them, for the model and the user.
func (w *Watcher) SetAside(all []Planted) string {
	var b strings.Builder
	for i := range all {
		p := &all[i]
		to, err := w.ws.SetAside(p.Rel())
		if err != nil {
			fmt.Fprintf(&b, " %s is left, so tell the user to run no git before it is removed: %v.", p.Rel(), err)
			continue
		}
		fmt.Fprintf(&b, " %s is called %s now, so that git does not look into %s (%s).", p.Rel(), to, p.Path, p.Why)
	}
	return strings.TrimSpace(b.String())
}

// Disarm sets aside what commands planted at whose end nobody can be asked, and says
// so; "" for nothing. A nil Watcher does nothing.
func (w *Watcher) Disarm() string {
	if w == nil {
		return ""
	}
	all, err := w.Planted()
	switch {
	case err != nil:
		return "whether a repository was planted that git would run programs for cannot be told: " + err.Error()
	case len(all) == 0:
		return ""
	}
	return "a repository was made that git would run programs for. " + w.SetAside(all)
}
