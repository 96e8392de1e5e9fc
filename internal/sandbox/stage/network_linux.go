package stage

import (
	"syscall"
	"unsafe"
)

// network opens the listeners in the command's own network and hands them out.
func (s *stage) network() *failure {
	if s.policy.FullNetwork {
		return nil
	}
	if err := raiseLoopback(); err != nil {
		return because("begin the loopback", err)
	}
	return s.handOut()
}

// handOut opens the listeners and hands them out.
func (s *stage) handOut() *failure {
	if len(s.policy.Listeners) == 0 {
		return nil
	}
	files := make([]int, 0, len(s.policy.Listeners))
	for _, l := range s.policy.Listeners {
		fd, err := l.open()
		if err != nil {
			return because("listen on port "+decimal(uint64(l.Port)), err)
		}
		files = append(files, fd)
	}
	if err := reply(Network, nil, files...); err != nil {
		return because("hand out the listeners", err)
	}
	for _, fd := range files {
		_ = syscall.Close(fd) // Garuda has its own copy
	}
	return nil
}

func raiseLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	// struct ifreq of netdevice(7).
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}}
	for _, call := range [...]uintptr{siocgifflags, siocsifflags} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), call, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
		request.flags |= syscall.IFF_UP
	}
	return nil
}

// listenBacklog is how many connections may wait to be accepted.
const listenBacklog = 256

func (l Listener) open() (int, error) {
	kind := syscall.SOCK_STREAM
	if l.UDP {
		kind = syscall.SOCK_DGRAM
	}
	fd, err := syscall.Socket(syscall.AF_INET, kind|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(l.Port), Addr: l.Addr}); err != nil {
		return -1, err
	}
	if l.UDP {
		return fd, nil
	}
	return fd, syscall.Listen(fd, listenBacklog)
}
