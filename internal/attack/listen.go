package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// listeners are what must not be reached: sockets of services, and ports of the loopback.
type listeners struct {
	socket, abstract string
	heard            string
	ports            map[string]int

	closers []io.Closer
	serving sync.WaitGroup
	mu      sync.Mutex
	errs    []error
}

// listen opens them; what they are sent is added to a file in dir.
func listen(ctx context.Context, dir string) (_ *listeners, err error) {
	l := &listeners{
		socket: filepath.Join(dir, "s"), abstract: "garuda-decoy-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(dir),
		heard: filepath.Join(dir, "heard"), ports: map[string]int{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if len(l.socket) > socketLimit {
		short, err := os.MkdirTemp("", "garuda-decoy-")
		if err != nil {
			return nil, err
		}
		l.socket = filepath.Join(short, "s")
		l.closers = append(l.closers, removal(short))
	}
	if err := os.WriteFile(l.heard, nil, 0o600); err != nil {
		return nil, err
	}
	at := [][3]string{{"SOCK", "unix", l.socket}, {"PORT", "tcp4", "127.0.0.1:0"}, {"PORT6", "tcp6", "[::1]:0"}}
	if runtime.GOOS == "linux" {
		at = append(at, [3]string{"ABSTRACT", "unix", "@" + l.abstract})
	}
	for _, a := range at {
		s, err := new(net.ListenConfig).Listen(ctx, a[1], a[2])
		if err != nil && a[1] == "tcp6" {
			continue // the machine has no IPv6, so there is nothing to reach
		}
		if err != nil {
			return nil, err
		}
		l.closers = append(l.closers, s)
		if tcp, ok := s.Addr().(*net.TCPAddr); ok {
			l.ports[a[0]] = tcp.Port
		}
		l.serving.Go(func() { l.accept(s) })
	}
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.closers = append(l.closers, packets)
	if udp, ok := packets.LocalAddr().(*net.UDPAddr); ok {
		l.ports["UDP"] = udp.Port
	}
	l.serving.Go(func() { l.receive(packets) })
	return l, nil
}

// socketLimit is how long the path of a socket may be on every system.
const socketLimit = 100

// removal is a folder that is closed by removing it.
type removal string

func (r removal) Close() error { return os.RemoveAll(string(r)) }

func (l *listeners) variables() map[string]string {
	vars := map[string]string{"SOCK": l.socket, "ABSTRACT": l.abstract, "HEARD": l.heard}
	for _, name := range []string{"PORT", "PORT6", "UDP"} {
		vars[name] = strconv.Itoa(max(l.ports[name], 1)) // nobody listens on 1
	}
	return vars
}

// accept notes each connection, and what it sends in a moment.
func (l *listeners) accept(s net.Listener) {
	for {
		c, err := s.Accept()
		if err != nil {
			return // closed
		}
		l.serving.Go(func() {
			b := make([]byte, 1024)
			err := c.SetReadDeadline(time.Now().Add(time.Second))
			n := 0
			if err == nil {
				n, _ = c.Read(b) // nothing sent is a connection all the same
			}
			l.note("connection", b[:n], errors.Join(err, c.Close()))
		})
	}
}

func (l *listeners) receive(c net.PacketConn) {
	b := make([]byte, 1024)
	for {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return // closed
		}
		l.note("packet", b[:n], nil)
	}
}

func (l *listeners) note(what string, said []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, openErr := os.OpenFile(l.heard, os.O_WRONLY|os.O_APPEND, 0)
	if err = errors.Join(err, openErr); openErr == nil {
		_, writeErr := fmt.Fprintf(f, "%s: %q\n", what, said)
		err = errors.Join(err, writeErr, f.Close())
	}
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

func (l *listeners) close() error {
	var err error
	for i := len(l.closers) - 1; i >= 0; i-- {
		if cerr := l.closers[i].Close(); !errors.Is(cerr, net.ErrClosed) {
			err = errors.Join(err, cerr)
		}
	}
	l.serving.Wait()
	return errors.Join(append(l.errs, err)...)
}
