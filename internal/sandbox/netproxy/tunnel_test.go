package netproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"garuda/internal/netguard"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clientHello is the first message of a client of crypto/tls, for a name.
func clientHello(t testing.TB, name string) []byte {
	t.Helper()
	a, b := net.Pipe()
	defer b.Close()
	go func() {
		defer a.Close()
		tls.Client(a, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	buf := make([]byte, 16<<10)
	n, err := b.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}

func TestNameInTLSMustAgree(t *testing.T) {
	s, roots := secure(t, http.HandlerFunc(hello))
	w := open(t, Options{Allow: []string{"example.com", "*.example.com"}}, world{"example.com:443": address(s), "a.example.com:443": address(s)})
	handshake := func(to, name string) error {
		c := w.connect(to)
		defer c.Close()
		return tls.Client(c, &tls.Config{ServerName: name, RootCAs: roots, InsecureSkipVerify: name == ""}).Handshake()
	}
	for _, tt := range [][2]string{{"example.com:443", "example.com"}, {"EXAMPLE.com.:443", "Example.COM"}, {"a.example.com:443", "a.example.com"}} {
		// The certificate is for example.com and its subdomains of one test server.
		var invalid *tls.CertificateVerificationError
		if err := handshake(tt[0], tt[1]); err != nil && !errors.As(err, &invalid) {
			t.Errorf("%v: %v", tt, err)
		}
	}
	for _, tt := range [][2]string{{"example.com:443", "a.example.com"}, {"a.example.com:443", "evil.example"}, {"example.com:443", ""}} {
		err := handshake(tt[0], tt[1])
		if err == nil || !strings.Contains(err.Error(), "access denied") {
			t.Errorf("%v: %v", tt, err)
		}
	}
	if diff := cmp.Diff([]string{"a.example.com", "evil.example"}, w.close()); diff != "" {
		t.Error(diff)
	}
}

// Nothing but TLS gets through a tunnel to 443, and the client reads why.
func TestPlaintextToPort443(t *testing.T) {
	reached := make(chan string, 10)
	s := server(t, func(c net.Conn) {
		got, _ := io.ReadAll(c)
		reached <- string(got)
	})
	w := open(t, Options{Allow: []string{"example.com"}}, world{"example.com:443": s})
	good := clientHello(t, "example.com")
	for name, tt := range map[string]struct{ say, want string }{
		"HTTP":              {"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 403 "},
		"SSH":               {"SSH-2.0-OpenSSH\r\n", "HTTP/1.1 403 "},
		"SSL 2":             {"\x80\x2e\x01\x03\x01", "HTTP/1.1 403 "},
		"an alert":          {"\x15\x03\x01\x00\x02\x02\x28", "HTTP/1.1 403 "},
		"malformed":         {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", string(accessDenied)},
		"another message":   {"\x16\x03\x01\x00\x04\x02\x00\x00\x00", string(accessDenied)},
		"hello cut short":   {string(good[:len(good)/2]), string(accessDenied)},
		"endless message":   {"\x16\x03\x01\x40\x00\x01\x00\xff\xff" + strings.Repeat("x", 100<<10), string(accessDenied)},
		"data before hello": {"\x17\x03\x03\x00\x01x" + string(good), "HTTP/1.1 403 "},
		"two names":         {string(twoNames(good)), string(accessDenied)},
		"NUL in the name":   {string(bytes.Replace(good, []byte("example.com"), []byte("example\x00com"), 1)), string(accessDenied)},
		"nothing":           {"", string("")},
	} {
		c := w.connect("example.com:443")
		io.WriteString(c, tt.say)
		c.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(got), tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := <-reached; got != "" {
			t.Errorf("%s: %q reached the server", name, got)
		}
	}
	// In as many pieces and records as a client likes, but for the right name.
	c := w.connect("example.com:443")
	message := good[5:]
	var said []byte
	for len(message) > 0 {
		n := min(50, len(message))
		record := append([]byte{22, 3, 1, 0, byte(n)}, message[:n]...)
		message = message[n:]
		c.Write(record)
		said = append(said, record...)
	}
	io.WriteString(c, "and more")
	c.(*net.TCPConn).CloseWrite()
	if got := <-reached; got != string(said)+"and more" {
		t.Errorf("the server got %q", got)
	}
}

// twoNames is a hello with its list of server names twice.
func twoNames(hello []byte) []byte {
	name := []byte("example.com")
	entry := append([]byte{0, 0, byte(len(name))}, name...)
	extension := func(entries []byte) []byte {
		b := []byte{0, 0, 0, byte(len(entries) + 2), 0, byte(len(entries))}
		return append(b, entries...)
	}
	one, two := extension(entry), extension(append(append([]byte{}, entry...), entry...))
	out := bytes.Replace(hello, one, two, 1)
	grow := func(at int) {
		n := int(out[at])<<8 | int(out[at+1])
		n += len(entry)
		out[at], out[at+1] = byte(n>>8), byte(n)
	}
	if len(out) == len(hello) {
		panic("no name in the hello")
	}
	grow(3) // the record
	grow(7) // the message
	// The extensions' length stands behind version, random, session, suites, compression.
	at := 5 + 4 + 2 + 32
	at += 1 + int(out[at])
	at += 2 + (int(out[at])<<8 | int(out[at+1]))
	at += 1 + int(out[at])
	grow(at)
	return out
}

// At other ports bytes pass as they are, whoever speaks first; TLS is checked.
func TestOtherPorts(t *testing.T) {
	talker := server(t, func(c net.Conn) {
		io.WriteString(c, "220 ready\n")
		echo(c)
	})
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{2525}}, world{"example.com:2525": talker})
	c := w.connect("example.com:2525")
	line := make([]byte, 10)
	if _, err := io.ReadFull(c, line); string(line) != "220 ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	io.WriteString(c, "HELO")
	c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(c); string(got) != "HELO" {
		t.Errorf("%q, %v", got, err)
	}
	good := clientHello(t, "example.com")
	c = w.connect("example.com:2525")
	c.Write(good)
	c.(*net.TCPConn).CloseWrite()
	if got, _ := io.ReadAll(c); string(got) != "220 ready\n"+string(good) {
		t.Errorf("%q", got)
	}
	c = w.connect("example.com:2525")
	io.ReadFull(c, line)
	c.Write(clientHello(t, "evil.example"))
	if got, _ := io.ReadAll(c); string(got) != string(accessDenied) {
		t.Errorf("%q", got)
	}
	c = w.connect("example.com:2525") // says nothing and ends
	c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(c); string(got) != "220 ready\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Each side may end its stream and go on listening.
func TestHalfClosed(t *testing.T) {
	finished := make(chan string, 1)
	s := server(t, func(c net.Conn) {
		io.WriteString(c, "bye")
		c.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(c)
		finished <- string(got)
	})
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{9999}}, world{"example.com:9999": s})
	c := w.connect("example.com:9999")
	if got, err := io.ReadAll(c); string(got) != "bye" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	io.WriteString(c, "late")
	c.(*net.TCPConn).CloseWrite()
	if got := <-finished; got != "late" {
		t.Errorf("the server got %q", got)
	}
}

// A server that breaks off does not look like one that ended.
func TestBrokenStreamIsNoEnd(t *testing.T) {
	s := server(t, func(c net.Conn) {
		io.WriteString(c, "part")
		io.ReadFull(c, make([]byte, 1))
		c.(*net.TCPConn).SetLinger(0)
	})
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{9999}}, world{"example.com:9999": s})
	c := w.connect("example.com:9999")
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "x")
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the client sees %v", err)
	}
}

// Clients that say nothing, or nothing more, are not waited for.
func TestSlowClients(t *testing.T) {
	s := server(t, func(c net.Conn) { io.ReadAll(c) })
	n, err := New(Options{Allow: []string{"example.com"}, Ports: []int{9999}})
	if err != nil {
		t.Fatal(err)
	}
	n.greet, n.idle = 50*time.Millisecond, 50*time.Millisecond
	n.dial = func(ctx context.Context, _ string, _ uint16) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s)
	}
	w := begin(t, n)
	for name, text := range map[string]string{
		"silent": "", "slow head": "CONNECT exam", "slow SOCKS": "\x05\x01", "idle tunnel": "CONNECT example.com:9999 HTTP/1.1\r\nHost: example.com:9999\r\nProxy-Authorization: TOKEN\r\n\r\nx",
		"slow hello":       "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: TOKEN\r\n\r\n\x16\x03",
		"slow inner head":  "CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\nProxy-Authorization: TOKEN\r\n\r\nGET",
		"slow body":        "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9\r\nProxy-Authorization: TOKEN\r\n\r\nx",
		"waits for answer": "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
	} {
		c := w.dial()
		io.WriteString(c, strings.ReplaceAll(text, "TOKEN", w.authorisation()))
		if _, err := io.Copy(io.Discard, c); err != nil && errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tunnel on which bytes move now and then outlives the idle time.
func TestActiveTunnelStays(t *testing.T) {
	s := server(t, echo)
	n, err := New(Options{Allow: []string{"example.com"}, Ports: []int{9999}})
	if err != nil {
		t.Fatal(err)
	}
	n.idle = 100 * time.Millisecond
	n.dial = func(ctx context.Context, _ string, _ uint16) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s)
	}
	c := begin(t, n).connect("example.com:9999")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	buf := make([]byte, 1)
	for i := range 30 {
		<-tick.C
		c.Write([]byte{byte(i)})
		if _, err := io.ReadFull(c, buf); err != nil || buf[0] != byte(i) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

// The real guard: a name that resolves to something private, at once or the next
// time, is refused, and named.
func TestRebinding(t *testing.T) {
	n, err := New(Options{Allow: []string{"*.example.com"}, Guard: &netguard.Guard{Resolver: lookups{
		"private.example.com":  {{"10.0.0.1"}},
		"mixed.example.com":    {{"93.184.216.34", "127.0.0.1"}},
		"metadata.example.com": {{"169.254.169.254"}},
		"mapped.example.com":   {{"::ffff:127.0.0.1"}},
		"second.example.com":   {{"93.184.216.34"}, {"127.0.0.1"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w := begin(t, n)
	if addrs, err := n.resolve(t.Context(), "second.example.com"); err != nil || len(addrs) != 1 {
		t.Fatalf("%v, %v", addrs, err)
	}
	for _, host := range []string{"private", "mixed", "metadata", "mapped", "second"} {
		host += ".example.com"
		answer := w.say("CONNECT " + host + ":443 HTTP/1.1\r\nHost: " + host + ":443\r\nProxy-Authorization: TOKEN\r\n\r\n")
		if status(t, answer) != 403 || !strings.Contains(answer, "the address is not public") {
			t.Errorf("%s: %q", host, answer)
		}
		answer = w.say("GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\nProxy-Authorization: TOKEN\r\n\r\n")
		if status(t, answer) != 403 || !strings.Contains(answer, "the address is not public") {
			t.Errorf("%s: %q", host, answer)
		}
	}
	answer := w.say("CONNECT none.example.com:443 HTTP/1.1\r\nHost: none.example.com:443\r\nProxy-Authorization: TOKEN\r\n\r\n")
	if status(t, answer) != 502 || !strings.Contains(answer, "no such host") {
		t.Errorf("%q", answer)
	}
	want := []string{"private.example.com", "mixed.example.com", "metadata.example.com", "mapped.example.com", "second.example.com"}
	if diff := cmp.Diff(want, w.close()); diff != "" {
		t.Error(diff)
	}
}

// A thousand connections are open at once, and each carries.
func TestThousandConnections(t *testing.T) {
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{9999}}, world{"example.com:9999": server(t, echo)})
	const count = 1000
	errs := make(chan error, count)
	var opened sync.WaitGroup
	opened.Add(count)
	for i := range count {
		go func() {
			errs <- func() error {
				c, err := net.Dial("tcp", w.proxy)
				if err != nil {
					opened.Done()
					return err
				}
				defer c.Close()
				fmt.Fprintf(c, "CONNECT example.com:9999 HTTP/1.1\r\nHost: example.com:9999\r\nProxy-Authorization: %s\r\n\r\n", w.authorisation())
				_, err = io.ReadFull(c, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n")))
				opened.Done()
				opened.Wait() // all are open at once
				if err != nil {
					return err
				}
				text := fmt.Sprintf("connection %d", i)
				io.WriteString(c, text)
				c.(*net.TCPConn).CloseWrite()
				if got, err := io.ReadAll(c); string(got) != text {
					return fmt.Errorf("%q: %w", got, err)
				}
				return nil
			}()
		}()
	}
	for range count {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// The name that is read is the one that crypto/tls's client said, in however many
// pieces it comes, and every byte is passed on.
func TestHelloName(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[a-z][a-z0-9-]{0,20}[a-z]\.[a-z]{2,5}`).Draw(rt, "name")
		hello := clientHello(t, name)
		early := rapid.IntRange(0, len(hello)).Draw(rt, "early")
		got, begun, err := helloName(iotest.OneByteReader(bytes.NewReader(hello[early:])), hello[:early])
		if err != nil || got != name || !bytes.Equal(begun, hello) {
			rt.Fatalf("%q, %d of %d bytes, %v", got, len(begun), len(hello), err)
		}
	})
}

func FuzzHello(f *testing.F) {
	good := clientHello(f, "example.com")
	f.Add(good)
	f.Add(twoNames(good))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		name, begun, err := helloName(bytes.NewReader(in), nil)
		if !bytes.HasPrefix(in, begun) {
			t.Fatalf("%q became %q", in, begun)
		}
		var r *refusal
		switch {
		case err == nil && (name == "" || !bytes.Contains(bytes.ToLower(in), []byte(name)) && len(in) < 1000 && begun[4] > 200):
			t.Fatalf("%q has the name %q", in, name)
		case err != nil && (!errors.As(err, &r) || name != ""):
			t.Fatalf("%q: %q, %v", in, name, err)
		}
	})
}

func benchmarkWay(b *testing.B, s *httptest.Server, port int) *way {
	return open(b, Options{Allow: []string{"example.com"}}, world{fmt.Sprintf("example.com:%d", port): address(s)})
}

// BenchmarkRequest is a whole request with a connection of its own, straight and
// through the proxy; the difference is what the proxy adds.
func BenchmarkRequest(b *testing.B) {
	s, roots := secure(b, http.HandlerFunc(hello))
	http1 := plain(b, http.HandlerFunc(hello))
	run := func(b *testing.B, client *http.Client, url string) {
		for b.Loop() {
			r, err := client.Get(url)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
			client.CloseIdleConnections()
		}
	}
	straight := func(to *httptest.Server) *http.Client {
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address(to))
		}}
		return &http.Client{Transport: tr}
	}
	b.Run("https/straight", func(b *testing.B) { run(b, straight(s), "https://example.com/") })
	b.Run("https/proxy", func(b *testing.B) { run(b, benchmarkWay(b, s, 443).client(roots), "https://example.com/") })
	b.Run("http/straight", func(b *testing.B) { run(b, straight(http1), "http://example.com/") })
	b.Run("http/proxy", func(b *testing.B) { run(b, benchmarkWay(b, http1, 80).client(nil), "http://example.com/") })
}

// BenchmarkThroughput is how much a tunnel and a plain answer carry.
func BenchmarkThroughput(b *testing.B) {
	const size = 256 << 20
	block := make([]byte, 1<<20)
	send := func(c io.Writer) {
		for range size / len(block) {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}
	b.Run("straight", func(b *testing.B) {
		to := server(b, func(c net.Conn) { send(c) })
		b.SetBytes(size)
		for b.Loop() {
			c, err := net.Dial("tcp", to)
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, block[:256<<10]); n != size || err != nil {
				b.Fatal(n, err)
			}
			c.Close()
		}
	})
	b.Run("tunnel", func(b *testing.B) {
		to := server(b, func(c net.Conn) { send(c) })
		w := open(b, Options{Allow: []string{"example.com"}, Ports: []int{9999}}, world{"example.com:9999": to})
		b.SetBytes(size)
		for b.Loop() {
			c := w.connect("example.com:9999")
			if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, block[:256<<10]); n != size || err != nil {
				b.Fatal(n, err)
			}
			c.Close()
		}
	})
	b.Run("http", func(b *testing.B) {
		s := plain(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { send(w) }))
		w := benchmarkWay(b, s, 80)
		client := w.client(nil)
		b.SetBytes(size)
		for b.Loop() {
			r, err := client.Get("http://example.com/")
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r.Body}, block[:256<<10]); n != size || err != nil {
				b.Fatal(n, err)
			}
			r.Body.Close()
		}
	})
}
