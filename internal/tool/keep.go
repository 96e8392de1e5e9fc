package tool

import "context"

// Keeper keeps small files for the tools of a session and of all its agents: they
// last as long as the session, through a resume.
type Keeper interface {
	// Keep changes one file, named x.json: it reads it into value, a pointer that
	// stays as it is where there is no file, calls change, and writes value in one
	// step. Calls wait for each other. Secrets are taken out of what is written. A
	// change that fails leaves the file alone, and is the error.
	Keep(ctx context.Context, name string, value any, change func() error) error
}
