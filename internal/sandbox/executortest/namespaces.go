//go:build linux

package executortest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

// Namespaces is the list of promises of executors that put a whole view together, in
// namespaces of its own.
type Namespaces struct {
	// New makes an executor that ends with the test. network may be nil; records is
	// where it keeps what it made only to be locked, "" a folder of its own.
	New func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor
}

// Run checks an executor against the list.
func (n Namespaces) Run(t *testing.T) {
	for _, p := range []struct {
		name  string
		check func(*testing.T, Namespaces)
	}{
		{"locked places hold", lockedPlacesHold},
		{"a lock that crosses a link is refused", aLockThatCrossesALinkIsRefused},
		{"placeholders come and go", placeholdersComeAndGo},
		{"the passage is the only way out", thePassageIsTheOnlyWayOut},
		{"what a command is", whatACommandIs},
		{"bounds hold, and are named", boundsHold},
		{"terminals of its own", terminalsOfItsOwn},
		{"outside is no business of the sandbox", outsideIsNoBusinessOfTheSandbox},
	} {
		t.Run(p.name, func(t *testing.T) { p.check(t, n) })
	}
}

// SystemView shows the system and one folder that can be written.
func SystemView(root string) *sandbox.View {
	v := &sandbox.View{Root: root}
	for _, dir := range []string{"/bin", "/etc/alternatives", "/lib", "/lib64", "/sbin", "/usr"} {
		if target, err := os.Readlink(dir); err == nil {
			v.Links = append(v.Links, sandbox.Link{Path: dir, Target: target})
		} else if _, err := os.Lstat(dir); err == nil {
			v.Entries = append(v.Entries, sandbox.Entry{Path: dir})
		}
	}
	v.Entries = append(v.Entries, sandbox.Entry{Path: root, Access: sandbox.Writable})
	return v
}

// Project is a folder with something to lock.
func Project(t testing.TB) string {
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

// With is SystemView with entries below the root.
func With(root string, entries ...sandbox.Entry) func(context.Context, *sandbox.Command) (*sandbox.View, error) {
	return func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		v := SystemView(root)
		for _, e := range entries {
			e.Path = filepath.Join(root, e.Path)
			v.Entries = append(v.Entries, e)
		}
		slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
		return v, nil
	}
}

func lockedPlacesHold(t *testing.T, n Namespaces) {
	root := Project(t)
	e := n.New(t, With(root,
		sandbox.Entry{Path: "a/b/config", Access: sandbox.Locked}, sandbox.Entry{Path: "a/b/hooks", Access: sandbox.Locked},
		sandbox.Entry{Path: "a/secret", Access: sandbox.Masked},
	), nil, "")
	for _, c := range []struct{ text, want string }{
		{`cat a/b/config`, "SECRET\n"},
		{`cat a/secret; echo x > a/secret || echo no`, "no\n"},
		{`echo x > a/b/config || echo no`, "no\n"}, {`rm -f a/b/config || echo no`, "no\n"}, {`mv a/b/config x || echo no`, "no\n"},
		{`ln a/b/config x || echo no`, "no\n"}, {`: > a/b/hooks/x || echo no`, "no\n"}, {`mv a/b/hooks x || echo no`, "no\n"},
		{`mv a/b x || echo no`, "no\n"}, {`mv a x || echo no`, "no\n"}, {`rm -rf a/b || echo no`, "no\n"}, {`chmod 777 a/b/config || echo no`, "no\n"},
		{`mv open y && mv y open && echo x > a/b/new && rm a/b/new && echo yes`, "yes\n"},
	} {
		res, err := e.Run(t.Context(), Shell(root, c.text+" 2>/dev/null"))
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

func aLockThatCrossesALinkIsRefused(t *testing.T, n Namespaces) {
	root := Project(t)
	if err := os.Symlink("a", filepath.Join(root, "l")); err != nil {
		t.Fatal(err)
	}
	for _, entry := range []sandbox.Entry{
		{Path: "l/b/config", Access: sandbox.Locked}, {Path: "l", Access: sandbox.Locked},
		{Path: "l/new", Access: sandbox.Locked, Missing: true},
	} {
		_, err := n.New(t, With(root, entry), nil, "").Run(t.Context(), Shell(root, ": > ran"))
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

func placeholdersComeAndGo(t *testing.T, n Namespaces) {
	root := Project(t)
	records := t.TempDir()
	missing := With(root,
		sandbox.Entry{Path: ".agent", Access: sandbox.Locked, Missing: true, Folder: true},
		sandbox.Entry{Path: "a/file", Access: sandbox.Locked, Missing: true},
		sandbox.Entry{Path: "deep/er/x", Access: sandbox.Locked, Missing: true}, sandbox.Entry{Path: "deep/er/y", Access: sandbox.Locked, Missing: true},
	)
	e := n.New(t, missing, nil, records)
	res, err := e.Run(t.Context(), Shell(root, `for p in .agent/x a/file deep/er/x deep/z; do (mkdir -p $(dirname $p) && echo x > $p) 2>/dev/null && echo $p; done; mv a b && echo moved`))
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
	other := n.New(t, missing, nil, records)
	p, err := e.Start(t.Context(), Shell(root, "echo begun; read x; echo x > .agent/x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdout().Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Run(t.Context(), Shell(root, "true")); err != nil {
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

func thePassageIsTheOnlyWayOut(t *testing.T, n Namespaces) {
	root := Project(t)
	network := &passage{t: t, ended: make(chan struct{})}
	e := n.New(t, With(root), network, "")
	res, err := e.Run(t.Context(), Shell(root, `cat < /dev/tcp/127.0.0.1/3128; echo $HTTP_PROXY; ls /sys/class/net 2>/dev/null; cut -d: -f1 -s /proc/net/dev | tr -d ' '`))
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

func whatACommandIs(t *testing.T, n Namespaces) {
	root := Project(t)
	e := n.New(t, func(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
		v, err := With(root)(ctx, cmd)
		v.Limits = sandbox.Limits{Processes: 400, FileBytes: 1 << 20, MemoryBytes: 1 << 30}
		return v, err
	}, nil, "")
	for _, c := range []struct{ text, want string }{
		{`grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | cut -f2 | sort -u | tr '\n' ' '`, "0000000000000000 1 2 "},
		{`ulimit -c; head -c 2000000 /dev/zero > big; stat -c %s big`, "0\n1048576\n"},
		{`cat /proc/1/environ 2>/dev/null || echo hidden; readlink /proc/1/fd/3 || echo hidden`, "hidden\nhidden\n"},
		{`unshare -U true || echo alone; ls -d /sys || echo none`, "alone\nnone\n"},
		{`ulimit -u; cat /proc/self/oom_score_adj`, "400\n500\n"},
		{`/bin/kill -9 -1; echo here`, ""}, {`kill -TERM 1; kill -KILL 1; echo alive`, "alive\n"},
		{`ls /dev; : > /dev/null && echo open`, "fd\nfull\nnull\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\nopen\n"},
		{`echo x > /proc/sys/kernel/printk || echo no; echo x > /proc/sys/vm/drop_caches || echo no`, "no\nno\n"},
		{`: > /x || echo no; : > /etc/x || echo no; : > /dev/x || echo no`, "no\nno\nno\n"},
	} {
		res, err := e.Run(t.Context(), Shell(root, "exec 2>/dev/null; "+c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := string(res.Stdout.Head); got != c.want {
			t.Errorf("%s: printed %q, want %q", c.text, got, c.want)
		}
	}
}

// Bombs end, what else runs goes on, and the result names the limit as far as the
// kernel tells.
func boundsHold(t *testing.T, n Namespaces) {
	root := Project(t)
	e := n.New(t, func(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
		v, err := With(root)(ctx, cmd)
		v.Limits = sandbox.Limits{Processes: 400, FileBytes: 1 << 20, MemoryBytes: 1 << 30}
		return v, err
	}, nil, "")
	run := func(text string) *sandbox.Result {
		t.Helper()
		cmd := Shell(root, text)
		cmd.Timeout = 30 * time.Second
		res, err := e.Run(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := run("head -c 2000000 /dev/zero > big"); !slices.Equal(res.Hit, []sandbox.Limit{sandbox.LimitFileSize}) {
		t.Errorf("a large file: %+v", res)
	}
	if res := run("head -c 1000 /dev/zero > small"); len(res.Hit) > 0 || res.ExitCode != 0 {
		t.Errorf("a small one: %+v", res)
	}
	// One that holds more than it may is refused the memory, or ended.
	if _, err := os.Stat("/usr/bin/perl"); err == nil {
		if res := run("perl -e '$x = q(x) x 2e9'"); res.ExitCode == 0 || res.TimedOut {
			t.Errorf("a memory bomb: %+v", res)
		}
	}
	if res := run("true"); res.ExitCode != 0 {
		t.Errorf("afterwards: %+v", res)
	}
}

// Only a command that asks for terminals has any, and they are nobody else's.
func terminalsOfItsOwn(t *testing.T, n Namespaces) {
	root := Project(t)
	e := n.New(t, With(root), nil, "")
	const (
		open = `exec 3<>/dev/ptmx && echo opened; ls /dev/pts`
		// Each prints what is said on a terminal that it made.
		python = `python3 -c 'import pty; pty.spawn(["sh", "-c", "test -t 0 && tty"])' </dev/null`
		script = `script -qec "test -t 0 && tty" /dev/null </dev/null`
	)
	for text, want := range map[string]string{open: "opened\n0\nptmx\n", python: "/dev/pts/0\r\n", script: "/dev/pts/0\r\n"} {
		program, _, _ := strings.Cut(text, " ")
		if _, err := os.Stat("/usr/bin/" + program); err != nil && program != "exec" {
			continue // this machine has it not
		}
		cmd := Shell(root, text)
		cmd.Terminals = true
		res, err := e.Run(t.Context(), cmd)
		if err != nil || string(res.Stdout.Head) != want {
			t.Errorf("%s: %+v, %v: %q, %s", text, res, err, res.Stdout.Head, res.Stderr.Head)
		}
		cmd.Terminals = false
		if res, err = e.Run(t.Context(), cmd); err != nil || res.Stdout.Total > 0 {
			t.Errorf("without asking, %s: %+v, %v: %q", text, res, err, res.Stdout.Head)
		}
	}
}

func outsideIsNoBusinessOfTheSandbox(t *testing.T, n Namespaces) {
	root := Project(t)
	cmd := Shell(root, ": > ran")
	cmd.Outside = true
	if _, err := n.New(t, With(root), nil, "").Run(t.Context(), cmd); err == nil {
		t.Error("it ran")
	}
	cmd = Shell(root, "true")
	cmd.Argv = []string{"no-such-program"}
	if _, err := n.New(t, With(root), nil, "").Run(t.Context(), cmd); !errors.Is(err, proc.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
