package netproxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"
)

// socks says SOCKS 5 to the proxy with the given request behind the greeting, and
// returns the connection behind the two answers of the greeting.
func (w *way) socks(token string, request []byte) net.Conn {
	w.t.Helper()
	c := w.dial()
	c.Write([]byte{5, 2, 0, 2})
	c.Write(append(append([]byte{1, 6}, "garuda"...), append([]byte{byte(len(token))}, token...)...))
	c.Write(request)
	return c
}

// request is a request of SOCKS for a name.
func request(command byte, name string, port uint16) []byte {
	b := append([]byte{5, command, 0, 3, byte(len(name))}, name...)
	return binary.BigEndian.AppendUint16(b, port)
}

func TestSOCKS(t *testing.T) {
	to := server(t, echo)
	w := open(t, Options{Allow: []string{"example.com", "gone.example"}, Ports: []int{9999}}, world{"example.com:9999": to})
	token := w.passage.token
	ok := []byte{5, 2, 1, 0}
	for _, tt := range []struct {
		name    string
		token   string
		request []byte
		want    []byte
	}{
		{"allowed", token, request(1, "Example.COM.", 9999), append(ok, reply(0)...)},
		{"not on the list", token, request(1, "other.example", 443), append(ok, reply(2)...)},
		{"port", token, request(1, "example.com", 22), append(ok, reply(2)...)},
		{"no port", token, request(1, "example.com", 0), append(ok, reply(2)...)},
		{"not there", token, request(1, "gone.example", 443), append(ok, reply(4)...)},
		{"address as a name", token, request(1, "127.0.0.1", 443), append(ok, reply(2)...)},
		{"mapped address as a name", token, request(1, "::ffff:127.0.0.1", 443), append(ok, reply(2)...)},
		{"number as a name", token, request(1, "2130706433", 443), append(ok, reply(2)...)},
		{"NUL in the name", token, request(1, "example.com\x00.evil.example", 443), append(ok, reply(2)...)},
		{"empty name", token, request(1, "", 443), append(ok, reply(2)...)},
		{"IPv4", token, []byte{5, 1, 0, 1, 127, 0, 0, 1, 1, 187}, append(ok, reply(8)...)},
		{"IPv6", token, append(append([]byte{5, 1, 0, 4}, net.IPv6loopback...), 1, 187), append(ok, reply(8)...)},
		{"BIND", token, request(2, "example.com", 9999), append(ok, reply(7)...)},
		{"UDP", token, request(3, "example.com", 9999), append(ok, reply(7)...)},
		{"Tor's RESOLVE", token, request(0xf0, "example.com", 9999), append(ok, reply(7)...)},
		{"other version", token, append([]byte{4}, request(1, "example.com", 9999)[1:]...), append(ok, reply(1)...)},
		{"wrong token", token[1:] + "x", request(1, "example.com", 9999), []byte{5, 2, 1, 1}},
		{"no token", "", request(1, "example.com", 9999), []byte{5, 2, 1, 1}},
	} {
		c := w.socks(tt.token, tt.request)
		c.(*net.TCPConn).CloseWrite()
		if got, _ := io.ReadAll(c); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	for name, tt := range map[string][2][]byte{
		"SOCKS 4":         {{4, 1, 1, 187, 127, 0, 0, 1, 0}, {0, 91, 0, 0, 0, 0, 0, 0}},
		"no password":     {{5, 1, 0}, {5, 0xff}},
		"no method":       {{5, 0}, {5, 0xff}},
		"other subformat": {{5, 1, 2, 2, 1, 'x', 1, 'y'}, {5, 2, 1, 1}},
		"cut short":       {{5, 1}, nil},
	} {
		c := w.dial()
		c.Write(tt[0])
		c.(*net.TCPConn).CloseWrite()
		if got, _ := io.ReadAll(c); !bytes.Equal(got, tt[1]) {
			t.Errorf("%s: %v, want %v", name, got, tt[1])
		}
	}
}

func TestSOCKSCarries(t *testing.T) {
	to := server(t, echo)
	w := open(t, Options{Allow: []string{"example.com"}, Ports: []int{9999}}, world{"example.com:9999": to})
	c := w.socks(w.passage.token, append(request(1, "example.com", 9999), "early"...))
	c.(*net.TCPConn).CloseWrite()
	got, err := io.ReadAll(c)
	if want := append(append([]byte{5, 2, 1, 0}, reply(0)...), "early"...); !bytes.Equal(got, want) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// What a client sends in pieces is read as one; what is let through had the token
// and a name.
func FuzzSOCKS(f *testing.F) {
	f.Add(append(append([]byte{5, 1, 2, 1, 6}, "garuda\x01t"...), request(1, "example.com", 443)...))
	f.Add([]byte{4, 1, 1, 187})
	f.Fuzz(func(t *testing.T, in []byte) {
		read := func(r io.Reader) (string, uint16, string, []byte, error) {
			var given string
			var out bytes.Buffer
			host, port, err := readSOCKS(struct {
				io.Reader
				io.Writer
			}{r, &out}, func(b []byte) bool { given = string(b); return given == "garuda:t" })
			return host, port, given, out.Bytes(), err
		}
		host, port, given, out, err := read(bytes.NewReader(in))
		host2, port2, _, out2, err2 := read(iotest.OneByteReader(bytes.NewReader(in)))
		if host != host2 || port != port2 || !bytes.Equal(out, out2) || (err == nil) != (err2 == nil) {
			t.Fatalf("read in pieces otherwise: %q %d %v, %q %d %v", host, port, err, host2, port2, err2)
		}
		var ended *socksError
		switch {
		case err == nil && (given != "garuda:t" || !bytes.Equal(out, []byte{5, 2, 1, 0})):
			t.Fatalf("let through with %q, answers %v", given, out)
		case err != nil && host != "":
			t.Fatalf("%q with %v", host, err)
		case err != nil && !errors.As(err, &ended) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatal(err)
		}
	})
}
