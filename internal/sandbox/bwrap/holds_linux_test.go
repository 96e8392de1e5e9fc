package bwrap

import (
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/wrapped"
)

func TestNamespaces(t *testing.T) {
	executortest.Namespaces{New: func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor {
		return executor(t, wrapped.Options{View: view, Network: network, Records: records})
	}}.Run(t)
}
