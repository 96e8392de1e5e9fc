package netproxy

import (
	"context"
	"net"

	"golang.org/x/sys/unix"
)

// ownNamespace reports whether a listener was opened in another network namespace
// than Garuda's own. A kernel that does not say so (before 5.14) means no.
func ownNamespace(ln *net.TCPListener) bool {
	theirs, ok := namespace(ln)
	if !ok {
		return false
	}
	here, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer here.Close() //nolint:errcheck // nothing was sent through it
	ours, ok := namespace(here.(*net.TCPListener))
	return ok && ours != theirs
}

// namespace is the number that the kernel has given a socket's network namespace.
func namespace(ln *net.TCPListener) (cookie uint64, ok bool) {
	raw, err := ln.SyscallConn()
	if err != nil {
		return 0, false
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		cookie, failed = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	})
	return cookie, err == nil && failed == nil && cookie != 0
}
