package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"garuda/internal/sandbox"
)

// passage serves one command.
type passage struct {
	net    *Network
	call   string
	ctx    context.Context //nolint:containedctx // the passage is what it bounds
	cancel context.CancelFunc
	token  string
	plain  *plainServer
	// slots bounds the connections at once.
	slots chan struct{}
	work  sync.WaitGroup

	mu sync.Mutex
	// port is the proxy's, bare the one of the proxy that wants no token: those to
	// be opened, and then those that were.
	port, bare int
	served     bool
	closed     bool
	open       map[closer]struct{}

	judging   sync.Mutex
	questions map[string]*question
	refused   []string
	told      map[string]bool
}

// closer is a connection or listener that ends with the passage.
type closer interface{ Close() error }

// The places of the listeners in their list; the forwarded ports come last, and
// before them the DNS stub for TCP, unless its port is one of those.
const (
	listenProxy = iota
	listenDNS
	listenBare
	listenOthers
)

// Listeners are the proxy, the DNS stub, the proxy for what cannot say the token,
// the DNS stub for TCP, and the forwarded ports.
func (p *passage) Listeners() []sandbox.Listener {
	tcp := func(port int) sandbox.Listener {
		return sandbox.Listener{Network: "tcp4", Address: "127.0.0.1:" + strconv.Itoa(port)}
	}
	port, bare := p.net.freePorts()
	out := []sandbox.Listener{tcp(port), {Network: "udp4", Address: sandbox.ResolverAddress}, tcp(bare)}
	for _, port := range p.others() {
		out = append(out, tcp(port))
	}
	return out
}

// others are the ports from listenOthers on.
func (p *passage) others() []int {
	if forwarded := p.forwarded(); slices.Contains(forwarded, portDNS) {
		return forwarded
	}
	return append([]int{portDNS}, p.forwarded()...)
}

// forwarded are the ports of the machine's loopback, each once.
func (p *passage) forwarded() []int {
	return slices.Compact(slices.Sorted(slices.Values(p.net.opt.LocalhostPorts)))
}

// Serve answers on the listeners. Where they could not be opened at the addresses
// that were asked for, Env says from now on where the proxy is.
func (p *passage) Serve(files []*os.File) error {
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if want := len(p.Listeners()); len(files) != want {
		return fmt.Errorf("serve the network: %d listeners are open, not %d", len(files), want)
	}
	if !p.begin() {
		return errors.New("serve the network: the passage is over, or served already")
	}
	for i, l := range p.Listeners() {
		if files[i] == nil && l.Address == sandbox.ResolverAddress {
			continue // see sandbox.Passage
		}
		if err := p.take(i, l, files[i]); err != nil {
			// What was taken before ends with the passage, which nobody can use now.
			p.end()
			return fmt.Errorf("serve the network at %s: %w", l.Address, err)
		}
	}
	return nil
}

// take makes a listener of a file, and serves it as its place in the list says.
func (p *passage) take(i int, l sandbox.Listener, file *os.File) error {
	if l.Network == "udp4" {
		conn, err := net.FilePacketConn(file)
		if err != nil {
			return err
		}
		if p.track(conn) {
			p.work.Go(func() { p.serveDNS(conn) })
		}
		return nil
	}
	ln, err := net.FileListener(file)
	if err != nil {
		return err
	}
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		ln.Close() //nolint:errcheck // nothing was sent through it
		return errors.New("it is no TCP listener")
	}
	switch i {
	case listenProxy:
		p.opened(&p.port, tcp)
		p.listen(tcp, func(conn *net.TCPConn) { p.serveProxy(conn, false) })
	case listenBare:
		// In a namespace of its own nobody but the command reaches the listener, which
		// is as good as a token. Elsewhere the token is wanted here too.
		own := ownNamespace(tcp)
		p.opened(&p.bare, tcp)
		p.listen(tcp, func(conn *net.TCPConn) { p.serveProxy(conn, own) })
	default:
		port := p.others()[i-listenOthers]
		if !slices.Contains(p.forwarded(), port) {
			p.listen(tcp, p.serveDNSByTCP)
			break
		}
		p.listen(tcp, func(conn *net.TCPConn) { p.forward(conn, port) })
	}
	return nil
}

// opened remembers the port at which a listener was opened.
func (p *passage) opened(port *int, ln *net.TCPListener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*port = ln.Addr().(*net.TCPAddr).Port
}

// begin is true once, unless the passage is over.
func (p *passage) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.served || p.closed {
		return false
	}
	p.served = true
	p.work.Go(p.plain.serve)
	// The end of the command's context is the end of the passage.
	p.work.Go(func() {
		<-p.ctx.Done()
		p.end()
	})
	return true
}

// listen accepts connections until the passage ends, and serves each.
func (p *passage) listen(ln *net.TCPListener, serve func(*net.TCPConn)) {
	if !p.track(ln) {
		return
	}
	p.work.Go(func() {
		for p.acquire() {
			conn, err := ln.AcceptTCP()
			if err != nil {
				<-p.slots
				if errors.Is(err, net.ErrClosed) {
					return
				}
				// Garuda is out of descriptors: connections that end give some back.
				if p.net.opt.Clock.Sleep(p.ctx, 50*time.Millisecond) != nil {
					return
				}
				continue
			}
			if !p.track(conn) {
				<-p.slots
				return
			}
			p.work.Go(func() {
				defer func() {
					p.release(conn)
					<-p.slots
				}()
				serve(conn)
			})
		}
	})
}

// acquire takes a slot for a connection; it is false at the passage's end.
func (p *passage) acquire() bool {
	select {
	case p.slots <- struct{}{}:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// track remembers what is to be closed with the passage. When that is over
// already, it closes it and returns false.
func (p *passage) track(c closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close() //nolint:errcheck // what was open ends here either way
		return false
	}
	p.open[c] = struct{}{}
	return true
}

// release closes what track remembered.
func (p *passage) release(c closer) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	c.Close() //nolint:errcheck // what was open ends here either way
}

// end closes everything that is open, and lets nothing be opened any more.
func (p *passage) end() {
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		c.Close() //nolint:errcheck // what was open ends here either way
	}
	clear(p.open)
}

// Close ends the passage, waits for what it ran, and returns the refused hosts.
func (p *passage) Close() []string {
	p.end()
	p.work.Wait()
	p.plain.close()
	p.judging.Lock()
	defer p.judging.Unlock()
	return slices.Clone(p.refused)
}

// connect dials a host that was allowed; the connection ends with the passage.
func (p *passage) connect(t target) (*net.TCPConn, error) {
	conn, err := p.net.dial(p.ctx, t.host, t.port)
	if err != nil {
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn.Close() //nolint:errcheck // nothing was sent through it
		return nil, fmt.Errorf("connect to %s: a connection of type %T", t.host, conn)
	}
	if !p.track(tcp) {
		return nil, p.ctx.Err()
	}
	return tcp, nil
}
