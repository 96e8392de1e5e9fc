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

// Host is how the API is reached where that is not Anthropic's own way.
type Host struct {
	// Path of a request, behind the base URL.
	Path string
	// Version is anthropic_version, which then stands in the body; the model does
	// not, because Path names it.
	Version string
	// Streams says that Path asks for a stream, so that the body must not.
	Streams bool
	// BodyBetas puts the betas that a model needs into the body; else they are a
	// header.
	BodyBetas bool
	Auth      wire.Auth
}

// New makes a client. cfg.BaseURL ends before /v1/messages.
func New(cfg llm.ClientConfig) (llm.Model, error) {
	return NewAt(cfg, Host{Path: "v1/messages", Auth: wire.Auth{Header: "X-Api-Key"}})
}

// NewAt makes a client of the API at another host.
func NewAt(cfg llm.ClientConfig, host Host) (llm.Model, error) {
	client, err := connect(cfg, host)
	if err != nil {
		return nil, err
	}
	enc := &encoder{info: cfg.Info, host: host, search: cfg.Quirks.WebSearch}
	return &model{client: client, path: host.Path, transcript: wire.NewTranscript(enc, tail, cacheMark)}, nil
}

func connect(cfg llm.ClientConfig, host Host) (*wire.Client, error) {
	// A base URL with the /v1 that other formats want means the same.
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")
	client, err := wire.New(cfg, host.Auth)
	if err != nil {
		return nil, err
	}
	if host.Version == "" {
		client.SetDefaultHeader("Anthropic-Version", version)
	}
	if beta := betaOf(cfg.Info); beta != "" && !host.BodyBetas {
		client.SetDefaultHeader("Anthropic-Beta", beta)
	}
	return client, nil
}

type model struct {
	client     *wire.Client
	path       string
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
	reply, err := m.client.Post(ctx, m.path, body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	resp, err := decode(reply, emit)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return wire.Finish(resp, body), nil
}

func decode(reply *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
	a := &answer{reply: reply, emit: emit}
	if reply.JSON {
		data, err := reply.Document()
		if err != nil {
			return nil, err
		}
		return a.document(data)
	}
	if err := reply.Each(a); err != nil {
		return nil, err
	}
	return a.response(), nil
}
