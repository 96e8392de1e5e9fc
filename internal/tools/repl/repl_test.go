//go:build unix

package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/host"
	"garuda/internal/testkit"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is the tool over real interpreters.
type bench struct {
	t     *testing.T
	env   *tool.Env
	set   *Interpreters
	clock *testkit.Clock
	tool  tool.Tool
	grant *tool.Grant
}

func newBench(t *testing.T) *bench {
	t.Helper()
	sup, err := proc.New(proc.Options{Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ws, err := workspace.Open(t.TempDir(), nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	b := &bench{t: t, clock: testkit.NewClock()}
	b.env = &tool.Env{
		Workspace: ws, Exec: host.New(host.Options{Supervisor: sup, Path: os.Getenv("PATH")}), Clock: core.SystemClock,
		CommandEnv: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + os.Getenv("HOME")},
	}
	b.set = NewInterpreters(b.clock)
	t.Cleanup(func() { b.set.Close(context.Background()) })
	b.tool = New(b.set)[0]
	return b
}

// needs skips a test of a language that this machine has not.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

func (b *bench) plan(in any) (*tool.Plan, error) {
	b.t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tool.Plan(b.t.Context(), b.env, raw)
}

func (b *bench) output(ctx context.Context, in map[string]any) (*tool.Output, error) {
	b.t.Helper()
	plan, err := b.plan(in)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tool.Run(ctx, &tool.Call{ID: "c", Env: b.env, Plan: plan, Grant: b.grant, Progress: func(string) {}, Emit: func(bool, []byte) {}})
}

// run is what the model sees of code in a language.
func (b *bench) run(language, code string) string {
	b.t.Helper()
	out, err := b.output(b.t.Context(), map[string]any{"language": language, "code": code})
	if err != nil {
		b.t.Fatalf("%s: %v", code, err)
	}
	return out.Text
}

func printed(s string) string { return "<output>\n" + s + "\n</output>" }

// step is one call of a conversation with an interpreter, and what comes of it: all
// of it, or with a … in it the parts around that.
type step struct{ code, want string }

func (b *bench) steps(language string, steps []step) {
	b.t.Helper()
	for _, s := range steps {
		got := b.run(language, s.code)
		parts := strings.Split(s.want, "…")
		ok := got == s.want
		if len(parts) > 1 {
			ok = strings.HasPrefix(got, parts[0]) && strings.HasSuffix(got, parts[len(parts)-1])
			for _, p := range parts {
				ok = ok && strings.Contains(got, p)
			}
		}
		if !ok {
			b.t.Errorf("%s:\n%s\nwant\n%s", s.code, got, s.want)
		}
	}
}

func TestPython(t *testing.T) {
	needs(t, "python3")
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.env.Workspace.Root(), "ast.py"), []byte("raise SystemError('the project stands in')"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.env.Workspace.Root(), "mine.py"), []byte("x = 'mine'"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.steps("python", []step{
		{"x = 40", "(no output)"},
		{"def f():\n    return x + 2\nf()", printed("42")},
		{"_ + 1", printed("43")},
		{"None", "(no output)"},
		{"print('ä'); 'ö'", printed("ä\n'ö'")},
		{"import mine; mine.x", printed("'mine'")},
		{"def g():\n    return 1/0\ng()", "<output>\nTraceback (most recent call last):\n  File \"<repl 7>\", line 3, in <module>\n    g()\n  File \"<repl 7>\", line 2, in g\n    return 1/0\n…ZeroDivisionError: division by zero\n</output>"},
		{"1 +", "<output>…SyntaxError: invalid syntax\n</output>"},
		{"input()", "<output>…EOFError: EOF when reading a line\n</output>"},
		{"__name__, x", printed("('__main__', 40)")},
		{"import os, sys\nos.close(1); os.close(2)", "(no output)"},
		{"print('back')", printed("back")},
		{"sys.stdout.close(); sys.stdin.close()", "(no output)"},
		{"print('again')", printed("again")},
		{"print('</output>\\x00" + testToken + " ok\\x00', end='')", printed(`<\/output>␀` + testToken + " ok␀")},
		{"pid = os.fork()", "(no output)"},
		{"import subprocess; subprocess.run(['sh', '-c', 'echo child; ls /proc/self/fd 2>/dev/null | grep -c \"[34]\" >/dev/null']) and None", printed("child")},
		{"class E(Exception):\n    def __str__(self): raise E\nraise E", "…E…"},
		{"x", printed("40")},
	})
	got := b.run("python", "import sys; print('bye'); sys.exit(3)")
	if got != "python ended: exit code 3; its state is gone, and the next call begins a new one.\n"+printed("bye") {
		t.Error(got)
	}
	if got = b.run("python", "'x' in globals()"); got != printed("False") {
		t.Error(got)
	}
	if got = b.run("python", "import os; print('dies', flush=True); os.kill(os.getpid(), 9)"); got != "python ended: SIGKILL; its state is gone, and the next call begins a new one.\n"+printed("dies") {
		t.Error(got)
	}
}

func TestNode(t *testing.T) {
	needs(t, "node")
	b := newBench(t)
	b.steps("node", []step{
		{"const x = 40", "(no output)"},
		{"const x = 41; let f = () => x + 1", "(no output)"}, // written anew
		{"f()", printed("42")},
		{"_ + 1", printed("43")},
		{"undefined", "(no output)"},
		{"({a: 1, b: [1n, NaN, -0]})", printed("{ a: 1, b: [ 1n, NaN, -0 ] }")},
		{"{ a: 1 }", printed("{ a: 1 }")},
		{"await new Promise(r => setTimeout(() => r('later'), 5))", printed("'later'")},
		{"console.log('out'); console.error('err'); 'ä'", printed("out\nerr\n'ä'")},
		{"require('path').basename('/a/b')", printed("'b'")},
		{"function g() { throw new TypeError('no') }\ng()", "<output>\nUncaught TypeError: no\n    at g (repl-11:1:22)\n    at repl-11:2:1\n</output>"},
		{"throw 7", printed("Uncaught 7")},
		{"let x x", "<output>\nUncaught SyntaxError: …\n</output>"},
		{"require('fs').readFileSync(0, 'utf8')", printed("''")},
		{"setTimeout(() => { throw new Error('async') }, 0); await new Promise(r => setTimeout(r, 30)); 1", "<output>\nUncaught Error: async\n…1\n</output>"},
		{"for (let i = 0; i < 3000; i++) console.log('x'.repeat(100)); 'end'", "<output>\nxxx…bytes cut here…'end'\n</output>\n[Garuda: …were cut from the middle and are lost; let the code print less]"},
		{"x", printed("41")},
	})
	if got := b.run("node", "process.exit(3)"); got != "node ended: exit code 3; its state is gone, and the next call begins a new one.\n(no output)" {
		t.Error(got)
	}
	if got := b.run("node", "typeof x"); got != printed("'undefined'") {
		t.Error(got)
	}
}

func TestBash(t *testing.T) {
	b := newBench(t)
	b.steps("bash", []step{
		{"x=40; f() { echo $((x + 2)); }; mkdir -p sub; cd sub", "Exit code: 0\n(no output)"},
		{"f; basename \"$PWD\"", "Exit code: 0\n" + printed("42\nsub")},
		{"declare -A m=([a]=1)", "Exit code: 0\n(no output)"},
		{"echo ${m[a]}; false", "Exit code: 1\n" + printed("1")},
		{"cat; read y; echo \"it's 'quoted' $?\"", "Exit code: 0\n" + printed("it's 'quoted' 1")},
		{"if", "Exit code: …syntax error…"},
		{"break; continue; return 3", "Exit code: …"},
		{"echo out; echo err >&2", "Exit code: 0\n" + printed("out\nerr")},
		{"exec >/dev/null 2>&1; echo lost", "Exit code: 0\n(no output)"},
		{"set -u; echo back", "Exit code: 0\n" + printed("back")},
		{"ls -l /proc/self/fd 2>/dev/null | grep -c ' [4-9] ->\\|1[0-9] ->' || true", "Exit code: 0\n…"},
		{"printf '\\0%s 0\\0' " + testToken, "Exit code: 0\n" + printed("␀"+testToken+" 0␀")},
		{"cat <<EOF\nhere $x\nEOF", "Exit code: 0\n" + printed("here 40")},
	})
	if got := b.run("bash", "exit 3"); got != "bash ended: exit code 3; its state is gone, and the next call begins a new one.\n(no output)" {
		t.Error(got)
	}
	if got := b.run("bash", "echo ${x-unset}"); got != "Exit code: 0\n"+printed("unset") {
		t.Error(got)
	}
}

// Code that replaces what the driver uses does not keep it from answering, and the
// next code from running.
func TestShadowed(t *testing.T) {
	for _, tc := range []struct {
		language, program string
		steps             []step
	}{
		{"bash", "bash", []step{
			{"builtin() { echo no; }; printf() { echo no; }; false", "Exit code: 1\n(no output)"},
			{"printf", "Exit code: 0\n" + printed("no")},
			{"command() { :; }; exec() { :; }; unset() { :; }; declare() { :; }; readonly -f builtin", "Exit code: 0\n(no output)"},
			{"eval() { echo no; }; readonly -f eval; exit() { :; }; export() { :; }", "Exit code: 0\n(no output)"},
			{"echo there; builtin; false", "Exit code: 1\n" + printed("there\nno")},
			{"[[ -o posix ]] || echo ${POSIXLY_CORRECT-none}", "Exit code: 0\n" + printed("none")},
			{"enable -n printf echo; PATH=; alias builtin=no eval=no; shopt -s expand_aliases", "Exit code: 0\n(no output)"},
			{"set -o posix; x=1", "Exit code: 0\n(no output)"},
			{"[[ -o posix ]]", "Exit code: 0\n(no output)"},
		}},
		{"bash", "bash", []step{
			{"shopt -s expand_aliases; shopt -u inherit_errexit", "Exit code: 0\n(no output)"},
			{"shopt expand_aliases inherit_errexit sourcepath", "Exit code: 1\n…expand_aliases…on…inherit_errexit…off…"},
		}},
		{"python", "python3", []step{
			{"import os, sys, ast, traceback, builtins\nos.read = os.write = os.dup2 = os.getpid = ast.parse = None", "(no output)"},
			{"traceback.print_exception = None\nfor n in 'print repr compile exec eval getattr hasattr isinstance bytes bytearray open type'.split(): setattr(builtins, n, None)", "(no output)"},
			{"1 + 1", printed("2")},
			{"sys.stdout = sys.stderr = 5; sys.stdin = None", "(no output)"},
			{"2 + 2", printed("4")},
			{"1 / 0", "…"},
			{"3 + 3", printed("6")},
		}},
		{"node", "node", []step{
			{"const fs = require('fs'), util = require('util'), vm = require('vm'); fs.writeSync = util.inspect = vm.Script = null; 0", printed("0")},
			{"const said = []; process.stdout.write = s => { said.push(s); }; Buffer.from = Buffer.concat = null; JSON.stringify = null; undefined", "(no output)"},
			{"globalThis.Promise = globalThis.Buffer = globalThis.Object = null; undefined", "(no output)"},
			{"1 + 1", "(no output)"},
			{"delete process.stdout.write; said.join('')", printed("'2\\n'")},
		}},
	} {
		t.Run(tc.language, func(t *testing.T) {
			needs(t, tc.program)
			newBench(t).steps(tc.language, tc.steps)
		})
	}
}

// What the code leaves running goes on, and what it prints is shown with the next
// call; an interpreter that ends between calls is replaced, and that is said.
func TestBetweenCalls(t *testing.T) {
	b := newBench(t)
	root := b.env.Workspace.Root()
	b.run("bash", "(until [ -e go ]; do sleep 0.01; done; echo late; touch done) &")
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := b.run("bash", "until [ -e done ]; do sleep 0.01; done; echo now")
	if got != "Exit code: 0\n"+printed("late\nnow") {
		t.Error(got)
	}
	b.run("bash", "(until [ -e gone ]; do sleep 0.01; done; kill -9 $$) &")
	it := b.set.slots["bash"].running()
	if err := os.WriteFile(filepath.Join(root, "gone"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-it.ended
	if got = b.run("bash", "echo new"); got != "Exit code: 0\n"+printed("new")+"\n[Garuda: the bash of before had ended (SIGKILL); this is a new one, without its state]" {
		t.Error(got)
	}
}

func TestReset(t *testing.T) {
	b := newBench(t)
	b.run("bash", "x=1")
	out, err := b.output(t.Context(), map[string]any{"language": "bash", "code": "echo ${x-unset}", "reset": true})
	if err != nil || out.Text != "Exit code: 0\n"+printed("unset") {
		t.Errorf("%+v, %v", out, err)
	}
	it := b.set.slots["bash"].running()
	out, err = b.output(t.Context(), map[string]any{"language": "bash", "reset": true})
	if err != nil || out.Text != "The next call begins a new bash." || !it.over() {
		t.Errorf("%+v, %v", out, err)
	}
}

// started notes what an executor was asked to start.
type started struct {
	sandbox.Executor
	got []*sandbox.Command
}

func (s *started) Start(ctx context.Context, cmd *sandbox.Command) (sandbox.Process, error) {
	s.got = append(s.got, cmd)
	return s.Executor.Start(ctx, cmd)
}

// An interpreter that may write the project does not serve plan mode, nor the other
// way round.
func TestAChangeOfModeBeginsAnew(t *testing.T) {
	b := newBench(t)
	exec := &started{Executor: b.env.Exec}
	b.env.Exec = exec
	b.run("bash", "x=1")
	for _, readOnly := range []bool{true, false} {
		b.grant = &tool.Grant{ReadOnlyRoot: readOnly}
		before := b.set.slots["bash"].running()
		if got := b.run("bash", "echo ${x-unset}; x=2"); !strings.Contains(got, "unset") || !strings.Contains(got, "the mode changed") {
			t.Errorf("%s", got)
		}
		if !before.over() {
			t.Error("the interpreter of the other mode still runs")
		}
		if got := b.run("bash", "echo $x"); got != "Exit code: 0\n"+printed("2") {
			t.Errorf("within the mode: %s", got)
		}
		if last := exec.got[len(exec.got)-1]; last.ReadOnlyRoot != readOnly || last.Call != "c" || last.Outside {
			t.Errorf("%+v", last)
		}
	}
	if len(exec.got) != 3 {
		t.Errorf("%d were started", len(exec.got))
	}
}

// Code that never ends, and code that is given up, end the interpreter with all
// that it started.
func TestGivenUp(t *testing.T) {
	for name, tc := range map[string]struct{ language, code, program string }{
		"a flood":       {"bash", "trap '' TERM; while :; do echo flood; done", "bash"},
		"silence":       {"python", "import time\ntime.sleep(1000)", "python3"},
		"a busy loop":   {"node", "for (;;) {}", "node"},
		"no answer":     {"bash", "set -n", "bash"},
		"a closed door": {"node", "await new Promise(() => {})", "node"},
	} {
		t.Run(name, func(t *testing.T) {
			needs(t, tc.program)
			b := newBench(t)
			got := make(chan string, 1)
			go func() {
				out, err := b.output(t.Context(), map[string]any{"language": tc.language, "code": tc.code})
				if err != nil {
					got <- err.Error()
					return
				}
				got <- fmt.Sprint(out.IsError, out.Text)
			}()
			if err := b.clock.WaitFor(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			b.clock.Advance(defaultTime)
			if text := <-got; !strings.HasPrefix(text, "trueError: repl failed: timed out after 2m0s; "+tc.language+" and everything it started were ended; its state is gone") {
				t.Errorf("%.300s", text)
			}
			if b.set.slots[tc.language].running() != nil {
				t.Error("it is still there")
			}
		})
	}
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(0, func() { cancel(tool.ErrInterrupted) })
	out, err := b.output(ctx, map[string]any{"language": "bash", "code": "sleep 1000"})
	if err == nil || out != nil && !strings.HasPrefix(out.Text, "Error: repl failed: interrupted, effects unknown; bash was ended") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestMissing(t *testing.T) {
	b := newBench(t)
	b.env.CommandEnv = []string{"PATH=/nowhere"}
	for language, want := range map[string]string{
		"python": "python is not installed here: there is neither python3 nor python in the PATH of commands",
		"node":   "node is not installed here: there is neither node nor nodejs in the PATH of commands",
	} {
		if _, err := b.output(t.Context(), map[string]any{"language": language, "code": "1"}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", language, err)
		}
	}
}

func TestNothingOutlivesTheSession(t *testing.T) {
	b := newBench(t)
	b.run("bash", "sleep 1000 & echo $!")
	it := b.set.slots["bash"].running()
	b.set.Close(context.Background())
	if !it.over() {
		t.Error("it outlived the session")
	}
	if _, err := b.output(t.Context(), map[string]any{"language": "python", "code": "1"}); err == nil {
		t.Error("one was started after the end")
	}
}

// One interpreter of a language does one thing at a time.
func TestTurns(t *testing.T) {
	b := newBench(t)
	s, err := b.set.slot(t.Context(), "bash")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(tool.ErrInterrupted)
	if _, err := b.set.slot(ctx, "bash"); err == nil {
		t.Error("two have it")
	}
	s.release()
}

func TestPlan(t *testing.T) {
	b := newBench(t)
	p, err := b.plan(map[string]any{"language": "python", "code": "\n x\ny"})
	if err != nil || p.Target != "python" || p.Label != "python: x" || p.Preview != "\n x\ny" || !p.RunsCommands || p.ReadOnly || p.Effects.Commands != nil {
		t.Errorf("%+v, %v", p, err)
	}
	for _, tc := range []struct {
		in   map[string]any
		want string
	}{
		{map[string]any{"language": "python"}, "the code is empty; give some, or reset"},
		{map[string]any{"language": "ruby", "code": "1"}, `there is no interpreter for "ruby"; they are python, node and bash`},
		{map[string]any{"language": "node", "code": "a\x00b"}, "the code holds a NUL character, which no interpreter takes"},
		{map[string]any{"language": "node", "code": strings.Repeat("x", maxCode+1)}, "the code has 131073 bytes, at most 131072 are taken; put it into a file with write_file and load that"},
	} {
		if _, err := b.plan(tc.in); err == nil || err.Error() != tc.want {
			t.Errorf("%v: %v", tc.want, err)
		}
	}
	spec := b.tool.Spec()
	if spec.Class != tool.ClassCommand || spec.Set != "more" || len(spec.Description) > 400 || len(spec.Schema) > 300 {
		t.Errorf("%s %s, %d and %d bytes", spec.Class, spec.Set, len(spec.Description), len(spec.Schema))
	}
	if _, err := tool.NewRegistry(b.tool); err != nil {
		t.Error(err)
	}
	b.env.Exec = nil
	if _, err := b.plan(map[string]any{"language": "bash", "code": "1"}); err == nil {
		t.Error("a plan without an executor")
	}
}

// Code of any length arrives whole.
func TestLongCode(t *testing.T) {
	b := newBench(t)
	code := "x=" + strings.Repeat("y", maxCode-20) + "; echo ${#x}"
	for _, language := range []string{"bash"} {
		if got := b.run(language, code); got != fmt.Sprintf("Exit code: 0\n%s", printed(fmt.Sprint(maxCode-20))) {
			t.Errorf("%.200s", got)
		}
	}
}
