package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"garuda/internal/core"
)

// What an agent's requests used counts at once; its report takes the place of just
// what was booked for its own call.
func TestAReportReplacesItsOwnDebits(t *testing.T) {
	used := func(spec string, input int, usd float64) core.ModelUsage {
		return core.ModelUsage{Spec: spec, Usage: core.Usage{Input: input}, Cost: core.Cost{USD: usd, Known: true}, Requests: 1}
	}
	spend := func(call, spec string, input int, usd float64) Record {
		return &ChildSpend{Call: call, Tokens: input, ModelUsage: used(spec, input, usd)}
	}
	report := func(call string, models ...core.ModelUsage) Record {
		return &ToolResults{Calls: []CallInfo{{ID: call, Name: "task", Subagent: &Subagent{Models: models}}}}
	}
	var sums tally
	for _, step := range []struct {
		rec   Record
		input int
		usd   float64
	}{
		{&SideUsage{Purpose: "title", ModelUsage: used("a/main", 5, 1)}, 5, 1},
		{spend("1", "a/small", 10, 2), 15, 3},
		{spend("2", "a/small", 100, 4), 115, 7},
		{spend("1", "a/small", 20, 2), 135, 9},
		{report("1", used("a/small", 33, 5)), 138, 10},
		{report("1", used("a/small", 1, 1)), 139, 11}, // nothing is left to take back
		{&ToolResults{Calls: []CallInfo{{ID: "2", Name: "task"}}}, 139, 11},
	} {
		before := sums
		sums.add(step.rec)
		if sums.Usage.Input != step.input || sums.Cost != (core.Cost{USD: step.usd, Known: true}) {
			t.Fatalf("after %+v: %+v, %+v; want %d and $%v", step.rec, sums.Usage, sums.Cost, step.input, step.usd)
		}
		again := before // a copy shares nothing, so the record may be counted again
		again.add(step.rec)
		if d := cmp.Diff(sums, again, cmp.AllowUnexported(tally{})); d != "" {
			t.Fatal(d)
		}
	}
	want := core.ByModel{used("a/main", 5, 1), used("a/small", 134, 10)}
	if d := cmp.Diff(want, sums.Models, cmpopts.IgnoreFields(core.ModelUsage{}, "Requests")); d != "" {
		t.Error(d)
	}
}
