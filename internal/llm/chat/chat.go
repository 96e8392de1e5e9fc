// Package chat is the client for OpenAI's Chat Completions and the many servers
// that are compatible with it, each in its own way.
//
// It takes what they send in whatever shape it comes, and sends what all of them
// read. It never invents an answer: what was cut is an error.
package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/responses"
	"garuda/internal/llm/wire"
)

// Format is the wire format's name: the Provider of its thinking blocks.
const Format = "chat"

// New makes a client. cfg.BaseURL ends before /chat/completions.
func New(cfg llm.ClientConfig) (llm.Model, error) {
	switch cfg.Quirks.TextToolCalls {
	case "", textCallsWhole, textCallsLines, textCallsOff:
	default:
		return nil, fmt.Errorf("model %s: textToolCalls %q is none of whole, lines, off", cfg.Info.Spec, cfg.Quirks.TextToolCalls)
	}
	client, err := wire.New(cfg, wire.Auth{Header: "Authorization", Prefix: "Bearer "})
	if err != nil {
		return nil, err
	}
	enc := newEncoder(cfg.Info, cfg.Quirks)
	return &model{cfg: cfg, client: client, enc: enc, transcript: wire.NewTranscript(enc, tail, enc.mark())}, nil
}

type model struct {
	cfg        llm.ClientConfig
	client     *wire.Client
	enc        *encoder
	transcript *wire.Transcript
	// switched takes over for the rest of the client's life once the server has
	// said that this model needs /responses.
	switched llm.Model
}

func (m *model) Info() *llm.Info { return m.client.Info() }

// CloseIdleConnections closes connections that wait for the next request.
func (m *model) CloseIdleConnections() {
	m.client.CloseIdleConnections()
	if c, ok := m.switched.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Stream sends one request; see [llm.Model].
func (m *model) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	if m.switched != nil {
		return m.switched.Stream(ctx, req, emit)
	}
	resp, err := m.stream(ctx, req, emit)
	if err == nil || !m.cfg.Quirks.ResponsesFallback || !needsResponses(err) {
		return resp, err
	}
	next, newErr := responses.New(m.cfg)
	if newErr != nil {
		return nil, errors.Join(err, newErr)
	}
	m.switched = next
	emit(llm.Notice{Text: m.Info().Spec + " does not answer on /chat/completions; using /responses from now on"})
	return m.switched.Stream(ctx, req, emit)
}

// needsResponses reports whether a refusal says to use the other endpoint. A
// server that merely has no such path says nothing of the kind.
func needsResponses(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity, http.StatusNotImplemented:
	default:
		return false
	}
	said := strings.ToLower(e.Message)
	return strings.Contains(said, "/responses") || strings.Contains(said, "responses api") || strings.Contains(said, "responses endpoint")
}

func (m *model) stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	body, err := m.transcript.Body(req)
	if err != nil {
		return nil, m.client.BadRequest(err)
	}
	reply, err := m.client.Post(ctx, "chat/completions", body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	a := newAnswer(reply, emit, req, m.enc)
	resp, err := a.decode()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // the last of the text may have been shown only now
		return nil, err
	}
	return wire.Finish(resp, body), nil
}
