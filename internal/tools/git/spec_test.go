package git

import (
	"testing"

	"garuda/internal/testkit/tooltest"
)

func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[statusInput](t, status{}.Spec(), 230)
	tooltest.CheckSpec[diffInput](t, diff{}.Spec(), 420)
	tooltest.CheckSpec[logInput](t, log{}.Spec(), 320)
	tooltest.CheckSpec[showInput](t, show{}.Spec(), 320)
	tooltest.CheckSpec[blameInput](t, blame{}.Spec(), 320)
}
