package attack_test

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/attack"
	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/choose"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/wrapped"
)

// asVariable names the backend that this test binary was started to attack.
const asVariable = "GARUDA_TEST_ATTACK"

// wholeVariable has every case tried against every sandbox and as every user, in the
// words of attacks.tsv too. Without it each is tried once against the best sandbox, and
// every eighth against the others.
const wholeVariable = "GARUDA_ATTACKS"

// share are the cases that one backend and user get.
func share(cases []attack.Case, backend string) []attack.Case {
	if os.Getenv(wholeVariable) != "" {
		return cases
	}
	parts, mine := 8, 3
	if backend == choose.Names()[0] {
		parts, mine = 2, 0
	}
	if os.Getenv(rootVariable) != "" {
		mine++
	}
	var out []attack.Case
	for i, c := range cases {
		if i%parts == mine || c.ID == "works-tmp" || c.ID == "kill-one" { // kill-all comes after that
			out = append(out, c)
		}
	}
	return out
}

// rootVariable says that an ordinary user stands in for root.
const rootVariable = "GARUDA_TEST_FOR_ROOT"

// nobody is the ordinary user of tests that root runs.
const nobody = 65534

func TestMain(m *testing.M) {
	if os.Getenv(asVariable) != "" {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // as Garuda does
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// weaker is what a backend does not promise; docs/sandbox.md says so too. The kernel
// counts no processes of root's, and Landlock has no namespace that bounds them.
func weaker(backend string) map[string]string {
	if backend != "landlock" {
		return nil
	}
	const (
		repository = "git makes files directly in .git, which holds locked ones"
		top        = "nothing is made directly in the project's own folder"
		seen       = "names of files and processes can be seen"
	)
	out := map[string]string{}
	for _, id := range []string{"works-git", "works-git-tmp", "git-worktree"} {
		out[id] = repository
	}
	out["works-files"], out["works-pipes"] = top, top
	out["works-python"] = "there is no /dev/shm for multiprocessing"
	out["devices"] = seen
	out["chmod-outside"] = "permissions and times are changed as the user may"
	out["machine-facts"] = "what /proc tells all users, or root, can be read"
	if os.Getuid() == 0 {
		out["fork-bomb"] = "the number of root's processes is not limited"
	}
	return out
}

// TestAttacks runs the cases against each sandbox of this system, in a process with
// a key in its environment, as the user of the test, and as an ordinary user too when
// that is root.
func TestAttacks(t *testing.T) {
	if backend := os.Getenv(asVariable); backend != "" {
		tryAll(t, backend)
		return
	}
	for _, backend := range choose.Names() {
		t.Run(backend, func(t *testing.T) {
			if _, err := os.Stat("/usr/bin/bwrap"); backend == "bwrap" && err != nil {
				t.Skip(err)
			}
			t.Run("own user", func(t *testing.T) { attackAs(t, backend, os.Getuid()) })
			if os.Getuid() == 0 {
				t.Run("ordinary user", func(t *testing.T) { attackAs(t, backend, nobody) })
			}
		})
	}
}

// attackAs attacks a backend as a user.
func attackAs(t *testing.T, backend string, uid int) {
	if out := again(t, backend, "TestAttacks", uid); !strings.Contains(out, "--- PASS: TestAttacks/works-tmp") {
		t.Errorf("the cases did not run:\n%s", out)
	}
}

// again starts this binary once more for one test, as a user, and returns what it printed.
func again(t *testing.T, backend, test string, uid int) string {
	t.Helper()
	dir := userFolder(t, uid)
	binary := filepath.Join(dir, "attack.test")
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(binary, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^"+test+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin", "HOME=" + dir, "TMPDIR=" + dir, asVariable + "=" + backend, wholeVariable + "=" + os.Getenv(wholeVariable), attack.Key + "=" + attack.Secret,
	}
	if uid != os.Getuid() {
		cmd.Env = append(cmd.Env, rootVariable+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, failures(string(out)))
	}
	return string(out)
}

// failures leaves out the lines of what passed.
func failures(out string) string {
	var kept []string
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "=== ") && !strings.Contains(line, "--- PASS") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
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

// decoys are those for one backend; they end with the test.
func decoys(t *testing.T, make func(wrapped.Options) (sandbox.Executor, error), inPlace bool) *attack.Decoys {
	t.Helper()
	sup, err := proc.New(proc.Options{RunningDir: filepath.Join(t.TempDir(), "running"), Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := attack.Prepare(t.Context(), attack.Options{
		Supervisor: sup, Dir: dir, New: make, Lookup: os.LookupEnv, InPlace: inPlace,
		Limits: sandbox.Limits{Processes: 512, FileBytes: 1 << 30, MemoryBytes: 4 << 30},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func tryAll(t *testing.T, backend string) {
	d := decoys(t, func(o wrapped.Options) (sandbox.Executor, error) {
		o.Report = func(err error) { t.Errorf("reported: %v", err) }
		return choose.New(backend, o)
	}, backend == "landlock")
	cases := attack.Cases()
	have := map[string]bool{}
	for _, c := range cases {
		have[c.ID] = true
	}
	for _, c := range sharedCases(t) {
		if !have[c.ID] {
			t.Errorf("the product has no case %s", c.ID)
		}
		if os.Getenv(wholeVariable) != "" {
			c.ID, c.After = "given-"+c.ID, ""
			cases = append(cases, c)
		}
	}
	cases = share(cases, backend)
	excused := weaker(backend)
	d.Run(t.Context(), cases, func(r attack.Result) {
		t.Run(r.Case.ID, func(t *testing.T) {
			why := excused[strings.TrimPrefix(r.Case.ID, "given-")]
			switch {
			case r.State == attack.Held:
			case why != "" && r.Err == nil:
				t.Skip(why)
			case r.State == attack.Untried && r.Err == nil:
				t.Skip(r.Why)
			default:
				t.Errorf("a command that %s: %s: %s\n%s", r.Case.Tries, r.State, r.Why, r.Case.Command)
			}
		})
	})
}

// TestProtections tries a case for each of what the sandbox's own process sets up, as
// the user of the test: what takes one of them away makes it fail (test/mutants).
func TestProtections(t *testing.T) {
	best := choose.Names()[0]
	d := decoys(t, func(o wrapped.Options) (sandbox.Executor, error) { return choose.New(best, o) }, false)
	var cases []attack.Case
	for _, c := range attack.Cases() {
		if slices.Contains(strings.Fields("proc-init core-handler switches machine-facts setuid new-rights git-config-write kill-one read-ssh calls works-tmp"), c.ID) {
			cases = append(cases, c)
		}
	}
	d.Run(t.Context(), cases, func(r attack.Result) {
		if r.State == attack.NotHeld || r.Err != nil {
			t.Errorf("%s: %s", r.Case.ID, r.Why)
		}
	})
}

//go:embed testdata/attacks.tsv
var shared string

// sharedCases are those that the design came with: name, command and check, with tabs
// between them.
func sharedCases(t testing.TB) []attack.Case {
	t.Helper()
	var out []attack.Case
	for i, line := range strings.Split(shared, "\n") {
		fields := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#") || line == "" || fields[0] == "name":
		case len(fields) != 3:
			t.Fatalf("attacks.tsv, line %d: %d columns, want 3", i+1, len(fields))
		default:
			out = append(out, attack.Case{
				ID: fields[0], Tries: "does as " + fields[0], Command: strings.ReplaceAll(fields[1], "garuda-decoy", "$ABSTRACT"), Holds: fields[2],
			})
		}
	}
	if len(out) < 30 {
		t.Fatalf("%d cases", len(out))
	}
	return out
}

// bare is an executor that holds nothing, and says that it does.
type bare struct{ *host.Executor }

func (bare) Isolation() sandbox.Isolation { return sandbox.IsolationOS }

// TestCasesNoticeAMissingSandbox is the control of the cases: the same commands, run by
// an ordinary user on the machine itself. Left out are those that would do harm, and
// those that only root, a service or a terminal of this machine would let through.
func TestCasesNoticeAMissingSandbox(t *testing.T) {
	if os.Getenv(asVariable) == "" {
		uid := os.Getuid()
		if uid == 0 {
			uid = nobody
		}
		again(t, "nothing", "TestCasesNoticeAMissingSandbox", uid)
		return
	}
	d := decoys(t, func(o wrapped.Options) (sandbox.Executor, error) {
		return bare{host.New(host.Options{Supervisor: o.Supervisor, Path: o.Path})}, nil
	}, true)
	unnoticed := map[string]bool{}
	for _, id := range strings.Fields(`
		calls-foreign core-handler core-pattern hook-case switches switches-mode make-device write-etc write-preload write-system read-shadow
		daemon-hides daemon-survives env-agents env-keys env-loader fds input tty
		later privileged proc-init shared-memory net-dns net-dns-packets net-metadata net-out net-raw proc-mounts unix-services devices machine-facts big-file slow-one`) {
		unnoticed[id] = true
	}
	var first, last []attack.Case
	for _, c := range attack.Cases() {
		switch {
		case c.Kind == attack.Work || c.After != "" || unnoticed[c.ID]:
		case strings.HasPrefix(c.ID, "kill-") || strings.HasPrefix(c.ID, "stop-"):
			last = append(last, c) // the others need the process
		default:
			first = append(first, c)
		}
	}
	noticed := 0
	if os.Getenv(wholeVariable) == "" { // some of each kind
		first = slices.DeleteFunc(first, func(c attack.Case) bool { return len(c.ID)%3 != 0 })
	}
	for _, cases := range [][]attack.Case{first, last} {
		d.Run(t.Context(), cases, func(r attack.Result) {
			if noticed++; r.State != attack.NotHeld && r.Why == "" {
				t.Errorf("the check did not notice what %s did: %s", r.Case.ID, r.Case.Command)
			}
		})
	}
	t.Logf("%d cases", noticed)
}
