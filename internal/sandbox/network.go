package sandbox

import (
	"context"
	"os"
)

// Network is the way out of confined commands: none, but for what it lets pass.
type Network interface {
	// Begin opens a passage for one command. call is the id of the tool call that
	// what is asked and decided belongs to.
	Begin(ctx context.Context, call string) (Passage, error)
}

// Passage serves one command. It ends with it.
type Passage interface {
	// Env are the variables that lead programs to the listeners, with the token
	// that this command alone knows. Once served they name the addresses at which
	// the listeners really were opened.
	Env() []string
	// Listeners are what is to be opened in the command's own network namespace.
	Listeners() []Listener
	// Serve takes the opened listeners, in their order, and answers on them. It
	// owns the files from now on, also when it fails. Those at ResolverAddress may be
	// nil: at another address no program would look for them.
	Serve(files []*os.File) error
	// Close ends the passage and everything that goes through it, and returns the
	// hosts that were refused, each once, in order.
	Close() (refused []string)
}

// ResolverAddress is where programs ask for names.
const ResolverAddress = "127.0.0.1:53"

// Listener is an address of the command's loopback: {"tcp4", "127.0.0.1:3128"}.
type Listener struct{ Network, Address string }
