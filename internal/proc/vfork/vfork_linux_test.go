package vfork_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/proc/vfork"
)

const shell = "/bin/sh"

// run starts a program with a pipe as its output, and returns what it said and how it
// ended.
func run(t *testing.T, p *vfork.Program) (string, *os.ProcessState, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	p.Files = append([]*os.File{null, w, w}, p.Files...)
	// The kernel kills the child when its parent's thread ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child, startErr := vfork.Start(p)
	if err := errors.Join(null.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if startErr != nil {
		return string(text), nil, startErr
	}
	state, err := child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), state, nil
}

// limit is the test's own limit of descriptors, one lower: so it shows that it came
// from the Program.
func limit(t *testing.T) syscall.Rlimit {
	t.Helper()
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	return syscall.Rlimit{Cur: 123, Max: now.Max}
}

func TestWhatAProgramGets(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	extra, err := os.CreateTemp(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extra.WriteString("handed over\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := extra.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = extra.Close() }()
	text, state, err := run(t, &vfork.Program{
		Path: shell, Argv: []string{"sh", "-c", `pwd; echo "$A"; cat <&3; ulimit -Sn; cut -d' ' -f6 /proc/self/stat; echo $$; exit 7`},
		Env: []string{"A=the environment", "PATH=/usr/bin:/bin"}, Dir: dir, Files: []*os.File{extra}, OpenFiles: limit(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 6 {
		t.Fatalf("it said %q", text)
	}
	if got, want := strings.Join(lines[:4], "|"), dir+"|the environment|handed over|123"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if lines[4] != lines[5] {
		t.Errorf("process %s is in session %s and should lead its own", lines[5], lines[4])
	}
	if state.ExitCode() != 7 {
		t.Errorf("it ended with %v", state)
	}
}

// Descriptors may lie where others belong.
func TestDescriptorsThatCross(t *testing.T) {
	var files []*os.File
	for i := range 12 {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		if _, err := fmt.Fprintf(f, "%d\n", i); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		files = append([]*os.File{f}, files...) // the highest descriptor goes to the lowest place
	}
	text, _, err := run(t, &vfork.Program{
		Path: shell, Argv: []string{"sh", "-c", "for i in 3 4 5 6 7 8 9; do cat <&$i; done"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Files: files, OpenFiles: limit(t),
	})
	if want := "11\n10\n9\n8\n7\n6\n5\n"; err != nil || text != want {
		t.Errorf("got %q, %v; want %q", text, err, want)
	}
}

func TestAStartThatFailsLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*vfork.Program)
		step   string
		want   error
	}{
		{"no program", func(p *vfork.Program) { p.Path = "/no/such/program" }, "execute the program", syscall.ENOENT},
		{"no folder", func(p *vfork.Program) { p.Dir = "/no/such/folder" }, "enter its working directory", syscall.ENOENT},
		{"a namespace that there is not", func(p *vfork.Program) { p.Namespaces = syscall.CLONE_NEWNS | syscall.CLONE_FS }, "clone", syscall.EINVAL},
		{"a limit that cannot be", func(p *vfork.Program) { p.OpenFiles = syscall.Rlimit{Cur: 2, Max: 1} }, "limit open files", syscall.EINVAL},
		{"a NUL", func(p *vfork.Program) { p.Argv = []string{"a\x00b"} }, "", syscall.EINVAL},
	} {
		p := &vfork.Program{Path: shell, Argv: []string{"sh", "-c", "echo it ran"}, Env: []string{}, Dir: "/", OpenFiles: limit(t)}
		c.change(p)
		text, _, err := run(t, p)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.step) || text != "" {
			t.Errorf("%s: it said %q, and %v", c.name, text, err)
		}
	}
	if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: %v", err)
	}
}

// The capabilities count in the new namespace alone, and only those that were named.
func TestCapabilitiesInANewNamespace(t *testing.T) {
	text, _, err := run(t, &vfork.Program{
		Path: shell, Argv: []string{"sh", "-c", "grep CapEff /proc/self/status; cat /proc/self/uid_map"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", OpenFiles: limit(t),
		Namespaces: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, Capabilities: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN},
	})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("this machine allows no user namespaces: %v", err)
	}
	if want := fmt.Sprintf("CapEff:\t%016x\n", uint64(1<<unix.CAP_SYS_ADMIN|1<<unix.CAP_NET_ADMIN)); err != nil || text != want {
		t.Errorf("got %q, %v; want %q", text, err, want)
	}
}

func TestAGroupThatIsNone(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	text, _, err := run(t, &vfork.Program{
		Path: shell, Argv: []string{"sh", "-c", "echo it ran"}, Env: []string{}, Dir: "/", OpenFiles: limit(t),
		InCgroup: true, Cgroup: int(null.Fd()),
	})
	if err == nil || text != "" {
		t.Errorf("it said %q, %v", text, err)
	}
}

// In the group that this process is in already, which always is one.
func TestAGroup(t *testing.T) {
	var at string
	for _, top := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if own, err := os.ReadFile("/proc/self/cgroup"); err == nil {
			for line := range strings.Lines(string(own)) {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
					if _, err := os.Stat(top + rest + "/cgroup.procs"); err == nil {
						at = top + rest
					}
				}
			}
		}
	}
	group, err := os.Open(at)
	if err != nil {
		t.Skip("this machine has no cgroups v2")
	}
	defer func() { _ = group.Close() }()
	text, _, err := run(t, &vfork.Program{
		Path: shell, Argv: []string{"sh", "-c", "echo it ran"}, Env: []string{}, Dir: "/", OpenFiles: limit(t),
		InCgroup: true, Cgroup: int(group.Fd()),
	})
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) {
		t.Skipf("this user may start nothing there: %v", err)
	}
	if err != nil || text != "it ran\n" {
		t.Errorf("it said %q, %v", text, err)
	}
}

// The child runs in this address space for a moment, while all else here goes on.
func TestManyAtOnceWhileTheHeapChanges(t *testing.T) {
	stop := make(chan struct{})
	var churn, starts sync.WaitGroup
	churn.Go(func() {
		var kept [][]byte
		for {
			select {
			case <-stop:
				return
			default:
			}
			if kept = append(kept, make([]byte, 4<<10)); len(kept) == 100 {
				kept = nil
				runtime.GC()
			}
		}
	})
	for n := range 4 {
		starts.Go(func() {
			for range 10 {
				text, _, err := run(t, &vfork.Program{
					Path: shell, Argv: []string{"sh", "-c", fmt.Sprintf("echo %d", n)}, Env: []string{}, Dir: "/", OpenFiles: limit(t),
				})
				if want := fmt.Sprintf("%d\n", n); err != nil || text != want {
					t.Errorf("got %q, %v; want %q", text, err, want)
				}
			}
		})
	}
	starts.Wait()
	close(stop)
	churn.Wait()
}
