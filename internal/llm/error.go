package llm

import (
	"fmt"
	"strings"
	"time"
)

// ErrorKind is the taxonomy of failures that the engine acts on.
type ErrorKind string

// What a kind asks for: ErrRateLimit, ErrOverloaded, ErrServer, ErrNetwork and
// ErrIdle may pass when the same request is sent again; ErrContextOverflow and
// ErrTooLarge when a smaller one is; the rest need the user.
const (
	// ErrAuth is a key that is missing, wrong, or not allowed to do this.
	ErrAuth ErrorKind = "auth"
	// ErrQuota is money or a daily allowance that is used up: waiting a minute
	// does not help.
	ErrQuota     ErrorKind = "quota"
	ErrRateLimit ErrorKind = "rate_limit"
	// ErrOverloaded is a server that has too much to do, with whomever.
	ErrOverloaded ErrorKind = "overloaded"
	// ErrContextOverflow is more tokens than the model's context holds.
	ErrContextOverflow ErrorKind = "context_overflow"
	// ErrTooLarge is a request that is too large for something else than the
	// context: a proxy's body limit, or the account's tokens a minute, which it
	// would exceed however long one waited.
	ErrTooLarge ErrorKind = "request_too_large"
	// ErrBadRequest is what the server will not take; Block and Image say more.
	ErrBadRequest ErrorKind = "bad_request"
	ErrRefused    ErrorKind = "refused_connection"
	ErrNetwork    ErrorKind = "network"
	// ErrIdle is a limit of TimeLimits that passed without a byte.
	ErrIdle     ErrorKind = "idle"
	ErrProtocol ErrorKind = "protocol"
	ErrServer   ErrorKind = "server" // a 5xx that is none of the above
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
	// NoRetry is true when the server said that the same request will fail again, or
	// the answer says so: one without an end (ErrProtocol).
	NoRetry bool
	// Window is the context in tokens that the server said the model has, or 0.
	Window int
	// OutputLimit is true when what the server refused is the output limit by itself;
	// MaxOutput is then the most that it said it takes, in tokens, or 0.
	OutputLimit bool
	MaxOutput   int
	// Block names the message or block that the server refused, where it said, as
	// a path into the request that was sent: messages.3.content.0, input.2, tools.7.
	Block string
	// Image is true when what the server refused is an image or a document: too
	// large, of a kind it does not know, broken, or one too many. The kind is then
	// ErrBadRequest, and the same conversation with a note in the image's place
	// can be sent. Block may be empty: most servers do not say which image it was.
	Image bool
	// Hint is what the user can do next; may be empty.
	Hint string
	// Streaming is true when part of the response had arrived.
	Streaming bool
	Err       error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Model, e.Said())
	if e.Status != 0 {
		s = fmt.Sprintf("%s: HTTP %d: %s", e.Model, e.Status, e.Said())
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Said is Message without the full stop of its last sentence, so that a text can
// go on behind it.
func (e *Error) Said() string {
	if strings.HasSuffix(e.Message, "..") {
		return e.Message // dots that say that it goes on
	}
	return strings.TrimSuffix(e.Message, ".")
}

func (e *Error) Unwrap() error { return e.Err }
