package netproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// The ports whose protocol is known: what is spoken there must name the judged
// host.
const (
	portHTTP  = 80
	portHTTPS = 443
)

// tunnel connects a client with a judged host. answer tells the client how that
// went before any byte is carried; it returns false when there is nothing more to
// do. early is what the client sent already.
//
// A tunnel to port 80 is read as HTTP, and one to port 443 must begin with TLS.
// At other ports bytes are carried as they are, but TLS is checked where a client
// begins with it.
func (p *passage) tunnel(client *net.TCPConn, t target, early []byte, answer func(error) bool) {
	if t.port == portHTTP {
		if answer(nil) {
			p.plainTunnel(client, t, early)
		}
		return
	}
	server, err := p.connect(t)
	if err != nil {
		answer(p.dialled(t, err))
		return
	}
	defer p.release(server)
	if !answer(nil) {
		return
	}
	if t.port == portHTTPS {
		p.greeting(client)
		begun, err := p.hello(client, t, early)
		if err != nil {
			p.refuseHello(client, begun, err)
			return
		}
		early = begun
	}
	client.SetReadDeadline(time.Time{}) //nolint:errcheck // as in greeting
	p.carry(client, server, func() error {
		if t.port == portHTTPS {
			_, err := server.Write(early)
			return err
		}
		return p.openUnknown(client, server, t, early)
	})
}

// plainTunnel serves the one request of a tunnel to port 80.
func (p *passage) plainTunnel(client *net.TCPConn, t target, early []byte) {
	p.greeting(client)
	raw, rest, err := readHead(client, early)
	if err != nil {
		p.refuse(client, err)
		return
	}
	h, err := parseHead(raw)
	if err == nil {
		err = inTunnel(h, t)
	}
	if err != nil {
		p.refuse(client, err)
		return
	}
	p.plain.serveConn(client, raw, rest, t)
}

// hello reads a client's first TLS message, and returns what it read when the
// server's name in it is the judged host.
func (p *passage) hello(client *net.TCPConn, t target, early []byte) (begun []byte, err error) {
	name, begun, err := helloName(client, early)
	if err != nil {
		return begun, err
	}
	if name != t.host {
		reason := "the TLS connection is for another host than " + t.host + ", for which it was opened"
		p.note(name, int(t.port), reason)
		return begun, &refusal{http.StatusForbidden, reason}
	}
	return begun, nil
}

// refuseHello ends a tunnel whose first bytes are not let through: an alert where
// the client speaks TLS, else an answer that a client of HTTP shows.
func (p *passage) refuseHello(client *net.TCPConn, begun []byte, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		return
	}
	if len(begun) > 0 && begun[0] == recordHandshake {
		if _, err := client.Write(accessDenied); err == nil {
			p.linger(client)
		}
		return
	}
	p.refuse(client, err)
}

// carry moves bytes both ways until both have ended, one has failed, or neither
// has moved any for a while. first sends what was read of the client before.
func (p *passage) carry(client, server *net.TCPConn, first func() error) {
	f := &flow{idle: p.net.idle}
	f.moved()
	results := make(chan error, 2)
	p.work.Go(func() { results <- f.copy(client, server) })
	p.work.Go(func() {
		err := first()
		if err == nil {
			err = f.copy(server, client)
		}
		results <- err
	})
	check := time.NewTicker(f.idle)
	defer check.Stop()
	for ended := 0; ended < 2; {
		select {
		case err := <-results:
			ended++
			if err == nil {
				continue
			}
			// A stream that broke must not look like one that ended.
			client.SetLinger(0) //nolint:errcheck // as in greeting
			server.SetLinger(0) //nolint:errcheck // as in greeting
		case <-check.C:
			if !f.stale() {
				continue
			}
		}
		// Each side learns that the other is gone.
		client.Close() //nolint:errcheck // what was open ends here either way
		p.release(server)
		for ; ended < 2; ended++ {
			<-results //nolint:errcheck // the first error has ended both
		}
	}
}

// openUnknown sends the client's first bytes to a port whose protocol is not
// known. Where they begin TLS, the name in it is checked first.
func (p *passage) openUnknown(client, server *net.TCPConn, t target, early []byte) error {
	if len(early) == 0 {
		early = make([]byte, 1)
		n, err := client.Read(early)
		if errors.Is(err, io.EOF) {
			return nil // copy meets it again, and passes it on
		}
		if err != nil {
			return err
		}
		early = early[:n]
	}
	if early[0] == recordHandshake {
		p.greeting(client)
		begun, err := p.hello(client, t, early)
		if err != nil {
			p.refuseHello(client, begun, err)
			return err
		}
		client.SetReadDeadline(time.Time{}) //nolint:errcheck // as in greeting
		early = begun
	}
	_, err := server.Write(early)
	return err
}

// flow is what moves through a tunnel.
type flow struct {
	idle time.Duration
	last atomic.Int64
}

func (f *flow) moved()      { f.last.Store(time.Now().UnixNano()) }
func (f *flow) stale() bool { return time.Since(time.Unix(0, f.last.Load())) >= 2*f.idle }

// copy moves bytes to the end of src, which it passes on. The system carries them
// without showing them (splice on Linux), so a deadline makes it report now and
// then; only reading has one, since bytes of a write that is cut short are lost.
func (f *flow) copy(dst, src *net.TCPConn) error {
	for {
		if err := src.SetReadDeadline(time.Now().Add(f.idle)); err != nil {
			return err
		}
		n, err := dst.ReadFrom(src)
		if n > 0 {
			f.moved()
		}
		switch {
		case err == nil:
			return dst.CloseWrite()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
}

// forward carries a connection to a port of the machine's own loopback.
func (p *passage) forward(client *net.TCPConn, port int) {
	var conn net.Conn
	var err error
	for _, host := range []string{"127.0.0.1", "::1"} {
		dialer := net.Dialer{Timeout: p.net.greet}
		conn, err = dialer.DialContext(p.ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			break
		}
	}
	if err != nil {
		client.SetLinger(0) //nolint:errcheck // nothing listens there: the client sees a reset
		return
	}
	server := conn.(*net.TCPConn)
	if !p.track(server) {
		return
	}
	defer p.release(server)
	p.carry(client, server, func() error { return nil })
}

// accessDenied is TLS's fatal alert of that name, as a record.
var accessDenied = []byte{21, 3, 3, 0, 2, 2, 49}

// recordHandshake is the first byte of a TLS connection.
const recordHandshake = 22

// after reads what came early before what comes.
func after(early []byte, r io.Reader) io.Reader { return io.MultiReader(bytes.NewReader(early), r) }
