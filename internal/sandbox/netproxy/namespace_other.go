//go:build !linux

package netproxy

import "net"

// ownNamespace is false: there are no network namespaces here.
func ownNamespace(*net.TCPListener) bool { return false }
