package stage

import "strings"

// Sabotage is the variable of a command's environment that names the step which
// fails. Only this test binary looks at it.
const Sabotage = "GARUDA_TEST_SABOTAGE"

// The stage runs before any test does, so this is set while variables are.
var _ = arm()

func arm() bool {
	sabotage = func(step string, p *Policy) *failure {
		if p != nil {
			for _, e := range p.Env {
				if name, ok := strings.CutPrefix(e, Sabotage+"="); ok && name == step {
					return &failure{what: "sabotage"}
				}
			}
		}
		return nil
	}
	return true
}

// StepNames are the steps that can fail, in their order.
func StepNames() []string {
	var names []string
	for _, s := range (&stage{}).steps() {
		names = append(names, s.name)
	}
	return names
}
