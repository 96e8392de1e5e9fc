package wire

import (
	"io"
	"log/slog"
	"os"

	"garuda/internal/session/redact"
)

// logTo sends what went wrong inside Garuda itself, and fails no call, to
// standard error: a tool that panicked, a process that cannot be ended. Secrets
// are taken out of it.
func logTo(r *redact.Redactor) {
	slog.SetDefault(slog.New(slog.NewTextHandler(redactedRecords{os.Stderr, r}, &slog.HandlerOptions{Level: slog.LevelWarn})))
}

// redactedRecords is a writer that gets one whole record a write.
type redactedRecords struct {
	to io.Writer
	r  *redact.Redactor
}

func (w redactedRecords) Write(record []byte) (int, error) {
	clean, _ := w.r.Bytes(record)
	if _, err := w.to.Write(clean); err != nil {
		return 0, err
	}
	return len(record), nil
}
