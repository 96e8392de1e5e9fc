package stage

import "syscall"

// deviceNames are all the devices there are.
var deviceNames = [...]string{"null", "zero", "full", "random", "urandom", "tty"}

// makeDevices fills /dev.
func (s *stage) makeDevices() *failure {
	for i, name := range deviceNames {
		path := "/dev/" + name
		err := makeFile(here, path[1:], 0o666)
		if err == nil {
			err = setAttributes(s.devices[i], attrNoSuid|attrNoExec, 0)
		}
		if err == nil {
			err = s.attachAt(s.devices[i], path)
		}
		if err != nil {
			return because(path, err)
		}
	}
	for _, l := range [...]Link{{"dev/fd", "/proc/self/fd"}, {"dev/stdin", "/proc/self/fd/0"}, {"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"}} {
		if err := symlink(l.Target, here, l.Path); err != nil {
			return because("/"+l.Path, err)
		}
	}
	err := mkdir(here, "dev/shm", 0o755)
	if err == nil {
		err = s.mountNew("/dev/shm", "tmpfs", attrNoSuid|attrNoDev, "mode", "1777", "size", "256m")
	}
	if err != nil {
		return because("/dev/shm", err)
	}
	if s.policy.Terminals {
		return s.makeTerminals()
	}
	return nil
}

// makeTerminals mounts pseudo-terminals of this namespace's own.
func (s *stage) makeTerminals() *failure {
	err := mkdir(here, "dev/pts", 0o755)
	if err == nil {
		err = s.mountNew("/dev/pts", "devpts", attrNoSuid|attrNoExec, "mode", "0620", "ptmxmode", "0666")
	}
	if err == nil {
		err = symlink("pts/ptmx", here, "dev/ptmx")
	}
	if err != nil {
		return because("/dev/pts", err)
	}
	return nil
}

// Entries of /proc that mean the whole machine. Those that switch something can be
// read; those that tell of it are empty. Root owns them outside too, and the
// command may be root, so their modes alone would not protect them.
var (
	procReadOnly = [...]string{"sys", "sysrq-trigger", "irq", "bus", "fs", "mtrr", "tty", "driver"}
	procHidden   = [...]string{
		"acpi", "asound", "kcore", "keys", "key-users", "kmsg", "kallsyms", "latency_stats",
		"sched_debug", "scsi", "timer_list", "timer_stats", "vmallocinfo", "config.gz",
	}
)

// makeProc mounts a /proc of this namespace, sets the switches that belong to it,
// and closes all others.
func (s *stage) makeProc() *failure {
	if err := s.mountNew("/proc", "proc", attrNoSuid|attrNoDev|attrNoExec); err != nil {
		return because("mount it", err)
	}
	if err := write("proc/sys/user/max_user_namespaces", "0"); err != nil {
		return because("forbid further user namespaces", err)
	}
	// Since Linux 6.14 each pid namespace has its own; before, it is the machine's.
	// It holds for root too, for whom the kernel counts no processes.
	if s.policy.Processes > 0 && releaseAtLeast(6, 14) {
		if err := write("proc/sys/kernel/pid_max", decimal(max(s.policy.Processes, pidMaxLeast))); err != nil {
			return because("limit the processes", err)
		}
	}
	for _, name := range procReadOnly {
		if err := s.cover(Mount{Kind: ReadOnly, Path: "/proc/" + name}); err != nil {
			return because("close /proc/"+name, err)
		}
	}
	for _, name := range procHidden {
		if err := s.cover(Mount{Kind: Mask, Path: "/proc/" + name}); err != nil {
			return because("hide /proc/"+name, err)
		}
	}
	return nil
}

// cover makes a mount where there is something to cover.
func (s *stage) cover(m Mount) error {
	if err := s.mount(m, -1); err != syscall.ENOENT { //nolint:errorlint // what package syscall returns is not wrapped
		return err
	}
	return nil
}

// pidMaxLeast is the least that the kernel takes for pid_max.
const pidMaxLeast = 301

func write(path, text string) error {
	fd, err := open(path, syscall.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = syscall.Write(fd, []byte(text))
	if closed := closeFile(fd); err == nil {
		err = closed
	}
	return err
}

func decimal(n uint64) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}

// limit bounds what the command may use. This process is bound with it, which
// uses next to nothing.
func (s *stage) limit() *failure {
	limits := []struct {
		what  string
		which int
		value uint64
	}{
		// With 0 a core would still be handed to the program that core_pattern names,
		// outside of the sandbox; 1 is the value of which the kernel hands on none.
		{"core dumps", syscall.RLIMIT_CORE, 1},
		{"the size of files", syscall.RLIMIT_FSIZE, s.policy.FileBytes},
		{"processes", rlimitNproc, s.policy.Processes},
		{"memory", syscall.RLIMIT_DATA, s.policy.MemoryBytes},
	}
	for _, l := range limits {
		if l.value == 0 {
			continue
		}
		var now syscall.Rlimit
		err := syscall.Getrlimit(l.which, &now)
		if value := min(l.value, now.Max); err == nil {
			err = setrlimit(l.which, syscall.Rlimit{Cur: value, Max: value})
		}
		if err != nil {
			return because("limit "+l.what, err)
		}
	}
	return nil
}
