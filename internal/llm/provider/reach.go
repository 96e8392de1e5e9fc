package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// statusError is a server that answered the question for its models with
// something else.
type statusError struct {
	base   string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("ask %s for its models: HTTP %d", e.base, e.status)
}

// Reach asks the choice's server which models it has, to see whether it is
// there and takes the key; nothing is spent. A server that answers but has no
// such list is reached all the same. The error says what was tried.
func (r *Registry) Reach(ctx context.Context, c *Choice) error {
	_, err := r.served(ctx, c.endpoint, remoteLimit)
	var answered *statusError
	switch {
	case err == nil, errors.Is(err, errNoModels):
		return nil
	case !errors.As(err, &answered):
		return err
	case answered.status == http.StatusUnauthorized, answered.status == http.StatusForbidden:
		return fmt.Errorf("%w: the key from %s is not accepted", err, c.Info.KeySource)
	case answered.status >= http.StatusInternalServerError:
		return err
	}
	return nil
}
