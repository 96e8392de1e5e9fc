package policy

import (
	"testing"

	"garuda/internal/tool"
)

// TestGrantsSayHowCommandsRun: in plan mode they cannot write the project, and only
// what was decided as leaving the sandbox leaves it.
func TestGrantsSayHowCommandsRun(t *testing.T) {
	for _, c := range []struct {
		name              string
		cfg               func(*Config)
		req               *tool.DecisionRequest
		readOnly, outside bool
	}{
		{"a command in the sandbox", sandboxedSession, command("make"), false, false},
		{"in plan mode", configure(sandboxedSession, inMode(Plan)), command("make"), true, false},
		{"outside, by a rule", configure(sandboxedSession, allowing("unsandboxed(make)")), outside(command("make")), false, true},
		{"outside, where there is no sandbox", allowing("bash(make)"), outside(command("make")), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newEngine(t, c.cfg).Decide(c.req)
			if d.Outcome != tool.Allow {
				t.Fatalf("%+v", d)
			}
			if d.Grant.ReadOnlyRoot != c.readOnly || d.Grant.Outside != c.outside {
				t.Errorf("read-only %v, outside %v", d.Grant.ReadOnlyRoot, d.Grant.Outside)
			}
		})
	}
	e := newEngine(t, sandboxedSession)
	req := outside(command("make"))
	asked := e.Decide(req)
	if d := e.Resolve(req, asked, tool.Answer{Choice: tool.AnswerOnce}); d.Outcome != tool.Allow || !d.Grant.Outside {
		t.Errorf("a yes to leaving the sandbox gave %+v", d)
	}
}
