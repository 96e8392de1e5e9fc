package anthropic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const (
	// customID names the one request of a batch.
	customID = "garuda"
	// batchFactor is what a token costs in a batch, of its usual price.
	batchFactor = 0.5
	// checkLimit is how long one look at a batch may take, maxFailures how many
	// may fail in a row.
	checkLimit  = time.Minute
	maxFailures = 10
	// cancelLimit is how long the request that ends an unwanted batch may take.
	cancelLimit = 5 * time.Second
)

// pause is how long to wait before the n-th look at a batch.
func pause(n int) time.Duration {
	return []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second}[min(n, 3)]
}

// NewBatch makes a client of the Message Batches API: each request is a batch of
// its own, which costs half and is answered when the provider has time for it,
// within a day. Stream waits for that; giving up on it cancels the batch.
func NewBatch(cfg llm.ClientConfig) (llm.Model, error) {
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	// What is asked here is answered at once: the model's work is waited for
	// between the requests.
	if cfg.Limits.FirstByte == 0 {
		cfg.Limits.FirstByte = checkLimit
	}
	if cfg.Limits.Idle == 0 {
		cfg.Limits.Idle = checkLimit
	}
	host := Host{Streams: true, Auth: wire.Auth{Header: "X-Api-Key"}}
	client, err := connect(cfg, host)
	if err != nil {
		return nil, err
	}
	enc := &encoder{info: cfg.Info, host: host, search: cfg.Quirks.WebSearch, open: `{"requests":[{"custom_id":"` + customID + `","params":`}
	return &batches{client: client, clock: cfg.Clock, transcript: wire.NewTranscript(enc, tail+`}]}`, cacheMark)}, nil
}

type batches struct {
	client     *wire.Client
	clock      core.Clock
	transcript *wire.Transcript
}

func (b *batches) Info() *llm.Info { return b.client.Info() }

// CloseIdleConnections closes connections that wait for the next request.
func (b *batches) CloseIdleConnections() { b.client.CloseIdleConnections() }

// Stream sends one request as a batch and waits for its answer; see [llm.Model].
// All events come at the end.
func (b *batches) Stream(ctx context.Context, req *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	body, err := b.transcript.Body(req)
	if err != nil {
		return nil, b.client.BadRequest(err)
	}
	made, err := b.create(ctx, body)
	if err != nil {
		return nil, err
	}
	emit(llm.Notice{Text: "sent as the batch " + made.ID + ": it costs half, and is answered within a day"})
	resp, err := b.wait(ctx, made, func(e llm.Event) {
		if ctx.Err() == nil {
			emit(e)
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return wire.Finish(resp, body), nil
}

// state is what the API says of a batch.
type state struct {
	ID     string `json:"id"`
	Status string `json:"processing_status"`
}

const ended = "ended"

func (b *batches) create(ctx context.Context, body *wire.Body) (state, error) {
	reply, err := b.client.Post(ctx, "v1/messages/batches", body)
	if err != nil {
		return state{}, err
	}
	defer reply.Close()
	s, err := readState(reply)
	if err == nil && !plainID(s.ID) {
		err = reply.Protocol("the server made a batch with the id %q", s.ID)
	}
	return s, err
}

// plainID reports whether an id can be a segment of a path as it is.
func plainID(id string) bool {
	odd := func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}
	return id != "" && len(id) <= 100 && !strings.ContainsFunc(id, odd)
}

func readState(reply *wire.Reply) (state, error) {
	if !reply.JSON {
		return state{}, reply.Protocol("the server answered with no JSON document")
	}
	data, err := reply.Document()
	if err != nil {
		return state{}, err
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil || s.Status == "" {
		if wire.HoldsError(data) {
			return state{}, reply.Failure(data)
		}
		return state{}, reply.Protocol("the server does not say how the batch stands")
	}
	return s, nil
}

// wait looks at the batch until it has ended and its result is here. A look that
// fails is nothing: the answer is made and paid for whether it is seen or not.
func (b *batches) wait(ctx context.Context, s state, emit func(llm.Event)) (*llm.Response, error) {
	failures := 0
	for n := 0; ; n++ {
		if n > 0 || s.Status != ended {
			if err := b.clock.Sleep(ctx, pause(n)); err != nil {
				return nil, b.abandon(ctx, s.ID, err)
			}
		}
		resp, err := b.look(ctx, s.ID, emit)
		var final *finalError
		switch {
		case resp != nil:
			return resp, nil
		case err == nil:
			failures = 0
			continue
		case ctx.Err() != nil:
			return nil, b.abandon(ctx, s.ID, ctx.Err())
		case errors.As(err, &final):
			return nil, final.err
		}
		if failures++; failures == maxFailures {
			return nil, b.abandon(ctx, s.ID, lost(s.ID, err))
		}
	}
}

// lost is the error of a batch that could not be asked about. It is not sent again:
// its answer may be made and charged for, and another one would be, too.
func lost(id string, err error) error {
	typed, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err
	}
	e := *typed
	e.NoRetry, e.Streaming = true, false
	e.Message = fmt.Sprintf("the batch %s could not be read, %d times in a row: %s", id, maxFailures, e.Message)
	return &e
}

// finalError is how a batch ended, as opposed to a look at it that failed.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

// look asks how the batch stands and, when it has ended, for its result. Both
// results are nil while it goes on.
func (b *batches) look(ctx context.Context, id string, emit func(llm.Event)) (*llm.Response, error) {
	ctx, cancel := core.Within(ctx, b.clock, checkLimit, errSlowCheck)
	defer cancel()
	reply, err := b.client.Get(ctx, "v1/messages/batches/"+id)
	if err != nil {
		return nil, b.slow(ctx, err)
	}
	defer reply.Close()
	s, err := readState(reply)
	if err != nil || s.Status != ended {
		return nil, b.slow(ctx, err)
	}
	results, err := b.client.Get(ctx, "v1/messages/batches/"+id+"/results")
	if err != nil {
		return nil, b.slow(ctx, err)
	}
	defer results.Close()
	resp, err := readResult(results, emit)
	return resp, b.slow(ctx, err)
}

var errSlowCheck = errors.New("the server took too long to say how the batch stands")

// slow names the limit that ended a look.
func (b *batches) slow(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSlowCheck) {
		return &llm.Error{Kind: llm.ErrIdle, Model: b.client.Info().Spec, Message: fmt.Sprintf("%v (%s)", errSlowCheck, checkLimit), Err: errSlowCheck}
	}
	return err
}

// abandon cancels a batch that nobody waits for any more, so that it costs
// nothing if it has not begun, and returns err. That it could not be cancelled is
// said where err has room for it.
func (b *batches) abandon(ctx context.Context, id string, err error) error {
	ctx, cancel := core.Within(context.WithoutCancel(ctx), b.clock, cancelLimit, errSlowCheck)
	defer cancel()
	reply, failed := b.client.Post(ctx, "v1/messages/batches/"+id+"/cancel", nil)
	if failed == nil {
		reply.Close()
		return err
	}
	if typed, ok := errors.AsType[*llm.Error](err); ok {
		e := *typed
		e.Message += fmt.Sprintf("; the batch %s could not be cancelled either", id)
		return &e
	}
	return err
}

// readResult finds the one result in the lines of the answer.
func readResult(reply *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
	if !reply.JSON {
		return nil, reply.Protocol("the server answered with no results")
	}
	data, err := reply.Document()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var line struct {
			CustomID string `json:"custom_id"`
			Result   struct {
				Type    string          `json:"type"`
				Message json.RawMessage `json:"message"`
				Error   json.RawMessage `json:"error"`
			} `json:"result"`
		}
		if err := wire.Decode(lines.Bytes(), &line); err != nil {
			if bytes.HasSuffix(data, lines.Bytes()) { // without the newline that ends every line
				return nil, reply.Cut("the results were complete")
			}
			return nil, reply.BadEvent(lines.Bytes(), err)
		}
		if line.CustomID != customID {
			continue
		}
		switch line.Result.Type {
		case "succeeded":
			a := &answer{reply: reply, emit: emit}
			resp, err := a.document(line.Result.Message)
			if err != nil {
				return nil, &finalError{err}
			}
			resp.PriceFactor = batchFactor
			return resp, nil
		case "errored":
			return nil, &finalError{reply.Failure(line.Result.Error)}
		case "canceled":
			return nil, unanswered(reply, "the batch was cancelled")
		case "expired":
			return nil, unanswered(reply, "the batch was not answered within a day")
		}
		return nil, &finalError{reply.Protocol("the batch ended as %q", line.Result.Type)}
	}
	if len(data) == 0 {
		return nil, reply.Cut("the results began")
	}
	return nil, reply.Protocol("the batch ended without a result")
}

// unanswered is a batch that ended without an answer. Whoever cancelled it meant
// it, and what had no turn in a day will have none: it is not sent again.
func unanswered(reply *wire.Reply, why string) error {
	err := reply.Protocol("%s", why)
	if typed, ok := errors.AsType[*llm.Error](err); ok {
		typed.Kind, typed.NoRetry = llm.ErrServer, true
	}
	return &finalError{err}
}
