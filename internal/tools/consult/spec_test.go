package consult

import (
	"testing"

	"garuda/internal/testkit/tooltest"
)

func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[askInput](t, ask{}.Spec(), 780)
	tooltest.CheckSpec[enterInput](t, enterPlanMode{}.Spec(), 230)
	tooltest.CheckSpec[exitInput](t, exitPlanMode{}.Spec(), 300)
}
