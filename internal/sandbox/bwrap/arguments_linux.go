package bwrap

import (
	"errors"
	"fmt"
	"strconv"

	"garuda/internal/sandbox/stage"
)

// maxArguments is how many bwrap takes.
const maxArguments = 9000

// ErrTooMuch is in the error for a view that takes more arguments than that.
var ErrTooMuch = errors.New("what it would see takes more mounts than bwrap makes")

// mount is one mount, with the path on the machine of what is shown.
type mount struct {
	stage.Mount
	source string
}

// plan is everything that bwrap makes for one command.
type plan struct {
	fullNetwork, terminals bool
	// setuid says that bwrap is; it then needs no user namespace, takes no size for a file
	// system in memory, and gives no capability.
	setuid bool
	mounts []mount
	links  []stage.Link
	// switches and hidden are paths in /proc that are read-only, and those that are
	// covered with what is at their sources.
	switches []string
	hidden   []mount
}

// The sizes of file systems in memory, as those of package stage.
const (
	runBytes    = 16 << 20
	sharedBytes = 256 << 20
)

// arguments are those for bwrap but for the program it starts, and the places that
// the inner stage has to find then, without the numbers of their files.
func (p *plan) arguments() (args []string, places []stage.Place, err error) {
	b := &builder{setuid: p.setuid, args: []string{
		"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL",
	}}
	if !p.fullNetwork {
		b.add("--unshare-net")
	}
	if !p.setuid {
		// CAP_SETPCAP is there to empty the bounding set.
		b.add("--unshare-user", "--disable-userns", "--assert-userns-disabled", "--cap-add", "CAP_SETPCAP")
	}
	b.devices(p.terminals)
	b.memory("/run", "0755", runBytes)
	b.add("--proc", "/proc")
	b.place(stage.Place{Path: "/proc"})
	for _, path := range p.switches {
		b.add("--ro-bind", path, path)
		b.place(stage.Place{Path: path, ReadOnly: true})
	}
	for _, m := range append(p.hidden, p.mounts...) {
		switch m.Kind {
		case stage.Writable, stage.Pin:
			b.add("--bind", m.source, m.Path)
		default:
			b.add("--ro-bind", m.source, m.Path)
		}
	}
	for _, l := range p.links {
		b.add("--symlink", l.Target, l.Path)
	}
	b.add("--remount-ro", "/", "--chdir", "/")
	if len(b.args) > maxArguments {
		return nil, nil, fmt.Errorf("%w: %d arguments, and %d at most", ErrTooMuch, len(b.args), maxArguments)
	}
	return b.args, b.places, nil
}

type builder struct {
	setuid bool
	args   []string
	places []stage.Place
}

func (b *builder) add(args ...string)    { b.args = append(b.args, args...) }
func (b *builder) place(p stage.Place)   { b.places = append(b.places, p) }
func (b *builder) symlink(to, at string) { b.add("--symlink", to, at) }

// memory makes a file system in memory.
func (b *builder) memory(path, mode string, size int) {
	b.add("--perms", mode)
	if !b.setuid {
		b.add("--size", strconv.Itoa(size))
	}
	b.add("--tmpfs", path)
	b.place(stage.Place{Path: path})
}

// devices fills /dev. Only bwrap's own --dev comes with terminals.
func (b *builder) devices(terminals bool) {
	if terminals {
		b.add("--dev", "/dev")
		b.place(stage.Place{Path: "/dev", ReadOnly: true})
		b.place(stage.Place{Path: "/dev/pts", Devices: true})
	} else {
		b.add("--perms", "0755", "--dir", "/dev")
	}
	for _, name := range stage.DeviceNames() {
		at := "/dev/" + name
		if !terminals {
			b.add("--dev-bind", at, at)
		}
		b.place(stage.Place{Path: at, Devices: true})
	}
	if !terminals {
		b.symlink("/proc/self/fd", "/dev/fd")
		for fd, name := range []string{"stdin", "stdout", "stderr"} {
			b.symlink("/proc/self/fd/"+strconv.Itoa(fd), "/dev/"+name)
		}
	}
	b.memory("/dev/shm", "1777", sharedBytes)
	if terminals {
		b.add("--remount-ro", "/dev")
	}
}
