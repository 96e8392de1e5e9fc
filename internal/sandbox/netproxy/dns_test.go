package netproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"garuda/internal/netguard"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

// stub is a passage with a world of names.
func stub(t testing.TB, decide func(context.Context, Request) (bool, string)) *way {
	n, err := New(Options{
		Allow: []string{"example.com", "*.example.com"}, Blocked: []Blocked{{"blocked.example.com", "t"}}, Decide: decide,
		Guard: &netguard.Guard{Resolver: lookups{
			"example.com":         {{"93.184.216.34", "2606:2800:220:1::1"}},
			"many.example.com":    {slices.Repeat([]string{"93.184.216.34"}, 40)},
			"private.example.com": {{"93.184.216.34", "10.0.0.1"}},
			"blocked.example.com": {{"93.184.216.34"}},
			"other.example":       {{"93.184.216.34"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return begin(t, n)
}

func TestDNSAnswersAllowedNamesOnly(t *testing.T) {
	asked := 0
	w := stub(t, func(_ context.Context, r Request) (bool, string) { asked++; return r.Host == "other.example", "no" })
	resolver := &net.Resolver{PreferGo: true}
	byTCP := false
	resolver.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		if byTCP {
			return new(net.Dialer).DialContext(ctx, "tcp4", w.dnsByTCP)
		}
		return new(net.Dialer).DialContext(ctx, "udp4", w.dns)
	}
	look := func(name string) string {
		addrs, err := resolver.LookupHost(t.Context(), name)
		if err != nil {
			var failed *net.DNSError
			if !errors.As(err, &failed) {
				return err.Error()
			}
			return failed.Err
		}
		slices.Sort(addrs)
		return strings.Join(addrs, " ")
	}
	for name, want := range map[string]string{
		"example.com.":         "2606:2800:220:1::1 93.184.216.34",
		"EXAMPLE.com.":         "2606:2800:220:1::1 93.184.216.34",
		"private.example.com.": "no such host",
		"blocked.example.com.": "no such host",
		"none.example.com.":    "no such host",
		"other.example.":       "no such host",
		"localhost.test.":      "no such host",
	} {
		for _, byTCP = range []bool{false, true} {
			if got := look(name); got != want {
				t.Errorf("%s (by TCP %v): %s, want %s", name, byTCP, got, want)
			}
		}
	}
	if asked > 0 {
		t.Error("a look-up asked somebody")
	}
	if _, err := w.passage.judge("other.example", 443); err != nil || asked != 1 {
		t.Fatal(err)
	}
	if got := look("other.example."); got != "93.184.216.34" {
		t.Errorf("what was allowed by an answer: %s", got)
	}
	want := []string{"blocked.example.com", "localhost.test", "other.example", "private.example.com"}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.close()))); diff != "" {
		t.Error(diff)
	}
}

func query(t testing.TB, name string, change func(*dnsmessage.Message)) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{
		Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET,
	}}}
	if change != nil {
		change(&m)
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDNSMessages(t *testing.T) {
	w := stub(t, nil)
	for name, tt := range map[string]struct {
		query   []byte
		code    dnsmessage.RCode
		answers int
	}{
		"address":          {query(t, "example.com.", nil), dnsmessage.RCodeSuccess, 1},
		"many":             {query(t, "many.example.com.", nil), dnsmessage.RCodeSuccess, maxAnswers},
		"text":             {query(t, "example.com.", func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeTXT }), dnsmessage.RCodeSuccess, 0},
		"text of a secret": {query(t, "secret.other.example.", func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeTXT }), dnsmessage.RCodeNameError, 0},
		"everything":       {query(t, "example.com.", func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeALL }), dnsmessage.RCodeSuccess, 0},
		"other class":      {query(t, "example.com.", func(m *dnsmessage.Message) { m.Questions[0].Class = dnsmessage.ClassCHAOS }), dnsmessage.RCodeFormatError, 0},
		"two questions":    {query(t, "example.com.", func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) }), dnsmessage.RCodeFormatError, 0},
		"no question":      {query(t, "example.com.", func(m *dnsmessage.Message) { m.Questions = nil }), dnsmessage.RCodeFormatError, 0},
		"update":           {query(t, "example.com.", func(m *dnsmessage.Message) { m.OpCode = 5 }), dnsmessage.RCodeNotImplemented, 0},
		"reverse":          {query(t, "1.0.0.127.in-addr.arpa.", func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypePTR }), dnsmessage.RCodeNameError, 0},
		"address as name":  {query(t, "127.0.0.1.", nil), dnsmessage.RCodeNameError, 0},
		"root":             {query(t, ".", nil), dnsmessage.RCodeNameError, 0},
	} {
		packed := w.passage.answerDNS(tt.query)
		var m dnsmessage.Message
		if err := m.Unpack(packed); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.RCode != tt.code || len(m.Answers) != tt.answers || !m.Response || m.ID != 7 || len(packed) > maxQuery {
			t.Errorf("%s: %v, %d answers, %d bytes", name, m.Header, len(m.Answers), len(packed))
		}
	}
	for name, in := range map[string][]byte{
		"an answer": query(t, "example.com.", func(m *dnsmessage.Message) { m.Response = true }), "nothing": nil, "cut short": query(t, "example.com.", nil)[:9],
	} {
		if got := w.passage.answerDNS(in); got != nil {
			t.Errorf("%s is answered: %v", name, got)
		}
	}
}

func FuzzDNS(f *testing.F) {
	w := stub(f, nil)
	f.Add(query(f, "example.com.", nil))
	f.Add(query(f, "many.example.com.", func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeAAAA }))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := w.passage.answerDNS(in)
		if out == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(out); err != nil || !m.Response || len(out) > 2*maxQuery {
			t.Fatalf("%v: %d bytes, %v", in, len(out), err)
		}
	})
}

// TestDNSByTCP: what is no message ends the connection, and a port 53 that the user
// forwards is the user's.
func TestDNSByTCP(t *testing.T) {
	w := stub(t, nil)
	for name, sent := range map[string]string{"nothing": "", "no message": "\x00\x02ab", "half a message": "\x00\xffab", "empty": "\x00\x00"} {
		c, err := net.Dial("tcp4", w.dnsByTCP)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, sent); err != nil {
			t.Error(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(c); len(got) != 0 || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		c.Close()
	}
	n, err := New(Options{LocalhostPorts: []int{portDNS}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.Begin(t.Context(), "call-1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Listeners(); len(got) != listenOthers+1 || p.(*passage).others()[0] != portDNS || len(p.(*passage).others()) != 1 {
		t.Errorf("%v", got)
	}
}
