package netproxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"garuda/internal/sandbox"
	"github.com/google/go-cmp/cmp"
)

func (w *way) url() *url.URL {
	return &url.URL{Scheme: "http", User: url.UserPassword(user, w.passage.token), Host: w.proxy}
}

func hello(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, "hello from "+r.Host+" by "+r.Proto)
}

func TestHTTPSAndHTTPGetOut(t *testing.T) {
	https, roots := secure(t, http.HandlerFunc(hello))
	http1 := plain(t, http.HandlerFunc(hello))
	w := open(t, Options{Allow: []string{"example.com"}}, world{"example.com:443": address(https), "example.com:80": address(http1)})
	client := w.client(roots)
	for _, tt := range [][2]string{
		{"https://example.com/", "hello from example.com by HTTP/2.0"},
		{"https://EXAMPLE.com:443/a", "hello from EXAMPLE.com:443 by HTTP/2.0"},
		{"http://example.com/", "hello from example.com by HTTP/1.1"},
		{"http://example.com:80/", "hello from example.com by HTTP/1.1"},
	} {
		r, err := client.Get(tt[0])
		if err != nil {
			t.Errorf("%s: %v", tt[0], err)
			continue
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if string(body) != tt[1] {
			t.Errorf("%s: %q, want %q", tt[0], body, tt[1])
		}
	}
	if refused := w.close(); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
}

func TestRefusalSaysWhy(t *testing.T) {
	w := open(t, Options{Allow: []string{"example.com"}, Blocked: []Blocked{{"*.bad.example", "team.json"}}}, nil)
	for _, tt := range [][2]string{
		{"CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\nProxy-Authorization: TOKEN\r\n\r\n",
			"garuda: other.example:443 is refused: it is not on the list (network.allow)\n"},
		{"GET http://a.bad.example/x?secret HTTP/1.1\r\nHost: a.bad.example\r\nProxy-Authorization: TOKEN\r\n\r\n",
			"garuda: a.bad.example:80 is refused: the team policy (team.json) blocks this host\n"},
		{"CONNECT example.com:22 HTTP/1.1\r\nHost: example.com:22\r\nProxy-Authorization: TOKEN\r\n\r\n",
			"garuda: example.com:22 is refused: port 22 may not be reached; 80, 443 and those of network.ports may\n"},
		{"CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\nProxy-Authorization: TOKEN\r\n\r\n",
			"garuda: other.example:443 is refused: it is not on the list (network.allow)\n"},
	} {
		answer := w.say(tt[0])
		if status(t, answer) != 403 || !strings.HasSuffix(answer, "\r\n\r\n"+tt[1]) {
			t.Errorf("%q:\n%q\nwant 403 and %q", tt[0], answer, tt[1])
		}
	}
	if diff := cmp.Diff([]string{"other.example", "a.bad.example", "example.com"}, w.close()); diff != "" {
		t.Error(diff)
	}
}

func TestTokenOfThisCommandOnly(t *testing.T) {
	n, err := New(Options{Allow: []string{"example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	to := server(t, echo)
	n.dial = func(ctx context.Context, _ string, _ uint16) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", to)
	}
	a, b := begin(t, n), begin(t, n)
	request := func(authorisation string) string {
		return "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n" + authorisation + "\r\n"
	}
	if answer := a.say(request("Proxy-Authorization: TOKEN\r\n")); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("its own token: %q", answer)
	}
	for _, wrong := range []string{
		"", "Proxy-Authorization: " + b.authorisation() + "\r\n", "Proxy-Authorization: Basic\r\n", "Proxy-Authorization: Basic !\r\n",
		"Proxy-Authorization: Bearer " + a.passage.token + "\r\n", "Authorization: TOKEN\r\n",
		"Proxy-Authorization: TOKEN\r\nProxy-Authorization: TOKEN\r\n", "Proxy-Authorization: TOKENAAAA\r\n",
	} {
		answer := a.say(request(wrong))
		if status(t, answer) != 407 || !strings.Contains(answer, "Proxy-Authenticate: Basic") {
			t.Errorf("%q: %q", wrong, answer)
		}
	}
	// Without a namespace of its own, the proxy for Java wants the token as well.
	a.proxy = a.bare
	if answer := a.say(request("")); status(t, answer) != 407 {
		t.Errorf("in a namespace that others share: %q", answer)
	}
	a.passage.end()
	if a.passage.credentials([]byte("garuda:" + a.passage.token)) {
		t.Error("the token is good after the end")
	}
}

func TestCloseEndsEverything(t *testing.T) {
	to := server(t, echo)
	held := make(chan struct{})
	slow := plain(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(held); <-r.Context().Done() }))
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{9999}}, world{"example.com:9999": to, "example.com:80": address(slow)})
	tunnel, greeting, request := w.connect("example.com:9999"), w.dial(), w.dial()
	io.WriteString(greeting, "CONN")
	io.WriteString(request, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: "+w.authorisation()+"\r\n\r\n")
	<-held
	io.WriteString(tunnel, "x")
	if _, err := io.ReadFull(tunnel, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	w.close()
	for _, c := range []net.Conn{tunnel, greeting, request} {
		if rest, err := io.ReadAll(c); len(rest) > 0 && err == nil {
			t.Errorf("after the end: %q", rest)
		}
	}
	if c, err := net.Dial("tcp", w.proxy); err == nil {
		c.Close()
		t.Error("the proxy still listens")
	}
}

func TestServeTakesWhatWasAskedFor(t *testing.T) {
	n, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := func(network string) *os.File {
		_, f := listenFile(t, sandbox.Listener{Network: network})
		return f
	}
	regular, err := os.Create(t.TempDir() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][]*os.File{
		"too few": {file("tcp4")}, "swapped": {file("udp4"), file("tcp4"), file("tcp4"), file("tcp4")}, "no sockets": {regular, file("udp4"), file("tcp4"), file("tcp4")}, "none": nil,
	} {
		p, err := n.Begin(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Serve(files); err == nil {
			t.Errorf("%s: served", name)
		}
		p.Close()
		for _, f := range files {
			if _, err := f.Stat(); err == nil {
				t.Errorf("%s: a file is open still", name)
			}
		}
	}
	p, err := n.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := p.Serve([]*os.File{file("tcp4"), file("udp4"), file("tcp4"), file("tcp4")}); err == nil {
		t.Error("served after the end")
	}
}

func TestContextEndsThePassage(t *testing.T) {
	n, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, err := n.Begin(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	address, f := listenFile(t, sandbox.Listener{Network: "tcp4"})
	_, udp := listenFile(t, sandbox.Listener{Network: "udp4"})
	_, bare := listenFile(t, sandbox.Listener{Network: "tcp4"})
	if err := p.Serve([]*os.File{f, udp, bare, nil}); err != nil { // who asks for names there is not served
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection still talks")
	}
	p.Close()
}

func TestOneQuestionForEachHost(t *testing.T) {
	to := server(t, echo)
	var asked atomic.Int32
	asking, answer := make(chan Request, 10), make(chan bool)
	var seen sync.Map
	w := open(t, Options{
		Ports: []int{9999},
		Decide: func(ctx context.Context, r Request) (bool, string) {
			asked.Add(1)
			asking <- r
			select {
			case yes := <-answer:
				return yes, "you said so"
			case <-ctx.Done():
				return false, "over"
			}
		},
		Observe: func(r Request, allowed bool, _ string) { seen.Store(r.Host, allowed) },
	}, world{"a.example:9999": to, "b.example:9999": to})
	request := func(host string) string {
		return "CONNECT " + host + ":9999 HTTP/1.1\r\nHost: " + host + ":9999\r\nProxy-Authorization: TOKEN\r\n\r\n"
	}
	results := make(chan string, 20)
	for range 10 {
		go func() { results <- w.say(request("A.example")) }()
	}
	if diff := cmp.Diff(Request{"call-1", "a.example", 9999}, <-asking); diff != "" {
		t.Error(diff)
	}
	answer <- true
	for range 10 {
		if r := <-results; !strings.HasPrefix(r, "HTTP/1.1 200 ") {
			t.Errorf("%q", r)
		}
	}
	go func() { results <- w.say(request("b.example")) }()
	<-asking
	answer <- false
	if r := <-results; !strings.Contains(r, "b.example:9999 is refused: you said so") {
		t.Errorf("%q", r)
	}
	if r := w.say(request("b.example")); status(t, r) != 403 {
		t.Errorf("asked again: %q", r)
	}
	go func() { results <- w.say(request("c.example")) }()
	<-asking
	refused := w.close() // ends the question that is open
	<-results
	if asked.Load() != 3 {
		t.Errorf("asked %d times", asked.Load())
	}
	if diff := cmp.Diff([]string{"b.example", "c.example"}, refused); diff != "" {
		t.Error(diff)
	}
	if a, _ := seen.Load("a.example"); a != true {
		t.Error("the allowed host was not observed")
	}
	if b, ok := seen.Load("b.example"); !ok || b != false {
		t.Error("the refused host was not observed")
	}
}

// Policy stands before the list and before the answer, ports before both.
func TestDenyWins(t *testing.T) {
	asked := false
	w := open(t, Options{
		Allow: []string{"bad.example", "*.good.example", "localhost", "x.localhost"}, Blocked: []Blocked{{"bad.example", "t"}, {"*.sub.good.example", "t"}},
		Decide: func(context.Context, Request) (bool, string) { asked = true; return true, "" },
	}, nil)
	for _, host := range []string{"bad.example:443", "BAD.example.:443", "x.sub.good.example:80", "localhost:80", "x.localhost:443", "y.good.example:8080"} {
		if _, err := w.passage.judgeText(host); err == nil {
			t.Errorf("%s is let out", host)
		}
	}
	if asked {
		t.Error("somebody was asked about it")
	}
	for _, host := range []string{"y.good.example:443", "other.example:443"} {
		if _, err := w.passage.judgeText(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// judgeText judges host:port.
func (p *passage) judgeText(text string) (target, error) {
	host, port, err := hostPort(text, 0)
	if err != nil {
		return target{}, err
	}
	return p.judge(host, port)
}

// A command cannot bury the user in questions, nor its result in names.
func TestQuestionsAndNamesAreBounded(t *testing.T) {
	asked := 0
	w := open(t, Options{Decide: func(context.Context, Request) (bool, string) { asked++; return false, "no" }}, nil)
	for i := range 300 {
		if _, err := w.passage.judge("h"+strings.Repeat("x", i%50)+string(rune('a'+i/50))+".example", 443); err == nil {
			t.Fatal("let out")
		}
	}
	if refused := w.close(); asked != maxQuestions || len(refused) != maxRefused {
		t.Errorf("%d questions, %d refused hosts", asked, len(refused))
	}
}

// Whatever spells an address is refused, on every way in.
func TestAddressesAreRefused(t *testing.T) {
	w := open(t, Options{Decide: func(context.Context, Request) (bool, string) { return true, "" }}, nil)
	for _, host := range []string{
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "017700000001", "0x7f.0.0.1", "10.0.0.1", "93.184.216.34", "169.254.169.254",
		"127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0",
	} {
		for _, request := range []string{
			"CONNECT " + host + ":443 HTTP/1.1\r\nHost: " + host + ":443\r\nProxy-Authorization: TOKEN\r\n\r\n",
			"GET http://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\nProxy-Authorization: TOKEN\r\n\r\n",
		} {
			if answer := w.say(request); status(t, answer) != 403 || !strings.Contains(answer, "it is an address") {
				t.Errorf("%q: %q", request, answer)
			}
		}
	}
}

func TestLists(t *testing.T) {
	presets := func(_ context.Context, name string) ([]string, error) {
		return []string{name + ".example", "*", "10.0.0.1"}, nil
	}
	w := open(t, Options{Allow: []string{"npm", "github", "*.sub.example"}, Preset: presets}, nil)
	for host, want := range map[string]bool{
		"npm.example": true, "github.example": true, "x.sub.example": true, "sub.example": false, "pypi.example": false, "10.0.0.1": false,
	} {
		if _, err := w.passage.judge(host, 443); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, bad := range []Options{
		{Allow: []string{"*"}}, {Allow: []string{"https://example.com"}}, {Allow: []string{"example.com:443"}}, {Allow: []string{"127.0.0.1"}},
		{Allow: []string{"npm"}}, {Ports: []int{0}}, {Ports: []int{70000}}, {LocalhostPorts: []int{-1}}, {Blocked: []Blocked{{"a b", "t"}}},
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// The hosts of presets are asked once, when they matter, and a failure refuses
// with its reason.
func TestPresetsAreAskedOnceAndLate(t *testing.T) {
	calls := map[string]int{}
	n, err := New(Options{Allow: []string{"example.com", "npm", "go"}, Preset: func(_ context.Context, name string) ([]string, error) {
		calls[name]++
		if name == "npm" {
			return nil, os.ErrNotExist
		}
		return []string{"go.example"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := begin(t, n)
	if _, err := w.passage.judge("example.com", 443); err != nil || len(calls) > 0 {
		t.Errorf("%v, asked %v", err, calls)
	}
	if _, err := w.passage.judge("go.example", 443); err != nil {
		t.Error(err)
	}
	for range 3 {
		if _, err := w.passage.judge("npm.example", 443); err == nil || !strings.Contains(err.Error(), "the preset npm: file does not exist") {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(map[string]int{"npm": 1, "go": 1}, calls); diff != "" {
		t.Error(diff)
	}
}

func TestForwardedPorts(t *testing.T) {
	a, b := server(t, echo), server(t, func(c net.Conn) { io.WriteString(c, "server first") })
	port := func(address string) int {
		u, _ := url.Parse("tcp://" + address)
		p, _ := net.LookupPort("tcp", u.Port())
		return p
	}
	ports := []int{port(a), port(b)}
	w := open(t, Options{LocalhostPorts: append(ports, ports...)}, nil)
	if len(w.forwards) != 2 {
		t.Fatalf("%d listeners", len(w.forwards))
	}
	if ports[0] > ports[1] {
		w.forwards[0], w.forwards[1] = w.forwards[1], w.forwards[0]
	}
	c, err := net.Dial("tcp", w.forwards[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "hello")
	c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(c); string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	c, err = net.Dial("tcp", w.forwards[1])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := io.ReadAll(c); string(got) != "server first" {
		t.Errorf("%q, %v", got, err)
	}
	n, err := New(Options{LocalhostPorts: []int{3128, 3129}})
	if err != nil {
		t.Fatal(err)
	}
	if port, bare := n.freePorts(); port != 3130 || bare != 3131 {
		t.Errorf("the proxies' ports are %d and %d", port, bare)
	}
}

// Where the proxy had to be opened at another port, the variables lead there.
func TestEnvFollowsTheListener(t *testing.T) {
	w := open(t, Options{}, nil)
	_, port, err := net.SplitHostPort(w.bare)
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Join(w.passage.Env(), "\n")
	if strings.Contains(env, "312") || !strings.Contains(env, "@"+w.proxy+"\n") || !strings.Contains(env, "https.proxyPort="+port+" ") {
		t.Errorf("%s does not lead to %s", env, w.proxy)
	}
}

func TestEnv(t *testing.T) {
	n, err := New(Options{Env: []string{"MAVEN_OPTS=-Xmx1g", "SECRET=x"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	token := p.(*passage).token
	proxy := "http://garuda:" + token + "@127.0.0.1:3128"
	java := "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3129 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3129" +
		" -Dhttp.nonProxyHosts=localhost|127.0.0.1 -Daether.connector.http.useSystemProperties=true"
	want := []string{
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy, "HTTPS_PROXY=" + proxy, "https_proxy=" + proxy, "ALL_PROXY=" + proxy, "all_proxy=" + proxy,
		"NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1", "MAVEN_OPTS=-Xmx1g " + java, "GRADLE_OPTS=" + java,
	}
	if diff := cmp.Diff(want, p.Env()); diff != "" {
		t.Error(diff)
	}
	if len(token) < 26 {
		t.Errorf("a token of %d characters", len(token))
	}
}
