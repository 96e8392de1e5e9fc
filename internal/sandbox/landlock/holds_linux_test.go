package landlock_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/landlock"
	"garuda/internal/sandbox/wrapped"
)

// place is a project among decoys.
type place struct {
	*testing.T
	root, outside, tmp string
	exec               sandbox.Executor
}

func decoys(t *testing.T) *place {
	base := t.TempDir()
	p := &place{T: t, root: filepath.Join(base, "root"), outside: filepath.Join(base, "outside"), tmp: filepath.Join(base, "tmp")}
	for file, text := range map[string]string{
		"root/.git/config": "[core]\n", "root/.git/hooks/sample": "", "root/.git/HEAD": "ref: x\n", "root/.env": "SECRET\n",
		"root/src/a.go": "package a\n", "root/README": "readme\n", "outside/id_ed25519": "SECRET\n", "tmp/.keep": "",
	} {
		file = filepath.Join(base, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.exec = executor(t, wrapped.Options{Supervisor: executortest.Supervisor(t), View: func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		v := view(p.root)
		v.Entries = append(v.Entries,
			sandbox.Entry{Path: p.root + "/.env", Access: sandbox.Masked},
			sandbox.Entry{Path: p.root + "/.garuda", Access: sandbox.Locked, Missing: true, Folder: true},
			sandbox.Entry{Path: p.root + "/.git/config", Access: sandbox.Locked},
			sandbox.Entry{Path: p.root + "/.git/hooks", Access: sandbox.Locked},
			sandbox.Entry{Path: "/tmp", Source: p.tmp, Access: sandbox.Writable},
		)
		v.Limits = sandbox.Limits{FileBytes: 1 << 20}
		return v, nil
	}})
	return p
}

func (p *place) run(text string) string {
	p.Helper()
	res, err := p.exec.Run(p.Context(), &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: p.root, Limit: 64 << 10, Timeout: time.Minute,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp", "HOME=" + p.outside},
	})
	if err != nil {
		p.Fatal(err)
	}
	return string(res.Stdout.Head)
}

func (p *place) has(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

func (p *place) holds(what string, held bool) {
	p.Helper()
	if !held {
		p.Errorf("%s did not hold", what)
	}
}

func TestFilesHold(t *testing.T) {
	if executortest.AsOrdinaryUser(t) && !executortest.Whole() {
		return
	}
	p := decoys(t)
	out := p.run(`
		echo x > ` + p.outside + `/pwned; echo x > new; mkdir newdir; mkdir -p .garuda
		truncate -s 0 ` + p.outside + `/id_ed25519; cat ` + p.outside + `/id_ed25519 .env
		ln -s ` + p.outside + ` src/l; cat src/l/id_ed25519; echo x > src/l/pwned
		echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git .gitold; rm -rf .git/hooks
		ln .git/config src/hard && echo x >> src/hard; mv .git/hooks src/
		mknod src/dev c 1 3; head -c 2000000 /dev/zero > src/large
		echo ok > src/b.go; echo more >> README; mv src/a.go src/c.go; rm src/b.go
		cat README; f=$(mktemp) && echo hi > $f && cat $f`)
	for file, want := range map[string]string{
		p.outside + "/id_ed25519": "SECRET\n", p.root + "/.git/config": "[core]\n", p.root + "/README": "readme\nmore\n", p.root + "/src/c.go": "package a\n",
	} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	for _, file := range []string{
		p.outside + "/pwned", p.root + "/new", p.root + "/newdir", p.root + "/.garuda", p.root + "/.git/hooks/pre-commit",
		p.root + "/.gitold", p.root + "/src/hooks", p.root + "/src/hard", p.root + "/src/dev", p.root + "/src/b.go",
	} {
		p.holds("the absence of "+file, !p.has(file))
	}
	p.holds("the hooks", p.has(p.root+"/.git/hooks/sample"))
	if out != "readme\nmore\nhi\n" {
		t.Errorf("printed %q", out)
	}
	info, err := os.Stat(p.root + "/src/large")
	p.holds("the size of files", err == nil && info.Size() <= 1<<20)
}

func TestTheNetworkHolds(t *testing.T) {
	if executortest.AsOrdinaryUser(t) && !executortest.Whole() {
		return
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sock := filepath.Join(t.TempDir(), "s")
	for _, at := range []string{sock, "@garuda-decoy-" + strconv.Itoa(os.Getpid())} {
		u, err := net.Listen("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = u.Close() })
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	out := decoys(t).run(`exec 3<>/dev/tcp/127.0.0.1/` + port + ` && echo CONNECTED
		exec 3<>/dev/udp/127.0.0.1/53 && echo UDP
		python3 -c "import socket
for family, kind, to in (socket.AF_UNIX, socket.SOCK_STREAM, '` + sock + `'), (socket.AF_UNIX, socket.SOCK_STREAM, chr(0)+'garuda-decoy-` + strconv.Itoa(os.Getpid()) + `'), (socket.AF_NETLINK, socket.SOCK_RAW, (0, 0)):
    try:
        s = socket.socket(family, kind); s.connect(to) if family == socket.AF_UNIX else None; print('CONNECTED')
    except OSError: pass
print('tried')"`)
	p := &place{T: t}
	p.holds("the network", strings.TrimSpace(out) == "tried")
}

func TestProcessesHold(t *testing.T) {
	if executortest.AsOrdinaryUser(t) && !executortest.Whole() {
		return
	}
	decoy := exec.Command("sleep", "600")
	decoy.Env = []string{"GARUDA_TEST_KEY=SECRET"}
	if err := decoy.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = decoy.Wait() // it is killed
	}()
	pid := strconv.Itoa(decoy.Process.Pid)
	p := decoys(t)
	out := p.run(`cat /proc/*/environ | tr '\0' '\n' | grep -a SECRET; kill -9 ` + pid + `; kill -9 -1
		(sleep 100 & kill $!; wait $!; echo killed own); unshare -Ur true && echo NESTED; readlink /proc/` + pid + `/exe /proc/` + pid + `/fd/0
		(exit 7); echo $?; ls /proc/self/fd | sort -n | tail -1; ulimit -c; grep -E '^(NoNewPrivs|Seccomp|CapEff):' /proc/self/status`)
	if landlock.Version() >= 6 {
		select {
		case <-ended:
			t.Error("a process outside was killed")
		default:
		}
	}
	want := "killed own\n7\n3\n0\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
	if out != want {
		t.Errorf("printed %q", out)
	}
	if err := decoy.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-ended
}

// network is a way out to a listener of the test.
type network struct{ served chan string }

func (n *network) Begin(context.Context, string) (sandbox.Passage, error) { return n, nil }
func (n *network) Env() []string                                          { return []string{"WAY=127.0.0.1:3128"} }
func (n *network) Listeners() []sandbox.Listener {
	return []sandbox.Listener{{Network: "tcp4", Address: "127.0.0.1:3128"}}
}
func (n *network) Serve(files []*os.File) error {
	l, err := net.FileListener(files[0])
	if err != nil {
		return err
	}
	go func() {
		defer files[0].Close()
		defer l.Close()
		c, err := l.Accept()
		if err != nil {
			n.served <- err.Error()
			return
		}
		_, err = c.Write([]byte("through\n"))
		if err != nil || c.Close() != nil {
			n.served <- "not written"
			return
		}
		n.served <- ""
	}()
	return nil
}
func (n *network) Close() []string { return []string{"evil.example"} }

func TestTheWayOutIsTheOnlyOne(t *testing.T) {
	if executortest.AsOrdinaryUser(t) && !executortest.Whole() {
		return
	}
	if landlock.Version() < 4 {
		t.Skip("this kernel's Landlock knows no ports")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, other, _ := net.SplitHostPort(l.Addr().String())
	n := &network{served: make(chan string, 1)}
	e := executor(t, wrapped.Options{
		Supervisor: executortest.Supervisor(t), Network: n,
		View: func(_ context.Context, cmd *sandbox.Command) (*sandbox.View, error) { return view(cmd.Dir), nil },
	})
	res, err := e.Run(t.Context(), &sandbox.Command{
		Argv: []string{"bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${WAY#*:} && cat <&3; exec 4<>/dev/tcp/127.0.0.1/` + other + ` && echo CONNECTED
			exec 5<>/dev/udp/127.0.0.1/${WAY#*:} && echo UDP
			python3 -c "import socket
for make in (lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262), lambda: socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', ` + other + `)),
             lambda: socket.socket().listen(), lambda: socket.socket().bind(('127.0.0.1', 0))):
    try: make(); print('OPEN')
    except OSError: pass"; true`},
		Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin", "WAY=elsewhere:1"}, Limit: 4096, Timeout: time.Minute,
	})
	if err != nil || string(res.Stdout.Head) != "through\n" || len(res.Refused) != 1 {
		t.Errorf("%+v, %v: %s", res, err, res.Stderr.Head)
	}
	if trouble := <-n.served; trouble != "" {
		t.Error(trouble)
	}
}
