package bounds

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
)

// machine is a folder of the machine's own control groups in which the test may make
// some, and whether those have the controllers. It is skipped where there is none.
func machine(t *testing.T) (dir string, bounded bool) {
	t.Helper()
	own, top := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	for at := own; at != ""; at = filepath.Dir(at) {
		dir, err := os.MkdirTemp(at, "test-garuda-")
		if err == nil {
			t.Cleanup(func() {
				if err := os.Remove(dir); err != nil {
					t.Error(err)
				}
			})
			text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
			has := strings.Fields(string(text))
			bounded = err == nil && slices.Contains(has, "pids") && slices.Contains(has, "memory")
			if bounded {
				if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+pids +memory"), 0); err != nil {
					t.Fatal(err)
				}
			}
			return dir, bounded
		}
		if at == top {
			break
		}
	}
	t.Skip("this user may make no control group here")
	return "", false
}

func start(t *testing.T, g *Group, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	// As the sandbox starts it: a group is joined in the same step as namespaces are made.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWCGROUP}
	g.Into(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A process begins in its group; the end of the group is that of what is left in it.
func TestAGroupEndsWithAllInIt(t *testing.T) {
	dir, _ := machine(t)
	groups := &Groups{dir: dir, Report: func(err error) { t.Error(err) }}
	if !groups.tried(dir) {
		t.Fatal("no process can begin in a group")
	}
	group, err := groups.make()
	if err != nil {
		t.Fatal(err)
	}
	cmd := start(t, group, "sleep", "1000")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	text, err := os.ReadFile(filepath.Join(group.dir.Name(), "cgroup.procs"))
	if err != nil || len(strings.Fields(string(text))) != 1 {
		t.Errorf("in the group: %q, %v", text, err)
	}
	group.End(&sandbox.Result{})
	if err := <-ended; err == nil {
		t.Error("it ended by itself")
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What a killed Garuda left is removed, and what a living one uses is not.
func TestSweep(t *testing.T) {
	dir, _ := machine(t)
	groups := &Groups{dir: dir, Report: func(err error) { t.Error(err) }}
	mine, err := groups.make()
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, prefix+"1-1")
	other := filepath.Join(dir, "other")
	if err := errors.Join(os.Mkdir(dead, 0o755), os.Mkdir(other, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := sweep(dir); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{mine.dir.Name()}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	mine.End(&sandbox.Result{})
	if err := os.Remove(other); err != nil {
		t.Errorf("somebody else's: %v", err)
	}
}

// The kernel holds a group to its limits, and tells.
func TestBombs(t *testing.T) {
	dir, bounded := machine(t)
	if !bounded {
		t.Skip("no controllers of processes and memory are left for control groups of this kind")
	}
	groups := &Groups{dir: dir, Report: func(err error) { t.Error(err) }}
	groups.once.Do(func() {})
	for _, c := range []struct {
		limits sandbox.Limits
		text   string
		want   sandbox.Limit
	}{
		{sandbox.Limits{Processes: 20}, "for i in {1..100}; do sleep 5 & done 2>/dev/null; kill $(jobs -p)", sandbox.LimitProcesses},
		{sandbox.Limits{MemoryBytes: 32 << 20}, "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c", sandbox.LimitMemory},
	} {
		group := groups.Begin(c.limits)
		if group == nil {
			t.Fatal("no group")
		}
		_ = start(t, group, "bash", "-c", c.text).Wait() // how it ends is up to the kernel
		var res sandbox.Result
		group.End(&res)
		if !slices.Contains(res.Hit, c.want) {
			t.Errorf("%s: %v", c.text, res.Hit)
		}
	}
}

// What a group writes and reads, with a folder in the place of the kernel's.
func TestWhatIsWrittenAndRead(t *testing.T) {
	groups := &Groups{dir: t.TempDir()}
	group, err := groups.make()
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"pids.events": "max 3\n", "memory.events": "low 0\noom 1\noom_kill 1\n"} {
		if err := group.write(file, ""); err == nil || os.WriteFile(filepath.Join(group.dir.Name(), file), []byte(text), 0o600) != nil {
			t.Errorf("%s: a file that is not there was made: %v", file, err)
		}
	}
	for file, want := range map[string]int64{"pids.events": 3, "memory.events": 0, "none": 0} {
		if got := group.count(file, "max"); got != want {
			t.Errorf("%s: %d", file, got)
		}
	}
	if got := group.count("memory.events", "oom_kill"); got != 1 {
		t.Error(got)
	}
}

// A Group that there is none of bounds nothing, and says nothing.
func TestWithoutGroups(t *testing.T) {
	groups := &Groups{Report: func(err error) { t.Error(err) }}
	groups.once.Do(func() {}) // none was found
	for _, l := range []sandbox.Limits{{}, {FileBytes: 1}, {Processes: 1}} {
		group := groups.Begin(l)
		var sys syscall.SysProcAttr
		group.Into(&sys)
		var res sandbox.Result
		group.End(&res)
		if group != nil || sys.UseCgroupFD || len(res.Hit) > 0 {
			t.Errorf("%+v: %v, %+v", l, group, res)
		}
	}
}

func TestWhichGroupIsOurs(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	const mount = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ mounts, own, want string }{
		{mount, "0::/user.slice/app.scope\n", "/sys/fs/cgroup/user.slice/app.scope"},
		{"1 2 0:3 / /x rw - cgroup cgroup rw,pids\n40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n", "8:pids:/a\n0::/\n", "/sys/fs/cgroup/unified"},
		{"30 25 0:26 /in /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/in/a\n", "/sys/fs/cgroup/a"},
		{mount, "8:pids:/a\n", ""}, {mount, "0::/../outside\n", ""}, {"", "0::/a\n", ""}, {"garbage\n", "0::/a\n", ""},
	} {
		if got, _ := ownGroup(file("mounts", c.mounts), file("own", c.own)); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.mounts, c.own, got, c.want)
		}
	}
	if got, _ := ownGroup(filepath.Join(dir, "none"), file("own", "0::/a\n")); got != "" {
		t.Error(got)
	}
}

// root may change every group, and takes only what was delegated; others what is theirs.
func TestWhatIsDelegated(t *testing.T) {
	dir := t.TempDir()
	if delegated(filepath.Join(dir, "none")) {
		t.Error("what is not there is delegated")
	}
	if os.Geteuid() != 0 {
		if !delegated(dir) || delegated("/") {
			t.Error("whose a folder is did not count")
		}
		return
	}
	if delegated(dir) {
		t.Error("root took what nobody delegated")
	}
	if err := unix.Setxattr(dir, "trusted.delegate", []byte("1"), 0); errors.Is(err, unix.ENOTSUP) || errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	if !delegated(dir) {
		t.Error("what was delegated to root is not")
	}
}
