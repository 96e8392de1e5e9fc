//go:build linux

package linux_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/linux"
)

// project is a folder with something to lock.
func project(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/hooks", "open"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"a/b/config", "a/secret"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte("SECRET\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// with is view with entries below the root.
func with(root string, entries ...sandbox.Entry) func(context.Context, *sandbox.Command) (*sandbox.View, error) {
	return func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		v := view(root)
		for _, e := range entries {
			e.Path = filepath.Join(root, e.Path)
			v.Entries = append(v.Entries, e)
		}
		slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
		return v, nil
	}
}

func sh(root, text string) *sandbox.Command {
	return &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: root, Limit: 30_000, Timeout: time.Minute, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
	}
}

func TestLockedPlacesHold(t *testing.T) {
	root := project(t)
	e := executor(t, linux.Options{View: with(root,
		sandbox.Entry{Path: "a/b/config", Access: sandbox.Locked}, sandbox.Entry{Path: "a/b/hooks", Access: sandbox.Locked},
		sandbox.Entry{Path: "a/secret", Access: sandbox.Masked},
	)})
	for _, c := range []struct{ text, want string }{
		{`cat a/b/config`, "SECRET\n"},
		{`cat a/secret; echo x > a/secret || echo no`, "no\n"},
		{`echo x > a/b/config || echo no`, "no\n"}, {`rm -f a/b/config || echo no`, "no\n"}, {`mv a/b/config x || echo no`, "no\n"},
		{`ln a/b/config x || echo no`, "no\n"}, {`: > a/b/hooks/x || echo no`, "no\n"}, {`mv a/b/hooks x || echo no`, "no\n"},
		{`mv a/b x || echo no`, "no\n"}, {`mv a x || echo no`, "no\n"}, {`rm -rf a/b || echo no`, "no\n"}, {`chmod 777 a/b/config || echo no`, "no\n"},
		{`mv open y && mv y open && echo x > a/b/new && rm a/b/new && echo yes`, "yes\n"},
	} {
		res, err := e.Run(t.Context(), sh(root, c.text+" 2>/dev/null"))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(res.Stdout.Head); got != c.want {
			t.Errorf("%s: printed %q, want %q; %s", c.text, got, c.want, res.Stderr.Head)
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "a/b/config")); err != nil || string(b) != "SECRET\n" {
		t.Errorf("afterwards %q, %v", b, err)
	}
}

func TestALockThatCrossesALinkIsRefused(t *testing.T) {
	root := project(t)
	if err := os.Symlink("a", filepath.Join(root, "l")); err != nil {
		t.Fatal(err)
	}
	for _, entry := range []sandbox.Entry{
		{Path: "l/b/config", Access: sandbox.Locked}, {Path: "l", Access: sandbox.Locked},
		{Path: "l/new", Access: sandbox.Locked, Missing: true},
	} {
		_, err := executor(t, linux.Options{View: with(root, entry)}).Run(t.Context(), sh(root, ": > ran"))
		if err == nil || !strings.Contains(err.Error(), "symbolic link") || !strings.Contains(err.Error(), root+"/l") {
			t.Errorf("%s: %v", entry.Path, err)
		}
	}
	for _, name := range []string{"ran", "a/new"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	root := project(t)
	records := t.TempDir()
	missing := with(root,
		sandbox.Entry{Path: ".agent", Access: sandbox.Locked, Missing: true, Folder: true},
		sandbox.Entry{Path: "a/file", Access: sandbox.Locked, Missing: true},
		sandbox.Entry{Path: "deep/er/x", Access: sandbox.Locked, Missing: true}, sandbox.Entry{Path: "deep/er/y", Access: sandbox.Locked, Missing: true},
	)
	e := executor(t, linux.Options{View: missing, Records: records})
	res, err := e.Run(t.Context(), sh(root, `for p in .agent/x a/file deep/er/x deep/z; do (mkdir -p $(dirname $p) && echo x > $p) 2>/dev/null && echo $p; done; mv a b && echo moved`))
	if err != nil {
		t.Fatal(err)
	}
	if res.Stdout.Total != 0 {
		t.Errorf("made: %s", res.Stdout.Head)
	}
	gone := func() {
		t.Helper()
		for _, name := range []string{".agent", "a/file", "deep"} {
			if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", name, err)
			}
		}
	}
	gone()

	// While one executor needs them, the end of another does not take them away.
	other := executor(t, linux.Options{View: missing, Records: records})
	p, err := e.Start(t.Context(), sh(root, "echo begun; read x; echo x > .agent/x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdout().Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Run(t.Context(), sh(root, "true")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, ".agent")); err != nil {
		t.Errorf("another's end opened the lock: %v", err)
	}
	if err := p.Stdin().Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	gone()
}

// childVariable makes this test binary a Garuda that is killed in the middle.
const childVariable = "GARUDA_TEST_CHILD"

func TestKillOfGarudaEndsEverything(t *testing.T) {
	entry := sandbox.Entry{Path: ".agent", Access: sandbox.Locked, Missing: true, Folder: true}
	if root := os.Getenv(childVariable); root != "" {
		e := executor(t, linux.Options{View: with(root, entry), Records: filepath.Join(root, "records")})
		_, err := e.Run(t.Context(), sh(root, "setsid sleep 31536001 & sleep 31536001 & echo > begun; wait"))
		t.Fatalf("it ended: %v", err)
	}
	root := project(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestKillOfGarudaEndsEverything$")
	cmd.Env = append(os.Environ(), childVariable+"="+root)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the command", func() bool { _, err := os.Lstat(filepath.Join(root, "begun")); return err == nil })
	waitFor(t, "all of it", func() bool { return sleepers(t) == 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	waitFor(t, "its end", func() bool { return sleepers(t) == 0 })
	if _, err := os.Lstat(filepath.Join(root, ".agent")); err != nil {
		t.Errorf("nothing is left to be swept: %v", err)
	}
	executor(t, linux.Options{Records: filepath.Join(root, "records")})
	if _, err := os.Lstat(filepath.Join(root, ".agent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next start left the placeholder: %v", err)
	}
}

func sleepers(t *testing.T) int {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && string(line) == "sleep\x0031536001\x00" {
			n++
		}
	}
	return n
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// passage answers every connection with a word.
type passage struct {
	t     testing.TB
	ended chan struct{}
	l     net.Listener
}

func (p *passage) Begin(context.Context, string) (sandbox.Passage, error) { return p, nil }
func (p *passage) Env() []string                                          { return []string{"HTTP_PROXY=http://token@127.0.0.1:3128"} }
func (p *passage) Listeners() []sandbox.Listener {
	return []sandbox.Listener{{Network: "tcp4", Address: "127.0.0.1:3128"}, {Network: "udp4", Address: "127.0.0.1:53"}}
}

func (p *passage) Serve(files []*os.File) error {
	if len(files) != 2 {
		return errors.New("not two files")
	}
	l, err := net.FileListener(files[0])
	if err := errors.Join(err, files[0].Close(), files[1].Close()); err != nil {
		return err
	}
	p.l = l
	go func() {
		defer close(p.ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("served\n"))
			_ = c.Close()
		}
	}()
	return nil
}

func (p *passage) Close() []string {
	if p.l != nil {
		_ = p.l.Close()
		<-p.ended
	}
	return []string{"example.com"}
}

func TestThePassageIsTheOnlyWayOut(t *testing.T) {
	root := project(t)
	network := &passage{t: t, ended: make(chan struct{})}
	e := executor(t, linux.Options{View: with(root), Network: network})
	res, err := e.Run(t.Context(), sh(root, `cat < /dev/tcp/127.0.0.1/3128; echo $HTTP_PROXY; ls /sys/class/net 2>/dev/null; cut -d: -f1 -s /proc/net/dev | tr -d ' '`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("served\nhttp://token@127.0.0.1:3128\nlo\n", string(res.Stdout.Head)); diff != "" {
		t.Errorf("%s%s", diff, res.Stderr.Head)
	}
	if diff := cmp.Diff([]string{"example.com"}, res.Refused); diff != "" {
		t.Error(diff)
	}
}

func TestWhatACommandIs(t *testing.T) {
	root := project(t)
	e := executor(t, linux.Options{View: func(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
		v, err := with(root)(ctx, cmd)
		v.Limits = sandbox.Limits{Processes: 400, FileBytes: 1 << 20, MemoryBytes: 1 << 30}
		return v, err
	}})
	for _, c := range []struct{ text, want string }{
		{`grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | cut -f2 | sort -u | tr '\n' ' '`, "0000000000000000 1 2 "},
		{`ulimit -c; head -c 2000000 /dev/zero > big; stat -c %s big`, "0\n1048576\n"},
		{`cat /proc/1/environ 2>/dev/null || echo hidden; readlink /proc/1/fd/3 || echo hidden`, "hidden\nhidden\n"},
		{`cat /proc/sys/user/max_user_namespaces; ls -d /sys 2>/dev/null || echo none`, "0\nnone\n"},
		{`ulimit -u`, "400\n"},
		{`/bin/kill -9 -1; echo here`, ""}, {`kill -TERM 1; kill -KILL 1; echo alive`, "alive\n"},
		{`: > /x || echo no; : > /etc/x || echo no; : > /dev/x || echo no`, "no\nno\nno\n"},
	} {
		res, err := e.Run(t.Context(), sh(root, "exec 2>/dev/null; "+c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := string(res.Stdout.Head); got != c.want {
			t.Errorf("%s: printed %q, want %q", c.text, got, c.want)
		}
	}
}

func TestOutsideIsNoBusinessOfTheSandbox(t *testing.T) {
	root := project(t)
	cmd := sh(root, ": > ran")
	cmd.Outside = true
	if _, err := executor(t, linux.Options{View: with(root)}).Run(t.Context(), cmd); err == nil {
		t.Error("it ran")
	}
	cmd = sh(root, "true")
	cmd.Argv = []string{"no-such-program"}
	if _, err := executor(t, linux.Options{View: with(root)}).Run(t.Context(), cmd); !errors.Is(err, proc.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// An executor that runs nothing leaves nothing behind.
func TestNothingIsMadeBeforeTheFirstCommand(t *testing.T) {
	home := t.TempDir()
	executor(t, linux.Options{Records: filepath.Join(home, ".garuda", "placeholders")})
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
