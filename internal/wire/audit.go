package wire

import (
	"errors"
	"log/slog"
	"sync"

	"garuda/internal/audit"
	"garuda/internal/tool"
)

// openAudit prepares the log of decisions; nothing is made before its first line.
// The error is for a mandatory log that does not take what was consented to.
func (s *System) openAudit() error {
	o := s.settings.Audit
	if !o.Enabled || s.places.garuda == "" {
		return nil
	}
	s.audit = audit.New(audit.Options{
		Home: s.places.garuda, Root: s.workspace.Root(), Level: audit.Level(o.Level), Checkpoint: o.Checkpoint,
		Mandatory: o.Mandatory,
		Redact:    s.clean,
		Clock:     s.clock,
	})
	for _, line := range s.consents {
		if err := s.audit.Append(line); err != nil && o.Mandatory {
			return err
		} else if err != nil {
			s.notices = append(s.notices, err.Error())
		}
	}
	return nil
}

// auditTo gives a pipeline its log. Whoever shows what the pipeline does may
// take AuditFailed over.
func (s *System) auditTo(p *tool.Pipeline) {
	if s.audit == nil {
		return
	}
	p.Audit = s.audit
	var once sync.Once
	p.AuditFailed = func(err error) {
		once.Do(func() { slog.Warn("keep the audit log; calls go on without it", "error", err) })
	}
}

// Audit opens the audit log of this folder for reading; the caller closes it.
func (s *System) Audit() (*audit.Reader, error) {
	if s.places.garuda == "" {
		return nil, errors.New("read the audit log: there is no home folder; set GARUDA_HOME")
	}
	return audit.Open(s.places.garuda, s.workspace.Root())
}
