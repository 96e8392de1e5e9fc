// Package memory keeps what is worth knowing of a project beyond one session: the
// file .garuda/memory.md, one fact a line, and the tools remember, recall and forget.
//
// The file lies in the project, where a person edits it and a clone brings one
// along. So a fact counts only when this machine's Garuda wrote it or the user said
// yes to it, which is noted in the user's home (see Store.Load); the rest of the
// file is shown to nobody but the person who is asked about it. It holds no secrets:
// what looks like one is refused. The package decides no permission and asks nobody.
package memory

import (
	"fmt"

	"garuda/internal/tool"
)

// The limits of a project's memory, in characters, facts and bytes.
const (
	MaxText  = 400
	MaxFacts = 300
	// maxFile is how large memory.md may be with all that is no fact in it.
	maxFile = 256 << 10
)

// New returns the tools.
func New(s *Store) []tool.Tool { return []tool.Tool{remember{s}, recall{s}, forget{s}} }

func count(n int) string {
	if n == 1 {
		return "1 fact"
	}
	return fmt.Sprintf("%d facts", n)
}
