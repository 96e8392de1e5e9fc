package plain

import (
	"context"
	"fmt"
	"strconv"

	"garuda/internal/audit"
	"garuda/internal/front/lines"
)

// auditLines is how many lines of the audit log /audit shows without a number.
const auditLines = 10

// runAudit shows what the audit log of the folder holds.
func runAudit(_ context.Context, c *chat, args string) error {
	log, err := c.o.Host.Audit()
	if err != nil {
		return err
	}
	defer log.Close()
	rows, err := auditRows(log, args)
	for _, row := range rows {
		c.screen.Line(lines.Normal, row)
	}
	return err
}

func auditRows(log *audit.Reader, args string) ([]string, error) {
	word, rest := cutWord(args)
	switch word {
	case "verify":
		report, err := log.Verify()
		if err != nil {
			return nil, err
		}
		return lines.AuditReport(report, log.Path()), nil
	case "stats":
		s, err := log.Stats()
		if err != nil {
			return nil, err
		}
		return lines.AuditStats(s), nil
	case "denials":
		return newestOf(log, rest, audit.Denied)
	}
	return newestOf(log, args, nil)
}

func newestOf(log *audit.Reader, count string, keep func(*audit.Line) bool) ([]string, error) {
	n := auditLines
	if count != "" {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 0 {
			return nil, fmt.Errorf("/audit takes a number of lines, denials, stats or verify, not %q", inShort(count))
		}
	}
	found, err := log.Last(n, keep)
	if err == nil && n > 0 && len(found) == 0 {
		if keep != nil {
			return []string{"nothing was denied in this folder, as far as its audit log goes"}, nil
		}
		return []string{"nothing was decided in this folder, as far as its audit log goes"}, nil
	}
	rows := make([]string, len(found))
	for i, l := range found {
		rows[i] = lines.Audit(l)
	}
	return rows, err
}
