package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/session/redact"
	"garuda/internal/state"
)

const crashRoot = "GARUDA_TEST_CRASH_ROOT"

func TestMain(m *testing.M) {
	if root := os.Getenv(crashRoot); root != "" {
		if err := crashWriter(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// crashWriter goes on with a session, or begins it, and writes turns until it is
// killed. After each flush it prints the number of the last record, which is
// from then on a promise.
func crashWriter(root string) error {
	dir, err := state.Open(root)
	if err != nil {
		return err
	}
	s := NewStore(dir, Options{Redactor: redact.New([]string{secret})})
	j, h, err := s.Resume(testID)
	if errors.Is(err, ErrNotFound) {
		h = &History{}
		j, err = s.Create(testID, &Start{SessionID: testID, Model: "anthropic/a"})
	} else if err == nil {
		err = j.Append(&Resume{Model: "anthropic/a"})
	}
	if err != nil {
		return err
	}
	big := strings.Repeat(secret+" and code\n", 400)
	huge := strings.Repeat("x", maxInline+1)
	for n := h.Turns; ; n++ {
		for i, r := range turn(n) {
			if res, ok := r.(*ToolResults); ok {
				res.Message.Blocks[0].Content[0].Text = big
				if n%4 == 0 {
					res.Message.Blocks[0].Content[0].Text = huge + strconv.Itoa(n)
				}
			}
			if err := j.Append(r); err != nil {
				return err
			}
			if i == 2 { // results are flushed with the answer that follows
				continue
			}
			if err := j.Flush(); err != nil {
				return err
			}
			fmt.Println(j.LastSeq())
		}
	}
}

// kills is how often the writer is killed: 20, or as GARUDA_KILLS says.
func kills(t *testing.T) int {
	const quick = 20
	v := os.Getenv("GARUDA_KILLS")
	if v == "" {
		return quick
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("GARUDA_KILLS: %v", err)
	}
	return n
}

// A writer is killed at random moments, and goes on with the same journal each
// time: nothing that was flushed is ever lost.
func TestKill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, n := t.TempDir(), kills(t)
	promised := int64(0)
	for range n {
		if seq := killOnce(t, exe, root); seq > 0 {
			promised = seq
		}
		checkJournal(t, root, promised)
	}
	t.Logf("%d kills, %d records", n, promised)
}

// killOnce runs the writer, kills it a random time after its first promise, and
// returns its last one.
func killOnce(t *testing.T, exe, root string) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), crashRoot+"="+root)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	// A third of the writers die while they open the journal.
	delay := time.Duration(rand.Int64N(int64(20 * time.Millisecond)))
	kill := func() { _ = cmd.Process.Kill() } // it cannot have ended by itself
	var last int64
	if rand.IntN(3) == 0 {
		time.AfterFunc(delay, kill)
	} else {
		last = readSeq(r)
		time.AfterFunc(delay, kill)
	}
	for {
		seq := readSeq(r)
		if seq == 0 {
			break
		}
		last = seq
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	return last
}

// readSeq reads one promise; 0 at the end, a half line included.
func readSeq(r *bufio.Reader) int64 {
	line, err := r.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) || !strings.HasSuffix(line, "\n") {
		return 0
	}
	seq, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

func checkJournal(t *testing.T, root string, promised int64) {
	t.Helper()
	f := fixtureIn(t, root)
	h, err := f.Load(testID)
	if errors.Is(err, ErrNotFound) && promised == 0 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Verify(testID)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != 0 {
		t.Fatalf("%v", r.Problems)
	}
	if h.LastSeq < promised || int64(r.Records) != h.LastSeq {
		t.Fatalf("%d records, the last has number %d, promised were %d", r.Records, h.LastSeq, promised)
	}
	if _, mends := core.Validate(h.Messages); len(mends) != 0 {
		t.Fatalf("cannot be sent: %q", mends)
	}
	data := read(t, filepath.Join(root, ".garuda", "sessions", testID+journalExt))
	if strings.Contains(data, secret) {
		t.Fatal("a secret is on disk")
	}
}
