package wire

import (
	"net"
	"net/http/httptest"
	"syscall"
	"testing"
)

func TestTCPKeepAlive(t *testing.T) {
	srv := httptest.NewServer(nil)
	defer srv.Close()
	conn, err := transport(connectLimit).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	on, idle := 0, 0
	err = raw.Control(func(fd uintptr) {
		on, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
		idle, _ = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE)
	})
	if err != nil || on != 1 || idle != 15 {
		t.Errorf("keep-alive %d after %d s, %v; want on after 15 s", on, idle, err)
	}
}
