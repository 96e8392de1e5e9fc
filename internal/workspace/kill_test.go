package workspace

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// killedRoot names the folder in which a copy of this test program writes until
// it is killed.
const killedRoot = "GARUDA_TEST_KILLED_ROOT"

// killedText is a text that shows whether it is whole.
func killedText(n int) string {
	line := fmt.Sprintf("version %d\n", n)
	return strings.Repeat(line, 1+300_000/len(line)) + "end\n"
}

// killedWriter writes one file again and again, makes files, and moves them.
func killedWriter(root string) error {
	w, err := Open(root, nil, Options{})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		p, err := w.Resolve("f")
		if err != nil {
			return err
		}
		if _, err := w.Replace(p, p.Info, []byte(killedText(n))); err != nil {
			return err
		}
		made, err := w.Resolve(fmt.Sprintf("made/%d", n))
		if err != nil {
			return err
		}
		if _, err := w.Create(made, []byte(killedText(n))); err != nil {
			return err
		}
		if made, err = w.ResolveEntry(fmt.Sprintf("made/%d", n)); err != nil {
			return err
		}
		to, err := w.Resolve(fmt.Sprintf("moved/%d", n))
		if err != nil {
			return err
		}
		if _, err := w.Move(made, to, made.Info); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// killsOfWriter is how often the writer is killed: a few times, or as
// GARUDA_KILLS says.
func killsOfWriter(t *testing.T) int {
	text := os.Getenv("GARUDA_KILLS")
	if text == "" {
		const quick = 5
		return quick
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("GARUDA_KILLS is %q, want a number from 1 on", text)
	}
	return n
}

// A program that is killed while it writes leaves whole files: the old text or
// the new one. What else it leaves is out of every walk's sight.
func TestKilledWriter(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills, written, left := killsOfWriter(t), 0, 0
	for range kills {
		root := t.TempDir()
		write(t, filepath.Join(root, "f"), killedText(0))
		written += killWriter(t, exe, root)
		left += checkWhole(t, root)
		if t.Failed() {
			return
		}
		_ = os.RemoveAll(root) // TempDir does it too, at the end of them all
	}
	t.Logf("%d kills after %d writes; %d temporary files were left", kills, written, left)
	if written == 0 {
		t.Error("nothing was ever written, so this test shows nothing")
	}
}

// killWriter kills a writer at a random moment after its first write, and
// returns how many it made.
func killWriter(t *testing.T, exe, root string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), killedRoot+"="+root)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	written := 0
	if lines.Scan() {
		written++
		time.AfterFunc(time.Duration(rand.Int64N(int64(60*time.Millisecond))), func() { _ = cmd.Process.Kill() })
	}
	for lines.Scan() {
		written++
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return written
}

// checkWhole fails for a file that is not whole, and returns how many temporary
// files there are, which a walk must not come across.
func checkWhole(t *testing.T, root string) (left int) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if isTempName(d.Name()) {
			left++
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n := -1
		if _, err := fmt.Sscanf(string(raw[:min(len(raw), 40)]), "version %d\n", &n); err != nil || string(raw) != killedText(n) {
			t.Errorf("%s is not whole: %d bytes, %v", path, len(raw), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w := openTest(t, root, Options{})
	_, err = w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{IncludeIgnored: true}, func(_ int, e *Entry) error {
		if strings.HasSuffix(e.Name, tempSuffix) {
			t.Errorf("the walk came across %s", e.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}
