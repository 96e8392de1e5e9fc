//go:build unix

package proc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

// helperVariable makes the test binary play a Garuda with that RunningDir.
const helperVariable = "GARUDA_PROC_HELPER"

// beGaruda starts a command that leaves daemons, prints their pids, and then
// waits to be killed.
func beGaruda(dir string) {
	sup, err := proc.New(proc.Options{RunningDir: dir})
	if err == nil {
		_, err = sup.NewGroup().Run(context.Background(), &sandbox.Command{
			Argv: []string{"bash", "-c", `
				setsid sleep 1000 >/dev/null 2>&1 & echo setsid $!
				sleep 1000 >/dev/null 2>&1 & echo group $!
				env -u GARUDA_COMMAND_ID sleep 1000 >/dev/null 2>&1 & echo unmarked $!
				(trap "" TERM; exec setsid sleep 1000 >/dev/null 2>&1) & echo stubborn $!
				sleep 0.2; echo leader $$; wait`},
			Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")},
			Output: func(_ bool, chunk []byte) { _, _ = os.Stdout.Write(chunk) },
		})
	}
	fmt.Println("ended:", err)
	os.Exit(1)
}

// garuda starts such a helper and returns the pids it printed.
func garuda(t *testing.T, dir string) (*exec.Cmd, map[string]int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	lines := bufio.NewScanner(out)
	for pids["leader"] == 0 && lines.Scan() {
		var name string
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &name, &pid); err != nil {
			t.Fatalf("the helper printed %q", lines.Text())
		}
		pids[name] = pid
	}
	if len(pids) != 5 {
		t.Fatalf("the helper started %v", pids)
	}
	return cmd, pids
}

// alive reports whether a process is there and not merely unreaped.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !isLinux() && syscall.Kill(pid, 0) == nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func isLinux() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		if !alive(pid) {
			return
		}
		if err := core.SystemClock.Sleep(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("process %d is still there", pid)
}

func TestSweepEndsWhatAKilledGarudaLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "running")
	cmd, pids := garuda(t, dir)

	// While it runs, nothing of it is touched.
	if n, err := proc.Sweep(t.Context(), core.SystemClock, dir); n != 0 || err != nil {
		t.Errorf("a sweep beside a running Garuda ended %d, %v", n, err)
	}
	for name, pid := range pids {
		if !alive(pid) {
			t.Fatalf("%s is gone before its time", name)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed; that is its error

	if isLinux() {
		// The command's own process ends with Garuda, without a sweep.
		awaitGone(t, pids["leader"])
	}
	if !alive(pids["setsid"]) {
		t.Error("the daemon ended by itself, so this test shows nothing")
	}
	n, err := proc.Sweep(t.Context(), core.SystemClock, dir)
	if err != nil {
		t.Fatal(err)
	}
	// One shed its mark and its leader is gone: on Linux it is not found then.
	if n < 3 {
		t.Errorf("the sweep ended %d processes", n)
	}
	for _, name := range []string{"setsid", "group", "stubborn"} {
		awaitGone(t, pids[name])
	}
	_ = syscall.Kill(pids["unmarked"], syscall.SIGKILL) // may be gone
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("the record stays: %v %v", files, err)
	}
}

// Whenever Garuda is killed, a record is whole or none: what was begun and not
// finished is passed over, and removed when it is old.
func TestUnfinishedRecords(t *testing.T) {
	dir := t.TempDir()
	fresh, old := filepath.Join(dir, "1.2.a.jsonl.new"), filepath.Join(dir, "1.2.b.jsonl.new")
	for _, path := range []string{fresh, old} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if n, err := proc.Sweep(t.Context(), core.SystemClock, dir); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a record that is being made: %v", err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old one stays")
	}
}

// The record is there before the process is, so that one that is left behind is
// always found.
func TestRecordComesBeforeTheProcess(t *testing.T) {
	dir := t.TempDir()
	sup, err := proc.New(proc.Options{RunningDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sup.Close(context.Background()) })
	cmd := bash(t, "true")
	cmd.Argv = []string{filepath.Join(dir, "no-such-program")}
	if _, err := sup.NewGroup().Run(t.Context(), cmd); err == nil {
		t.Fatal("it ran")
	}
	cmd.Argv = []string{os.Args[0]}
	cmd.Dir = filepath.Join(dir, "no-such-folder") // found only when it is forked
	if _, err := sup.NewGroup().Run(t.Context(), cmd); err == nil {
		t.Fatal("it ran")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Errorf("records: %v, %v", files, err)
	}
}

func TestSweepWithoutAnythingToDo(t *testing.T) {
	if n, err := proc.Sweep(t.Context(), core.SystemClock, filepath.Join(t.TempDir(), "none")); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

// head is the first line of a record, as written by a Garuda of this machine.
func head(t *testing.T, change func(map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	sup, err := proc.New(proc.Options{RunningDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sup.NewGroup().Run(t.Context(), bash(t, "true")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("records: %v %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := sup.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files[0]); err == nil {
		t.Error("the record stays after Close")
	}
	if strings.Count(string(text), "\n") != 1 {
		t.Errorf("a record when nothing runs: %s", text)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	change(fields)
	line, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func TestSweepKillsOnlyWhatIsSurelyOurs(t *testing.T) {
	deadOwner := map[string]any{"pid": 1 << 22, "start": 1}
	for _, c := range []struct {
		name          string
		change        func(map[string]any)
		ended, remain bool
		problem       string
	}{
		{name: "owner gone", change: func(h map[string]any) { h["owner"] = deadOwner }, ended: true},
		{name: "owner alive", change: func(map[string]any) {}, remain: true},
		{name: "another boot", change: func(h map[string]any) { h["owner"], h["boot"] = deadOwner, "other" }},
		{name: "another container", change: func(h map[string]any) { h["owner"], h["namespace"] = deadOwner, "pid:[1]" }, remain: true},
		{name: "another version", change: func(h map[string]any) { h["owner"], h["v"] = deadOwner, 2 }, remain: true, problem: "version 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, first := t.TempDir(), head(t, c.change)
			sleeper, stranger := sleeping(t), sleeping(t)
			start := startOf(t, sleeper)
			// One record is of this process, one of a stranger's number in another
			// life, and one was being written when Garuda was killed.
			text := first + fmt.Sprintf("{\"pid\":%d,\"start\":%s}\n{\"pid\":%d,\"start\":1}\n{\"pid\":1,\"start\":0}\n{\"pid\":%d,\"st",
				sleeper, start, stranger, stranger)
			path := filepath.Join(dir, "x.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := proc.Sweep(t.Context(), core.SystemClock, dir)
			if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("got %v", err)
			}
			if (n == 1) != c.ended || alive(sleeper) == c.ended {
				t.Errorf("ended %d; alive: %v", n, alive(sleeper))
			}
			if !alive(stranger) {
				t.Error("a process was ended that only has a recorded number")
			}
			if _, err := os.Stat(path); (err == nil) != c.remain {
				t.Errorf("the record: %v", err)
			}
		})
	}
}

// sleeping starts a process that no Supervisor knows, in a session of its own.
func sleeping(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been ended, as the test wants
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// startOf reads field 22 of the process's state.
func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("this system does not say when a process started")
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)[19]
}
