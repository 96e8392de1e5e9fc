package netproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"garuda/internal/sandbox"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// way is a passage with what leads to it.
type way struct {
	t       testing.TB
	net     *Network
	passage *passage
	// proxy and dns are the addresses of its listeners, forwards those of the ports.
	proxy, dns, bare, dnsByTCP string
	forwards                   []string
	closed                     bool
}

// world is where a test's names lead: host:port to an address of this machine.
type world map[string]string

// open makes a network whose names lead into the world, and a passage of it.
func open(t testing.TB, opt Options, w world) *way {
	t.Helper()
	n, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	n.dial = func(ctx context.Context, host string, port uint16) (net.Conn, error) {
		to, ok := w[fmt.Sprintf("%s:%d", host, port)]
		if !ok {
			return nil, fmt.Errorf("connect to %s: refused", host)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", to)
	}
	return begin(t, n)
}

// begin opens a passage of a network.
func begin(t testing.TB, n *Network) *way {
	t.Helper()
	p, err := n.Begin(t.Context(), "call-1")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{t: t, net: n, passage: p.(*passage)}
	t.Cleanup(func() { w.close() })
	var files []*os.File
	for i, l := range p.Listeners() {
		address, file := listenFile(t, l)
		files = append(files, file)
		switch {
		case i == 0:
			w.proxy = address
		case l.Network == "udp4":
			w.dns = address
		case i == listenBare:
			w.bare = address
		case l.Address == sandbox.ResolverAddress:
			w.dnsByTCP = address
		default:
			w.forwards = append(w.forwards, address)
		}
	}
	if err := p.Serve(files); err != nil {
		t.Fatal(err)
	}
	return w
}

// listenFile opens a listener of that kind at a free port, as a file.
func listenFile(t testing.TB, l sandbox.Listener) (string, *os.File) {
	t.Helper()
	if l.Network == "udp4" {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f, err := c.File()
		if err != nil {
			t.Fatal(err)
		}
		return c.LocalAddr().String(), f
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	return ln.Addr().String(), f
}

// close ends the passage and returns the hosts that were refused.
func (w *way) close() []string {
	w.closed = true
	return w.passage.Close()
}

// dial connects to the proxy.
func (w *way) dial() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.proxy)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

func (w *way) authorisation() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("garuda:"+w.passage.token))
}

// say sends bytes to the proxy, with TOKEN in them replaced by the passage's
// authorisation, and returns everything that comes back.
func (w *way) say(text string) string {
	w.t.Helper()
	c := w.dial()
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "TOKEN", w.authorisation())); err != nil {
		w.t.Fatal(err)
	}
	c.(*net.TCPConn).CloseWrite()
	back, _ := io.ReadAll(c)
	return string(back)
}

// connect opens a tunnel by CONNECT, and fails the test unless the status is 200.
func (w *way) connect(to string) net.Conn {
	w.t.Helper()
	c := w.dial()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: %s\r\n\r\n", to, to, w.authorisation())
	line := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
	if _, err := io.ReadFull(c, line); err != nil || !strings.HasPrefix(string(line), "HTTP/1.1 200 ") {
		rest, _ := io.ReadAll(c)
		w.t.Fatalf("CONNECT %s: %q, %v", to, string(line)+string(rest), err)
	}
	return c
}

// client is a client of HTTP that uses the passage.
func (w *way) client(roots *x509.CertPool) *http.Client {
	tr := &http.Transport{
		Proxy: http.ProxyURL(w.url()), TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
	}
	w.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

// secure is a TLS server for example.com and the roots that know it.
func secure(t testing.TB, h http.Handler) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, roots
}

func plain(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// address is the host:port of a test server.
func address(s *httptest.Server) string { return s.Listener.Addr().String() }

// server accepts one connection after another and hands each to serve.
func server(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { ln.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return ln.Addr().String()
}

func echo(c net.Conn) {
	io.Copy(c, c)
	c.(*net.TCPConn).CloseWrite()
}

// lookups is a resolver of fixed answers; a name's answers come one after the
// other, and the last one stays.
type lookups map[string][][]string

func (l lookups) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	host = strings.TrimSuffix(host, ".")
	answers := l[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		l[host] = answers[1:]
	}
	var out []netip.Addr
	for _, a := range answers[0] {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

// status is the code of an answer of HTTP.
func status(t testing.TB, answer string) int {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
	if err != nil {
		t.Fatalf("no answer of HTTP: %q: %v", answer, err)
	}
	r.Body.Close()
	return r.StatusCode
}

func textLog(to io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
