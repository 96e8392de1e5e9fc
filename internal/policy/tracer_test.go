//go:build linux

package policy

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// traced are the system calls that start, write, change or connect something.
const traced = "execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat," +
	"symlink,symlinkat,mknod,mknodat,chmod,fchmodat,fchmod,chown,fchown,lchown,fchownat,truncate,utimensat,utime,utimes,setxattr,connect,bind,sendto,kill"

// mayStart are the programs that a read-only script may start: those of the
// table, the wrappers it takes off, and what they themselves consist of.
var mayStart = []string{"bash", "sh", "dash", "ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "rg", "stat", "file", "du", "pwd", "echo", "printf",
	"true", "false", "test", "[", "cut", "tr", "basename", "dirname", "which", "which.debianutils", "date", "git", "uniq", "sed", "awk", "gawk", "mawk", "nawk",
	"original-awk", "sort", "find", "tar", "gzip", "bzip2", "xz", "timeout", "nice", "nohup", "stdbuf", "time"}

// traceBatch is how many scripts one run of the tracer takes.
const traceBatch = 50

// tracedSizeEnv sets how many scripts run under the tracer.
const tracedSizeEnv = "GARUDA_TRACED_SCRIPTS"

// TestTracedReadOnly runs generated scripts that row 7 allows, with the real tools
// under a tracer: nothing is opened for writing but /dev/null, the terminal and
// bash's own files for here-documents, and nothing starts that is not on the table.
func TestTracedReadOnly(t *testing.T) {
	strace, bash := traceTools(t)
	root, home := tracedProject(t)
	e, err := New(Config{Root: root, Home: home, Attended: true, Tools: knownTools(), EnvNames: []string{"PATH", "HOME", "LANG", "TMPDIR"}})
	if err != nil {
		t.Fatal(err)
	}
	count, seed := sampleSize(t, tracedSizeEnv, 60)
	made, ran := 0, 0
	for ran < count {
		var batch []string
		for len(batch) < min(traceBatch, count-ran) {
			g := &toolGenerator{r: rand.New(rand.NewPCG(seed, uint64(made)))}
			text := g.script()
			if made++; made > 60*count+600 {
				t.Fatalf("only %d of %d scripts were called read-only", ran+len(batch), made)
			}
			if d := e.Explain(command(text)); d.Outcome == tool.Allow && d.Row == 7 {
				batch = append(batch, text)
			}
		}
		traceScripts(t, strace, bash, root, home, batch)
		if ran += len(batch); t.Failed() {
			return
		}
	}
	t.Logf("%d scripts were made, %d of them called read-only and run", made, ran)
}

// TestTracerSees is the tracer's own negative control: what it must report, it does.
func TestTracerSees(t *testing.T) {
	strace, bash := traceTools(t)
	root, home := tracedProject(t)
	for text, want := range map[string]string{
		"echo x > pwn":      "pwn",
		"touch pwn":         "touch",
		"cat f; mkdir d":    "mkdir",
		"ls > /dev/null":    "",
		"git status":        "",
		"cat <<E\n$x\nE":    "",
		"sort -o pwn f":     "pwn",
		"sed -n '1w pwn' f": "pwn",
	} {
		found := strings.Join(trace(t, strace, bash, root, home, []string{text}), "\n")
		if (want == "") != (found == "") || !strings.Contains(found, want) {
			t.Errorf("%q: the tracer found %q, want something with %q", text, found, want)
		}
	}
}

func traceTools(t *testing.T) (strace, bash string) {
	t.Helper()
	for name, to := range map[string]*string{"strace": &strace, "bash": &bash, "git": new(string)} {
		p, err := exec.LookPath(name)
		if err != nil {
			t.Skip("needs " + name)
		}
		*to = p
	}
	if err := exec.CommandContext(t.Context(), strace, "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("processes cannot be traced here: ", err)
	}
	return strace, bash
}

// tracedProject is a root with a real git repository, an archive, and files for the
// tools to read.
func tracedProject(t *testing.T) (root, home string) {
	t.Helper()
	root, home = project(t)
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a b": "x y\n", "src/x": "touch pwn\n", "prog": "w pwn\n", "x.txt": "b\na\nb\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, argv := range [][]string{
		{"tar", "cf", "x.tar", "a.txt", "src"}, {"git", "init", "-q"}, {"git", "add", "a.txt", "src", "f"},
		{"git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"},
	} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = root, tracedEnv(home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "f"), []byte("changed\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return root, home
}

func tracedEnv(home string) []string {
	return append(shellscan.NeutralGitEnv(), "PATH="+os.Getenv("PATH"), "HOME="+home, "LANG=C.UTF-8", "TMPDIR="+home, "GIT_CONFIG_NOSYSTEM=1")
}

// traceScripts runs a batch and, where something is found, each alone to tell which.
func traceScripts(t *testing.T, strace, bash, root, home string, batch []string) {
	t.Helper()
	if found := trace(t, strace, bash, root, home, batch); len(found) == 0 {
		return
	}
	for _, text := range batch {
		if found := trace(t, strace, bash, root, home, []string{text}); len(found) > 0 {
			t.Errorf("a script that is called read-only did this:\n%s\nthe script:\n%s", strings.Join(found, "\n"), text)
		}
	}
}

// trace runs scripts one after another under the tracer and lists what they did
// that a read-only script must not.
func trace(t *testing.T, strace, bash, root, home string, batch []string) []string {
	t.Helper()
	dir := t.TempDir()
	log, driver := filepath.Join(dir, "log"), filepath.Join(dir, "driver")
	var text strings.Builder
	for i, s := range batch {
		name := filepath.Join(dir, "script"+strconv.Itoa(i))
		if err := os.WriteFile(name, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
		// The text is an argument, as the shell tool passes it; each has two seconds.
		fmt.Fprintf(&text, "timeout -k 1 2 %s -c \"$(<%s)\" </dev/null >/dev/null 2>&1\n", bash, name)
	}
	if err := os.WriteFile(driver, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(len(batch))*4*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, strace, "-f", "--seccomp-bpf", "-qq", "-s", "200", "-e", "signal=none", "-e", "trace="+traced, "-o", log, bash, driver)
	cmd.Dir, cmd.Env = root, tracedEnv(home)
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // the last script may well fail
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range bytes.Lines(data) {
		if why := forbidden(string(line)); why != "" {
			found = append(found, why+": "+strings.TrimSpace(string(line)))
		}
	}
	return found
}

// forbidden says why a read-only script must not make a system call; "" when it may.
func forbidden(line string) string {
	_, line, _ = strings.Cut(line, " ") // the process
	call, args, ok := strings.Cut(strings.TrimLeft(line, " "), "(")
	if !ok || strings.ContainsAny(call, "<+ ") {
		return "" // the rest of a call whose beginning was judged, or an exit
	}
	path := ""
	if _, rest, ok := strings.Cut(args, `"`); ok {
		path, _, _ = strings.Cut(rest, `"`)
	}
	switch call {
	case "execve", "execveat":
		failed := strings.Contains(args, ") = -1 ") // wrappers look for a program along PATH
		if !failed && !slices.Contains(mayStart, filepath.Base(path)) {
			return "it started a program that is not on the table"
		}
	case "open", "openat", "openat2", "creat":
		writes := call == "creat"
		for _, flag := range []string{"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"} {
			writes = writes || strings.Contains(args, flag)
		}
		if writes && !harmlessOutput(path) {
			return "it opened a file for writing"
		}
	case "unlink", "unlinkat":
		if !harmlessOutput(path) {
			return "it removed a file"
		}
	case "connect":
		if !strings.Contains(args, "nscd/socket") { // names of users, for ls -l
			return "it connected to something"
		}
	case "kill":
		return "" // timeout ends what it started
	default:
		return "it changed something"
	}
	return ""
}

// harmlessOutput tells devices without effect, and the files of their own that bash
// makes for long here-documents and sort for what it merges.
func harmlessOutput(path string) bool {
	switch path {
	case "/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr":
		return true
	}
	if base := filepath.Base(path); strings.HasPrefix(base, "sort") && len(base) == len("sortXXXXXX") && filepath.Ext(base) == "" {
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") || strings.HasPrefix(filepath.Base(path), "sh-thd")
}
