package netproxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

const get = "GET http://example.com/ HTTP/1.1\r\nProxy-Authorization: TOKEN\r\n"

// Requests that two programs could read in two ways, and requests for one host
// under another's name.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	var served atomic.Int32
	s := plain(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	w := open(t, Options{Allow: []string{"example.com", "other.example"}, Ports: []int{81}}, world{"example.com:80": address(s), "other.example:80": address(s)})
	for name, request := range map[string]string{
		"length and chunked":       get + "Host: example.com\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two lengths":              get + "Host: example.com\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
		"list of lengths":          get + "Host: example.com\r\nContent-Length: 0, 0\r\n\r\n",
		"signed length":            get + "Host: example.com\r\nContent-Length: +0\r\n\r\n",
		"negative length":          get + "Host: example.com\r\nContent-Length: -1\r\n\r\n",
		"huge length":              get + "Host: example.com\r\nContent-Length: 9999999999999999999\r\n\r\n",
		"empty length":             get + "Host: example.com\r\nContent-Length:\r\n\r\n",
		"two encodings":            get + "Host: example.com\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"other encoding":           get + "Host: example.com\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"hidden encoding":          get + "Host: example.com\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
		"chunked in HTTP/1.0":      "POST http://example.com/ HTTP/1.0\r\nProxy-Authorization: TOKEN\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"continued line":           get + "Host: example.com\r\nX: a\r\n b\r\n\r\n",
		"continued host":           get + "Host: example.com\r\n .evil.example\r\n\r\n",
		"space before the colon":   get + "Host : example.com\r\n\r\n",
		"space in front":           get + " Host: example.com\r\n\r\n",
		"field without a name":     get + "Host: example.com\r\n: x\r\n\r\n",
		"field without a colon":    get + "Host: example.com\r\nfoo\r\n\r\n",
		"NUL in a field":           get + "Host: example.com\r\nX: a\x00b\r\n\r\n",
		"carriage return inside":   get + "Host: example.com\r\nX: a\rb\r\n\r\n",
		"bare line feed":           get + "Host: example.com\r\nX: a\nHost: evil.example\r\n\r\n",
		"bare line feeds":          "GET http://example.com/ HTTP/1.1\nHost: example.com\n\n",
		"no host":                  get + "\r\n",
		"two hosts":                get + "Host: example.com\r\nHost: example.com\r\n\r\n",
		"list of hosts":            get + "Host: example.com, evil.example\r\n\r\n",
		"other host":               get + "Host: other.example\r\n\r\n",
		"other port in host":       get + "Host: example.com:81\r\n\r\n",
		"user in host":             get + "Host: x@example.com\r\n\r\n",
		"empty host":               get + "Host:\r\n\r\n",
		"user info":                "GET http://user@example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"user info of a host":      "GET http://example.com@other.example/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"backslash":                "GET http://example.com\\@other.example/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"fragment":                 "GET http://example.com#.other.example/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"escape in the host":       "GET http://example%2ecom/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"no URL":                   "GET / HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"https URL":                "GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"ftp URL":                  "GET ftp://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"no host in the URL":       "GET http:///x HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"empty port":               "GET http://example.com:/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"port 0":                   "GET http://example.com:0/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"port with zeros":          "GET http://example.com:0080/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"tab in the first line":    "GET\thttp://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"spaces in the first line": "GET  http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"HTTP/2":                   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"HTTP/0.9":                 "GET http://example.com/\r\n\r\n",
		"empty line first":         "\r\n" + get + "Host: example.com\r\n\r\n",
		"method":                   "G(T http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"too many fields":          get + "Host: example.com\r\n" + strings.Repeat("X: y\r\n", 300) + "\r\n",
		"too long":                 get + "Host: example.com\r\nX: " + strings.Repeat("y", 70<<10) + "\r\n\r\n",
		"connect without a port":   "CONNECT example.com HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"connect to a URL":         "CONNECT http://example.com:443 HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
		"connect with a body":      "CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\nContent-Length: 1\r\nProxy-Authorization: TOKEN\r\n\r\nx",
		"connect, other host":      "CONNECT example.com:80 HTTP/1.1\r\nHost: other.example:80\r\nProxy-Authorization: TOKEN\r\n\r\n",
	} {
		answer := w.say(request)
		if code := status(t, answer); code != 400 && code != 403 && code != 431 && (code != 407 || name != "HTTP/2") {
			t.Errorf("%s: %q", name, answer)
		}
	}
	if n := served.Load(); n > 0 {
		t.Errorf("%d of them reached the server", n)
	}
	if answer := w.say(get + "Host: example.com\r\n\r\n"); status(t, answer) != 200 || served.Load() != 1 {
		t.Errorf("the ordinary request: %q", answer)
	}
}

// What follows a request on its connection is never served.
func TestPipelinedRequestIsNotServed(t *testing.T) {
	var hosts []string
	s := plain(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hosts = append(hosts, r.Host+r.URL.Path) }))
	w := open(t, Options{Allow: []string{"example.com"}}, world{"example.com:80": address(s), "evil.example:80": address(s)})
	for _, second := range []string{
		"GET http://evil.example/2 HTTP/1.1\r\nHost: evil.example\r\n\r\n", "GET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"GET http://example.com/2 HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n",
	} {
		answer := w.say("GET http://example.com/1 HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: TOKEN\r\n\r\n" + second)
		if strings.Count(answer, "HTTP/1.1 ") != 1 || !strings.Contains(answer, "Connection: close") {
			t.Errorf("%q", answer)
		}
	}
	if got := strings.Join(hosts, " "); got != "example.com/1 example.com/1 example.com/1" {
		t.Errorf("served %s", got)
	}
}

// A tunnel to port 80 is plain HTTP for its host, and nothing else.
func TestTunnelToPort80(t *testing.T) {
	var served atomic.Int32
	s := plain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { served.Add(1); hello(w, r) }))
	w := open(t, Options{Allow: []string{"example.com", "other.example"}}, world{"example.com:80": address(s), "other.example:80": address(s)})
	say := func(text string) string {
		c := w.connect("example.com:80")
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		back, _ := io.ReadAll(c)
		return string(back)
	}
	for _, request := range []string{"GET /x HTTP/1.1\r\nHost: example.com\r\n\r\n", "GET http://example.com/x HTTP/1.1\r\nHost: EXAMPLE.com:80\r\n\r\n", "GET /x HTTP/1.0\r\n\r\n"} {
		if answer := say(request); status(t, answer) != 200 || !strings.Contains(answer, "hello from example.com") {
			t.Errorf("%q: %q", request, answer)
		}
	}
	served.Store(0)
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", "GET http://other.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
		"CONNECT other.example:80 HTTP/1.1\r\nHost: example.com\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-x\r\n\r\n", "\x16\x03\x01\x00\x05\r\n\r\n",
	} {
		if answer := say(request); status(t, answer) == 200 {
			t.Errorf("%q: %q", request, answer)
		}
	}
	if served.Load() > 0 {
		t.Error("they reached the server")
	}
}

// What a request carries arrives as it was, and nothing of the proxy with it.
func TestRequestsArriveAsTheyWere(t *testing.T) {
	s := server(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		text := fmt.Sprintf("%s %s %s %v %s", req.Method, req.RequestURI, req.Host, req.Header, body)
		fmt.Fprintf(c, "HTTP/1.1 418 Tea\r\nX-A: b\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	})
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{8080}}, world{"example.com:8080": s})
	answer := w.say("POST http://example.com:8080/a%2Fb//c?x;y=%zz&& HTTP/1.1\r\nHost: example.com:8080\r\nProxy-Authorization: TOKEN\r\n" +
		"Proxy-Connection: keep-alive\r\nAuthorization: Bearer t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	want := "POST /a%2Fb//c?x;y=%zz&& example.com:8080 map[Authorization:[Bearer t]] abc"
	if !strings.HasPrefix(answer, "HTTP/1.1 418 ") || !strings.HasSuffix(answer, "\r\n\r\n"+want) || !strings.Contains(answer, "X-A: b\r\n") || !strings.Contains(answer, "Content-Encoding: gzip\r\n") {
		t.Errorf("%q\nwant %q", answer, want)
	}
}

func TestContinueIsSaidByTheServer(t *testing.T) {
	s := plain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	w := open(t, Options{Allow: []string{"example.com"}}, world{"example.com:80": address(s)})
	c := w.dial()
	fmt.Fprintf(c, "PUT http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: %s\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", w.authorisation())
	r := bufio.NewReader(c)
	if line, err := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	io.WriteString(c, "body")
	rest, _ := io.ReadAll(r)
	if !strings.Contains(string(rest), "HTTP/1.1 200 ") || !strings.Contains(string(rest), "body") {
		t.Errorf("%q", rest)
	}
}

// A web socket is upgraded and carried; another protocol is not asked for.
func TestUpgrades(t *testing.T) {
	s := plain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			io.WriteString(w, "no upgrade")
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
		line, _ := rw.ReadString('\n')
		io.WriteString(c, "echo "+line)
	}))
	w := open(t, Options{Allow: []string{"example.com"}}, world{"example.com:80": address(s)})
	for _, in := range []struct{ how, upgrade, want string }{
		{"absolute", "websocket", "echo ping\n"}, {"tunnel", "WebSocket", "echo ping\n"}, {"absolute", "h2c", "no upgrade"}, {"tunnel", "TLS/1.2", "no upgrade"},
	} {
		var c net.Conn
		target, token := "http://example.com/", "Proxy-Authorization: "+w.authorisation()+"\r\n"
		if in.how == "tunnel" {
			c, target, token = w.connect("example.com:80"), "/", ""
		} else {
			c = w.dial()
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: example.com\r\n%sConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\nHTTP2-Settings: AAMA\r\n\r\n", target, token, in.upgrade)
		r := bufio.NewReader(c)
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode == http.StatusSwitchingProtocols {
			io.WriteString(c, "ping\n")
			line, _ := r.ReadString('\n')
			if line != in.want {
				t.Errorf("%+v: %q", in, line)
			}
			continue
		}
		body, _ := io.ReadAll(answer.Body)
		if string(body) != in.want {
			t.Errorf("%+v: %d %q", in, answer.StatusCode, body)
		}
	}
}

func TestUnreachableServer(t *testing.T) {
	w := open(t, Options{Allow: []string{"example.com"}}, nil)
	for _, request := range []string{
		get + "Host: example.com\r\n\r\n", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: TOKEN\r\n\r\n",
	} {
		if answer := w.say(request); status(t, answer) != 502 || !strings.Contains(answer, "garuda: connect to example.com: refused") {
			t.Errorf("%q", answer)
		}
	}
	if refused := w.close(); len(refused) > 0 {
		t.Errorf("%v was not refused, only not there", refused)
	}
}

// The log has hosts, and nothing of what is asked of them.
func TestLogIsSilent(t *testing.T) {
	var log bytes.Buffer
	s := plain(t, http.HandlerFunc(hello))
	w := open(t, Options{Allow: []string{"example.com"}, Log: textLog(&log)}, world{"example.com:80": address(s)})
	w.say("POST http://example.com/path-secret?query=secret HTTP/1.1\r\nHost: example.com\r\nCookie: secret\r\nProxy-Authorization: TOKEN\r\nContent-Length: 6\r\n\r\nsecret")
	w.say("GET http://evil.example/path-secret?query=secret HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: TOKEN\r\n\r\n")
	token := w.passage.token
	w.close()
	if text := log.String(); strings.Contains(text, "secret") || strings.Contains(text, token) || !strings.Contains(text, "evil.example") {
		t.Errorf("%s", text)
	}
}

// However a head arrives, it is read the same; and what is taken as a request is
// taken by net/http too, as the same one.
func TestHeadInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := get + "Host: example.com\r\nX: " + strings.Repeat("x", rapid.IntRange(0, 60000).Draw(t, "length")) + "\r\n\r\nbody"
		begun := rapid.IntRange(0, 40).Draw(t, "begun")
		raw, rest, err := readHead(iotest.OneByteReader(strings.NewReader(text[begun:])), []byte(text[:begun]))
		if err != nil || string(raw)+string(rest) != text[:len(raw)+len(rest)] || !strings.HasSuffix(string(raw), "\r\n\r\n") {
			t.Fatalf("%q %q %v", raw, rest, err)
		}
		raw, rest, err = readHead(strings.NewReader(text[begun:]), []byte(text[:begun]))
		if err != nil || !strings.HasPrefix(text, string(raw)+string(rest)) {
			t.Fatalf("%q %q %v", raw, rest, err)
		}
	})
}

func FuzzHead(f *testing.F) {
	f.Add([]byte(get + "Host: example.com\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte("CONNECT a:1 HTTP/1.0\r\n\r\n"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		raw, rest, err := readHead(bytes.NewReader(in), nil)
		if err != nil {
			var r *refusal
			if !errors.As(err, &r) && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.HasPrefix(in, append(bytes.Clone(raw), rest...)) {
			t.Fatalf("%q became %q and %q", in, raw, rest)
		}
		h, err := parseHead(raw)
		if err != nil {
			return
		}
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // stricter still: the request gets no further
		}
		if req.Method != h.method || req.RequestURI != h.target || req.ProtoMinor != h.minor {
			t.Fatalf("%q: %s %s, and to net/http %s %s", raw, h.method, h.target, req.Method, req.RequestURI)
		}
		if hosts := h.all("Host"); req.URL.Host == "" && len(hosts) == 1 && req.Host != hosts[0] {
			t.Fatalf("%q: for %q, and to net/http for %q", raw, hosts, req.Host)
		}
		if a, err := authority(h.target); err == nil && h.method != http.MethodConnect && req.URL.Host != a {
			t.Fatalf("%q: for %q, and to net/http for %q", raw, a, req.URL.Host)
		}
	})
}
