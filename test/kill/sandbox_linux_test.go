package kill_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sandboxed is a project whose commands run in the sandbox, with a temporary folder of
// its own for whatever a killed Garuda leaves.
type sandboxed struct {
	*project
	temp string
	// mark is a number that no other process on the machine sleeps for.
	mark string
	// pid is the killed Garuda's; the names of its control groups have it.
	pid int
}

func newSandboxed(t *testing.T, n int) *sandboxed {
	t.Helper()
	s := &sandboxed{project: newProject(t), mark: fmt.Sprintf("61.%d%06d", n, os.Getpid())}
	s.temp = filepath.Join(s.home, "temp")
	if err := os.Mkdir(s.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "init", "-q", "--template=", s.dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return s
}

// start begins a command in the sandbox.
func (s *sandboxed) start(command string) *exec.Cmd {
	cmd := s.garuda("sandbox", "run", "--executor", "os", "--", "bash", "-c", command)
	cmd.Env = append(cmd.Env, "TMPDIR="+s.temp)
	return cmd
}

// left is everything that is not as before there was a Garuda: processes, mounts,
// control groups, and files below the project, the private folders and TMPDIR.
func (s *sandboxed) left() []string {
	s.t.Helper()
	var out []string
	cmdlines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range cmdlines {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(s.mark)) {
			out = append(out, fmt.Sprintf("process %s %q", filepath.Base(filepath.Dir(file)), line))
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		s.t.Fatal(err)
	}
	if strings.Contains(string(mounts), s.dir) {
		out = append(out, "a mount in the project")
	}
	for _, pattern := range []string{
		filepath.Join(s.dir, "*"), filepath.Join(s.dir, ".[!.]*"), filepath.Join(s.dir, ".git", "commondir"),
		filepath.Join(s.temp, "*"), filepath.Join(s.home, ".garuda", "sandbox", "session-*"),
		filepath.Join(s.home, ".garuda", "running", "*"), filepath.Join(s.home, ".garuda", "placeholders", "*.jsonl"),
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, found...)
	}
	err = filepath.WalkDir("/sys/fs/cgroup", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), fmt.Sprintf("garuda-%d-", s.pid)) {
			out = append(out, path)
		}
		return nil // what cannot be listed belongs to others
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(out, func(path string) bool { return path == filepath.Join(s.dir, ".git") })
}

// TestKillOfASandbox ends Garuda with SIGKILL at random moments of sandboxed work. The
// processes end at once with it; all else is gone after the next start.
func TestKillOfASandbox(t *testing.T) {
	probe := newSandboxed(t, 0)
	start := time.Now()
	work := func(s *sandboxed) string {
		return "setsid nohup sleep " + s.mark + " >/dev/null 2>&1 & (sleep " + s.mark + " &); for i in 1 2 3; do echo $i > $TMPDIR/$i; cat /proc/self/status > ~/$i; done; sleep 0.2"
	}
	if out, err := probe.start(work(probe)).CombinedOutput(); err != nil {
		if strings.Contains(string(out), "no sandbox") {
			t.Skipf("%s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	lasts := time.Since(start)
	if left := probe.left(); len(left) > 0 {
		t.Fatalf("a run that nobody killed left %q", left)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("a whole run takes %s; seed %d", lasts.Round(time.Millisecond), seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range kills(t) {
		after := time.Duration(random.Int64N(int64(lasts)))
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			s := newSandboxed(t, n+1)
			cmd := s.start(work(s))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s.pid = cmd.Process.Pid
			time.Sleep(after)
			_ = cmd.Process.Kill() // or it was quicker
			_ = cmd.Wait()
			s.processesEnd()
			if out, err := s.start("true").CombinedOutput(); err != nil {
				t.Fatalf("the next start: %v: %s", err, out)
			}
			if left := s.left(); len(left) > 0 {
				t.Fatalf("after the next start there is %q", left)
			}
		})
	}
}

// processesEnd holds that the namespace ends with Garuda; the kernel takes a moment.
func (s *sandboxed) processesEnd() {
	s.t.Helper()
	alive := func() bool {
		return slices.ContainsFunc(s.left(), func(what string) bool { return strings.HasPrefix(what, "process ") })
	}
	for limit := time.Now().Add(5 * time.Second); alive(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			s.t.Fatalf("a killed Garuda's commands go on: %q", s.left())
		}
	}
}
