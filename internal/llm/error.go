package llm

import (
	"fmt"
	"time"
)

// ErrorKind is the taxonomy of failures that the engine acts on.
type ErrorKind string

const (
	ErrAuth            ErrorKind = "auth"
	ErrQuota           ErrorKind = "quota"
	ErrRateLimit       ErrorKind = "rate_limit"
	ErrOverloaded      ErrorKind = "overloaded"
	ErrContextOverflow ErrorKind = "context_overflow"
	ErrTooLarge        ErrorKind = "request_too_large"
	ErrBadRequest      ErrorKind = "bad_request"
	ErrRefused         ErrorKind = "refused_connection"
	ErrNetwork         ErrorKind = "network"
	ErrIdle            ErrorKind = "idle"
	ErrProtocol        ErrorKind = "protocol"
	ErrServer          ErrorKind = "server" // a 5xx that is none of the above
)

// Error is a failed request, typed.
type Error struct {
	Kind ErrorKind
	// Model is the spec of the model that was asked; URL the endpoint, without query.
	Model, URL string
	// Status is the HTTP status, or 0.
	Status int
	// Message is what the server said, redacted and cut, or what went wrong here.
	Message string
	// RetryAfter is how long the server asked to wait; 0 when it did not say.
	RetryAfter time.Duration
	// Block names the message or block that the server refused, where it said.
	Block string
	// Hint is what the user can do next; may be empty.
	Hint string
	// Streaming is true when part of the response had arrived.
	Streaming bool
	Err       error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Model, e.Message)
	if e.Status != 0 {
		s = fmt.Sprintf("%s: HTTP %d: %s", e.Model, e.Status, e.Message)
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
