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
	hasher   Hasher
	attempts []Attempt
	next     int
	counts   Counts
}

// Counts are how the requests of one Play compare.
type Counts struct {
	// Same counts the requests that were as recorded, Unknown those that cannot be
	// compared.
	Same, Unknown int
	// Differ are the attempts, counted from 0, whose requests were others.
	Differ []int
	// Left is how many attempts were not asked for.
	Left int
	// HashErr is why a request could not be made again; nil where all could.
	HashErr error
}

var _ llm.Model = (*Model)(nil)

// New makes a model of this description. hasher may be nil: then no request is
// compared.
func New(info *llm.Info, hasher Hasher) *Model { return &Model{info: info, hasher: hasher} }

// Info describes the model.
func (m *Model) Info() *llm.Info { return m.info }

// Play makes these attempts the next ones, in place of those that are left.
func (m *Model) Play(attempts []Attempt) { m.attempts, m.next, m.counts = attempts, 0, Counts{} }

// Counts says how the requests since Play compare.
func (m *Model) Counts() Counts {
	c := m.counts
	c.Left = len(m.attempts) - m.next
	return c
}

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
		m.counts.Unknown++
		return
	}
	got, err := m.hasher.Hashes(ctx, req)
	switch {
	case err != nil:
		m.counts.HashErr = err
		m.counts.Unknown++
	case slices.Contains(got, want):
		m.counts.Same++
	default:
		m.counts.Differ = append(m.counts.Differ, m.next)
	}
}
