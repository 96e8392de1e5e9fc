//go:build linux

package linux_test

import (
	"os"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

// TestSwappedFolders is the race between the look at a path and its mount.
func TestSwappedFolders(t *testing.T) {
	executortest.Namespaces{New: func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor {
		return executor(t, linux.Options{View: view, Network: network, Records: records})
	}}.Swapped(t, executortest.Rounds(t, os.Getenv("GARUDA_SWAPS")))
}
