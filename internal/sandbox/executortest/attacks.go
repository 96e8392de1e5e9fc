//go:build linux

package executortest

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
	"garuda/internal/testkit/attack"
)

// Attacks runs every case of package attack against an executor, in a process with a
// key in its environment.
type Attacks struct {
	// Test is the name of the test that runs them: this binary is started once more
	// with it.
	Test string
	// New makes an executor that ends with the test, and base the view of the system
	// and a folder that can be written.
	New  func(t testing.TB, view sandbox.Viewer) sandbox.Executor
	Base func(root string) *sandbox.View
	// Limits are those of the commands.
	Limits sandbox.Limits
	// NotHeld are the cases that the backend cannot hold, and why.
	NotHeld map[string]string
}

// attackVariable tells a test binary that it was started to run the attacks itself.
const attackVariable = "GARUDA_TEST_ATTACK"

// Run runs them as the user of the test, and as an ordinary user too when that is root.
func (a Attacks) Run(t *testing.T) {
	if os.Getenv(attackVariable) != "" {
		a.here(t)
		return
	}
	for _, as := range users() {
		t.Run(as.name, func(t *testing.T) {
			out := again(t, as.uid, a.Test, attackVariable+"=1", attack.Key+"=SECRET")
			if !strings.Contains(out, "--- PASS: "+a.Test+"/devices") && a.NotHeld["devices"] == "" {
				t.Errorf("the cases did not run:\n%s", out)
			}
		})
	}
}

func (a Attacks) here(t *testing.T) {
	cases, err := attack.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if why := a.NotHeld[c.Name]; why != "" {
				t.Skip(why)
			}
			h := attack.NewHost(t)
			e := a.New(t, func(context.Context, *sandbox.Command) (*sandbox.View, error) { return a.decoyView(t, h), nil })
			res, err := e.Run(t.Context(), &sandbox.Command{
				Argv: []string{"bash", "-c", h.Expand(c.Command)}, Dir: h.Root, Limit: 1 << 20, Timeout: timeout(c),
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Home, "TMPDIR=/tmp"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !h.Held(t, c, res.Stdout.Head) {
				t.Errorf("%q did not hold; it printed %s", c.Command, slices.Concat(res.Stdout.Head, res.Stderr.Head))
			}
			if left, err := os.ReadDir(filepath.Join(h.Root, ".garuda")); err == nil && len(left) == 0 {
				t.Error("the placeholder .garuda is left")
			}
		})
	}
}

// timeout ends a case. bash waits half a minute for each process that it does not get,
// so the one that asks for 2,000 never ends by itself.
func timeout(c attack.Case) time.Duration {
	if c.Name == "fork-bomb" {
		return 10 * time.Second
	}
	return time.Minute
}

// decoyView is what a real view makes of a decoy host.
func (a Attacks) decoyView(t *testing.T, h *attack.Host) *sandbox.View {
	v := a.Base(h.Root)
	v.Entries = append(v.Entries,
		sandbox.Entry{Path: "/tmp", Source: t.TempDir(), Access: sandbox.Writable},
		sandbox.Entry{Path: h.Home, Source: t.TempDir(), Access: sandbox.Writable},
		sandbox.Entry{Path: filepath.Join(h.Root, ".git/config"), Access: sandbox.Locked},
		sandbox.Entry{Path: filepath.Join(h.Root, ".git/hooks"), Access: sandbox.Locked},
		sandbox.Entry{Path: filepath.Join(h.Root, ".garuda"), Access: sandbox.Locked, Missing: true, Folder: true},
	)
	if !slices.ContainsFunc(v.Entries, func(e sandbox.Entry) bool { return e.Path == "/etc" }) {
		v.Entries = append(v.Entries, sandbox.Entry{Path: "/etc/passwd"})
	}
	v.Limits = a.Limits
	slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
	return v
}

// Nobody is the ordinary user of tests that root runs.
const Nobody = 65534

// AsOrdinaryUser runs a test in a process of an ordinary user, where root runs it. It
// reports whether that was done; else the test goes on in this process.
func AsOrdinaryUser(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	out := again(t, Nobody, t.Name())
	if !strings.Contains(out, "--- PASS: "+t.Name()) && !strings.Contains(out, "--- SKIP: "+t.Name()) {
		t.Errorf("the test did not run:\n%s", out)
	}
	return true
}

type user struct {
	name string
	uid  int
}

func users() []user {
	out := []user{{"own user", os.Getuid()}}
	if os.Getuid() == 0 {
		out = append(out, user{"ordinary user", Nobody})
	}
	return out
}

// again starts this test binary once more for one of its tests, as a user, in a folder
// of his, and returns what it printed.
func again(t *testing.T, uid int, test string, env ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "garuda-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	binary := filepath.Join(dir, "again.test")
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(binary, text, 0o755) // another user runs it
	}
	if err == nil {
		err = os.Chown(dir, uid, uid)
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range strings.Split(test, "/") {
		names = append(names, "^"+name+"$")
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run="+strings.Join(names, "/"), "-test.v")
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin", "HOME=" + dir, "TMPDIR=" + dir}, env...)
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}
