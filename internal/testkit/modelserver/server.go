package modelserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"garuda/internal/core"
)

// Request is one request as it arrived, and how its answer ended.
type Request struct {
	// N counts model requests from 0. Step is the step that answered it, or -1.
	N, Step int
	// Format is anthropic, chat, responses or gemini.
	Format, Path string
	Header       http.Header
	// Body is nil when the server forgets bodies; Bytes is its size all the same.
	Body  []byte
	Bytes int
	// Arrived is when the headers were there, Read when the body was, Responded
	// when the last byte had been written.
	Arrived, Read, Responded time.Time
	Status                   int
	// Fault is the step's, or "".
	Fault string
	// ClientGone is true when the client hung up before the end.
	ClientGone bool
	Stream     bool
}

// Options of New.
type Options struct {
	// ForgetBodies drops each body once it has been answered, for long runs.
	// Breaks then still works, because requests are compared as they arrive.
	ForgetBodies bool
	// Strict answers a conversation that the format's API would refuse (see the
	// function Strict) with a 400 that says why.
	Strict bool
	// Recorded is called after each request, from the goroutine that served it.
	Recorded func(*Request)
}

// Server plays one scenario. Steps are given out in order of arrival.
type Server struct {
	scenario *Scenario
	opts     Options
	http     *http.Server
	listener net.Listener
	served   chan struct{} // closed when serving has ended
	handlers sync.WaitGroup
	closed   chan struct{}

	mu       sync.Mutex
	requests []*Request
	breaks   []Break
	loads    int
	previous map[string]*parts // of the last request of each format
	stalled  chan struct{}     // closed by Release
	waiting  chan struct{}     // gets a value for each request that stalls
}

// New makes a server that does not listen yet.
func New(s *Scenario, o Options) (*Server, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return &Server{scenario: s, opts: o, closed: make(chan struct{}), served: make(chan struct{}),
		previous: map[string]*parts{}, stalled: make(chan struct{}), waiting: make(chan struct{}, 1024)}, nil
}

// Listen starts to serve on addr, such as 127.0.0.1:0.
func (s *Server) Listen(ctx context.Context, addr string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("model server: %w", err)
	}
	s.listener = l
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // it always fails, when Close closes the listener
	}()
	return nil
}

// TB is what Start needs of a testing.TB.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
	Context() context.Context
}

// Start makes a server, listens on a free port of this machine and closes at
// the test's end.
func Start(t TB, s *Scenario, o Options) *Server {
	t.Helper()
	srv, err := New(s, o)
	if err == nil {
		err = srv.Listen(t.Context(), "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// URL is the server's address: what ANTHROPIC_BASE_URL and GEMINI_BASE_URL take.
// With /v1 at its end it is what OPENAI_BASE_URL takes.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close hangs up on every client, ends every answer and waits for them.
func (s *Server) Close() {
	close(s.closed)
	if s.http != nil {
		_ = s.http.Close() // only a listener that is closed already
		<-s.served
	}
	s.handlers.Wait()
}

// Release lets every stalled answer, now and later, go on.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stalled:
	default:
		close(s.stalled)
	}
}

// WaitStalled returns when an answer has stalled that was not waited for yet.
func (s *Server) WaitStalled(ctx context.Context) error {
	select {
	case <-s.waiting:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	s.handlers.Add(1)
	defer s.handlers.Done()
	format := formatOf(r.URL.Path)
	if r.Method != http.MethodPost || format == "" {
		s.other(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	q := &Request{Format: format, Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Bytes: len(body), Arrived: arrived, Read: time.Now(), Step: -1}
	// Aborting a response is a panic, so the record is closed by a defer.
	defer s.finish(r, q)
	if err != nil {
		q.ClientGone = true
	}
	p, err := split(format, body)
	step := s.accept(q, p)
	if q.ClientGone {
		return
	}
	if err != nil {
		s.refuse(w, q, "the body: %v", err)
		return
	}
	s.answer(w, r, q, step)
}

// accept records a request and gives it the next step; nil after the last. p is
// nil for a body that is no JSON.
func (s *Server) accept(q *Request, p *parts) *Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.N = len(s.requests)
	s.requests = append(s.requests, q)
	if p != nil {
		if prev := s.previous[q.Format]; prev != nil {
			if b := prev.breaks(p); b != nil {
				b.Request = q.N
				s.breaks = append(s.breaks, *b)
			} else if len(p.tools) > len(prev.tools) {
				s.loads++
			}
		}
		s.previous[q.Format] = p
	}
	if q.N >= len(s.scenario.Steps) {
		return nil
	}
	q.Step = q.N
	if f := s.scenario.Steps[q.N].Fault; f != nil {
		q.Fault = f.Kind
	}
	return &s.scenario.Steps[q.N]
}

func (s *Server) finish(r *http.Request, q *Request) {
	s.mu.Lock()
	q.Responded = time.Now()
	select {
	case <-s.closed: // it was the server that hung up
	default:
		q.ClientGone = q.ClientGone || r.Context().Err() != nil
	}
	if s.opts.ForgetBodies {
		q.Body = nil
	}
	copied := *q
	s.mu.Unlock()
	if s.opts.Recorded != nil {
		s.opts.Recorded(&copied)
	}
}

// asked is what the server must know of a request.
type asked struct {
	model         string
	stream, usage bool
}

func readAsked(q *Request) (a asked) {
	body := q.Body
	if q.Format == "gemini" {
		a.model, a.stream, _ = geminiPath(q.Path)
		return a
	}
	eachMember(body, func(_ int, key string, start, end int) {
		value := body[start:end]
		switch key {
		case "model":
			a.model = strings.Trim(string(value), `"`)
		case "stream":
			a.stream = string(value) == "true"
		case "stream_options":
			eachMember(value, func(_ int, key string, start, end int) {
				a.usage = a.usage || key == "include_usage" && string(value[start:end]) == "true"
			})
		}
	})
	return a
}

// refuse answers what the scenario has no answer for.
func (s *Server) refuse(w http.ResponseWriter, q *Request, format string, args ...any) {
	f := &Fault{Kind: BadRequest, Message: "modelserver: " + fmt.Sprintf(format, args...)}
	s.setStatus(q, f.respond(w, q.Format))
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, q *Request, step *Step) {
	ask := readAsked(q)
	if step == nil {
		s.refuse(w, q, "the scenario has %d steps, and this is request %d", len(s.scenario.Steps), q.N+1)
		return
	}
	if s.opts.Strict {
		if err := Strict(q.Format, q.Body); err != nil {
			s.refuse(w, q, "step %d: %v", q.Step+1, err)
			return
		}
	}
	for _, text := range step.Require {
		if !bytes.Contains(q.Body, []byte(text)) {
			s.refuse(w, q, "step %d: the request does not contain %q", q.Step+1, text)
			return
		}
	}
	if f := step.Fault; f != nil && f.http() {
		if status, ok := f.between(w, r, s.closed); ok {
			s.setStatus(q, status)
			return
		}
		s.setStatus(q, f.respond(w, q.Format))
		return
	}
	a := &answer{step: step, wire: s.scenario.Wire, model: ask.model, n: q.N, usage: ask.usage}
	if step.Wire != nil {
		a.wire = *step.Wire
	}
	stream, whole, err := a.render(q.Format)
	if err != nil {
		s.refuse(w, q, "step %d: %v", q.Step+1, err)
		return
	}
	p := &player{server: s, w: w, r: r, wire: a.wire, fault: step.Fault, format: q.Format, status: func(code int) { s.setStatus(q, code) }}
	if q.Format == "gemini" && ask.stream && r.URL.Query().Get("alt") != "sse" {
		p.whole(geminiList(stream))
		return
	}
	if ask.stream {
		s.mu.Lock()
		q.Stream = true
		s.mu.Unlock()
		p.stream(stream)
		return
	}
	p.whole(whole)
}

func (s *Server) setStatus(q *Request, code int) {
	s.mu.Lock()
	q.Status = code
	s.mu.Unlock()
}

// other answers what is no model request: the list of models.
func (s *Server) other(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/models") {
		writeJSON(w, http.StatusNotFound, obj{"error": obj{"message": "modelserver: no such address: " + r.Method + " " + r.URL.Path}})
		return
	}
	models := s.scenario.Models
	if len(models) == 0 {
		models = []string{"scripted"}
	}
	if strings.HasSuffix(r.URL.Path, "/v1beta/models") {
		writeJSON(w, http.StatusOK, geminiModels(models))
		return
	}
	data := []any{}
	for _, id := range models {
		data = append(data, obj{"id": id, "object": "model", "type": "model", "display_name": id, "created": created, "owned_by": "scripted"})
	}
	writeJSON(w, http.StatusOK, obj{"object": "list", "data": data, "has_more": false})
}

// player sends one answer with its fault.
type player struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	wire   Wire
	fault  *Fault
	format string
	status func(int)
}

func (p *player) flush() {
	// Every writer of net/http can flush; one that cannot has nothing to send early.
	_ = http.NewResponseController(p.w).Flush()
}

// stream sends events until the end or the fault.
func (p *player) stream(list []event) {
	if p.breaks(0) && !p.before() {
		return
	}
	p.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	p.w.Header().Set("Cache-Control", "no-cache")
	p.status(http.StatusOK)
	for i, e := range list {
		if i > 0 && p.breaks(i) && !p.during() {
			return
		}
		if !p.send(e) {
			return
		}
	}
	p.flush()
}

func (p *player) send(e event) bool {
	if p.wire.DripMs > 0 {
		err := core.SystemClock.Sleep(p.r.Context(), time.Duration(p.wire.DripMs)*time.Millisecond)
		if err != nil {
			return false
		}
	}
	return p.wire.write(p.w, p.flush, p.wire.encode(e)) == nil
}

// breaks reports whether the fault comes before event i. A fault whose After is
// 0 and that can only be in a stream comes before the second event.
func (p *player) breaks(i int) bool {
	f := p.fault
	if f == nil {
		return false
	}
	after := f.After
	if after == 0 && (f.Kind == EndEarly || f.Kind == BadJSON || f.Kind == ErrorEvent) {
		after = 1
	}
	return i == after
}

// before is a fault in place of the response; it reports whether to go on.
func (p *player) before() bool {
	switch p.fault.Kind {
	case Cut:
		panic(http.ErrAbortHandler)
	case Reset:
		p.reset()
		return false
	case Stall:
		return p.stall()
	}
	return true
}

// during is a fault between two events; it reports whether to go on.
func (p *player) during() bool {
	p.flush()
	switch p.fault.Kind {
	case Cut:
		panic(http.ErrAbortHandler)
	case EndEarly:
		return false
	case Reset:
		p.reset()
		return false
	case Stall:
		return p.stall()
	case BadJSON:
		return p.send(event{data: []byte(`{"type": "content_block_delta", "choices": [{"delta":`)})
	case ErrorEvent:
		say := p.fault.words(p.format)
		body, name := say.body(p.format), ""
		switch p.format {
		case "anthropic":
			name = "error"
		case "responses":
			name, body = "error", obj{"type": "error", "code": say.code, "message": say.message, "param": nil}
		}
		var e events
		e.add(name, body)
		p.send(e.list[0])
		return false
	}
	return true
}

// stall waits for Release, the client's leaving, or Close.
func (p *player) stall() bool {
	select {
	case p.server.waiting <- struct{}{}:
	default: // nobody will wait for so many
	}
	p.server.mu.Lock()
	released := p.server.stalled
	p.server.mu.Unlock()
	select {
	case <-released:
		return true
	case <-p.r.Context().Done():
	case <-p.server.closed:
	}
	panic(http.ErrAbortHandler) // to return would end the response in good order
}

// reset ends the connection with an RST.
func (p *player) reset() {
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the end is a FIN, which is a cut
	}
	_ = conn.Close()
}

// whole sends the answer as one JSON body; a fault breaks it in the middle.
func (p *player) whole(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(p.w, err.Error(), http.StatusInternalServerError)
		return
	}
	if f := p.fault; f != nil {
		switch {
		case f.Kind == BadJSON:
			data = data[:len(data)/2]
		case !p.before():
			return
		}
	}
	p.status(http.StatusOK)
	p.w.Header().Set("Content-Type", "application/json")
	_, _ = p.w.Write(data) // a client that left is recorded as gone
	p.flush()
}
