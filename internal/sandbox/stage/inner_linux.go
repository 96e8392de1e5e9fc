package stage

import (
	"syscall"
	"unsafe"
)

// InnerProgram is the name under which the binary is started where another program
// made the namespaces and the view, and gave this process no more than its user has:
// it looks whether they are what was described, and does the rest of a stage.
//
// It is started through InnerPath, since its file does not lie in the view.
const InnerProgram = "garuda-inner"

// The descriptors of such a process besides Control: its own file, what the program
// before it was told (closed by now), and the command's input and outputs.
const (
	InnerFile = iota + Control + 1
	InnerTold
	InnerStdin
	innerStdout
	innerStderr
)

// InnerPath is the path that InnerFile is started by.
const InnerPath = "/proc/self/fd/4"

// Inner is what such a process is told.
type Inner struct {
	// Policy has no mounts and no links.
	Policy Policy
	// Places are what the view must be.
	Places []Place
}

// Place is a mount of the view, as it must be found.
type Place struct {
	Path string
	// Device and Inode are those of what lies there; 0 leaves it open.
	Device, Inode uint64
	// ReadOnly says that it cannot be written.
	ReadOnly bool
	// Devices says that it is a device, which can be opened.
	Devices bool
}

// Encode is what the process reads.
func (i *Inner) Encode() ([]byte, error) {
	policy, err := i.Policy.Encode()
	if err != nil {
		return nil, err
	}
	b := encoder{version}
	b.text(string(policy))
	b.number(uint64(len(i.Places)))
	for _, p := range i.Places {
		b.text(p.Path)
		b.number(p.Device)
		b.number(p.Inode)
		b.flag(p.ReadOnly)
		b.flag(p.Devices)
	}
	if len(b) > policyLimit {
		return nil, errPolicy
	}
	return b, nil
}

func decodeInner(b []byte) (*Inner, error) {
	d := decoder{rest: b}
	if d.byte() != version {
		return nil, errPolicy
	}
	policy, err := decode(d.take(d.number()))
	if err != nil {
		return nil, err
	}
	i := &Inner{Policy: *policy}
	for range d.count() {
		i.Places = append(i.Places, Place{d.path(), d.number(), d.number(), d.flag(), d.flag()})
	}
	if d.bad || len(d.rest) > 0 || len(policy.Mounts) > 0 || len(policy.Links) > 0 {
		return nil, errPolicy
	}
	return i, nil
}

func init() {
	if syscall.Getpid() == 1 && startedWith(InnerPath+"\x00"+InnerProgram+"\x00") {
		syscall.Exit(runInner())
	}
}

// inner is what the steps of one hand on to each other.
type inner struct {
	stage
	told *Inner
}

func (s *inner) steps() []step {
	return []step{
		{"policy", s.receive},
		{"output", takeOutput},
		{"descriptors", closeDescriptors},
		{"view", s.look},
		{"network", s.listen},
		{"folder", s.enter},
		{"limits", s.limit},
		{"program", s.find},
		{"leftovers", closeDescriptors},
		{"privileges", dropOwnPrivileges},
		{"seccomp", s.filter},
		{"verify", verifyInner},
		{"start", s.start},
	}
}

// runInner is the whole life of such a process; it returns the exit code.
func runInner() int {
	s := &inner{}
	if !s.through(s.steps()) {
		return failed
	}
	return s.attend()
}

// OutOfMemory is what a command has in /proc/self/oom_score_adj: much more than what a
// user's other programs have.
const OutOfMemory = "500"

func (s *inner) receive() *failure {
	// While this process still may: hidden, it owns no file of its own in /proc. Where
	// the machine gave it a higher number for good, that is as good.
	_ = write("/proc/self/oom_score_adj", OutOfMemory)
	if err := reply(Ready, nil); err != nil {
		return because("ask for it", err)
	}
	message, f := receiveMessage()
	if f != nil {
		return f
	}
	var err error
	if s.told, err = decodeInner(message); err != nil {
		return because("read it", err)
	}
	s.policy = &s.told.Policy
	return nil
}

// takeOutput takes the command's own input and outputs, which the program before
// this process does not hold open any more.
func takeOutput() *failure {
	for to, from := range [...]int{InnerStdin, innerStdout, innerStderr} {
		if err := syscall.Dup3(from, to, 0); err != nil {
			return because("take its input and outputs", err)
		}
	}
	return nil
}

// The flags of a mount as statfs(2) tells them.
const (
	mountReadOnly = 1
	mountNoSuid   = 2
	mountNoDev    = 4
)

// look finds out whether the view is the one that was described. The program before
// looked each path up once more, so a link that came to lie there meanwhile, or
// another file, is noticed here, before the command can profit from it.
func (s *inner) look() *failure {
	top, err := syscall.Open("/", oPath|syscall.O_CLOEXEC|syscall.O_DIRECTORY, 0)
	if err != nil {
		return because("open /", err)
	}
	for _, p := range append([]Place{{Path: "/", ReadOnly: true}}, s.told.Places...) {
		if f := p.look(top); f != nil {
			return f
		}
	}
	return nil
}

func (p *Place) look(top int) *failure {
	fd, err := openBeneath(top, p.Path)
	if err != nil {
		return because(p.Path, explainLink(err))
	}
	defer func() { _ = syscall.Close(fd) }() // it only named a place
	var file syscall.Stat_t
	var mount syscall.Statfs_t
	if err = syscall.Fstat(fd, &file); err == nil {
		err = syscall.Fstatfs(fd, &mount)
	}
	if err != nil {
		return because(p.Path, err)
	}
	root, err := isMountRoot(fd)
	if err != nil {
		return because(p.Path, err)
	}
	switch {
	case !root:
		return &failure{what: p.Path + ": nothing is mounted there"}
	case p.Inode != 0 && (p.Inode != file.Ino || p.Device != file.Dev):
		return &failure{what: p.Path + ": it is another file than it was"}
	case p.ReadOnly && mount.Flags&mountReadOnly == 0:
		return &failure{what: p.Path + ": it can be written"}
	case mount.Flags&mountNoSuid == 0, !p.Devices && mount.Flags&mountNoDev == 0:
		return &failure{what: p.Path + ": programs there could gain privileges, or devices be opened"}
	}
	return nil
}

// isMountRoot reports whether an open place is the top of a mount, see statx(2).
func isMountRoot(fd int) (bool, error) {
	var st struct {
		_          [8]byte
		attributes uint64
		_          [40]byte
		known      uint64
		_          [192]byte
	}
	_, _, errno := syscall.Syscall6(sysStatx, uintptr(fd), uintptr(cstring("")), atEmptyPath, 0, uintptr(unsafe.Pointer(&st)), 0)
	if errno != 0 {
		return false, errno
	}
	if st.known&attrMountRoot == 0 {
		return false, syscall.ENOTSUP // before Linux 5.8
	}
	return st.attributes&attrMountRoot != 0, nil
}

// attrMountRoot is STATX_ATTR_MOUNT_ROOT of <linux/stat.h>.
const attrMountRoot = 0x2000

// listen opens the listeners. A port that only the machine's root may take is not
// there for the command; another takes its place, so that their order stays.
func (s *inner) listen() *failure {
	for i := range s.policy.Listeners {
		l := &s.policy.Listeners[i]
		if l.Port >= firstFreePort {
			continue
		}
		fd, err := l.open()
		if err == nil {
			err = syscall.Close(fd)
		}
		if err == syscall.EACCES { //nolint:errorlint // what package syscall returns is not wrapped
			l.Port, err = 0, nil
		}
		if err != nil {
			return because("listen on port "+decimal(uint64(l.Port)), err)
		}
	}
	return s.handOut()
}

// firstFreePort is the first port that everybody may listen on.
const firstFreePort = 1024

func (s *inner) enter() *failure {
	if err := syscall.Chdir(s.policy.Dir); err != nil {
		return because("enter the working directory "+s.policy.Dir, err)
	}
	return nil
}

// dropOwnPrivileges empties the sets of capabilities. The bounding set is emptied
// where that is allowed; where it is not, as under AppArmor's profile for what bwrap
// starts, that no program gives capabilities is what no_new_privs is for.
func dropOwnPrivileges() *failure {
	if err := prctl(prCapbsetDrop, 0, 0); err == syscall.EPERM { //nolint:errorlint // what package syscall returns is not wrapped
		return dropSets()
	}
	return dropPrivileges()
}

// verifyInner looks whether what was taken away is gone.
func verifyInner() *failure {
	header := capHeader{version: capVersion3}
	var have capData
	if _, _, errno := syscall.Syscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&have)), 0); errno != 0 {
		return because("read the capabilities", errno)
	}
	if have != (capData{}) {
		return &failure{what: "a capability is left"}
	}
	return verifyClosed()
}

// DeviceNames are all the devices that another program has to show as a stage would.
func DeviceNames() []string { return deviceNames[:] }

// ProcReadOnly are the entries of /proc that it has to make read-only.
func ProcReadOnly() []string { return procReadOnly[:] }

// ProcHidden are the entries of /proc that it has to hide.
func ProcHidden() []string { return procHidden[:] }
