// Package cli is Garuda's command line: it reads flags, opens the parts that a
// command needs through package wire, and hands over to a surface.
//
// It holds no logic of its own beyond flags, usage errors, exit codes and the
// questions of `garuda setup`.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/nearest"
	"garuda/internal/wire"
)

// The exit codes that page "Command line" of the docs names.
const (
	exitError  = 1
	exitUsage  = 3
	exitDenied = 4
	exitSignal = 130
)

// Factory gives commands what they share. Cheap things are fields; dear ones are
// made when asked for.
type Factory struct {
	In       io.Reader
	Out, Err io.Writer
	// InIsTerminal and OutIsTerminal say what In and Out are.
	InIsTerminal, OutIsTerminal bool
	Getenv                      func(string) string
	Version                     string
	Clock                       core.Clock
	// Open builds the system a command works with.
	Open func(ctx context.Context, o *wire.Options) (*wire.System, error)
}

// foreign is Out for text that models, files and programs wrote: a terminal shows
// it as what it is and is told nothing by it, everything else gets it byte for byte.
func (f *Factory) foreign() io.Writer {
	if f.OutIsTerminal {
		return visibleWriter{f.Out}
	}
	return f.Out
}

// visibleWriter makes each piece visible; a piece holds whole characters.
type visibleWriter struct{ to io.Writer }

func (w visibleWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, core.Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// codeError ends the program with a code of its own. An empty text prints nothing.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// usage marks an error as the user's: bad flags, values or settings.
func usage(err error) error { return &codeError{code: exitUsage, err: err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// errSilent has been told already; only the code is left to give.
var errSilent = errors.New("")

// Main runs the command line of this version and returns the exit code.
func Main(version string, args []string) int {
	f := &Factory{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InIsTerminal: isTerminal(os.Stdin), OutIsTerminal: isTerminal(os.Stdout),
		Getenv: os.Getenv, Version: version, Clock: core.SystemClock, Open: wire.Open,
	}
	return f.run(context.Background(), args)
}

func (f *Factory) run(ctx context.Context, args []string) int {
	root := newRoot(f)
	root.SetArgs(optionalValues(args))
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	return f.report(root.ExecuteContext(ctx))
}

// report prints an error once, and finds its exit code.
func (f *Factory) report(err error) int {
	if err == nil {
		return 0
	}
	code := exitError
	var coded *codeError
	var settings *wire.SettingsError
	switch {
	case errors.As(err, &coded):
		code = coded.code
	case errors.As(err, &settings):
		code = exitUsage
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		fmt.Fprintln(f.Err, "garuda: "+core.Visible(text))
	}
	return code
}

// optionalValues lets -r and --resume take their value as the next word, which
// the flag library does not do for flags whose value may be missing.
func optionalValues(args []string) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		if (a == "-r" || a == "--resume") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			out = append(out, "--resume="+args[i+1])
			i++
			continue
		}
		out = append(out, a)
	}
	return out
}

// flagError names the nearest flag for one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	name, unknown := strings.CutPrefix(text, "unknown flag: ")
	if !unknown {
		if _, rest, found := strings.Cut(text, "unknown shorthand flag: "); found {
			return usagef("unknown flag: %s; see garuda %s", rest, helpOf(cmd))
		}
		return usage(err)
	}
	if near := nearest.Of(name, flagNames(cmd)); near != "" {
		return usagef("unknown flag %s; did you mean %s?", name, near)
	}
	return usagef("unknown flag %s; see garuda %s", name, helpOf(cmd))
}

func helpOf(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Name() + " --help"
	}
	return "--help"
}

// oneOf checks a flag's value against the known ones.
func oneOf(flag, value string, known ...string) error {
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	if near := nearest.Of(value, known); near != "" {
		return usagef("%s %s: unknown value; did you mean %s?", flag, value, near)
	}
	return usagef("%s %s: unknown value; known are %s", flag, value, strings.Join(known, ", "))
}
