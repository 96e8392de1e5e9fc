package notebook

import (
	"strings"
	"testing"
)

// A file whose lists lie in each other a million times must not take the
// program down: a stack that is full cannot be recovered from.
func TestDeep(t *testing.T) {
	const depth = 5_000_000
	for _, s := range []string{
		`{"nbformat":4,"cells":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`,
		strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth),
		strings.Repeat("[", 2*depth),
		// Brackets that close nothing, and a comment that seems to open a string.
		`// "` + "\n" + strings.Repeat("[", 2*depth),
		strings.Repeat("]", depth) + strings.Repeat("[", 2*depth),
	} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%.20q… is taken", s)
		}
	}
	if _, err := Parse(`{"nbformat":4,"cells":[],"metadata":{"x":"` + strings.Repeat(`[\"{`, 10_000) + `"}}`); err != nil {
		t.Errorf("brackets in a string are no depth: %v", err)
	}
}
