package wire

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"garuda/internal/session/redact"
)

// What is logged never shows a secret.
func TestLogIsRedacted(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(redactedRecords{&out, redact.New([]string{"secret-value-123"})}, nil))
	log.Error("tool panicked", "panic", "key secret-value-123 was refused")
	if got := out.String(); strings.Contains(got, "secret-value-123") || !strings.Contains(got, "tool panicked") {
		t.Errorf("logged %q", got)
	}
}
