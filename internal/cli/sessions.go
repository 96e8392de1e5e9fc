package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/front/lines"
	"garuda/internal/session"
	"garuda/internal/wire"
)

func newSessions(f *Factory) *cobra.Command {
	return subcommands("sessions", "List, show, export, rename, delete, check and repair the sessions of a folder",
		newSessionsList(f), newSessionsShow(f), newSessionsExport(f), newSessionsRename(f),
		newSessionsDelete(f), newSessionsVerify(f), newSessionsRepair(f))
}

// sessionCommand makes a command on the store of the current folder's sessions.
func sessionCommand(f *Factory, use, short string, words int, run func(*wire.System, []string) error) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true, RunsNothing: true}
	cmd := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if words >= 0 && len(args) != words {
				return usagef("garuda sessions %s takes %s, got %d", use, lines.Count(words, "word"), len(args))
			}
			sys, err := openSystem(cmd.Context(), f, o)
			if err != nil {
				return err
			}
			defer sys.Close()
			return run(sys, args)
		},
	}
	cmd.Flags().StringVar(&o.CWD, "cwd", "", "of this `folder` instead of the current one")
	return cmd
}

func newSessionsList(f *Factory) *cobra.Command {
	var asJSON, all bool
	cmd := sessionCommand(f, "list", "List the newest sessions", 0, func(sys *wire.System, _ []string) error {
		limit := 20
		if all {
			limit = 0
		}
		infos, err := sys.Sessions().List(limit)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(f, append([]session.Info{}, infos...))
		}
		if len(infos) == 0 {
			fmt.Fprintln(f.Out, "There is no session in this folder yet.")
		}
		w := tabwriter.NewWriter(f.Out, 0, 0, 2, ' ', 0)
		for i, s := range infos {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", i+1, s.ID, s.Time.Local().Format(time.DateTime), lines.Count(s.Turns, "turn"), s.Model, costOf(s), nameOf(s))
		}
		return w.Flush()
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "list all of them")
	return cmd
}

func costOf(s session.Info) string {
	if !s.Cost.Known {
		return "-"
	}
	if s.AtLeast {
		return "at least " + lines.Money(s.Cost.USD)
	}
	return lines.Money(s.Cost.USD)
}

func nameOf(s session.Info) string {
	switch {
	case s.Unreadable != "":
		return "(unreadable: " + s.Unreadable + ")"
	case s.Title != "":
		return s.Title
	}
	return s.Prompt
}

func newSessionsShow(f *Factory) *cobra.Command {
	return sessionCommand(f, "show REF", "Print a session as Markdown", 1, func(sys *wire.System, args []string) error {
		h, err := loadSession(f, sys, args[0])
		if err != nil {
			return err
		}
		return session.Export(f.foreign(), h)
	})
}

// loadSession reads the session that a person means, and tells what was noticed.
func loadSession(f *Factory, sys *wire.System, ref string) (*session.History, error) {
	info, err := sys.Sessions().Find(ref)
	if err != nil {
		return nil, usage(fmt.Errorf("find session %q: %w", ref, err))
	}
	h, err := sys.Sessions().Transcript(info.ID)
	if err != nil {
		return nil, err
	}
	for _, n := range h.Notices {
		fmt.Fprintln(f.Err, "garuda: "+core.Visible(n))
	}
	return h, nil
}

func newSessionsExport(f *Factory) *cobra.Command {
	var to string
	cmd := sessionCommand(f, "export REF", "Write a session as Markdown to standard output, or to a new file", 1, func(sys *wire.System, args []string) error {
		h, err := loadSession(f, sys, args[0])
		if err != nil {
			return err
		}
		if to == "" {
			return session.Export(f.foreign(), h)
		}
		if !filepath.IsLocal(to) {
			return usagef("export to %s: -o writes below the folder only; elsewhere: garuda sessions export %s > %s", to, args[0], to)
		}
		err = session.ExportFile(sys.State(), to, h)
		if errors.Is(err, fs.ErrExist) {
			return usagef("export to %s: the file exists already, and is not overwritten", to)
		}
		return err
	})
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to this new `file` below the folder")
	return cmd
}

func newSessionsRename(f *Factory) *cobra.Command {
	return sessionCommand(f, "rename REF TITLE", "Give a session a title", 2, func(sys *wire.System, args []string) error {
		info, err := sys.Sessions().Find(args[0])
		if err != nil {
			return usage(fmt.Errorf("find session %q: %w", args[0], err))
		}
		return sys.Sessions().Rename(info.ID, args[1])
	})
}

func newSessionsDelete(f *Factory) *cobra.Command {
	var yes bool
	cmd := sessionCommand(f, "delete REF", "Delete a session with all that belongs to it", 1, func(sys *wire.System, args []string) error {
		info, err := sys.Sessions().Find(args[0])
		if err != nil {
			return usage(fmt.Errorf("find session %q: %w", args[0], err))
		}
		if !yes && f.InIsTerminal {
			fmt.Fprintf(f.Err, "delete session %s (%s, %s) for good? y or n: ", info.ID, core.Visible(nameOf(info)), lines.Count(info.Turns, "turn"))
			if !saysYes(f.In) {
				fmt.Fprintln(f.Err, "not deleted")
				return nil
			}
			yes = true
		}
		if !yes {
			return usagef("this deletes session %s (%q, %d turns) for good; say --yes to do it", info.ID, nameOf(info), info.Turns)
		}
		return sys.Sessions().Delete(info.ID)
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// saysYes reads an answer: a line that says yes, and nothing else, is one.
func saysYes(in io.Reader) bool {
	line, err := bufio.NewReader(io.LimitReader(in, 100)).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

func newSessionsVerify(f *Factory) *cobra.Command {
	return sessionCommand(f, "verify [ID ...]", "Check every record of the named sessions, or of all", -1, func(sys *wire.System, args []string) error {
		ids, err := sessionIDs(sys, args)
		if err != nil {
			return err
		}
		bad := false
		for _, id := range ids {
			r, err := sys.Sessions().Verify(id)
			if err != nil {
				return err
			}
			for _, p := range r.Problems {
				fmt.Fprintln(f.Err, "garuda: "+core.Visible(p.String()))
			}
			note := ""
			if r.Torn > 0 {
				note = fmt.Sprintf(", the last line was cut off (%d bytes; garuda sessions repair %s)", r.Torn, id)
			}
			fmt.Fprintf(f.Out, "%s: %d records, %d problems%s\n", id, r.Records, len(r.Problems), note)
			bad = bad || len(r.Problems) > 0
		}
		if bad {
			return &codeError{code: exitError, err: errSilent}
		}
		return nil
	})
}

func sessionIDs(sys *wire.System, refs []string) ([]string, error) {
	var ids []string
	if len(refs) == 0 {
		infos, err := sys.Sessions().List(0)
		for _, s := range infos {
			ids = append(ids, s.ID)
		}
		return ids, err
	}
	for _, ref := range refs {
		info, err := sys.Sessions().Find(ref)
		if err != nil {
			return nil, usage(fmt.Errorf("find session %q: %w", ref, err))
		}
		ids = append(ids, info.ID)
	}
	return ids, nil
}

func newSessionsRepair(f *Factory) *cobra.Command {
	return sessionCommand(f, "repair REF", "Cut off a last line that was not written whole, and keep a copy", 1, func(sys *wire.System, args []string) error {
		info, err := sys.Sessions().Find(args[0])
		if err != nil {
			return usage(fmt.Errorf("find session %q: %w", args[0], err))
		}
		kept, err := sys.Sessions().Repair(info.ID)
		switch {
		case err != nil:
			return err
		case kept == "":
			fmt.Fprintf(f.Out, "%s: nothing to repair\n", info.ID)
		default:
			fmt.Fprintf(f.Out, "%s: repaired; what was cut off is kept in %s\n", info.ID, kept)
		}
		return nil
	})
}
