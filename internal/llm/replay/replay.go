// Package replay is a model that gives the answers which a journal recorded, in their
// order, and compares what it is asked with what was asked then.
//
// It never uses the network, and it never answers out of its own: where the recording
// ends, so does the model.
package replay

import (
	"context"
	"errors"
	"slices"

	"garuda/internal/llm"
)

// ErrEnded is Stream's error when more is asked for than was recorded.
var ErrEnded = errors.New("the recording ends here")

// Attempt is one request that was recorded, with its answer or how it failed.
type Attempt struct {
	// Response is the answer; Hash is the request's, empty where nobody wrote it down.
	Response *llm.Response
	Hash     string
	// Err is how the request failed, in place of an answer.
	Err error
}

// Hasher says which hashes a request may have.
type Hasher interface {
	Hashes(ctx context.Context, req *llm.Request) ([]string, error)
}

// Model plays recorded attempts. One call at a time.
type Model struct {
	info     *llm.Info
	attempts []Attempt
	hasher   Hasher
	next     int
	// Same counts the requests that were as recorded, Unknown those that cannot be
	// compared.
	Same, Unknown int
	// Differ are the attempts, counted from 0, whose requests were others.
	Differ []int
	// HashErr is why requests cannot be compared; nil where they can.
	HashErr error
}

var _ llm.Model = (*Model)(nil)

// New makes a model that answers as recorded. hasher may be nil: then no request is
// compared.
func New(info *llm.Info, hasher Hasher, attempts []Attempt) *Model {
	return &Model{info: info, hasher: hasher, attempts: attempts}
}

// Info describes the model.
func (m *Model) Info() *llm.Info { return m.info }

// Played is how many attempts were played.
func (m *Model) Played() int { return m.next }

// Stream gives the next answer, or fails as the next attempt did.
func (m *Model) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.next >= len(m.attempts) {
		return nil, ErrEnded
	}
	a := &m.attempts[m.next]
	if a.Err == nil {
		m.compare(ctx, req, a.Hash)
	}
	m.next++
	if a.Err != nil {
		return nil, a.Err
	}
	if text := a.Response.Message.PlainText(); text != "" {
		emit(llm.TextDelta{Text: text})
	}
	return a.Response, nil
}

func (m *Model) compare(ctx context.Context, req *llm.Request, want string) {
	if m.hasher == nil || want == "" {
		m.Unknown++
		return
	}
	got, err := m.hasher.Hashes(ctx, req)
	switch {
	case err != nil:
		m.HashErr = err
		m.Unknown++
	case slices.Contains(got, want):
		m.Same++
	default:
		m.Differ = append(m.Differ, m.next)
	}
}
