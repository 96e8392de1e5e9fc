package netproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync"
	"time"
)

// plainServer forwards requests of plain HTTP whose host was judged: net/http
// reads them, sends them to that host, and carries the answer back. Each
// connection of a client carries one request; those to servers are kept.
type plainServer struct {
	p         *passage
	server    *http.Server
	transport *http.Transport
	feed      feed
}

// targetKey is the context's key of a connection's target.
type targetKey struct{}

func newPlainServer(p *passage) *plainServer {
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug) // it would name URLs
	s := &plainServer{p: p, feed: feed{p.ctx, make(chan net.Conn)}}
	s.transport = &http.Transport{
		DialContext:            s.dial,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		ExpectContinueTimeout:  time.Second,
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: rewrite, Transport: s.transport, FlushInterval: -1, BufferPool: new(buffers), ErrorLog: quiet,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			refusal := p.dialled(r.Context().Value(targetKey{}).(target), err)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.Error(w, "garuda: "+refusal.reason, refusal.status)
		},
	}
	s.server = &http.Server{
		Handler: proxy, ReadHeaderTimeout: p.net.greet, MaxHeaderBytes: 2 * maxHead, ErrorLog: quiet,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, targetKey{}, c.(*plainConn).target)
		},
	}
	s.server.SetKeepAlivesEnabled(false)
	return s
}

// rewrite points a request at its judged host, whatever it says itself.
func rewrite(r *httputil.ProxyRequest) {
	t := r.In.Context().Value(targetKey{}).(target)
	authority := t.host
	if t.port != 80 {
		authority = t.String()
	}
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.User, r.Out.Host = "http", t.String(), nil, authority
	r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came, also where net/http would not have understood it
	// Another protocol behind an upgrade (h2c) could carry requests for other
	// hosts; a server may always ignore the wish. A web socket is one stream.
	if !strings.EqualFold(r.In.Header.Get("Upgrade"), "websocket") {
		r.Out.Header.Del("Upgrade")
		r.Out.Header.Del("Http2-Settings")
		r.Out.Header.Del("Connection")
	}
}

// serveConn serves the request whose head was read and judged, and returns when
// the connection has ended.
func (s *plainServer) serveConn(conn *net.TCPConn, raw, rest []byte, t target) {
	conn.SetReadDeadline(time.Time{}) //nolint:errcheck // as in greeting
	c := &plainConn{Conn: conn, r: io.MultiReader(bytes.NewReader(raw), bytes.NewReader(rest), conn), target: t, ended: make(chan struct{}), woken: make(chan struct{})}
	c.idle = idleTimer{after: s.p.net.idle, close: func() { conn.Close() }} //nolint:errcheck // what was open ends here either way
	c.idle.touch()
	defer c.idle.stop()
	select {
	case s.feed.conns <- c:
		<-c.ended
	case <-s.p.ctx.Done():
	}
}

func (s *plainServer) serve() {
	s.server.Serve(s.feed) //nolint:errcheck // always non-nil: it ends with the passage
}

// close ends what is still open; the passage has closed the clients' connections.
func (s *plainServer) close() {
	s.server.Close() //nolint:errcheck // its listener is a channel
	s.transport.CloseIdleConnections()
}

// dial connects to the judged host of the request; the address that the transport
// made of it is the same.
func (s *plainServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := s.p.connect(ctx.Value(targetKey{}).(target))
	if err != nil {
		return nil, err
	}
	return &serverConn{conn, s.p}, nil
}

// serverConn is a connection to a server, which the passage forgets when it ends.
type serverConn struct {
	*net.TCPConn
	p *passage
}

func (c *serverConn) Close() error {
	c.p.release(c.TCPConn)
	return nil
}

// plainConn is a client's connection with its judged request before what follows.
// It offers none of a TCP connection's shortcuts, which would pass that by.
type plainConn struct {
	net.Conn
	r      io.Reader
	target target
	idle   idleTimer
	// ended is closed with the connection; woken when net/http wants its reading
	// to end.
	ended, woken chan struct{}
	end, wake    sync.Once
}

// Read reads the request. net/http takes the end of a client's stream for its
// going away, and would give the request up; but a client may end its stream and
// wait for the answer. net/http watches for that end with reads of one byte once
// the request is read, so such a read does not report it.
func (c *plainConn) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.idle.touch()
	if n == 0 && len(b) == 1 && errors.Is(err, io.EOF) {
		select {
		case <-c.woken:
			return 0, os.ErrDeadlineExceeded
		case <-c.ended:
			return 0, net.ErrClosed
		}
	}
	return n, err
}

// SetReadDeadline in the past is how net/http ends a read that it no longer needs.
func (c *plainConn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && time.Until(t) < 0 {
		c.wake.Do(func() { close(c.woken) })
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *plainConn) Write(b []byte) (int, error) {
	c.idle.touch()
	return c.Conn.Write(b)
}

// CloseWrite lets net/http end an answer before it closes the connection.
func (c *plainConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func (c *plainConn) Close() error {
	err := c.Conn.Close()
	c.end.Do(func() { close(c.ended) })
	return err
}

// idleTimer closes a connection that nobody has touched for a while.
type idleTimer struct {
	after time.Duration
	close func()
	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

func (t *idleTimer) touch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
	case t.timer == nil:
		t.timer = time.AfterFunc(2*t.after, t.close)
	default:
		t.timer.Reset(2 * t.after)
	}
}

func (t *idleTimer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.timer != nil {
		t.timer.Stop()
	}
}

// feed is a listener whose connections come over a channel.
type feed struct {
	ctx   context.Context //nolint:containedctx // the passage's: a listener ends with it
	conns chan net.Conn
}

func (f feed) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (feed) Close() error   { return nil }
func (feed) Addr() net.Addr { return &net.TCPAddr{} }

// buffers are what bodies are carried in.
type buffers struct{ pool sync.Pool }

const bufferSize = 64 << 10

func (b *buffers) Get() []byte {
	if v, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return v[:]
	}
	return new([bufferSize]byte)[:]
}

func (b *buffers) Put(v []byte) { b.pool.Put((*[bufferSize]byte)(v)) }
