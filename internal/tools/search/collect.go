package search

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"garuda/internal/workspace"
)

// collector gathers what the workers find, and keeps of it only what the result
// can show, in the order of the paths.
type collector struct {
	mode mode
	need int // files, or matching lines in modeContent, to keep: offset and limit

	mu   sync.Mutex
	kept []*fileMatches
	held int // units in kept

	files, matches int // of everything, not only of what is kept
	searched       int
	binary         int
	refused        int // sensitive, denied
	large          []string
	slow           []string
	unreadable     []string
}

func (c *collector) units(f *fileMatches) int {
	if c.mode != modeContent {
		return 1
	}
	return min(f.count, c.need)
}

// add takes one file's result; f is nil when nothing matched.
func (c *collector) add(f *fileMatches) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.searched++
	if f == nil {
		return
	}
	c.files++
	c.matches += f.count
	c.kept = append(c.kept, f)
	if c.held += c.units(f); c.held > 8*c.need+1000 {
		c.prune()
	}
}

// prune sorts, and drops the files that come after what is needed.
func (c *collector) prune() {
	c.sort()
	c.held = 0
	for i, f := range c.kept {
		if c.held >= c.need {
			clear(c.kept[i:])
			c.kept = c.kept[:i]
			return
		}
		c.held += c.units(f)
	}
}

func (c *collector) sort() {
	slices.SortFunc(c.kept, func(a, b *fileMatches) int { return cmp.Compare(a.path, b.path) })
}

// failed counts a file that was not searched to its end.
func (c *collector) failed(path string, err error) {
	const most = 10
	name := func(list *[]string) {
		if len(*list) < most {
			*list = append(*list, path)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var gone *workspace.NotFoundError
	var changed *workspace.ChangedError
	switch {
	case errors.Is(err, errBinary):
		c.binary++
	case errors.Is(err, errTooLarge):
		name(&c.large)
	case errors.Is(err, errTimeout):
		name(&c.slow)
	case errors.As(err, &gone), errors.As(err, &changed): // while the search went on
	default:
		name(&c.unreadable)
	}
}

func (c *collector) refuse() {
	c.mu.Lock()
	c.refused++
	c.mu.Unlock()
}
