package choose

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// noWait opens neither a link nor waits for the other side of a FIFO.
const noWait = unix.O_NOFOLLOW | unix.O_NONBLOCK

// private reports whether a file is the user's own and nobody else's affair.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && info.Mode().Perm()&0o077 == 0 && int(stat.Uid) == os.Geteuid()
}

// switches are files that decide about namespaces, about the profile Garuda runs
// under, and about the boot that all of this belongs to.
func switches() []string {
	return []string{
		"/proc/sys/kernel/random/boot_id",
		"/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_mnt_namespaces", "/proc/sys/user/max_pid_namespaces",
		"/proc/sys/user/max_net_namespaces", "/proc/sys/user/max_ipc_namespaces", "/proc/sys/user/max_uts_namespaces",
		"/proc/sys/user/max_cgroup_namespaces",
		"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		"/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined", "/proc/sys/kernel/seccomp/actions_avail",
		"/proc/self/attr/current", "/proc/self/uid_map", "/proc/self/gid_map", "/sys/kernel/security/lsm",
	}
}

// circumstances are all that the outcome of a trial can depend on: the boot, the
// kernel, this very file of Garuda, who runs it, in which namespaces and under which
// filters, and what the machine's switches say. They are told as one hash.
func circumstances() (string, error) {
	var b strings.Builder
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("learn which kernel this is: %w", err)
	}
	var own unix.Stat_t
	if err := unix.Stat("/proc/self/exe", &own); err != nil {
		return "", fmt.Errorf("look at Garuda's own file: %w", err)
	}
	groups, err := os.Getgroups()
	if err != nil {
		return "", fmt.Errorf("learn which groups Garuda belongs to: %w", err)
	}
	fmt.Fprintf(&b, "kernel %s %s %s\n", u.Release[:], u.Version[:], u.Machine[:])
	fmt.Fprintf(&b, "program %d %d %d %v %v\n", own.Dev, own.Ino, own.Size, own.Mtim, own.Ctim)
	fmt.Fprintf(&b, "user %d %d %d %d %v\n", os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid(), groups)
	for _, name := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		at, err := os.Readlink("/proc/self/ns/" + name)
		fmt.Fprintf(&b, "%s %s %v\n", name, at, err)
	}
	for _, name := range switches() {
		text, err := readShort(name)
		fmt.Fprintf(&b, "%s %q %v\n", name, text, err)
	}
	status, err := readShort("/proc/self/status")
	if err != nil {
		return "", fmt.Errorf("learn what Garuda may do: %w", err)
	}
	for line := range strings.Lines(status) {
		for _, name := range []string{"Cap", "NoNewPrivs:", "Seccomp"} {
			if strings.HasPrefix(line, name) {
				b.WriteString(line)
			}
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:]), nil
}

// readShort reads what the kernel says in a file, without what package os does for
// files that may block.
func readShort(path string) (text string, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	b := make([]byte, 8<<10)
	n, err := unix.Read(fd, b)
	return string(b[:max(n, 0)]), err
}
