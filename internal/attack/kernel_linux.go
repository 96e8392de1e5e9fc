package attack

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// strayPlaces are where commands would leave something if nothing held them.
func strayPlaces() []string {
	var out []string
	for _, dir := range []string{
		"/etc", "/usr/local/bin", "/usr/bin", "/opt", "/usr/lib", "/sbin", "/tmp", "/var/tmp", "/dev/shm", "/run",
		"/var/spool/cron", "/var/spool/cron/crontabs", "/etc/cron.d", "/etc/cron.daily", "/etc/systemd/system", "/var/spool/at",
	} {
		out = append(out, dir+"/garuda-pwn")
	}
	return append(out, "/etc/ld.so.preload", "/dev/mqueue/garuda-pwn")
}

// sharedKey is what the case shared-memory calls its memory: "garu".
const sharedKey = 0x67617275

// removeShared removes that memory, if a command could make it.
func removeShared() error {
	id, err := unix.SysvShmGet(sharedKey, 0, 0)
	if err != nil {
		return nil //nolint:nilerr // there is none, as it should be
	}
	_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	return err
}

// numbers are system calls in the texts of cases, by their names there.
func numbers() map[string]int {
	return map[string]int{
		"TGKILL": unix.SYS_TGKILL, "TKILL": unix.SYS_TKILL, "PIDFD_OPEN": unix.SYS_PIDFD_OPEN, "PIDFD_SEND_SIGNAL": unix.SYS_PIDFD_SEND_SIGNAL,
		"OPENAT2": unix.SYS_OPENAT2, "OPENAT": unix.SYS_OPENAT, "FCHMODAT2": unix.SYS_FCHMODAT2, "IOCTL": unix.SYS_IOCTL, "SOCKET": unix.SYS_SOCKET,
		"CLONE3": unix.SYS_CLONE3, "CLONE": unix.SYS_CLONE, "SHMGET": unix.SYS_SHMGET, "MQ_OPEN": unix.SYS_MQ_OPEN,
	}
}

// closedCalls are those that no command makes, each with arguments of which the kernel
// would say something else than that they are not permitted, and that do nothing.
func closedCalls() []string {
	call := func(name string, number int, args string) string {
		return fmt.Sprintf("%s %d %s", name, number, args)
	}
	return []string{
		call("ptrace", unix.SYS_PTRACE, "0,0,0,0"), call("process_vm_readv", unix.SYS_PROCESS_VM_READV, "$$,0,0,0,0,0"),
		call("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, "$$,0,0,0,0,0"), call("kcmp", unix.SYS_KCMP, "$$,$$,1,0,0"),
		call("pidfd_getfd", unix.SYS_PIDFD_GETFD, "-1,0,0"), call("io_uring_setup", unix.SYS_IO_URING_SETUP, "0,0"),
		call("io_uring_enter", unix.SYS_IO_URING_ENTER, "-1,0,0,0,0"), call("io_uring_register", unix.SYS_IO_URING_REGISTER, "-1,0,0,0"),
		call("add_key", unix.SYS_ADD_KEY, "0,0,0,0,0"), call("request_key", unix.SYS_REQUEST_KEY, "0,0,0,0"), call("keyctl", unix.SYS_KEYCTL, "0,-3,1"),
		call("bpf", unix.SYS_BPF, "-1,0,0"), call("perf_event_open", unix.SYS_PERF_EVENT_OPEN, "0,0,-1,-1,0"), call("userfaultfd", unix.SYS_USERFAULTFD, "-1"),
		call("mount", unix.SYS_MOUNT, "0,0,0,0,0"), call("umount2", unix.SYS_UMOUNT2, "0,-1"), call("pivot_root", unix.SYS_PIVOT_ROOT, "0,0"),
		call("unshare", unix.SYS_UNSHARE, "0"), call("setns", unix.SYS_SETNS, "-1,0"), call("open_tree", unix.SYS_OPEN_TREE, "-1,0,0"),
		call("move_mount", unix.SYS_MOVE_MOUNT, "-1,0,-1,0,-1"), call("fsopen", unix.SYS_FSOPEN, "0,-1"), call("fsconfig", unix.SYS_FSCONFIG, "-1,-1,0,0,0"),
		call("fsmount", unix.SYS_FSMOUNT, "-1,-1,0"), call("fspick", unix.SYS_FSPICK, "-1,0,-1"), call("mount_setattr", unix.SYS_MOUNT_SETATTR, "-1,0,-1,0,0"),
		call("chroot", unix.SYS_CHROOT, "0"), call("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, "-1,0,0"),
		call("name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, "-1,0,0,0,-1"), call("quotactl", unix.SYS_QUOTACTL, "-1,0,0,0"),
		call("quotactl_fd", unix.SYS_QUOTACTL_FD, "-1,-1,0,0"), call("syslog", unix.SYS_SYSLOG, "10,0,0"), call("swapon", unix.SYS_SWAPON, "0,0"),
		call("swapoff", unix.SYS_SWAPOFF, "0"), call("init_module", unix.SYS_INIT_MODULE, "0,0,0"), call("finit_module", unix.SYS_FINIT_MODULE, "-1,0,-1"),
		call("delete_module", unix.SYS_DELETE_MODULE, "0,0"), call("kexec_load", unix.SYS_KEXEC_LOAD, "0,0,0,-1"), call("clone3", unix.SYS_CLONE3, "0,0"),
	}
}

// tryCalls makes each call of a list, and prints the names of those that the kernel
// looked at.
const tryCalls = `perl -e 'for (split /\n/, $ARGV[0]) { my ($name, $n, $args) = split / /; my @a = map { $_ eq "\$\$" ? $$ : int($_) } split /,/, $args;
	$! = 0; my $r = syscall($n + 0, @a); print "REACHED $name\n" if $r >= 0 || ($! != 1 && $! != 38) }' '`

func kernelCases() []Case {
	k := func(id, tries, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: tries, Kind: Kernel, Command: command, Holds: holds, Needs: needs}
	}
	const unreached = `! grep -q REACHED "$OUT"`
	return []Case{
		{
			ID: "kill-thread", Tries: "kills it as a thread, and through a descriptor", Kind: Processes, Needs: []string{"perl"},
			Command: `perl -e 'for my $s (9, 19) { syscall($TGKILL, $DECOY_PID, $DECOY_PID, $s); syscall($TKILL, $DECOY_PID, $s) } my $f = syscall($PIDFD_OPEN, $DECOY_PID, 0); syscall($PIDFD_SEND_SIGNAL, $f, 9, 0, 0) if $f >= 0'`,
			Holds:   `kill -0 $DECOY_PID && ! grep -q "^State:.*T" /proc/$DECOY_PID/status`,
		},
		{
			ID: "setuid-made", Tries: "makes a program that has its user's rights from the start", Kind: Writes, Needs: []string{"perl"},
			Command: `perl -e 'use Fcntl; sysopen(F, "s", O_CREAT | O_WRONLY, 06755); syscall($OPENAT, -100, "t\0", 0101, 06755); my $how = pack("Q3", 0101, 06755, 0); syscall($OPENAT2, -100, "u\0", $how, 24);
			chmod(06755, "s", "t", "u"); chmod(06755, *F); syscall($FCHMODAT2, -100, "s\0", 06755, 0)'`,
			Holds: `! find "$ROOT" -perm /6000 -type f | grep -q .`,
		},
		k("proc-environ", "reads the environment of other processes", `cat /proc/*/environ | tr "\0" "\n"`, unread),
		k("proc-decoy", "looks into a process of the user's", `for f in environ mem maps root/etc/passwd cwd/x fd/0 stack syscall; do head -c 10 /proc/$DECOY_PID/$f; done`, nothing),
		k("proc-init", "looks into the process that holds it", `for p in /proc/1 /proc/1/task/1 /proc/$PPID; do head -c 10 $p/environ; head -c 10 $p/mem; head -c 10 $p/maps; readlink $p/fd/* $p/root $p/cwd; ls $p/root/ $p/cwd/ $p/fd/*/; done`, nothing),
		k("proc-roots", "finds the machine's root behind any process", `cat /proc/*/root"$HOME"/.ssh/id_ed25519 /proc/*/cwd/../outside/file /proc/*/task/*/root"$OUTSIDE"/file`, unread),
		k("proc-mounts", "finds where things of the user's lie by the list of mounts", `cat /proc/self/mountinfo | grep -c -e /var/lib/docker -e overlay2; cat /proc/self/mounts | awk '{print $2}' | while read m; do cat "$m/.ssh/id_ed25519" "$m/id_ed25519"; done`, unread),
		k("core-pattern", "has the kernel start a program of its choice", `for f in core_pattern modprobe hotplug usermodehelper/bset; do : >> /proc/sys/kernel/$f && echo WROTE; done; : >> /sys/kernel/uevent_helper && echo WROTE; : >> /proc/sys/fs/binfmt_misc/register && echo WROTE`, `! grep -q WROTE "$OUT"`),
		k("core-handler", "has a dump of itself handed to the machine's program for that", `ulimit -c 0; ulimit -c unlimited; awk '/Max core file size/ { print ($5 == 1 || $5 == 0 && $6 == 0) ? "closed" : "REACHED" }' /proc/self/limits`, unreached),
		k("switches", "turns switches of the machine", `for f in /proc/sys/vm/overcommit_memory /proc/sys/kernel/sysrq /proc/sysrq-trigger /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/hostname /proc/sys/user/max_user_namespaces /proc/irq/0/smp_affinity /proc/mtrr /sys/power/state /sys/kernel/mm/transparent_hugepage/enabled; do : >> $f && echo WROTE $f; done`, `! grep -q WROTE "$OUT"`),
		k("switches-mode", "opens such switches by their modes, or mounts them anew", `chmod 666 /proc/sys/kernel/core_pattern && echo WROTE; mount -o remount,rw /proc/sys && echo WROTE; umount /proc/sys && echo WROTE; mount -t proc p /tmp && echo WROTE; mount -t sysfs s /tmp && echo WROTE; mount -t cgroup2 c /tmp && echo WROTE`, `! grep -q WROTE "$OUT"`),
		k("machine-facts", "reads what the kernel keeps about the machine", `head -c 1 /proc/kcore; head -c 1 /proc/kallsyms; head -c 1 /proc/keys; head -c 1 /proc/timer_list; head -c 1 /proc/kmsg; head -c 1 /dev/kmsg; ls /sys/kernel /sys/class/net; dmesg | head -c 1`, nothing),
		k("devices", "opens devices of the machine", `for d in mem kmsg fuse kvm vda sda nvme0n1 port net/tun snd/timer input/event0 dri/card0 loop-control mapper/control vhost-net uinput ptmx; do exec 7</dev/$d && echo OPENED $d; done 2>/dev/null`, `! grep -q OPENED "$OUT"`),
		k("make-device", "makes a device of its own", `mknod d b 8 0; mknod c c 1 1; mknod /tmp/m c 1 1; for f in d c /tmp/m; do head -c 1 $f; done`, nothing+` && ! test -b d && ! test -c c`),
		k("nested-userns", "makes namespaces of its own", `unshare -Urm sh -c "mount -t tmpfs t .git/hooks && echo NESTED"; for f in -U -m -p -n -i -u -C -T; do unshare $f true && echo NESTED; done`, `! grep -q NESTED "$OUT"`),
		k("clone-userns", "makes them with the call that makes processes", `perl -e 'for my $f (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000) { my $r = syscall($CLONE, $f | 17, 0, 0, 0, 0); exit if $r == 0; print "REACHED\n" if $r > 0 }'`, unreached, "perl"),
		k("calls", "makes system calls that no command needs", tryCalls+strings.Join(closedCalls(), "\n")+`'`, unreached, "perl"),
		k("calls-foreign", "makes them by the numbers of another kind of program", `perl -e 'for my $n (0x40000000 + 39, 0x40000000 + 521, 0x40000000 + 41) { $! = 0; my $r = syscall($n, 1, 1, 0); print "REACHED\n" if $r >= 0 || ($! != 1 && $! != 38) }'`, unreached, "perl"),
		k("terminal-calls", "types into a terminal by a system call", `perl -e 'for my $c (0x5412, 0x541c, 0x5423, 0x100005412) { $! = 0; syscall($IOCTL, 0, $c, 0); print "REACHED\n" if $! != 1 }'`, unreached, "perl"),
		k("socket-families", "talks to the kernel, to hosts of machines or to radios by sockets", `perl -e 'for my $f (1, 3, 5, 9, 11, 15, 16, 17, 21, 26, 29, 30, 31, 32, 38, 39, 40, 41, 42, 43, 44, 45, 4294967297) { for my $t (1, 2, 3, 5) { my $r = syscall($SOCKET, $f, $t, 0); print "REACHED $f $t\n" if $r >= 0 } }'`, unreached, "perl"),
		k("shared-memory", "leaves memory or a queue for other programs", fmt.Sprintf(`perl -e 'syscall($SHMGET, %d, 64, 01666); syscall($MQ_OPEN, "garuda-pwn", 0102, 0666, 0)'; echo x > /dev/mqueue/garuda-pwn`, sharedKey),
			fmt.Sprintf(`! grep -q " *%d " /proc/sysvipc/shm && ! test -e /dev/mqueue/garuda-pwn`, sharedKey), "perl"),
		k("abstract-socket", "connects to a socket without a file", `perl -e 'use Socket; my $a = "\1\0\0$ABSTRACT"; substr($a, 0, 2) = pack("S", 1); for my $k (1, 2, 5) { socket(S, PF_UNIX, $k, 0) && connect(S, $a) && print "CONNECTED\n" }'`, connected, "perl"),
		k("new-rights", "gets rights from a program with capabilities", `setpriv --dump 2>/dev/null | grep -i -e "^effective capabilities: .*[a-z]*cap" ; awk '/^Cap(Inh|Prm|Eff|Bnd|Amb)/ && $2 !~ /^0+$/ { print "REACHED", $0 } /^NoNewPrivs/ && $2 != 1 { print "REACHED", $0 } /^Seccomp:/ && $2 != 2 { print "REACHED", $0 }' /proc/self/status`, unreached),
		k("big-file", "fills the disk with one file", `truncate -s 900G big && echo REACHED; fallocate -l 900G big && echo REACHED; perl -e 'open F, ">big"; seek F, 900 << 30, 0; print F "x"; close F and print "REACHED\n"'; rm -f big`, unreached, "perl", fileLimit),
	}
}
