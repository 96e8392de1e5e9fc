package plain

import (
	"strings"
	"testing"

	"garuda/internal/audit"
	"garuda/internal/core"
)

func TestAuditRows(t *testing.T) {
	home := t.TempDir()
	log := audit.New(audit.Options{Home: home, Root: "/p", Checkpoint: true, Clock: core.SystemClock})
	for range 12 {
		if err := log.Append(audit.Line{Tool: "bash", Target: "ls\n\x1b[31m", Decision: audit.AllowReadOnly, Allowed: true, Risk: audit.Low}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Append(audit.Line{Tool: "bash", Decision: audit.DenyUser, Risk: audit.High}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	r, err := audit.Open(home, "/p")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, tt := range []struct {
		args string
		rows int
		text string
	}{
		{"", 10, "deny_user (high)  bash"}, {"2", 2, "allow_readonly  bash  ls "}, {"0", 0, ""}, {"denials", 1, "deny_user"},
		{"denials 0", 0, ""}, {"stats", 10, "13 lines in 1 log: 12 allowed, 1 denied, 0 failed"}, {"verify", 1, "13 lines in 1 log"},
	} {
		rows, err := auditRows(r, tt.args)
		all := strings.Join(rows, "\n")
		if err != nil || len(rows) != tt.rows || !strings.Contains(all, tt.text) || strings.Contains(all, "\x1b") {
			t.Errorf("/audit %s: %v\n%s", tt.args, err, all)
		}
	}
	for _, args := range []string{"x", "-1", "denials x", "1 2"} {
		if _, err := auditRows(r, args); err == nil || !strings.Contains(err.Error(), "/audit takes") {
			t.Errorf("/audit %s: %v", args, err)
		}
	}
}

// A log without such a line says so.
func TestAuditRowsOfNothing(t *testing.T) {
	r, err := audit.Open(t.TempDir(), "/p")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for args, want := range map[string]string{"": "nothing was decided", "3": "nothing was decided", "denials": "nothing was denied"} {
		if rows, err := auditRows(r, args); err != nil || len(rows) != 1 || !strings.HasPrefix(rows[0], want) {
			t.Errorf("/audit %s: %q, %v", args, rows, err)
		}
	}
}
