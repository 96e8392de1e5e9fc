package executortest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

// Supervisor is one that ends with the test, which fails when anything is reported.
func Supervisor(t testing.TB) *proc.Supervisor {
	t.Helper()
	sup, err := proc.New(proc.Options{
		RunningDir: filepath.Join(t.TempDir(), "running"),
		Report:     func(err error) { t.Errorf("reported: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return sup
}

// Shell is a command of bash in the folder.
func Shell(dir, text string) *sandbox.Command {
	return &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: dir, Limit: 30_000, Timeout: time.Minute, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
	}
}

// WaitFor looks again and again, for at most 20 seconds, until it is done.
func WaitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	end := time.After(20 * time.Second)
	for !done() {
		select {
		case <-again.C:
		case <-end:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
