//go:build unix

// Package loopback opens the way out of a command on the machine's own loopback,
// for backends that have no network namespace to open it in.
//
// Each listener gets a port that is free; what leads the command there says so.
// Other programs of the machine reach the listeners too: what keeps them out is
// the command's token. The package never answers on a listener itself.
package loopback

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
)

// Way is an open way out.
type Way struct {
	// Env leads programs to the listeners.
	Env []string
	// Ports are those of the listeners for TCP.
	Ports []int
}

// Open opens the passage's listeners and lets it serve on them. The caller still
// closes the passage, also after an error.
func Open(p sandbox.Passage) (Way, error) {
	var (
		way   Way
		files []*os.File
		moved []string // the addresses asked for, each followed by the one it became
	)
	for _, l := range p.Listeners() {
		if l.Address == sandbox.ResolverAddress {
			files = append(files, nil) // its port is not free for us, and nobody asks elsewhere
			continue
		}
		file, port, err := listen(l)
		if err != nil {
			for _, f := range files {
				if f != nil {
					err = errors.Join(err, f.Close())
				}
			}
			return Way{}, fmt.Errorf("open the way out at %s: %w", l.Address, err)
		}
		files = append(files, file)
		moved = append(moved, l.Address, l.Address[:strings.LastIndexByte(l.Address, ':')+1]+strconv.Itoa(port))
		if strings.HasPrefix(l.Network, "tcp") {
			way.Ports = append(way.Ports, port)
		}
	}
	if err := p.Serve(files); err != nil {
		return Way{}, fmt.Errorf("serve the way out: %w", err)
	}
	replace := strings.NewReplacer(moved...)
	for _, e := range p.Env() {
		way.Env = append(way.Env, replace.Replace(e))
	}
	return way, nil
}

// listen binds a socket to a free port of the listener's address.
func listen(l sandbox.Listener) (*os.File, int, error) {
	at, err := netip.ParseAddrPort(l.Address)
	if err != nil {
		return nil, 0, err
	}
	if !at.Addr().Is4() || !at.Addr().IsLoopback() {
		return nil, 0, errors.New("it is not an IPv4 address of the loopback")
	}
	kinds := map[string]int{"tcp4": unix.SOCK_STREAM, "udp4": unix.SOCK_DGRAM}
	kind, ok := kinds[l.Network]
	if !ok {
		return nil, 0, fmt.Errorf("the network %q is unknown", l.Network)
	}
	fd, err := unix.Socket(unix.AF_INET, kind, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	unix.CloseOnExec(fd)
	file := os.NewFile(uintptr(fd), l.Network)
	port, err := bind(fd, kind, at.Addr().As4())
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, port, nil
}

// backlog is how many connections may wait to be accepted.
const backlog = 128

func bind(fd, kind int, addr [4]byte) (port int, err error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return 0, os.NewSyscallError("fcntl", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: addr}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	if kind == unix.SOCK_STREAM {
		if err := unix.Listen(fd, backlog); err != nil {
			return 0, os.NewSyscallError("listen", err)
		}
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	in, ok := bound.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("learn the port: the socket is bound to a %T", bound)
	}
	return in.Port, nil
}
