package bwrap

import (
	"os"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/wrapped"
)

// TestSwappedFolders is the race between the look at a path and its mount, of which
// another program does a part here.
func TestSwappedFolders(t *testing.T) {
	executortest.Namespaces{New: func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor {
		return executor(t, wrapped.Options{View: view, Network: network, Records: records})
	}}.Swapped(t, executortest.Rounds(t, os.Getenv("GARUDA_SWAPS")))
}
