package stage

import (
	"errors"
	"unsafe"
)

// Policy is a command and everything it may see: what the first process of its
// namespaces is told, over the inherited Control descriptor.
type Policy struct {
	// Argv, Env and Dir are the command's. A program without a slash is looked up
	// in the PATH of Env, inside the view.
	Argv, Env []string
	Dir       string
	// Mounts are made in this order.
	Mounts []Mount
	Links  []Link
	// Listeners are opened inside and handed out, in this order.
	Listeners []Listener
	// FullNetwork says that the network namespace is the machine's own.
	FullNetwork bool
	// UnixSockets lets the command make sockets of that family.
	UnixSockets bool
	// Terminals gives it pseudo-terminals that are nobody else's.
	Terminals bool
	// The limits are those of sandbox.Limits; 0 is none.
	Processes, MemoryBytes, FileBytes uint64
}

// Kind is what a Mount does.
type Kind uint8

const (
	// ReadOnly and Writable show a tree.
	ReadOnly Kind = iota
	Writable
	// Pin keeps a folder from being renamed or removed, and changes nothing else.
	Pin
	// Mask puts an empty file or folder over whatever lies there.
	Mask
	kinds
)

// Mount is one step of building the view.
type Mount struct {
	Kind Kind
	// Path is where the command sees it, absolute. No part of it may be a link.
	Path string
	// Source is what is shown: an absolute path on the machine without links, or ""
	// for what the view has at Path already.
	Source string
	// Create makes the place when it is not there.
	Create bool
}

// Link is a symbolic link.
type Link struct{ Path, Target string }

// Listener is an address of the loopback: tcp4 or udp4, and its IPv4 address and port.
type Listener struct {
	UDP  bool
	Addr [4]byte
	Port uint16
}

const (
	// version begins every policy: both ends are one binary, so any other means a
	// mistake.
	version = 1
	// manyMounts is what room is made for at once.
	manyMounts = 256
	// policyLimit is how long an encoded policy may be.
	policyLimit = 16 << 20
)

var errPolicy = errors.New("the policy is not understood")

// The format: a byte for the version, then the fields in their order. A number has
// 8 bytes, little-endian; a text or list its length before it; a flag is 0 or 1.

// Encode is the policy as the stage reads it.
func (p *Policy) Encode() ([]byte, error) {
	b := encoder{version}
	b.texts(p.Argv)
	b.texts(p.Env)
	b.text(p.Dir)
	b.number(uint64(len(p.Mounts)))
	for _, m := range p.Mounts {
		b = append(b, byte(m.Kind))
		b.text(m.Path)
		b.text(m.Source)
		b.flag(m.Create)
	}
	b.number(uint64(len(p.Links)))
	for _, l := range p.Links {
		b.text(l.Path)
		b.text(l.Target)
	}
	b.number(uint64(len(p.Listeners)))
	for _, l := range p.Listeners {
		b.flag(l.UDP)
		b = append(b, l.Addr[:]...)
		b.number(uint64(l.Port))
	}
	b.flag(p.FullNetwork)
	b.flag(p.UnixSockets)
	b.flag(p.Terminals)
	for _, n := range []uint64{p.Processes, p.MemoryBytes, p.FileBytes} {
		b.number(n)
	}
	if len(b) > policyLimit {
		return nil, errors.New("the command, its environment and its view take more than 16 MiB to describe")
	}
	return b, nil
}

type encoder []byte

func (b *encoder) number(n uint64) {
	for range 8 {
		*b = append(*b, byte(n))
		n >>= 8
	}
}

func (b *encoder) text(s string) {
	b.number(uint64(len(s)))
	*b = append(*b, s...)
}

func (b *encoder) texts(list []string) {
	b.number(uint64(len(list)))
	for _, s := range list {
		b.text(s)
	}
}

func (b *encoder) flag(v bool) {
	if v {
		*b = append(*b, 1)
		return
	}
	*b = append(*b, 0)
}

// decode reads what Encode wrote, and nothing else.
func decode(b []byte) (*Policy, error) {
	d := decoder{rest: b}
	if d.byte() != version {
		return nil, errPolicy
	}
	p := &Policy{Argv: d.texts(), Env: d.texts(), Dir: d.text()}
	n := d.count()
	if n > 0 {
		p.Mounts = make([]Mount, 0, min(n, manyMounts))
	}
	for range n {
		m := Mount{Kind: Kind(d.byte()), Path: d.path(), Source: d.text(), Create: d.flag()}
		if m.Kind >= kinds || m.Source != "" && !absolute(m.Source) {
			d.bad = true
		}
		p.Mounts = append(p.Mounts, m)
	}
	for range d.count() {
		p.Links = append(p.Links, Link{d.path(), d.text()})
	}
	for range d.count() {
		l := Listener{UDP: d.flag()}
		copy(l.Addr[:], d.take(4))
		n := d.number()
		d.bad = d.bad || n > 0xffff
		l.Port = uint16(n)
		p.Listeners = append(p.Listeners, l)
	}
	p.FullNetwork, p.UnixSockets, p.Terminals = d.flag(), d.flag(), d.flag()
	p.Processes, p.MemoryBytes, p.FileBytes = d.number(), d.number(), d.number()
	if d.bad || len(d.rest) > 0 || len(p.Argv) == 0 || !absolute(p.Dir) {
		return nil, errPolicy
	}
	return p, nil
}

// absolute reports whether a path begins at the root and goes down only.
func absolute(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for rest := path[1:]; rest != ""; {
		var part string
		if part, rest = cut(rest, '/'); part == "" || part == "." || part == ".." {
			return false
		}
	}
	return path == "/" || path[len(path)-1] != '/'
}

// cut splits a text at the first sep; package strings would come with its own init.
func cut(s string, sep byte) (before, after string) {
	for i := range len(s) {
		if s[i] == sep {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// decoder reads until something is wrong; then everything it gives is empty.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) flag() bool {
	b := d.byte()
	d.bad = d.bad || b > 1
	return b == 1
}

func (d *decoder) number() uint64 {
	var n uint64
	for i, c := range d.take(8) {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// count is how many elements follow: each has a byte at least.
func (d *decoder) count() uint64 {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad = true
		return 0
	}
	return n
}

// text is without NUL, which the kernel would take for its end.
// text is a part of the message itself, which nothing changes: as copies, texts of all
// lengths would be in memory of all the allocator's sizes, and the first use of each
// size takes longer than all else that is done with it.
func (d *decoder) text() string {
	b := d.take(d.number())
	s := unsafe.String(unsafe.SliceData(b), len(b))
	for i := range len(s) {
		d.bad = d.bad || s[i] == 0
	}
	return s
}

func (d *decoder) path() string {
	s := d.text()
	d.bad = d.bad || !absolute(s)
	return s
}

func (d *decoder) texts() []string {
	var list []string
	for range d.count() {
		list = append(list, d.text())
	}
	return list
}
