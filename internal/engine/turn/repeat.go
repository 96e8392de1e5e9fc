package turn

import (
	"crypto/sha256"
	"encoding/json"

	"garuda/internal/core"
)

// repeatLimit is how many steps in a row may make equal calls with equal results.
const repeatLimit = 3

// Signature names a call by its tool and input; equal calls have equal ones.
type Signature [sha256.Size]byte

// Sign makes a call's signature. White space and the order of fields in its
// input do not matter.
func Sign(name, input string) Signature {
	var v any
	if json.Unmarshal([]byte(input), &v) == nil {
		if b, err := json.Marshal(v); err == nil {
			input = string(b)
		}
	}
	return sha256.Sum256([]byte(name + "\x00" + input))
}

// Repeats watches a turn for a model that runs in circles. The zero value is
// ready to use.
type Repeats struct {
	last   Signature
	inRow  int
	counts map[Signature]int
}

// Before is how often an equal call was made earlier in this turn; it counts
// this one.
func (r *Repeats) Before(s Signature) int {
	if r.counts == nil {
		r.counts = make(map[Signature]int)
	}
	n := r.counts[s]
	r.counts[s]++
	return n
}

// Allowed starts the counts anew: a person said yes to a repeated call.
func (r *Repeats) Allowed() { r.inRow, r.counts = 0, nil }

// Step reports whether the turn has now taken three steps in a row with equal
// calls and equal results.
func (r *Repeats) Step(calls, results []core.Block) bool {
	h := sha256.New()
	for i, c := range calls {
		s := Sign(c.Name, c.Input)
		h.Write(s[:])
		for _, b := range results[i].Content {
			h.Write([]byte(b.Text))
			h.Write(b.Data)
			h.Write([]byte{0})
		}
	}
	var now Signature
	h.Sum(now[:0])
	if now == r.last {
		r.inRow++
	} else {
		r.last, r.inRow = now, 1
	}
	return r.inRow >= repeatLimit
}
