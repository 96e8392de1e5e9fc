package bwrap

import (
	"os"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/wrapped"
	"garuda/internal/testkit/attack"
)

// In the short tier the promises about namespaces stand for them: what a stage does
// against attacks, package linux is tested for. GARUDA_CONTRACT runs them.
func TestAttacks(t *testing.T) {
	if !executortest.Whole() && os.Getenv(attack.Key) == "" {
		t.Skip("it takes long; set " + executortest.WholeVariable + " to run it")
	}
	executortest.Attacks{
		Test: "TestAttacks", Base: executortest.SystemView, Limits: sandbox.Limits{Processes: 512, FileBytes: 1 << 30, MemoryBytes: 4 << 30},
		New: func(t testing.TB, view sandbox.Viewer) sandbox.Executor {
			return executor(t, wrapped.Options{View: view})
		},
	}.Run(t)
}
