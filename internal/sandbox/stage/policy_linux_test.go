package stage

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func somePolicy() *Policy {
	return &Policy{
		Argv: []string{"bash", "-c", "true"}, Env: []string{"A=b"}, Dir: "/project",
		Mounts: []Mount{
			{Kind: Writable, Path: "/project", Source: "/project", Create: true},
			{Kind: Pin, Path: "/project/.git"}, {Kind: Mask, Path: "/project/.env"},
		},
		Links: []Link{{"/bin", "usr/bin"}}, Listeners: []Listener{{UDP: true, Addr: [4]byte{127, 0, 0, 1}, Port: 53}},
		UnixSockets: true, Processes: 512, FileBytes: 1 << 40,
	}
}

func TestPolicyTravels(t *testing.T) {
	text := rapid.StringMatching(`[^\x00]{0,20}`)
	path := rapid.StringMatching(`(/[a-z]{1,5}){1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		p := &Policy{
			Argv: rapid.SliceOfN(text, 1, 4).Draw(t, "argv"), Env: rapid.SliceOfN(text, 1, 4).Draw(t, "env"), Dir: path.Draw(t, "dir"),
			FullNetwork: rapid.Bool().Draw(t, "network"), UnixSockets: rapid.Bool().Draw(t, "sockets"),
			Terminals: rapid.Bool().Draw(t, "terminals"),
			Processes: rapid.Uint64().Draw(t, "n"), MemoryBytes: rapid.Uint64().Draw(t, "m"), FileBytes: rapid.Uint64().Draw(t, "f"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "mounts") {
			p.Mounts = append(p.Mounts, Mount{
				Kind: Kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind")), Path: path.Draw(t, "path"),
				Source: rapid.SampledFrom([]string{"", "/a/b"}).Draw(t, "source"), Create: rapid.Bool().Draw(t, "create"),
			})
			p.Links = append(p.Links, Link{path.Draw(t, "link"), text.Draw(t, "target")})
			p.Listeners = append(p.Listeners, Listener{UDP: rapid.Bool().Draw(t, "udp"), Port: rapid.Uint16().Draw(t, "port")})
		}
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatal(diff)
		}
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); true {
			if _, err := decode(b[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are a policy too", cut, len(b))
			}
		}
	})
}

func TestPolicyIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Policy){
		"no program":        func(p *Policy) { p.Argv = nil },
		"relative folder":   func(p *Policy) { p.Dir = "work" },
		"relative mount":    func(p *Policy) { p.Mounts[0].Path = "work" },
		"mount that climbs": func(p *Policy) { p.Mounts[0].Path = "/project/../etc" },
		"relative source":   func(p *Policy) { p.Mounts[0].Source = "../etc" },
		"unknown kind":      func(p *Policy) { p.Mounts[0].Kind = kinds },
		"NUL":               func(p *Policy) { p.Env[0] = "A=b\x00C" },
		"trailing slash":    func(p *Policy) { p.Links[0].Path = "/bin/" },
	} {
		p := somePolicy()
		change(p)
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(b); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	b, err := somePolicy().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(append(b, 0)); err == nil {
		t.Error("more than a policy was taken for one")
	}
	b[0]++
	if _, err := decode(b); err == nil {
		t.Error("another version was taken")
	}
}

func FuzzDecode(f *testing.F) {
	b, err := somePolicy().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{version, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decode(b)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%q is read as %q, %v", b, again, err)
		}
	})
}

// The constants that are written down here are those of golang.org/x/sys/unix.
func TestConstants(t *testing.T) {
	for name, c := range map[string][2]uint64{
		"open_tree": {sysOpenTree, unix.SYS_OPEN_TREE}, "move_mount": {sysMoveMount, unix.SYS_MOVE_MOUNT},
		"fsopen": {sysFsopen, unix.SYS_FSOPEN}, "fsconfig": {sysFsconfig, unix.SYS_FSCONFIG}, "fsmount": {sysFsmount, unix.SYS_FSMOUNT},
		"close_range": {sysCloseRange, unix.SYS_CLOSE_RANGE}, "openat2": {sysOpenat2, unix.SYS_OPENAT2},
		"mount_setattr": {sysMountSetattr, unix.SYS_MOUNT_SETATTR}, "seccomp": {sysSeccomp, unix.SYS_SECCOMP},
		"clone": {openTreeClone, unix.OPEN_TREE_CLONE}, "empty path": {atEmptyPath, unix.AT_EMPTY_PATH},
		"recursive": {atRecursive, unix.AT_RECURSIVE}, "remove": {atRemoveDir, unix.AT_REMOVEDIR}, "from": {moveFromEmpty, unix.MOVE_MOUNT_F_EMPTY_PATH},
		"to": {moveToEmpty, unix.MOVE_MOUNT_T_EMPTY_PATH}, "string": {fsconfigString, unix.FSCONFIG_SET_STRING},
		"create": {fsconfigCreate, unix.FSCONFIG_CMD_CREATE}, "read-only": {attrReadOnly, unix.MOUNT_ATTR_RDONLY},
		"nosuid": {attrNoSuid, unix.MOUNT_ATTR_NOSUID}, "nodev": {attrNoDev, unix.MOUNT_ATTR_NODEV},
		"noexec": {attrNoExec, unix.MOUNT_ATTR_NOEXEC}, "path": {oPath, unix.O_PATH},
		"no magic": {resolveNoMagic, unix.RESOLVE_NO_MAGICLINKS}, "no links": {resolveNoLinks, unix.RESOLVE_NO_SYMLINKS},
		"beneath": {resolveBeneath, unix.RESOLVE_BENEATH}, "domain": {soDomain, unix.SO_DOMAIN},
		"dumpable": {prSetDumpable, unix.PR_SET_DUMPABLE}, "bounding": {prCapbsetRead, unix.PR_CAPBSET_READ},
		"drop": {prCapbsetDrop, unix.PR_CAPBSET_DROP}, "nnp": {prSetNoNewPrivs, unix.PR_SET_NO_NEW_PRIVS},
		"get nnp": {prGetNoNewPrivs, unix.PR_GET_NO_NEW_PRIVS}, "ambient": {prCapAmbient, unix.PR_CAP_AMBIENT},
		"clear": {ambientClearAll, unix.PR_CAP_AMBIENT_CLEAR_ALL}, "get seccomp": {prGetSeccomp, unix.PR_GET_SECCOMP},
		"nproc": {rlimitNproc, unix.RLIMIT_NPROC}, "caps": {capVersion3, unix.LINUX_CAPABILITY_VERSION_3},
		"get flags": {siocgifflags, unix.SIOCGIFFLAGS}, "set flags": {siocsifflags, unix.SIOCSIFFLAGS},
		"filter": {seccompSetMode, unix.SECCOMP_SET_MODE_FILTER}, "all threads": {seccompTsync, unix.SECCOMP_FILTER_FLAG_TSYNC},
		"setd": {tiocsetd, unix.TIOCSETD}, "sti": {tiocsti, unix.TIOCSTI},
		"errno": {hardErrno, unix.SECCOMP_RET_ERRNO}, "allow": {allowCall, unix.SECCOMP_RET_ALLOW}, "kill": {killProcess, unix.SECCOMP_RET_KILL_PROCESS},
		"call clone": {callClone, unix.SYS_CLONE}, "call clone3": {callClone3, unix.SYS_CLONE3},
		"call socket": {callSocket, unix.SYS_SOCKET}, "call ioctl": {callIoctl, unix.SYS_IOCTL},
		"call openat2": {callOpenat2, unix.SYS_OPENAT2}, "call setrlimit": {callSetrlimit, unix.SYS_SETRLIMIT}, "call prlimit": {callPrlimit, unix.SYS_PRLIMIT64},
		"nameless file": {oTmpfile | unix.O_DIRECTORY, unix.O_TMPFILE},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %#x, want %#x", name, c[0], c[1])
		}
	}
}

// answers runs the filter as the kernel does, see seccomp(2).
func answers(t *testing.T, f []instruction, data map[uint32]uint32) uint32 {
	var a uint32
	for pc := 0; pc < len(f); pc++ {
		i := f[pc]
		var jump bool
		switch i.code {
		case load:
			a = data[i.k]
			continue
		case answer:
			return i.k
		case jumpEqual:
			jump = a == i.k
		case jumpAtLeast:
			jump = a >= i.k
		case jumpAny:
			jump = a&i.k != 0
		default:
			t.Fatalf("instruction %d has code %#x", pc, i.code)
		}
		if jump {
			pc += int(i.jt)
		} else {
			pc += int(i.jf)
		}
	}
	t.Fatal("it ran off the end")
	return 0
}

// Calls whose later arguments count.
func TestFilterOfModesAndLimits(t *testing.T) {
	for _, c := range []struct {
		name                  string
		number                uint32
		second, third, fourth uint32
		want                  uint32
	}{
		{"setuid", unix.SYS_FCHMODAT, 0, 0o4755, 0, deny}, {"setgid", unix.SYS_FCHMODAT, 0, 0o2755, 0, allowCall},
		{"setuid by the newer call", unix.SYS_FCHMODAT2, 0, 0o6755, 0, deny}, {"a node", unix.SYS_MKNODAT, 0, unix.S_IFREG | 0o4755, 0, deny},
		{"a file made so", unix.SYS_OPENAT, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755, deny}, {"a file without a name", unix.SYS_OPENAT, 0, unix.O_TMPFILE, 0o4755, deny},
		{"a file", unix.SYS_OPENAT, 0, unix.O_CREAT, 0o755, allowCall}, {"opened, with rubbish for a mode", unix.SYS_OPENAT, 0, unix.O_RDWR, 0o4755, allowCall},
		{"limit asked for", unix.SYS_PRLIMIT64, unix.RLIMIT_CORE, 0, 0, allowCall}, {"limit set", unix.SYS_PRLIMIT64, unix.RLIMIT_CORE, 0x1000, 0, done},
		{"another limit set", unix.SYS_PRLIMIT64, unix.RLIMIT_NOFILE, 0x1000, 0, allowCall},
	} {
		data := map[uint32]uint32{atCall: c.number, atArch: arch, atSecond: c.second, atThird: c.third, atFourth: c.fourth}
		if got := answers(t, filterProgram(false), data); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	above := map[uint32]uint32{atCall: unix.SYS_PRLIMIT64, atArch: arch, atSecond: unix.RLIMIT_CORE, atThirdTop: 1}
	if got := answers(t, filterProgram(false), above); got != done {
		t.Errorf("a limit that lies above 4 GiB: %#x", got)
	}
}

// Without openat2, as in a sandbox of this kind, places are opened by the same rules.
func TestWalkTo(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a/link": "b", "top": "a"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	top, err := syscall.Open(dir, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(top)
	for _, c := range []struct {
		path  string
		flags uint64
		want  error
	}{
		{".", 0, nil}, {"a/b", 0, nil}, {"a/link", syscall.O_NOFOLLOW, nil}, {"a/link", 0, syscall.ELOOP},
		{"top/b", syscall.O_NOFOLLOW, syscall.ELOOP}, {"a/none", 0, syscall.ENOENT},
	} {
		fd, err := walkTo(top, c.path, c.flags)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.path, err, c.want)
		}
		if err == nil {
			_ = syscall.Close(fd)
		}
		byCall, errCall := openPlace(top, "/"+c.path, c.flags)
		if !errors.Is(errCall, c.want) {
			t.Errorf("%s by the call: %v, want %v", c.path, errCall, c.want)
		}
		if errCall == nil {
			_ = syscall.Close(byCall)
		}
	}
}

func TestFilter(t *testing.T) {
	type call struct {
		name          string
		number        uint32
		first, second uint32
		want          uint32
	}
	calls := []call{
		{"read", unix.SYS_READ, 0, 0, allowCall}, {"fork", unix.SYS_CLONE, uint32(unix.SIGCHLD), 0, allowCall},
		{"user namespace", unix.SYS_CLONE, unix.CLONE_NEWUSER | uint32(unix.SIGCHLD), 0, deny},
		{"network namespace", unix.SYS_CLONE, unix.CLONE_NEWNET, 0, deny}, {"cgroup namespace", unix.SYS_CLONE, unix.CLONE_NEWCGROUP, 0, deny},
		{"clone3", unix.SYS_CLONE3, 0, 0, absent},
		{"inet", unix.SYS_SOCKET, unix.AF_INET, 0, allowCall}, {"inet6", unix.SYS_SOCKET, unix.AF_INET6, 0, allowCall},
		{"unix", unix.SYS_SOCKET, unix.AF_UNIX, 0, deny}, {"netlink", unix.SYS_SOCKET, unix.AF_NETLINK, 0, deny},
		{"vsock", unix.SYS_SOCKET, unix.AF_VSOCK, 0, deny}, {"socketpair", unix.SYS_SOCKETPAIR, unix.AF_UNIX, 0, allowCall},
		{"typing", unix.SYS_IOCTL, 0, unix.TIOCSTI, deny}, {"console", unix.SYS_IOCTL, 0, tioclinux, deny},
		{"discipline", unix.SYS_IOCTL, 0, unix.TIOCSETD, deny}, {"size of a terminal", unix.SYS_IOCTL, 0, unix.TIOCGWINSZ, allowCall},
		{"another ABI", foreignCalls, 0, 0, deny}, {"openat2", unix.SYS_OPENAT2, 0, 0, absent},
		{"setuid by descriptor", unix.SYS_FCHMOD, 3, 0o4755, deny}, {"chmod by descriptor", unix.SYS_FCHMOD, 3, 0o2755, allowCall},
		{"a limit on core files", unix.SYS_SETRLIMIT, unix.RLIMIT_CORE, 0, done}, {"a limit on files", unix.SYS_SETRLIMIT, unix.RLIMIT_NOFILE, 0, allowCall},
	}
	for _, n := range []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
		unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
		unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_CHROOT,
	} {
		calls = append(calls, call{"denied", n, 0, 0, deny})
	}
	for _, c := range calls {
		data := map[uint32]uint32{atCall: c.number, atArch: arch, atFirst: c.first, atSecond: c.second}
		if got := answers(t, filterProgram(false), data); got != c.want {
			t.Errorf("%s (%d): %#x, want %#x", c.name, c.number, got, c.want)
		}
	}
	data := map[uint32]uint32{atCall: unix.SYS_SOCKET, atArch: arch, atFirst: unix.AF_UNIX}
	if got := answers(t, filterProgram(true), data); got != allowCall {
		t.Errorf("a unix socket where they are allowed: %#x", got)
	}
	data[atArch] = 0x40000003 // AUDIT_ARCH_I386
	if got := answers(t, filterProgram(true), data); got != killProcess {
		t.Errorf("another architecture: %#x", got)
	}
}
