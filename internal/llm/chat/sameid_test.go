package chat

import (
	"errors"
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// TestTenThousandCallsWithOneID takes minutes where each id is looked for from the
// beginning.
func TestTenThousandCallsWithOneID(t *testing.T) {
	for _, id := range []string{"same", "functions.bash:0"} {
		const n = 10_000
		c := calls{emit: func(llm.Event) {}, taken: map[string]bool{id: true}}
		for i := range n {
			index := wire.Index(i)
			if err := c.add(&callDelta{Index: &index, ID: wire.Word(id), Function: functionDelta{Name: "bash", Arguments: arguments{"{}"}}}); err != nil {
				t.Fatal(err)
			}
		}
		c.finish()
		seen := map[string]bool{id: true}
		for _, b := range c.blocks() {
			if seen[b.ID] {
				t.Fatalf("two calls have the id %s", b.ID)
			}
			seen[b.ID] = true
		}
		if err := c.add(&callDelta{ID: "one more", Function: functionDelta{Name: "bash"}}); !errors.Is(err, errManyCalls) {
			t.Errorf("%v", err)
		}
		if len(seen) != n+1 {
			t.Errorf("%d ids", len(seen))
		}
	}
}
