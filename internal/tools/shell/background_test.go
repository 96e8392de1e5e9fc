//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/tool"
	"garuda/internal/watched"
)

// backgroundTools are bash, process_manager, monitor and sleep over real processes.
func backgroundTools(t *testing.T) (*tool.Env, *Background, map[string]tool.Tool) {
	t.Helper()
	env := hostEnv(t)
	b := NewBackground(core.SystemClock)
	t.Cleanup(func() { b.Close(context.Background()) })
	tools := map[string]tool.Tool{}
	for _, tl := range New(Options{Background: b}) {
		tools[tl.Spec().Name] = tl
	}
	return env, b, tools
}

func do(t *testing.T, env *tool.Env, tl tool.Tool, input map[string]any) (string, error) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tl.Plan(t.Context(), env, raw)
	if err != nil {
		return "", err
	}
	out, err := tl.Run(t.Context(), &tool.Call{ID: "c", Env: env, Plan: plan, Emit: func(bool, []byte) {}})
	if err != nil {
		return "", err
	}
	return out.Text, nil
}

func must(t *testing.T, env *tool.Env, tl tool.Tool, input map[string]any) string {
	t.Helper()
	text, err := do(t, env, tl, input)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBackground(t *testing.T) {
	env, b, tools := backgroundTools(t)
	manager := tools["process_manager"]
	if got := must(t, env, manager, map[string]any{"action": "list"}); got != "No background commands." {
		t.Error(got)
	}
	got := must(t, env, tools["bash"], map[string]any{"command": "echo ready; echo 1%; printf '1\\r2'; cat; echo err >&2; sleep 1000 & wait", "run_in_background": true})
	if !strings.HasPrefix(got, "Started in the background as b1 (pid ") {
		t.Fatal(got)
	}
	j, err := b.get("b1")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { text, _ := j.tail(1, 9); return text == "err" })
	got = must(t, env, manager, map[string]any{"action": "logs", "id": "b1", "lines": 2})
	if !strings.Contains(got, "[stdout: the newest 2 lines of 3]\n<stdout>\n1%\n2\n</stdout>\n<stderr>\nerr\n</stderr>") {
		t.Errorf("%s", got)
	}
	if got = must(t, env, manager, map[string]any{"action": "logs", "id": "b1", "stream": "stderr"}); strings.Contains(got, "stdout") {
		t.Errorf("%s", got)
	}
	if got = must(t, env, manager, map[string]any{"action": "status", "id": "b1"}); !strings.Contains(got, "running for") || !strings.HasPrefix(got, "b1  pid ") {
		t.Errorf("%s", got)
	}
	if got = must(t, env, manager, map[string]any{"action": "kill", "id": "b1"}); got != "b1 and everything it started were ended." {
		t.Error(got)
	}
	if got = must(t, env, manager, map[string]any{"action": "status", "id": "b1"}); !strings.Contains(got, "ended by SIGTERM after") {
		t.Error(got)
	}
	if got = must(t, env, manager, map[string]any{"action": "kill", "id": "b1"}); !strings.HasPrefix(got, "b1 had ended already: ") {
		t.Error(got)
	}
	for want, in := range map[string]map[string]any{
		`no background command "b9", and none runs`: {"action": "status", "id": "b9"},
		"logs needs the id":                         {"action": "logs"},
	} {
		if _, err := do(t, env, manager, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", in, err, want)
		}
	}
}

// waitFor waits until something is so; the test's own time limit ends it.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it did not come about")
		}
	}
}

// A background command outlives the call and its turn, and not the session.
func TestBackgroundOutlivesItsCall(t *testing.T) {
	env, b, tools := backgroundTools(t)
	ctx, cancel := context.WithCancel(t.Context())
	plan, err := tools["bash"].Plan(ctx, env, json.RawMessage(`{"command":"sleep 1000","run_in_background":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if !plan.Effects.Background {
		t.Error("the plan does not say that the command goes on in the background")
	}
	if _, err := tools["bash"].Run(ctx, &tool.Call{ID: "c", Env: env, Plan: plan, Emit: func(bool, []byte) {}}); err != nil {
		t.Fatal(err)
	}
	cancel()
	j, err := b.get("b1")
	if err != nil || j.over() {
		t.Fatalf("it ended with its call: %v", err)
	}
	b.Close(context.Background())
	if !j.over() {
		t.Error("it outlived the session")
	}
	if _, err := do(t, env, tools["bash"], map[string]any{"command": "true", "run_in_background": true}); err == nil {
		t.Error("a command was started after the end")
	}
}

// A flood fills no memory, and what left its session and its pipes ends too.
func TestBackgroundFloodAndEscape(t *testing.T) {
	env, b, tools := backgroundTools(t)
	marker := filepath.Join(t.TempDir(), "pid")
	must(t, env, tools["bash"], map[string]any{"run_in_background": true,
		"command": "setsid bash -c 'echo $$ > " + marker + "; exec sleep 1000' & head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last; wait"})
	j, err := b.get("b1")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { text, _ := j.tail(0, 1); return text == "last" })
	j.mu.Lock()
	kept, pending := j.streams[0].peek()
	j.mu.Unlock()
	if n := len(kept.Head) + len(kept.Tail) + len(pending); n > 4*logLimit {
		t.Errorf("%d bytes are kept", n)
	}
	var pid int
	waitFor(t, func() bool {
		raw, err := os.ReadFile(marker)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		return err == nil
	})
	must(t, env, tools["process_manager"], map[string]any{"action": "kill", "id": "b1"})
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d is still there", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestBackgroundIsBounded(t *testing.T) {
	env, b, tools := backgroundTools(t)
	for i := range maxRunning {
		if _, err := do(t, env, tools["bash"], map[string]any{"command": "sleep 1000", "run_in_background": true}); err != nil {
			t.Fatalf("number %d: %v", i+1, err)
		}
	}
	if _, err := do(t, env, tools["bash"], map[string]any{"command": "sleep 1000", "run_in_background": true}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d commands run", maxRunning)) {
		t.Errorf("one too many: %v", err)
	}
	b.EndAll(context.Background())
	must(t, env, tools["bash"], map[string]any{"command": "true", "run_in_background": true})
}

// confining stands for an executor that isolates.
type confining struct{ sandbox.Executor }

func (confining) Isolation() sandbox.Isolation { return sandbox.IsolationOS }

// TestBackgroundDisarms: what a command in the background planted is set aside at its
// end, when nobody can be asked, and its state says so.
func TestBackgroundDisarms(t *testing.T) {
	env, b, tools := backgroundTools(t)
	env.Exec = confining{env.Exec}
	env.Watcher = watched.New(env.Workspace, nil)
	must(t, env, tools["bash"], map[string]any{"run_in_background": true, "command": `mkdir -p s/.git .git; printf '[core]\nfsmonitor = x\n' > s/.git/config
		{ printf 'DIRC\0\0\0\2\0\0\0\1'; head -c 24 /dev/zero; printf '\0\0\340\0'; head -c 32 /dev/zero; printf '\0\1s\0'; head -c 20 /dev/zero; } > .git/index`})
	j, err := b.get("b1")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, j.over)
	if got := j.state(time.Now()); !strings.Contains(got, "s/.git is called s/.git.aside now") {
		t.Error(got)
	}
	if _, err := os.Lstat(filepath.Join(env.Workspace.Root(), "s", ".git")); err == nil {
		t.Error("it is still there")
	}
}
