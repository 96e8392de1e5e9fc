package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"garuda/internal/audit"
	"garuda/internal/front/lines"
	"garuda/internal/wire"
)

func newAudit(f *Factory) *cobra.Command {
	return subcommands("audit", "Check and read the log of every decision made in a folder",
		newAuditVerify(f), newAuditStats(f), newAuditDenials(f), newAuditShow(f), newAuditExport(f))
}

// auditCommand makes a command on the audit log of the current folder.
func auditCommand(f *Factory, use, short string, most int, run func(*audit.Reader, []string) error) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true, RunsNothing: true}
	cmd := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > most {
				return usagef("garuda audit %s takes at most %s, got %d", cmd.Name(), lines.Count(most, "word"), len(args))
			}
			sys, err := openSystem(cmd.Context(), f, o)
			if err != nil {
				return err
			}
			defer sys.Close()
			log, err := sys.Audit()
			if err != nil {
				return err
			}
			defer log.Close()
			return run(log, args)
		},
	}
	cmd.Flags().StringVar(&o.CWD, "cwd", "", "of this `folder` instead of the current one")
	return cmd
}

func newAuditVerify(f *Factory) *cobra.Command {
	var asJSON bool
	cmd := auditCommand(f, "verify", "Find lines that were changed, put in or removed", 0, func(log *audit.Reader, _ []string) error {
		report, err := log.Verify()
		if err != nil {
			return err
		}
		if asJSON {
			if err := printJSON(f, report); err != nil {
				return err
			}
		} else {
			printLines(f.Out, lines.AuditReport(report, log.Path()))
		}
		if report.OK() {
			return nil
		}
		return &codeError{code: exitError, err: fmt.Errorf("the audit log is not whole: %s", lines.Count(len(report.Broken), "fault"))}
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printLines(w io.Writer, rows []string) {
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
}

func newAuditStats(f *Factory) *cobra.Command {
	var asJSON bool
	cmd := auditCommand(f, "stats", "Count decisions, tools and risks", 0, func(log *audit.Reader, _ []string) error {
		s, err := log.Stats()
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(f, s)
		}
		printLines(f.Out, lines.AuditStats(s))
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newAuditDenials(f *Factory) *cobra.Command {
	return newAuditList(f, "denials", "List the newest denials", audit.Denied)
}
func newAuditShow(f *Factory) *cobra.Command {
	return newAuditList(f, "show", "List the newest lines", nil)
}

func newAuditList(f *Factory, name, short string, keep func(*audit.Line) bool) *cobra.Command {
	var asJSON bool
	cmd := auditCommand(f, name+" [N]", short+" (20, or as many as N says)", 1, func(log *audit.Reader, args []string) error {
		n := 20
		if len(args) == 1 {
			var err error
			if n, err = strconv.Atoi(args[0]); err != nil || n < 0 {
				return usagef("garuda audit %s takes a number of lines, not %q", name, args[0])
			}
		}
		found, err := log.Last(n, keep)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(f, append([]*audit.Line{}, found...))
		}
		for _, l := range found {
			fmt.Fprintln(f.Out, lines.Audit(l))
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newAuditExport(f *Factory) *cobra.Command {
	var file string
	cmd := auditCommand(f, "export", "Write all lines as JSON, one a line", 0, func(log *audit.Reader, _ []string) (err error) {
		if file == "" {
			return log.Export(f.Out)
		}
		out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already; name another file", file)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		return log.Export(out)
	})
	cmd.Flags().StringVarP(&file, "output", "o", "", "into this `file`, which must not be there yet")
	return cmd
}
