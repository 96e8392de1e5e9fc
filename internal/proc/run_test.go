//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperVariable); dir != "" {
		beGaruda(dir)
	}
	goleak.VerifyTestMain(m)
}

// group makes a Supervisor with one group; its Report fails the test.
func group(t testing.TB) *proc.Group {
	t.Helper()
	sup, err := proc.New(proc.Options{Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return sup.NewGroup()
}

func bash(t testing.TB, text string) *sandbox.Command {
	t.Helper()
	return &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, Limit: 30_000, Timeout: 2 * time.Minute,
	}
}

func run(t testing.TB, g *proc.Group, cmd *sandbox.Command) *sandbox.Result {
	t.Helper()
	res, err := g.Run(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// What every executor promises is tested by executortest, through package host.

func TestLargeOutputTakesLittleMemoryAndEndsTheFileAtItsLimit(t *testing.T) {
	g := group(t)
	cmd := bash(t, "head -c 100000000 /dev/zero")
	cmd.SpillPath = filepath.Join(t.TempDir(), "spill")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := run(t, g, cmd)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 10_000_000 {
		t.Errorf("100 MB of output allocated %d bytes, want at most 10 MB", grown)
	}
	if res.Stdout.Total != 100_000_000 || !res.SpillCut || res.SpillErr != nil {
		t.Errorf("total %d, cut %v, error %v", res.Stdout.Total, res.SpillCut, res.SpillErr)
	}
	if info, err := os.Stat(res.Spill); err != nil || info.Size() != 64<<20 {
		t.Errorf("the file: %v %v", info.Size(), err)
	}
}

// masked writes in capitals what stands for redaction, and holds back a last
// line until it is closed.
type masked struct {
	w       io.Writer
	pending []byte
	fail    error
}

func (m *masked) Write(b []byte) (int, error) {
	if m.fail != nil {
		return 0, m.fail
	}
	m.pending = append(m.pending, b...)
	return len(b), nil
}

func (m *masked) Close() error {
	_, err := m.w.Write(bytes.ReplaceAll(m.pending, []byte("secret"), []byte("[REDACTED]")))
	return err
}

func TestTheSpilledOutputGoesThroughTheRedaction(t *testing.T) {
	g := group(t)
	cmd := bash(t, "echo secret; seq 10000; echo secret >&2")
	cmd.SpillPath = filepath.Join(t.TempDir(), "spill")
	cmd.SpillThrough = func(w io.Writer) io.WriteCloser { return &masked{w: w} }
	res := run(t, g, cmd)
	got, err := os.ReadFile(res.Spill)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte("secret")) || bytes.Count(got, []byte("[REDACTED]")) != 2 {
		t.Errorf("the file holds %d secrets, %d masks", bytes.Count(got, []byte("secret")), bytes.Count(got, []byte("[REDACTED]")))
	}
}

func TestATroubledSpillIsSaidAndFailsNoCommand(t *testing.T) {
	g := group(t)
	full := errors.New("no space left on device")
	cmd := bash(t, "seq 100000; exit 3")
	cmd.SpillPath = filepath.Join(t.TempDir(), "spill")
	cmd.SpillThrough = func(w io.Writer) io.WriteCloser { return &masked{w: w, fail: full} }
	res := run(t, g, cmd)
	if !errors.Is(res.SpillErr, full) || !strings.Contains(res.SpillErr.Error(), cmd.SpillPath) {
		t.Errorf("got %v", res.SpillErr)
	}
	if res.ExitCode != 3 || res.Stdout.Total != 588895 {
		t.Errorf("the command: %d, %d bytes", res.ExitCode, res.Stdout.Total)
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o700, "data": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct{ file, path, want string }{
		{"tool", "/nowhere:" + dir, filepath.Join(dir, "tool")},
		{"tool", "", ""},
		{"tool", ".::", ""}, // the project's folder, in its ways of being written
		{"data", dir, ""},
		{"folder", dir, ""},
	} {
		if got := proc.LookPath(c.file, c.path); got != c.want {
			t.Errorf("LookPath(%q, %q) = %q, want %q", c.file, c.path, got, c.want)
		}
	}
}
