package netproxy

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
)

// The parts of SOCKS 5 that are spoken: RFC 1928 with user names and passwords of
// RFC 1929, CONNECT alone, and names alone.
const (
	socksVersion     = 5
	socksPassword    = 2
	socksNoMethod    = 0xff
	socksConnect     = 1
	socksName        = 3
	socksPasswordV1  = 1
	replySucceeded   = 0
	replyNotAllowed  = 2
	replyUnreachable = 4
	replyCommand     = 7
	replyAddressType = 8
)

// socksError is what a client is told: the bytes that end the conversation.
type socksError struct{ answer []byte }

func (e *socksError) Error() string { return "SOCKS: the request is refused" }

// reply is the answer to a request; the address that it could hold means nothing.
func reply(code byte) []byte { return []byte{socksVersion, code, 0, 1, 0, 0, 0, 0, 0, 0} }

// serveSOCKS opens a tunnel for a SOCKS client, whose first byte was read.
func (p *passage) serveSOCKS(conn *net.TCPConn, version byte) {
	host, port, err := readSOCKS(struct {
		io.Reader
		io.Writer
	}{after([]byte{version}, conn), conn}, p.credentials)
	if err == nil {
		var t target
		if t, err = p.judge(host, port); err == nil {
			p.tunnel(conn, t, nil, func(err error) bool { return p.answerSOCKS(conn, err) })
			return
		}
	}
	p.answerSOCKS(conn, err)
}

// answerSOCKS tells a client how its request went, and whether it may go on.
func (p *passage) answerSOCKS(conn *net.TCPConn, err error) bool {
	var ended *socksError
	var refused *refusal
	answer := reply(replySucceeded)
	switch {
	case err == nil:
	case errors.As(err, &ended):
		answer = ended.answer
	case errors.As(err, &refused) && refused.status == http.StatusForbidden:
		answer = reply(replyNotAllowed)
	case errors.As(err, &refused):
		answer = reply(replyUnreachable)
	default:
		return false // the client went away, or was too slow
	}
	if _, failed := conn.Write(answer); failed != nil {
		return false
	}
	if err != nil {
		p.linger(conn)
	}
	return err == nil
}

// readSOCKS speaks SOCKS 5 up to the request, and returns the name and port that
// the client wants. An error that is a *socksError holds the answer to it.
func readSOCKS(rw io.ReadWriter, credentials func(userToken []byte) bool) (host string, port uint16, err error) {
	if err := greetSOCKS(rw, credentials); err != nil {
		return "", 0, err
	}
	var request [4]byte // version, command, reserved, type of address
	if _, err := io.ReadFull(rw, request[:]); err != nil {
		return "", 0, err
	}
	switch {
	case request[0] != socksVersion:
		return "", 0, &socksError{reply(1)}
	case request[1] != socksConnect:
		return "", 0, &socksError{reply(replyCommand)}
	case request[3] != socksName:
		return "", 0, &socksError{reply(replyAddressType)}
	}
	name, err := counted(rw)
	if err != nil {
		return "", 0, err
	}
	var number [2]byte
	if _, err := io.ReadFull(rw, number[:]); err != nil {
		return "", 0, err
	}
	return string(name), binary.BigEndian.Uint16(number[:]), nil
}

// greetSOCKS agrees on the password method and checks the password.
func greetSOCKS(rw io.ReadWriter, credentials func(userToken []byte) bool) error {
	var version [1]byte
	if _, err := io.ReadFull(rw, version[:]); err != nil {
		return err
	}
	if version[0] != socksVersion {
		return &socksError{[]byte{0, 91, 0, 0, 0, 0, 0, 0}} // SOCKS 4: rejected
	}
	methods, err := counted(rw)
	if err != nil {
		return err
	}
	offered := false
	for _, m := range methods {
		offered = offered || m == socksPassword
	}
	if !offered {
		return &socksError{[]byte{socksVersion, socksNoMethod}}
	}
	if _, err := rw.Write([]byte{socksVersion, socksPassword}); err != nil {
		return err
	}
	if _, err := io.ReadFull(rw, version[:]); err != nil {
		return err
	}
	name, err := counted(rw)
	if err != nil {
		return err
	}
	password, err := counted(rw)
	if err != nil {
		return err
	}
	if version[0] != socksPasswordV1 || !credentials(append(append(name, ':'), password...)) {
		return &socksError{[]byte{socksPasswordV1, 1}}
	}
	_, err = rw.Write([]byte{socksPasswordV1, 0})
	return err
}

// counted reads a length in one byte, and as many bytes.
func counted(r io.Reader) ([]byte, error) {
	var n [1]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, n[0])
	_, err := io.ReadFull(r, b)
	return b, err
}
