package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// reachLimit is how long a server may take when a person waits to hear whether it
// answers: one that is slow is still there.
const reachLimit = 10 * time.Second

// statusError is a server that answered the question for its models with
// something else.
type statusError struct {
	base   string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("ask %s for its models: HTTP %d", e.base, e.status)
}

// KeyRefusedError says that a server does not take the key.
type KeyRefusedError struct {
	// Source is where the key came from.
	Source string
	Err    error
}

func (e *KeyRefusedError) Error() string {
	return fmt.Sprintf("%v: the key from %s is not accepted", e.Err, e.Source)
}

func (e *KeyRefusedError) Unwrap() error { return e.Err }

// Reach asks the choice's server which models it has, to see whether it is
// there and takes the key; nothing is spent. A server that answers but has no
// such list is reached all the same. The error says what was tried; for a key
// that is not accepted it is a *KeyRefusedError.
func (r *Registry) Reach(ctx context.Context, c *Choice) error {
	_, err := r.reach(ctx, c.endpoint)
	return err
}

// ReachProvider does the same for a provider of which no model was chosen yet,
// and returns the models that its server named; none where it names none.
func (r *Registry) ReachProvider(ctx context.Context, name string) ([]string, error) {
	e, err := r.known(name)
	if err != nil {
		return nil, err
	}
	return r.reach(ctx, e)
}

func (r *Registry) reach(ctx context.Context, e *endpoint) ([]string, error) {
	if e.cloud != nil {
		return nil, r.reachCloud(ctx, e)
	}
	served, err := r.served(ctx, e, reachLimit)
	var answered *statusError
	switch {
	case err == nil, errors.Is(err, ErrNoModels):
		return served, nil
	case !errors.As(err, &answered):
		return nil, err
	case answered.status == http.StatusUnauthorized, answered.status == http.StatusForbidden,
		answered.status == http.StatusBadRequest && e.format == "gemini": // Google's word for a wrong key
		return nil, &KeyRefusedError{Source: r.keySource(e), Err: err}
	case answered.status >= http.StatusInternalServerError:
		return nil, err
	}
	return nil, nil
}
