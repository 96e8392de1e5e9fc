//go:build linux

package linux_test

import (
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

func TestAttacks(t *testing.T) {
	executortest.Attacks{
		Test: "TestAttacks", Base: view, Limits: sandbox.Limits{Processes: 512, FileBytes: 1 << 30, MemoryBytes: 4 << 30},
		New: func(t testing.TB, view sandbox.Viewer) sandbox.Executor {
			return executor(t, linux.Options{View: view})
		},
	}.Run(t)
}
