//go:build linux

package linux_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/linux"
	"garuda/internal/testkit/attack"
)

// asVariable tells this test binary that it was started to run the attacks itself.
const asVariable = "GARUDA_TEST_ATTACK"

// nobody is the ordinary user of tests that root runs.
const nobody = 65534

// TestAttacks runs every case in a process with a key in its environment, as the
// user of the test, and as an ordinary user too when that is root.
func TestAttacks(t *testing.T) {
	if os.Getenv(asVariable) != "" {
		runAttacks(t)
		return
	}
	t.Run("own user", func(t *testing.T) { attackAs(t, os.Getuid()) })
	if os.Getuid() == 0 {
		t.Run("ordinary user", func(t *testing.T) { attackAs(t, nobody) })
	}
}

// attackAs starts this binary once more.
func attackAs(t *testing.T, uid int) {
	dir := userFolder(t, uid)
	binary := filepath.Join(dir, "linux.test")
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(binary, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestAttacks$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin", "HOME=" + dir, "TMPDIR=" + dir, asVariable + "=1", attack.Key + "=SECRET",
	}
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestAttacks/works-git") {
		t.Errorf("the cases did not run:\n%s", out)
	}
}

// userFolder is a folder that belongs to a user and that he can reach.
func userFolder(t *testing.T, uid int) string {
	dir, err := os.MkdirTemp("/tmp", "garuda-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if uid != os.Getuid() {
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runAttacks(t *testing.T) {
	cases, err := attack.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			h := attack.NewHost(t)
			e := executor(t, linux.Options{View: func(context.Context, *sandbox.Command) (*sandbox.View, error) { return decoyView(t, h), nil }})
			res, err := e.Run(t.Context(), &sandbox.Command{
				Argv: []string{"bash", "-c", h.Expand(c.Command)}, Dir: h.Root, Limit: 1 << 20, Timeout: time.Minute,
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Home, "TMPDIR=/tmp"},
			})
			if err != nil {
				t.Fatal(err)
			}
			out := slices.Concat(res.Stdout.Head, res.Stderr.Head)
			if !h.Held(t, c, res.Stdout.Head) {
				t.Errorf("%q did not hold; it printed %s", c.Command, out)
			}
			if left, err := os.ReadDir(filepath.Join(h.Root, ".garuda")); err == nil && len(left) == 0 {
				t.Error("the placeholder .garuda is left")
			}
		})
	}
}

// decoyView is what a real view makes of a decoy host.
func decoyView(t *testing.T, h *attack.Host) *sandbox.View {
	v := view(h.Root)
	tmp, home := t.TempDir(), t.TempDir()
	v.Entries = append(v.Entries,
		sandbox.Entry{Path: "/tmp", Source: tmp, Access: sandbox.Writable},
		sandbox.Entry{Path: h.Home, Source: home, Access: sandbox.Writable},
		sandbox.Entry{Path: filepath.Join(h.Root, ".git/config"), Access: sandbox.Locked},
		sandbox.Entry{Path: filepath.Join(h.Root, ".git/hooks"), Access: sandbox.Locked},
		sandbox.Entry{Path: filepath.Join(h.Root, ".garuda"), Access: sandbox.Locked, Missing: true, Folder: true},
		sandbox.Entry{Path: "/etc/passwd"},
	)
	v.Limits = sandbox.Limits{Processes: 512, FileBytes: 1 << 30, MemoryBytes: 4 << 30}
	slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
	return v
}
