package search

import (
	"testing"

	"garuda/internal/testkit/tooltest"
)

// The schemas are kept by hand to be small.
func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[globInput](t, globTool{}.Spec(), 550)
	tooltest.CheckSpec[grepInput](t, grepTool{}.Spec(), 1250)
}
