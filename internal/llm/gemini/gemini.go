// Package gemini is the client for Google's Gemini API (v1beta,
// streamGenerateContent), and servers that speak it.
//
// It keeps what it does not know: parts of other kinds travel as opaque JSON and
// go back as they came. A thought signature goes back in the part it came in,
// byte for byte. It never sends an id for a call that came without one.
package gemini

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// Format is the wire format's name: the Provider of what it binds to blocks.
const Format = "gemini"

// streamed asks for server-sent events; without it the API streams one JSON list.
const streamed = "?alt=sse"

// New makes a client. cfg.BaseURL ends before /v1beta/models.
func New(cfg llm.ClientConfig) (llm.Model, error) {
	// A base URL with the version in it, as other programs want it, means the same.
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1beta")
	if cfg.BaseURL != "" {
		cfg.BaseURL += streamed
	}
	client, err := wire.New(cfg, wire.Auth{Header: "X-Goog-Api-Key"})
	if err != nil {
		return nil, err
	}
	f := familyOf(cfg.Info.ID)
	return &model{client: client, family: f, transcript: wire.NewTranscript(&encoder{info: cfg.Info, family: f}, tail, "")}, nil
}

type model struct {
	client     *wire.Client
	family     family
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
	reply, err := m.client.Post(ctx, path(m.Info().ID), body)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	resp, err := decode(reply, m.family, emit)
	if err != nil {
		return nil, err
	}
	return wire.Finish(resp, body), nil
}

// path is where a model is asked: models/ID, or an id that names its own list
// (tunedModels/ID).
func path(id string) string {
	list, name, ok := strings.Cut(id, "/")
	if !ok || list != "models" && list != "tunedModels" {
		list, name = "models", id
	}
	return "v1beta/" + list + "/" + url.PathEscape(name) + ":streamGenerateContent"
}

func decode(reply *wire.Reply, f family, emit func(llm.Event)) (*llm.Response, error) {
	a := &answer{reply: reply, family: f, emit: emit}
	if reply.JSON {
		if err := a.document(); err != nil {
			return nil, err
		}
	} else if err := reply.Each(a); err != nil {
		return nil, err
	}
	return a.response()
}

// document reads an answer that was not streamed as events: one object, or the
// list of chunks that a server sends which did not understand what was asked.
func (a *answer) document() error {
	data, err := a.reply.Document()
	if err != nil {
		return err
	}
	if wire.HoldsError(data) {
		return a.reply.Failure(data)
	}
	chunks := []json.RawMessage{data}
	if isList(data) {
		if err := json.Unmarshal(data, &chunks); err != nil {
			return a.reply.BadEvent(data, err)
		}
	}
	for _, c := range chunks {
		over, err := a.chunk(c)
		if err != nil {
			return err
		}
		if over {
			break
		}
	}
	if !a.Complete() {
		return a.reply.Protocol("the server's answer says neither what the model wrote nor why it stopped")
	}
	return nil
}

func isList(data []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(string(data[:min(len(data), 64)]), " \t\r\n"), "[")
}
