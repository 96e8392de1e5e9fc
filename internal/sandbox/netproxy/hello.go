package netproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"

	"garuda/internal/hostname"
)

// maxHello is how many bytes are read for a client's first message, records'
// headers included; crypto/tls takes 64 KiB of message.
const maxHello = 80 << 10

// errSeen ends the handshake once the message was read.
var errSeen = errors.New("seen")

// helloName reads the first message of a TLS client and returns the server's name
// in it, normalised, with every byte that it read. crypto/tls takes it apart, as a
// server that then gives up without having answered. A client that says no name,
// or does not speak TLS, gets a refusal.
func helloName(r io.Reader, early []byte) (name string, begun []byte, err error) {
	conn := &listening{r: io.LimitReader(after(early, r), maxHello)}
	seen := false
	server := tls.Server(conn, &tls.Config{
		MinVersion: tls.VersionTLS12, // never spoken: nothing is negotiated
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name, seen = hello.ServerName, true
			return nil, errSeen
		},
	})
	server.HandshakeContext(context.Background()) //nolint:errcheck // it always fails; what was seen counts, and the connection has a deadline
	begun = conn.read.Bytes()
	switch {
	case len(begun) > 0 && begun[0] != recordHandshake:
		return "", begun, &refusal{http.StatusForbidden, "connections to port 443 must speak TLS, so that the name in it can be checked"}
	case !seen && conn.err != nil && !errors.Is(conn.err, io.EOF):
		return "", begun, conn.err // the client went away, or was too slow
	case !seen:
		return "", begun, &refusal{http.StatusForbidden, "the TLS connection's first message is malformed"}
	case name == "":
		return "", begun, &refusal{http.StatusForbidden, "the TLS connection names no host (SNI)"}
	}
	name, err = hostname.Normalise(name)
	if err != nil {
		return "", begun, &refusal{http.StatusForbidden, "the TLS connection's name (SNI) is none of a host"}
	}
	return name, begun, nil
}

// listening is a connection that remembers what is read, and sends nothing.
type listening struct {
	net.Conn // nil: a handshake that ends at the first message calls nothing else

	r    io.Reader
	read bytes.Buffer
	err  error
}

func (l *listening) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	l.read.Write(b[:n])
	if err != nil {
		l.err = err
	}
	return n, err
}

func (l *listening) Write(b []byte) (int, error) { return len(b), nil }
