package testkit

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestClockWakesInOrder(t *testing.T) {
	c := NewClock()
	start := c.Now()
	woken := make(chan time.Duration, 10)
	for _, d := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second, time.Hour} {
		go func() {
			if c.Sleep(t.Context(), d) == nil {
				woken <- d
			}
		}()
	}
	if err := c.WaitFor(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c.Advance(time.Second)
		if got := <-woken; got != time.Duration(i+1)*time.Second {
			t.Errorf("%v woke at second %d", got, i+1)
		}
	}
	if c.Waiting() != 1 || c.Now() != start.Add(3*time.Second) {
		t.Errorf("%d wait at %v", c.Waiting(), c.Now())
	}
	c.Advance(time.Hour)
	<-woken
	if len(c.Slept()) != 4 {
		t.Errorf("%v", c.Slept())
	}
}

func TestClockCancel(t *testing.T) {
	c := NewClock()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Sleep(ctx, time.Second) }()
	if err := c.WaitFor(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || c.Waiting() != 0 {
		t.Errorf("%v, %d wait", err, c.Waiting())
	}
	if err := c.Sleep(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := c.Sleep(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if err := c.WaitFor(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestClockAfterFunc(t *testing.T) {
	c := NewClock()
	ran := make(chan time.Time, 3)
	f := func() { ran <- c.Now() }
	stop := c.AfterFunc(time.Second, f)
	if !stop() || stop() {
		t.Error("stop keeps a pending function from running, once")
	}
	stop = c.AfterFunc(time.Second, f)
	c.AfterFunc(2*time.Second, f)
	c.Advance(5 * time.Second)
	<-ran
	<-ran
	if stop() {
		t.Error("it had run")
	}
	c.AfterFunc(0, f)
	<-ran
}

func TestFile(t *testing.T) {
	open := func(faults FileFaults) (*File, string) {
		path := filepath.Join(t.TempDir(), "f")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		file := NewFile(f, faults)
		t.Cleanup(func() { _ = f.Close() })
		return file, path
	}
	check := func(path, want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	f, path := open(FileFaults{Space: 5, Full: ErrFull})
	if n, err := f.Write([]byte("abc")); n != 3 || err != nil {
		t.Error(n, err)
	}
	if n, err := f.WriteString("defg"); n != 2 || !errors.Is(err, ErrFull) {
		t.Error(n, err)
	}
	if n, err := f.Write([]byte("h")); n != 0 || !errors.Is(err, ErrFull) {
		t.Error(n, err)
	}
	check(path, "abcde")
	f.Fail(FileFaults{})
	if _, err := io.Copy(f, strings.NewReader("fg")); err != nil {
		t.Error(err)
	}
	check(path, "abcdefg")

	f, path = open(FileFaults{ShortBy: 2})
	if n, err := f.Write([]byte("abc")); n != 1 || !errors.Is(err, io.ErrShortWrite) {
		t.Error(n, err)
	}
	if _, err := f.WriteAt([]byte("xyz"), 1); err != nil {
		t.Error(err)
	}
	check(path, "axyz")

	f, path = open(FileFaults{Full: ErrIO})
	if n, err := io.Copy(f, strings.NewReader("abc")); n != 0 || !errors.Is(err, ErrIO) {
		t.Error(n, err)
	}
	check(path, "")

	f, _ = open(FileFaults{Sync: ErrIO, SyncsLeft: 1, Truncate: ErrIO, Close: ErrIO})
	if err := f.Sync(); err != nil {
		t.Error(err)
	}
	for _, err := range []error{f.Sync(), f.Truncate(0), f.Close()} {
		if !errors.Is(err, ErrIO) {
			t.Error(err)
		}
	}
	if _, err := f.File.Write(nil); !errors.Is(err, os.ErrClosed) || f.Syncs() != 2 {
		t.Error(err, f.Syncs())
	}
}

func TestDecoy(t *testing.T) {
	d := NewDecoy(t)
	if got := d.Changes(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if d.Has("link-climbing") {
		got, err := os.ReadFile(d.Path("link-climbing"))
		if err != nil || strings.TrimSpace(string(got)) != Secret {
			t.Errorf("a link that leaves the project must reach the secret: %q, %v", got, err)
		}
	}
	d.Write(d.Path("new.txt"), "x")
	d.Write(d.Path(".env"), "changed")
	if err := os.Remove(d.Path("main.go")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"+ project/new.txt", "- project/main.go", "~ project/.env"}, d.Changes()); diff != "" {
		t.Error(diff)
	}
	// A write through the hard link changes the file outside as well.
	d.Mark()
	if err := os.WriteFile(d.Path("hard"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"~ outside/secret.txt", "~ project/hard"}, d.Changes()); diff != "" {
		t.Error(diff)
	}
}

func TestDecoyIsARepositoryForGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	d := NewDecoy(t).Git()
	cmd := exec.CommandContext(t.Context(), git, "-C", d.Root, "status", "--short", "--branch", "--", "main.go")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if want := "## No commits yet on main\n?? main.go\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}
