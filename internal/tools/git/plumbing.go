package git

import (
	"context"
	"errors"

	"garuda/internal/tool"
)

// Plumbing runs git for Garuda itself, as the tools run it: with nothing that the
// repository configures, and where it cannot change the project. What it prints is
// given back whole, or the call fails.
func Plumbing(env *tool.Env) func(ctx context.Context, args ...string) ([]byte, error) {
	return func(ctx context.Context, args ...string) ([]byte, error) {
		r := &repository{env: env}
		out, err := r.run(ctx, plumbingLimit, args...)
		switch {
		case err != nil:
			return nil, err
		case len(out.Tail) > 0:
			return nil, errors.New("git " + args[0] + " printed more than can be taken")
		}
		return out.Head, nil
	}
}

// plumbingLimit is how many bytes one command may print: twice the largest file
// that is edited whole, since half of it is kept from the end.
const plumbingLimit = 20 << 20
