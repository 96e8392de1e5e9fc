package landlock_test

import (
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/wrapped"
)

// notHeld are the cases that this backend cannot hold; docs/sandbox.md says so too.
var notHeld = map[string]string{
	"works-git":    "git makes files directly in .git, which holds locked ones",
	"works-python": "there is no /dev/shm for multiprocessing",
	"devices":      "their names can be seen as all others can; none can be opened",
	"fork-bomb":    "the kernel counts the processes of a user, and none of root's",
}

func TestAttacks(t *testing.T) {
	executortest.Attacks{
		Test: "TestAttacks", Base: view, Limits: sandbox.Limits{FileBytes: 1 << 30, MemoryBytes: 4 << 30}, NotHeld: notHeld,
		New: func(t testing.TB, view sandbox.Viewer) sandbox.Executor {
			return executor(t, wrapped.Options{Supervisor: supervisor(t), View: view})
		},
	}.Run(t)
}
