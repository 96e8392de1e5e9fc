package wire

import (
	"errors"

	"garuda/internal/sandbox"
)

// unknownSandbox is why commands run neither in a sandbox nor without one: whether
// there is one was not found out, or what commands see in it could not be put together.
type unknownSandbox struct{ why error }

func (e *unknownSandbox) Error() string   { return e.why.Error() }
func (e *unknownSandbox) Unwrap() []error { return []error{sandbox.ErrUnknown, e.why} }

// isUnknown tells that error apart from that of a machine without a sandbox.
func isUnknown(err error) bool { return errors.Is(err, sandbox.ErrUnknown) }
