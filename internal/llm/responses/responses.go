// Package responses is the client for OpenAI's Responses API and servers that
// speak it.
//
// It keeps no state at the server: each request holds the whole conversation,
// with the reasoning items, encrypted, as they came.
package responses

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// Format is the wire format's name: the Provider of its opaque blocks.
const Format = "responses"

// New makes a client. cfg.BaseURL ends before /responses.
func New(cfg llm.ClientConfig) (llm.Model, error) {
	client, err := wire.New(cfg, wire.Auth{Header: "Authorization", Prefix: "Bearer "})
	if err != nil {
		return nil, err
	}
	enc := newEncoder(cfg.Info, cfg.Quirks)
	return &model{client: client, enc: enc, transcript: wire.NewTranscript(enc, tail, "")}, nil
}

type model struct {
	client     *wire.Client
	enc        *encoder
	transcript *wire.Transcript
}

func (m *model) Info() *llm.Info { return m.client.Info() }

// CloseIdleConnections closes connections that wait for the next request.
func (m *model) CloseIdleConnections() { m.client.CloseIdleConnections() }

// Stream sends one request; see [llm.Model].
func (m *model) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	resp, err := m.stream(ctx, req, emit)
	if err == nil || m.enc.noSummary || !refusesSummary(err) {
		return resp, err
	}
	// OpenAI gives summaries to verified organisations only. Thinking goes on
	// without them.
	m.enc.noSummary = true
	m.transcript.Reset()
	emit(llm.Notice{Text: "the provider gives no summaries of thinking to this account; going on without them"})
	return m.stream(ctx, req, emit)
}

func refusesSummary(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Status == http.StatusBadRequest && !e.Streaming &&
		(strings.Contains(e.Message, "reasoning.summary") || strings.Contains(e.Message, "reasoning summaries"))
}

func (m *model) stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	body, err := m.transcript.Body(req)
	if err != nil {
		return nil, m.client.BadRequest(err)
	}
	reply, err := m.client.Post(ctx, "responses", body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	resp, err := decode(reply, req, emit)
	if err != nil {
		return nil, err
	}
	return wire.Finish(resp, body), nil
}

func decode(reply *wire.Reply, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	a := &answer{reply: reply, emit: emit, tools: req.Tools}
	read := func() error { return reply.Each(a) }
	if reply.JSON {
		read = a.document
	}
	if err := read(); err != nil {
		return nil, err
	}
	return a.response(), nil
}
