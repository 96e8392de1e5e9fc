package fileread

import (
	"testing"

	"garuda/internal/testkit/tooltest"
)

// The schemas are kept by hand to be small.
func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[readInput](t, readFile{}.Spec(), 800)
	tooltest.CheckSpec[readManyInput](t, readManyFiles{}.Spec(), 550)
	tooltest.CheckSpec[listInput](t, listDir{}.Spec(), 500)
}
