package cli

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/wire"
)

// openSystem checks the shared flags and opens the system for a command.
func openSystem(ctx context.Context, f *Factory, o *wire.Options) (*wire.System, error) {
	if err := checkSystemFlags(o); err != nil {
		return nil, err
	}
	o.Version = f.Version
	sys, err := f.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	notices(f, sys)
	return sys, nil
}

// notices tells what was noticed while the system was opened.
func notices(f *Factory, sys *wire.System) {
	for _, n := range sys.Notices() {
		fmt.Fprintln(f.Err, "garuda: "+core.Visible(n))
	}
}

// sessionOptions says which session the flags mean.
func sessionOptions(o *runOptions) wire.SessionOptions {
	so := wire.SessionOptions{Fork: o.fork}
	switch {
	case o.cont, o.resume == newestSession:
		so.Newest = true
	default:
		so.Resume = o.resume
	}
	return so
}

// openSession begins a session, or takes one up again, and tells what was
// noticed on the way.
func openSession(f *Factory, sys *wire.System, o *runOptions) (*engine.Session, error) {
	s, said, err := sys.OpenSession(sessionOptions(o))
	for _, text := range said {
		fmt.Fprintln(f.Err, "garuda: "+core.Visible(text))
	}
	return s, err
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
