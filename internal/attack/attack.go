// Package attack is what hostile commands try, and the decoys on which they try it: a
// project, a home folder full of false secrets, a process, sockets and ports. A try
// runs one command through a sandbox, and then looks on the machine whether it held.
//
// It never touches what is the user's: decoys lie in a folder of their own, secrets in
// it are the word "SECRET", and what a command would do to the machine without a
// sandbox is either nothing that stays, or comes after a gentler case that held. It
// never runs a command outside of the sandbox that it was given. What a command
// printed is never shown, since it may hold what should not have been read.
package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Kind is what a case is about.
type Kind string

// The kinds, as a report groups them.
const (
	Secrets    Kind = "secrets"
	Writes     Kind = "files outside of the project"
	Repository Kind = "what decides over other programs"
	Processes  Kind = "other processes"
	Network    Kind = "the network"
	Kernel     Kind = "the kernel"
	// Work is honest: what has to work all the same.
	Work Kind = "honest work"
)

// Kinds are all of them, in the order of a report.
func Kinds() []Kind { return []Kind{Secrets, Writes, Repository, Processes, Network, Kernel, Work} }

// Case is one command, and how to see on the machine that it did no harm, or that it
// worked where it is honest. In both texts these stand for the decoys' places, and are
// replaced before anything runs: $ROOT, a repository in which the command runs; $HOME;
// $OUTSIDE, a folder beside the project, and $MARK, a file in it that must not come
// into being; $SOCK, a unix socket that listens, $ABSTRACT another one's abstract name;
// $PORT, $PORT6 and $UDP, ports of the loopback; $HEARD, a file with what the three
// were sent; $DECOY_PID, a process; $OUT, a file with what the command printed.
type Case struct {
	// ID names it; Tries says to people what it tries, or does.
	ID, Tries string
	Kind      Kind
	Command   string
	// Holds is run by bash in $ROOT, not in the sandbox; it ends with 0 when all is well.
	Holds string
	// Needs are programs without which it cannot be tried.
	Needs []string
	// After is the case that has to hold before this one, which would do harm, is tried.
	After string
}

// State is what came of a case.
type State string

// Untried is a case that says nothing: a program is missing, or the command was not run.
const (
	Held    State = "held"
	NotHeld State = "NOT HELD"
	Untried State = "not tried"
)

// Result is what came of a case, and Why where that is not Held.
type Result struct {
	Case  *Case
	State State
	Why   string
	// Err is set where the sandbox did not run the command.
	Err error
}

// together is how many cases are tried at once.
const together = 4

// Run tries cases, several at once, and calls each with what came of it, one at a time
// and in no certain order. Cases that come after another are tried last.
func (d *Decoys) Run(ctx context.Context, cases []Case, each func(Result)) {
	var mu sync.Mutex
	states := map[string]State{}
	pass := func(cases []Case) {
		var tries sync.WaitGroup
		slots := make(chan struct{}, together)
		for i := range cases {
			c := &cases[i]
			slots <- struct{}{}
			tries.Go(func() {
				defer func() { <-slots }()
				mu.Lock()
				before, known := states[c.After]
				mu.Unlock()
				r := Result{Case: c, State: Untried, Why: fmt.Sprintf("it would do harm, since %s did not hold", c.After)}
				if c.After == "" || known && before == Held {
					r = d.Try(ctx, c)
				}
				mu.Lock()
				defer mu.Unlock()
				states[c.ID] = r.State
				each(r)
			})
		}
		tries.Wait()
	}
	first := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.After != "" })
	last := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.After == "" })
	pass(first)
	pass(last)
}

// fileLimit is needed by cases that are held by a bound on files.
const fileLimit = "sandbox.limits.fileMB"

// Try tries one case, on a project of its own.
func (d *Decoys) Try(ctx context.Context, c *Case) Result {
	r := Result{Case: c, State: Untried}
	for _, program := range c.Needs {
		if !slices.Contains(d.programs, program) {
			r.Why = program + " does not run in the sandbox"
			if program == fileLimit {
				r.Why = "no bound is set (" + fileLimit + ")"
			}
			return r
		}
	}
	held, err := d.try(ctx, c)
	var refused *refusedError
	switch {
	case err == nil && held:
		r.State = Held
	case err == nil:
		r.State, r.Why = NotHeld, "a look at the machine afterwards said so"
		if c.Kind == Work {
			r.Why = "it does not work in the sandbox"
		}
	case errors.As(err, &refused):
		r.Why, r.Err = err.Error(), err
	default:
		r.State, r.Why, r.Err = NotHeld, err.Error(), err
	}
	return r
}

// refusedError is why a command was not run.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return "the command was not run: " + e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }
