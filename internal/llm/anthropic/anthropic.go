// Package anthropic is the client for the Anthropic Messages API, version
// 2023-06-01, and servers that speak it.
//
// It keeps what it does not know: blocks of other kinds travel as opaque JSON
// and go back as they came. It never edits thinking.
package anthropic

import (
	"context"
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// Format is the wire format's name: the Provider of its opaque blocks.
const Format = "anthropic"

const version = "2023-06-01"

// New makes a client. cfg.BaseURL ends before /v1/messages.
func New(cfg llm.ClientConfig) (llm.Model, error) {
	// A base URL with the /v1 that other formats want means the same.
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")
	client, err := wire.New(cfg, wire.Auth{Header: "X-Api-Key"})
	if err != nil {
		return nil, err
	}
	client.SetDefaultHeader("Anthropic-Version", version)
	return &model{client: client, transcript: wire.NewTranscript(&encoder{info: cfg.Info}, tail, cacheMark)}, nil
}

type model struct {
	client     *wire.Client
	transcript *wire.Transcript
}

func (m *model) Info() *llm.Info { return m.client.Info() }

// CloseIdleConnections closes connections that wait for the next request.
func (m *model) CloseIdleConnections() { m.client.CloseIdleConnections() }

// Stream sends one request; see [llm.Model].
func (m *model) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	body, err := m.transcript.Body(req)
	if err != nil {
		return nil, m.client.BadRequest(err)
	}
	reply, err := m.client.Post(ctx, "v1/messages", body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	resp, err := decode(reply, emit)
	if err != nil {
		return nil, err
	}
	return wire.Finish(resp, body), nil
}

func decode(reply *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
	if reply.JSON {
		return nil, unstreamed(reply)
	}
	a := &answer{reply: reply, emit: emit}
	if err := reply.Each(a); err != nil {
		return nil, err
	}
	return a.response(), nil
}

// unstreamed is why a JSON document came instead of a stream: some proxies send
// their errors with status 200.
func unstreamed(reply *wire.Reply) error {
	data, err := reply.Document()
	if err != nil {
		return err
	}
	if wire.HoldsError(data) {
		return reply.Failure(data)
	}
	return reply.Protocol("the server did not stream its answer")
}
