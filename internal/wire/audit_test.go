package wire

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/audit"
	"garuda/internal/core"
)

// TestALogThatCannotBeWritten is told of once, and the calls run.
func TestALogThatCannotBeWritten(t *testing.T) {
	s := opened(t, false)
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var said bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	blocked := filepath.Join(s.places.garuda, audit.FolderName)
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out := s.Call(t.Context(), core.Block{ID: "c1", Name: "list_dir", Input: `{"path":"."}`})
		if out.Result.IsError {
			t.Fatal(out.Result.ResultText())
		}
	}
	if n := strings.Count(said.String(), "keep the audit log"); n != 1 {
		t.Errorf("told of %d times:\n%s", n, &said)
	}
}
