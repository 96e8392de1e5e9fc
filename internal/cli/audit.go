package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"garuda/internal/audit"
	"garuda/internal/core"
	"garuda/internal/front/lines"
	"garuda/internal/wire"
)

func newAudit(f *Factory) *cobra.Command {
	return subcommands("audit", "Check and read the log of every decision made in a folder",
		newAuditVerify(f), newAuditStats(f), newAuditDenials(f), newAuditShow(f), newAuditExport(f))
}

// auditCommand makes a command on the audit log of the current folder.
func auditCommand(f *Factory, use, short string, most int, run func(*audit.Reader, []string) error) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true}
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
			printReport(f.Out, log, report)
		}
		if report.OK() {
			return nil
		}
		return &codeError{code: exitError, err: fmt.Errorf("the audit log is not whole: %s", lines.Count(len(report.Broken), "fault"))}
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printReport(w io.Writer, log *audit.Reader, report *audit.Report) {
	for _, text := range report.Broken {
		fmt.Fprintln(w, "broken: "+core.Visible(text))
	}
	for _, text := range report.Notes {
		fmt.Fprintln(w, "note: "+core.Visible(text))
	}
	fmt.Fprintf(w, "%s in %s below %s\n", lines.Count(report.Lines, "line"), lines.Count(report.Files, "log"), log.Path())
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
		fmt.Fprintf(f.Out, "%s in %s: %d allowed, %d denied, %d failed\n",
			lines.Count(s.Lines, "line"), lines.Count(s.Files, "log"), s.Allowed, s.Denied, s.Failed)
		if s.Lines > 0 {
			fmt.Fprintf(f.Out, "from %s to %s\n", s.First, s.Last)
		}
		printCounts(f.Out, "decisions", s.Decisions)
		printCounts(f.Out, "tools", s.Tools)
		printCounts(f.Out, "risks", s.Risks)
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printCounts prints the largest first.
func printCounts[K ~string](w io.Writer, what string, counts map[K]int) {
	if len(counts) == 0 {
		return
	}
	fmt.Fprintln(w, what+":")
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, k := range keys {
		fmt.Fprintf(w, "  %6d  %s\n", counts[k], core.Visible(string(k)))
	}
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
