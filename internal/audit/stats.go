package audit

import (
	"encoding/json"
	"fmt"
	"io"
)

// Stats sums a project's logs up.
type Stats struct {
	Files     int              `json:"files"`
	Lines     int              `json:"lines"`
	Allowed   int              `json:"allowed"`
	Denied    int              `json:"denied"`
	Failed    int              `json:"failed"`
	Decisions map[Decision]int `json:"decisions"`
	Tools     map[string]int   `json:"tools"`
	Risks     map[Risk]int     `json:"risks"`
	First     string           `json:"first,omitempty"`
	Last      string           `json:"last,omitempty"`
}

// Stats reads all logs and sums them up. Tools counts decisions, not how the
// calls ended, so that a call counts once.
func (r *Reader) Stats() (*Stats, error) {
	s := &Stats{Decisions: map[Decision]int{}, Tools: map[string]int{}, Risks: map[Risk]int{}}
	names, err := r.files()
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	s.Files = len(names)
	err = r.Lines(func(_ string, l *Line) bool {
		s.count(l)
		return true
	})
	return s, err
}

func (s *Stats) count(l *Line) {
	s.Lines++
	s.Decisions[l.Decision]++
	s.Risks[l.Risk]++
	if s.First == "" {
		s.First = l.Timestamp
	}
	s.Last = l.Timestamp
	switch {
	case l.Decision == Executed:
	case l.Decision == Error:
		s.Failed++
	case l.Allowed:
		s.Allowed++
		s.Tools[l.Tool]++
	default:
		s.Denied++
		s.Tools[l.Tool]++
	}
}

// Last gives the newest n lines that keep says yes to, the oldest of them first;
// none for n of 0.
func (r *Reader) Last(n int, keep func(*Line) bool) ([]*Line, error) {
	var out []*Line
	err := r.Lines(func(_ string, l *Line) bool {
		if keep == nil || keep(l) {
			out = append(out, l)
		}
		return true
	})
	return out[max(0, len(out)-max(0, n)):], err
}

// Denied says yes to lines of what was denied.
func Denied(l *Line) bool { return !l.Allowed }

// Export writes all lines that can be read as JSON, one a line, each with the
// name of its log in front.
func (r *Reader) Export(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var failed error
	err := r.Lines(func(file string, l *Line) bool {
		failed = enc.Encode(struct {
			File string `json:"file"`
			*Line
		}{file, l})
		return failed == nil
	})
	if failed != nil {
		return fmt.Errorf("export the audit log: %w", failed)
	}
	return err
}
