package bwrap

import (
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/wrapped"
)

func TestAttacks(t *testing.T) {
	executortest.Attacks{
		Test: "TestAttacks", Ordinary: !executortest.Whole(), Base: executortest.SystemView, Limits: sandbox.Limits{Processes: 512, FileBytes: 1 << 30, MemoryBytes: 4 << 30},
		New: func(t testing.TB, view sandbox.Viewer) sandbox.Executor {
			return executor(t, wrapped.Options{View: view})
		},
	}.Run(t)
}
