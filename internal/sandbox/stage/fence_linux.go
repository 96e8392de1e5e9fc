package stage

import (
	"syscall"
	"unsafe"
)

// FenceProgram is the name under which the binary is started to fence itself in with
// Landlock and then to become the command: no namespace is made, no process stays.
// Without a Control descriptor it does nothing.
const FenceProgram = "garuda-fence"

// Fence is what a process that becomes its command is told.
type Fence struct {
	// Policy has the command and its limits; it has no mounts, links or listeners.
	Policy Policy
	// Files are granted what they name; whatever of HandledFiles is granted nowhere is
	// refused. Both are LANDLOCK_ACCESS_FS_* of <linux/landlock.h>.
	Files        []FenceFile
	HandledFiles uint64
	// Ports may be connected to by TCP. Without any no socket can be made; so nothing
	// else of the network is there in either case. FullNetwork of the policy lifts it.
	Ports []uint16
	// Scoped are LANDLOCK_SCOPE_* of the same header.
	Scoped uint64
}

// FenceFile is a file or folder and what may be done with it and all that lies in it.
type FenceFile struct {
	Path   string
	Access uint64
}

// Encode is the fence as its process reads it.
func (f *Fence) Encode() ([]byte, error) {
	policy, err := f.Policy.Encode()
	if err != nil {
		return nil, err
	}
	b := encoder{version}
	b.text(string(policy))
	b.number(uint64(len(f.Files)))
	for _, file := range f.Files {
		b.text(file.Path)
		b.number(file.Access)
	}
	b.number(f.HandledFiles)
	b.number(uint64(len(f.Ports)))
	for _, port := range f.Ports {
		b.number(uint64(port))
	}
	b.number(f.Scoped)
	if len(b) > policyLimit {
		return nil, errPolicy
	}
	return b, nil
}

func decodeFence(b []byte) (*Fence, error) {
	d := decoder{rest: b}
	if d.byte() != version {
		return nil, errPolicy
	}
	policy, err := decode(d.take(d.number()))
	if err != nil {
		return nil, err
	}
	f := &Fence{Policy: *policy}
	for range d.count() {
		f.Files = append(f.Files, FenceFile{d.path(), d.number()})
	}
	f.HandledFiles = d.number()
	for range d.count() {
		n := d.number()
		d.bad = d.bad || n > 0xffff
		f.Ports = append(f.Ports, uint16(n))
	}
	f.Scoped = d.number()
	if d.bad || len(d.rest) > 0 || f.HandledFiles == 0 {
		return nil, errPolicy
	}
	return f, nil
}

func init() {
	if startedAs(FenceProgram) {
		syscall.Exit(runFence())
	}
}

// fence is what the steps of one hand on to each other.
type fence struct {
	stage
	told *Fence
}

func (f *fence) steps() []step {
	return []step{
		{"policy", f.receive},
		{"descriptors", closeDescriptors},
		{"folder", f.enter},
		{"limits", f.limit},
		{"program", f.find},
		{"privileges", f.dropPrivileges},
		{"landlock", f.restrict},
		{"sockets", f.filterMore},
		{"seccomp", f.filter},
		{"verify", f.verify},
		{"start", f.become},
	}
}

func runFence() int {
	f := &fence{}
	f.through(f.steps()) // the last one becomes the command
	return failed
}

func (f *fence) receive() *failure {
	// While this process still may: hidden, it owns no file of its own in /proc. Where
	// the machine gave it a higher number for good, that is as good.
	_ = write("/proc/self/oom_score_adj", OutOfMemory)
	message, failure := receiveMessage()
	if failure != nil {
		return failure
	}
	var err error
	if f.told, err = decodeFence(message); err != nil {
		return because("read it", err)
	}
	f.policy = &f.told.Policy
	return nil
}

func (f *fence) enter() *failure {
	if err := syscall.Chdir(f.policy.Dir); err != nil {
		return because("enter the working directory "+f.policy.Dir, err)
	}
	return nil
}

// dropPrivileges: an ordinary user has no capability, and may not shrink the set of
// those that programs could give it; that none does is what no_new_privs is for.
func (f *fence) dropPrivileges() *failure {
	if syscall.Geteuid() == 0 {
		return dropPrivileges()
	}
	if err := prctl(prSetNoNewPrivs, 1, 0); err != nil {
		return because("forbid new privileges", err)
	}
	return nil
}

// Landlock's calls and constants, see <linux/landlock.h>.
const (
	sysCreateRuleset = 444
	sysAddRule       = 445
	sysRestrictSelf  = 446

	ruleFiles = 1
	rulePorts = 2

	handledTCP = 3 // LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP
	connectTCP = 2

	// forFiles are the rights that mean a file itself; the others are a folder's.
	forFiles = 1<<0 | 1<<1 | 1<<2 | 1<<14 | 1<<15
)

// restrict puts this thread, and with it the command, behind the fence.
func (f *fence) restrict() *failure {
	attr := struct{ files, net, scoped uint64 }{f.told.HandledFiles, 0, f.told.Scoped}
	if len(f.told.Ports) > 0 {
		attr.net = handledTCP
	}
	// A kernel that does not know a field yet takes only a structure without it.
	size := unsafe.Sizeof(attr.files)
	switch {
	case attr.scoped != 0:
		size = unsafe.Sizeof(attr)
	case attr.net != 0:
		size += unsafe.Sizeof(attr.net)
	}
	ruleset, _, errno := syscall.Syscall(sysCreateRuleset, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return because("begin the rules", errno)
	}
	machine, err := syscall.Open("/", oPath|syscall.O_CLOEXEC|syscall.O_DIRECTORY, 0)
	if err != nil {
		return because("open /", err)
	}
	for _, file := range f.told.Files {
		if err := grant(ruleset, machine, file); err != nil {
			return because(file.Path, explainLink(err))
		}
	}
	for _, port := range f.told.Ports {
		rule := struct{ access, port uint64 }{connectTCP, uint64(port)}
		if _, _, errno := syscall.Syscall6(sysAddRule, ruleset, rulePorts, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return because("open port "+decimal(uint64(port)), errno)
		}
	}
	if _, _, errno := syscall.Syscall(sysRestrictSelf, ruleset, 0, 0); errno != 0 {
		return because("close the fence", errno)
	}
	return nil
}

// grant adds the rule of a file; one that has gone needs none.
func grant(ruleset uintptr, machine int, file FenceFile) error {
	fd, err := openBeneath(machine, file.Path)
	if err == syscall.ENOENT { //nolint:errorlint // what package syscall returns is not wrapped
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }() // it only named a place
	folder, err := isFolder(fd)
	if err != nil {
		return err
	}
	// struct landlock_path_beneath_attr is packed: 8 bytes, then 4.
	rule := struct {
		access uint64
		parent int32
	}{file.Access, int32(fd)}
	if !folder {
		rule.access &= forFiles
	}
	_, _, errno := syscall.Syscall6(sysAddRule, ruleset, ruleFiles, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	return call(errno)
}

// filterMore closes what neither Landlock nor the common filter does: the network,
// but for connections by TCP, whose ports Landlock checks; objects of IPC that belong
// to the machine; limits of other processes; and signals to all of them at once.
func (f *fence) filterMore() *failure {
	return installFilter(fenceProgram(f.policy.FullNetwork, len(f.told.Ports) > 0))
}

const (
	protocolTCP = 6
	// fastOpen is MSG_FASTOPEN: sending that connects, which Landlock does not see.
	fastOpen = 0x20000000
	// everybody is the process number -1 of kill(2).
	everybody = 1<<32 - 1
)

func fenceProgram(fullNetwork, ports bool) []instruction {
	program := []instruction{
		{load, 0, 0, atArch},
		{jumpEqual, 1, 0, arch},
		{answer, 0, 0, killProcess},
		{load, 0, 0, atCall},
	}
	for _, n := range fenced {
		program = append(program, instruction{jumpEqual, 0, 1, n}, instruction{answer, 0, 0, deny})
	}
	program = append(program, onlyFor(callPrlimit, atFirst, []uint32{0}, allowCall, deny)...)
	program = append(program, onlyFor(callKill, atFirst, []uint32{everybody}, deny, allowCall)...)
	switch {
	case fullNetwork:
	case !ports:
		program = append(program, instruction{jumpEqual, 0, 1, callSocket}, instruction{answer, 0, 0, deny})
	default:
		// Without a bind it takes a port that nobody checks.
		program = append(program, instruction{jumpEqual, 0, 1, callListen}, instruction{answer, 0, 0, deny})
		program = append(program, streamsOnly()...)
	}
	return append(program, instruction{answer, 0, 0, allowCall})
}

// streamsOnly leaves TCP, connected by connect(2): the one thing whose ports Landlock
// checks. MPTCP would pass it by, and so would a first packet that carries data.
func streamsOnly() []instruction {
	program := []instruction{
		{jumpEqual, 0, 5, callSocket},
		{load, 0, 0, atThird},
		{jumpEqual, 2, 0, 0},
		{jumpEqual, 1, 0, protocolTCP},
		{answer, 0, 0, deny},
		{load, 0, 0, atCall},
	}
	for _, send := range [...]struct{ call, flags uint32 }{{callSendto, atFourth}, {callSendmsg, atThird}, {callSendmmsg, atFourth}} {
		program = append(program,
			instruction{jumpEqual, 0, 4, send.call},
			instruction{load, 0, 0, send.flags},
			instruction{jumpAny, 0, 1, fastOpen},
			instruction{answer, 0, 0, deny},
			instruction{load, 0, 0, atCall},
		)
	}
	var streams []uint32
	for _, flags := range [...]uint32{0, syscall.SOCK_CLOEXEC, syscall.SOCK_NONBLOCK, syscall.SOCK_CLOEXEC | syscall.SOCK_NONBLOCK} {
		streams = append(streams, syscall.SOCK_STREAM|flags)
	}
	return append(program, onlyFor(callSocket, atSecond, streams, allowCall, deny)...)
}

// verify looks whether the ways back are closed. The sets of an ordinary user are
// empty anyway.
func (f *fence) verify() *failure {
	if syscall.Geteuid() == 0 {
		return verify()
	}
	return verifyClosed()
}

// become replaces this process by the command. Control closes with it.
func (f *fence) become() *failure {
	if reply(Running, nil) != nil {
		return &failure{what: "Garuda has gone"}
	}
	return because(f.program, syscall.Exec(f.program, f.policy.Argv, f.policy.Env))
}
