//go:build unix

package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// scriptsEnv sets how many generated scripts run, seedEnv which.
const (
	scriptsEnv = "GARUDA_DIFF_SCRIPTS"
	seedEnv    = "GARUDA_DIFF_SEED"
)

// sampleSize is how many scripts run, and which.
func sampleSize(t *testing.T, sizeEnv string, usual int) (count int, seed uint64) {
	t.Helper()
	count, seed = usual, 1
	var err error
	if v := os.Getenv(sizeEnv); v != "" {
		if count, err = strconv.Atoi(v); err != nil {
			t.Fatalf("%s: %v", sizeEnv, err)
		}
	}
	if v := os.Getenv(seedEnv); v != "" {
		if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	return count, seed
}

// bench is a folder in which scripts run with nothing but stubs in PATH.
type bench struct {
	base, tools, root string
	runs              int
	engine            *Engine
}

func newBench(t *testing.T) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{base: base, tools: filepath.Join(base, "tools"), root: filepath.Join(base, "home", "project")}
	if err := os.MkdirAll(b.tools, 0o755); err != nil {
		t.Fatal(err)
	}
	// A stub writes beside the folder it was called in, one write a call, so that
	// calls side by side do not mix, nor what an earlier script left running.
	const stub = "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" '\x01' >>\"${0%/*}/../log\"\n"
	for _, name := range stubs {
		if err := os.WriteFile(filepath.Join(b.tools, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range realWrappers {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip("needs " + name)
		}
		if err := os.Symlink(path, filepath.Join(b.tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	b.reset(t)
	b.engine, err = New(Config{Root: b.root, Home: filepath.Dir(b.root), Attended: true, Tools: knownTools(),
		EnvNames: []string{"PATH", "HOME", "STUBS"},
		Rules:    []RuleSource{{Source: "test", Allow: Rules("bash(ls *)", "bash(cat *)", "bash(foo *)"), Deny: Rules("bash(rm *)")}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reset makes the working folder as it was.
func (b *bench) reset(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(b.root); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(b.root, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"f", "a.txt", "src/x"} {
		if err := os.WriteFile(filepath.Join(b.root, f), []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a script under bash and returns what the stubs logged.
func (b *bench) run(t *testing.T, bash, script string) [][]string {
	t.Helper()
	b.runs++
	dir := filepath.Join(b.base, strconv.Itoa(b.runs))
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(stubs), realWrappers...) {
		if err := os.Link(filepath.Join(b.tools, name), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "-c", script)
	cmd.Dir = b.root
	cmd.Env = []string{"PATH=" + bin, "HOME=" + filepath.Dir(b.root), "STUBS=" + bin}
	// All that the script starts inherits the pipe: its end is the end of them all.
	ended, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ended.Close()
	cmd.ExtraFiles = []*os.File{held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	_ = cmd.Run() // most scripts fail in some way
	held.Close()
	if err := ended.SetReadDeadline(time.Now().Add(2 * time.Second)); err == nil {
		_, _ = io.Copy(io.Discard, ended)
	}
	// A loop in the background would run for ever: the script's group ends here.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	data, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Logf("remove %s: %v", dir, err) // something is still running there
	}
	var calls [][]string
	for _, record := range strings.Split(string(data), "\x01\x00") {
		if record == "" {
			continue
		}
		calls = append(calls, strings.Split(strings.TrimSuffix(record, "\x00"), "\x00"))
	}
	return calls
}

// listed tells whether the analysis said that a call might run.
func listed(call []string, d *tool.Decision, script *shellscan.Script) bool {
	for _, c := range script.Commands {
		if matchWords(c.Words, call, c.Open, true) || matchWords(c.Likely(), call, c.Open, true) {
			return true
		}
	}
	return false
}

// matchWords compares a call with words, of which an unknown one may be any number.
func matchWords(words []shellscan.Word, call []string, open, first bool) bool {
	if len(words) == 0 {
		return len(call) == 0 || open
	}
	w := words[0]
	if w.Known {
		if len(call) == 0 {
			return false
		}
		text := w.Text
		if first {
			text = filepath.Base(text)
		}
		if w.Tilde { // it becomes the home folder
			text = call[0]
		}
		return text == call[0] && matchWords(words[1:], call[1:], open, false)
	}
	for n := 0; n <= len(call); n++ {
		if matchWords(words[1:], call[n:], open, first && n == 0) {
			return true
		}
	}
	return false
}

// TestDifferential runs generated scripts under the real bash: nothing may run
// that the analysis did not list, and a script that is allowed without a question
// runs nothing but what the rules name, and writes nothing.
func TestDifferential(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	count, seed := sampleSize(t, scriptsEnv, 200)
	const workers = 2
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := map[string]int{}
	for k := range workers {
		b := newBench(t)
		wg.Go(func() {
			for i := k; i < count; i += workers {
				if t.Failed() && os.Getenv(scriptsEnv) == "" {
					return
				}
				g := &scriptGenerator{r: rand.New(rand.NewPCG(seed, uint64(i)))}
				text := g.script()
				found := b.compare(t, bash, text, fmt.Sprintf("script %d", i))
				mu.Lock()
				for key, n := range found {
					total[key] += n
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d scripts: %v", count, total)
	if count >= 200 && (total["ran"] == 0 || total["allow"] == 0 || total["denied rm"] == 0) {
		t.Errorf("the scripts exercise too little: %v", total)
	}
}

// compare runs one script and holds what ran against the analysis.
func (b *bench) compare(t *testing.T, bash, text, name string) map[string]int {
	d := b.engine.Explain(command(text))
	script := shellscan.Scan(text, b.engine.context(memo{}))
	found := map[string]int{string(d.Outcome): 1}
	if script.Unreadable != "" {
		found["unreadable"]++
		return found
	}
	calls := b.run(t, bash, text)
	defer b.reset(t)
	found["ran"] += len(calls)
	for _, call := range calls {
		if !listed(call, d, script) {
			t.Errorf("%s ran %q, which was not listed:\n%s\n%s", name, call, text, describe(script))
		}
		if call[0] == "rm" {
			if d.Outcome == tool.Deny {
				found["denied rm"]++
			} else {
				found["missed rm"]++
			}
		}
		if d.Outcome == tool.Allow && call[0] != "ls" && call[0] != "cat" && call[0] != "foo" && call[0] != "git" {
			t.Errorf("%s was allowed (row %d) and ran %q:\n%s\n%s", name, d.Row, call, text, describe(script))
		}
	}
	if d.Outcome == tool.Allow {
		for _, o := range []string{"o1", "o2", "o3", "o4", "o5", "o6", "o7"} {
			if exists(filepath.Join(b.root, o)) || exists(filepath.Join(b.root, "src", o)) {
				t.Errorf("%s was allowed and wrote %s:\n%s", name, o, text)
			}
		}
	}
	return found
}

func describe(s *shellscan.Script) string {
	var b strings.Builder
	for _, c := range s.Commands {
		fmt.Fprintf(&b, "  %q known %v open %v never %q likely", c.Argv(), c.Known(), c.Open, c.Never)
		for _, w := range c.Likely() {
			fmt.Fprintf(&b, " %q/%v", w.Text, w.Known)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
