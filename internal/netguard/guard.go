// Package netguard connects to hosts of the public internet, and to nothing
// else: neither to this machine, nor to its network, nor to what a cloud serves
// to its machines, whatever a name resolves to.
//
// It knows no lists and asks nobody: whether a host may be reached at all is
// decided before.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ErrNotPublic is wrapped by every refusal of an address.
var ErrNotPublic = errors.New("the address is not public")

const (
	// maxAddresses is how many addresses of a name are looked at. A name with more
	// is refused: what was not checked is not trusted.
	maxAddresses = 64
	// dialTimeout is for one address; stagger is the head start that an address
	// has before the next one is tried beside it (RFC 8305).
	dialTimeout = 15 * time.Second
	stagger     = 300 * time.Millisecond
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Guard resolves names and connects to them. The zero Guard uses the machine's
// resolver. Its methods may be called at once.
type Guard struct {
	// Resolver is net.DefaultResolver when nil.
	Resolver Resolver
	// Own lists the machine's own addresses, which are refused also where they
	// are public. It asks the system when nil.
	Own func() ([]netip.Addr, error)
}

// Resolve returns the addresses of a host, each public and not this machine's.
// One that is not refuses the name as a whole (an error that wraps ErrNotPublic),
// so that a name cannot mix public addresses with private ones. host must be a
// name (package hostname), not an address.
func (g *Guard) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	var resolver Resolver = net.DefaultResolver
	if g.Resolver != nil {
		resolver = g.Resolver
	}
	// The dot at the end keeps the machine's search domains out of it.
	addrs, err := resolver.LookupNetIP(ctx, "ip", host+".")
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, withoutServer(err))
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up %s: it has no address", host)
	}
	if len(addrs) > maxAddresses {
		return nil, fmt.Errorf("%w: %s has more than %d addresses", ErrNotPublic, host, maxAddresses)
	}
	own, err := g.own()
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		if err := check(addr, own); err != nil {
			return nil, fmt.Errorf("%s: %w", host, err)
		}
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

// withoutServer drops the address of the resolver from an error of a look-up: it
// belongs to the machine's network, and errors are shown inside the sandbox.
func withoutServer(err error) error {
	var failed *net.DNSError
	if !errors.As(err, &failed) {
		return err
	}
	return &net.DNSError{Err: failed.Err, IsTimeout: failed.IsTimeout, IsTemporary: failed.IsTemporary, IsNotFound: failed.IsNotFound}
}

// Dial resolves a host once and connects to one of the addresses that were
// checked. Each is checked again when its socket is about to connect, so that
// nothing in between can put another in its place.
func (g *Guard) Dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	addrs, err := g.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	conn, err := g.race(ctx, addrs, port)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", net.JoinHostPort(host, strconv.Itoa(int(port))), err)
	}
	return conn, nil
}

// race tries the addresses in their order, each with a head start before the
// next, and returns the first connection.
func (g *Guard) race(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type attempt struct {
		conn net.Conn
		err  error
	}
	results := make(chan attempt)
	dialer := net.Dialer{Timeout: dialTimeout, ControlContext: g.control}
	next := time.NewTimer(0)
	defer next.Stop()
	var failures []error
	for started, ended := 0, 0; ; {
		select {
		case <-next.C:
			if started == len(addrs) {
				continue // the timer of the last one
			}
			addr := netip.AddrPortFrom(addrs[started], port)
			started++
			next.Reset(stagger)
			go func() {
				conn, err := dialer.DialContext(ctx, "tcp", addr.String())
				select {
				case results <- attempt{conn, err}:
				case <-ctx.Done():
					if conn != nil {
						conn.Close() //nolint:errcheck // nothing was sent through it
					}
				}
			}()
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			failures = append(failures, r.err)
			if ended++; ended == len(addrs) {
				return nil, firstRefusal(failures)
			}
			next.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// firstRefusal is the error that says most: a refused address before the others,
// which are told by the first.
func firstRefusal(failures []error) error {
	if i := slices.IndexFunc(failures, func(err error) bool { return errors.Is(err, ErrNotPublic) }); i >= 0 {
		return failures[i]
	}
	return failures[0]
}

// Control refuses a socket that is about to connect to an address that is not
// public; it has the form of net.Dialer's field, for dialers of others.
func (g *Guard) Control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrNotPublic, address)
	}
	own, err := g.own()
	if err != nil {
		return err
	}
	return check(to.Addr(), own)
}

func (g *Guard) control(_ context.Context, network, address string, c syscall.RawConn) error {
	return g.Control(network, address, c)
}

func check(addr netip.Addr, own []netip.Addr) error {
	if err := Public(addr); err != nil {
		return err
	}
	if slices.Contains(own, plain(addr)) {
		return fmt.Errorf("%w: %s is this machine's own", ErrNotPublic, addr)
	}
	return nil
}

// own lists the machine's addresses. Without them nothing is let out.
func (g *Guard) own() ([]netip.Addr, error) {
	list := interfaceAddresses
	if g.Own != nil {
		list = g.Own
	}
	own, err := list()
	if err != nil {
		return nil, fmt.Errorf("%w: list the machine's own addresses: %w", ErrNotPublic, err)
	}
	return own, nil
}

func interfaceAddresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range list {
		// Each system gives prefixes here; what is none belongs to no interface.
		if prefix, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(prefix.IP); ok {
				own = append(own, addr.Unmap())
			}
		}
	}
	return own, nil
}
