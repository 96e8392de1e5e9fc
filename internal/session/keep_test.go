package session

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"garuda/internal/core"
	"garuda/internal/state"
)

type keptThing struct {
	Version int      `json:"version"`
	Words   []string `json:"words"`
}

// addWord puts one more word into the file, and says how many there are.
func addWord(t *testing.T, j *Journal, word string) (n int) {
	t.Helper()
	v := &keptThing{Version: 1}
	if err := j.Keep(t.Context(), "things.json", v, func() error {
		v.Words = append(v.Words, word)
		n = len(v.Words)
		return nil
	}); err != nil {
		t.Error(err)
	}
	return n
}

func TestKeep(t *testing.T) {
	f := newFixture(t)
	j := f.create(t, testID, &User{Message: core.UserText("hi")})
	for name, journal := range map[string]*Journal{"on disk": j, "in memory": Memory(testID)} {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { addWord(t, journal, "the "+secret) })
			}
			wg.Wait()
			if n := addWord(t, journal, "last"); n != 9 {
				t.Errorf("%d words, want 9", n)
			}
			failed := errors.New("no")
			v := &keptThing{}
			if err := journal.Keep(t.Context(), "things.json", v, func() error { v.Words = nil; return failed }); !errors.Is(err, failed) {
				t.Errorf("%v", err)
			}
			if n := addWord(t, journal, "after a failure"); n != 10 {
				t.Errorf("%d words, want 10", n)
			}
		})
	}
	path := filepath.Join(f.root, ".garuda", "sessions", testID, "things.json")
	data, err := os.ReadFile(path)
	want := `{"version":1,"words":["the [REDACTED]","the [REDACTED]","the [REDACTED]","the [REDACTED]","the [REDACTED]",` +
		`"the [REDACTED]","the [REDACTED]","the [REDACTED]","last","after a failure"]}` + "\n"
	if err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	fork, _, err := f.Fork(testID, "20260101-130000-ffff", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	if n := addWord(t, fork, "in the copy"); n != 11 {
		t.Errorf("the copy holds %d words", n)
	}
	if n := addWord(t, j, "in the first"); n != 11 {
		t.Errorf("the first holds %d words", n)
	}
	if err := os.Truncate(path, maxKept+1); err != nil {
		t.Fatal(err)
	}
	if err := j.Keep(t.Context(), "things.json", &keptThing{}, func() error { return nil }); !errors.Is(err, state.ErrLarge) {
		t.Errorf("a large file: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Keep(t.Context(), "things.json", &keptThing{}, func() error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
