//go:build linux

package executortest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
)

// Rounds is how often a race is tried: as the text says, which is a variable's value,
// or a few times where it is empty.
func Rounds(t testing.TB, text string) int {
	t.Helper()
	if text == "" {
		const quick = 20
		return quick
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("the number of rounds is %q, want one from 1 on", text)
	}
	return n
}

// Swapped runs commands while folders of their view are exchanged for links to a folder
// outside all the time, which is more than a command could do to another. Of that folder,
// which has files of the same names, nothing is seen, changed or made, whatever the
// moment: a command that begins sees the folder inside, or does not begin.
func (n Namespaces) Swapped(t *testing.T, rounds int) {
	root, shown, outside := Project(t), Project(t), Project(t)
	for _, file := range []string{"a/b/config", "a/secret", "a/b/hooks/post-commit"} {
		if err := os.WriteFile(filepath.Join(outside, file), []byte("OUTSIDE\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, outside)
	e := n.New(t, func(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
		return With(root,
			sandbox.Entry{Path: "a/b/config", Access: sandbox.Locked}, sandbox.Entry{Path: "a/b/hooks", Access: sandbox.Locked},
			sandbox.Entry{Path: "a/secret", Access: sandbox.Masked},
			// A folder that is only read, taken from the machine by its own path.
			sandbox.Entry{Path: filepath.Join("..", filepath.Base(shown), "a/b")},
		)(ctx, cmd)
	}, nil, "")
	var stops []func()
	for _, top := range []string{root, shown} {
		stops = append(stops, exchange(t, filepath.Join(top, "a"), filepath.Join(outside, "a")))
	}
	began, refused := 0, 0
	text := `cat a/b/config a/secret a/b/hooks/* "` + shown + `"/a/b/config "` + shown + `"/a/b/hooks/* a.swapped/secret; ` +
		`for f in a/b/config a/b/hooks/post-commit a/b/fresh a/made; do echo x > $f; done; true`
	// What is tried until both have happened is bounded too.
	for i := 0; i < rounds || (began == 0 || refused == 0) && i < 10*rounds; i++ {
		res, err := e.Run(t.Context(), Shell(root, "{ "+text+"; } 2>/dev/null"))
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "a/") && !strings.Contains(err.Error(), "/a") {
				t.Errorf("it does not say for which path no command began: %v", err)
			}
			continue
		}
		began++
		if strings.Contains(string(res.Stdout.Head), "OUTSIDE") {
			t.Fatalf("a command saw %q", res.Stdout.Head)
		}
	}
	for _, stop := range stops {
		stop()
	}
	t.Logf("%d commands began, %d did not", began, refused)
	if began == 0 || refused == 0 {
		t.Errorf("%d commands began and %d did not, so the race was not exercised", began, refused)
	}
	if after := names(t, outside); after != before {
		t.Errorf("the folder outside was changed from\n%sto\n%s", before, after)
	}
}

// names is all that is in a folder, with sizes and texts.
func names(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		out.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + " " + strconv.Quote(string(text)) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// exchange makes a folder and a link to another one change their names again and again.
func exchange(t testing.TB, dir, to string) (stop func()) {
	t.Helper()
	spare := dir + ".swapped"
	// A relative one, which leaves no folder that a look stays beneath.
	target, err := filepath.Rel(filepath.Dir(dir), to)
	if err := errors.Join(err, os.Symlink(target, spare)); err != nil {
		t.Fatal(err)
	}
	swap := func() error { return unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, spare, unix.RENAME_EXCHANGE) }
	if err := errors.Join(swap(), swap()); err != nil {
		t.Skipf("names cannot be exchanged here: %v", err)
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		// The link lies there a small part of the time: a command's start looks often, and
		// what always meets a link at the first look shows nothing of the others.
		const link, folder = 50 * time.Microsecond, 2 * time.Millisecond
		for ended := false; !ended; {
			for _, lies := range []time.Duration{link, folder} {
				if err := swap(); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					ended = true // after the folder is back
				case <-time.After(lies):
				}
			}
		}
	})
	stop = sync.OnceFunc(func() {
		close(done)
		all.Wait()
	})
	t.Cleanup(stop) // when the test ends before its time
	return stop
}
