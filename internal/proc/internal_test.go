//go:build unix

package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/sandbox"
)

// instantClock ends every wait at once.
type instantClock struct{ core.Clock }

func (instantClock) AfterFunc(_ time.Duration, f func()) func() bool {
	f()
	return func() bool { return false }
}

func TestAStartThatTakesTooLongIsAnErrorAndLeavesNothing(t *testing.T) {
	s, err := New(Options{Clock: instantClock{core.SystemClock}})
	if err != nil {
		t.Fatal(err)
	}
	mark := t.TempDir()
	s.starting.Lock() // a fork cannot happen while this is held
	_, err = s.NewGroup().Run(t.Context(), &sandbox.Command{
		Argv: []string{"/bin/sh", "-c", "sleep 1; echo > ran"}, Dir: mark,
	})
	if err == nil || !strings.Contains(err.Error(), "no process within 5s") {
		t.Errorf("got %v", err)
	}
	s.starting.Unlock()
	// The process comes late, and is ended by whoever waited for it; the end of all
	// commands comes after that.
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark + "/ran"); err == nil {
		t.Error("the abandoned command ran to its end")
	}
	if len(s.byPid) != 0 || len(s.live) != 0 || len(s.open) != 0 {
		t.Errorf("still kept: %v %v %v", s.byPid, s.live, s.open)
	}
}

// graceless ends at once the time that an end is given, and no other.
type graceless struct{ core.Clock }

func (c graceless) AfterFunc(d time.Duration, f func()) func() bool {
	if d == grace {
		d = 0
	}
	return c.Clock.AfterFunc(d, f)
}

func TestAnInterruptDoesNotWaitForASystemThatStartsNothing(t *testing.T) {
	s, err := New(Options{Clock: graceless{core.SystemClock}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.starting.Lock() // a fork cannot happen while this is held
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = s.NewGroup().Run(ctx, &sandbox.Command{Argv: []string{"/bin/sh", "-c", "exit"}, Dir: t.TempDir()})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(ctx); err == nil || !strings.Contains(err.Error(), "one that is still being started") {
		t.Errorf("Close: %v", err)
	}
	s.starting.Unlock()
	if err := s.Close(context.Background()); err != nil || len(s.open) != 0 {
		t.Errorf("%v; still kept: %v", err, s.open)
	}
}

// A command runs before its start is over. An interrupt in that moment gives it the
// time to clean up, and leaves nothing of it.
func TestAnInterruptOfACommandThatHasJustStarted(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	held, records, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	// Who records the process waits until somebody reads.
	s.ledger = &ledger{dir: t.TempDir(), file: records}
	if err := records.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := records.Write(make([]byte, 4<<20)); err == nil {
		t.Fatalf("a pipe took %d bytes", n)
	}
	if err := records.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Second, cancel)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(dir + "/up"); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // so that the end of ctx is noticed first
		_, _ = io.Copy(io.Discard, held)
	}()
	res, err := s.NewGroup().Run(ctx, &sandbox.Command{
		Argv: []string{"/bin/sh", "-c", "trap 'exit 5' TERM; echo > up; while :; do sleep 0.05; done"},
		Dir:  dir, Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil || !res.Interrupted || res.ExitCode != 5 {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCommandVariableCannotBeShadowed(t *testing.T) {
	got := commandEnv([]string{"A=1", CommandVariable + "=mine", "B=2"}, "id-1")
	if diff := cmp.Diff([]string{"A=1", "B=2", CommandVariable + "=id-1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMark(t *testing.T) {
	for environ, want := range map[string]string{
		"": "",
		"A=1\x00GARUDA_COMMAND_ID=x-1\x00B=2\x00": "x-1",
		"GARUDA_COMMAND_ID=x-1":                   "x-1",
		"XGARUDA_COMMAND_ID=x-1\x00":              "",
		"A=GARUDA_COMMAND_ID=x-1\x00":             "",
	} {
		if got := mark([]byte(environ)); got != want {
			t.Errorf("mark(%q) = %q, want %q", environ, got, want)
		}
	}
}

func TestDescendants(t *testing.T) {
	all := []entry{{pid: 1}, {pid: 2, parent: 1}, {pid: 3, parent: 2}, {pid: 4, parent: 3}, {pid: 5, parent: 3}, {pid: 6, parent: 5}, {pid: 7, parent: 1}}
	got := descendants(all,
		func(e entry) bool { return e.pid == 2 || e.pid == 4 },
		func(e entry) bool { return e.pid == 5 })
	var pids []int
	for _, e := range got {
		pids = append(pids, e.pid)
	}
	if diff := cmp.Diff([]int{2, 4, 3}, pids); diff != "" {
		t.Error(diff)
	}
}

// A command whose end is noted while the records are closed is no trouble to report.
func TestCloseWhileAnEndIsNoted(t *testing.T) {
	for range 50 {
		s, err := New(Options{RunningDir: t.TempDir(), Report: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		s.announce()
		begun, stop, stopped := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			s.delist(&Process{})
			for close(begun); ; {
				select {
				case <-stop:
					return
				default:
					s.delist(&Process{})
				}
			}
		}()
		<-begun
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		close(stop)
		<-stopped
	}
}
