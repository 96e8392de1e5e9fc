package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"garuda/internal/core"
	"garuda/internal/state"
)

func TestNoFileBeforeTheFirstMessage(t *testing.T) {
	f := newFixture(t)
	j := f.create(t, testID, &Mode{Mode: "plan", By: "user"})
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(f.root); err != nil || len(entries) != 0 {
		t.Fatalf("%v %v", entries, err)
	}
	if dir, err := j.OutputDir(); err != nil || dir != "" {
		t.Errorf("output folder %q, %v", dir, err)
	}
	add(t, j, user("hello"))
	if got := len(lines(read(t, f.path(testID)))); got != 3 {
		t.Errorf("%d records", got)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(f.path(testID))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
	dir, err := j.OutputDir()
	if err != nil || dir != filepath.Join(f.root, ".garuda", "sessions", testID, "output") {
		t.Errorf("output folder %q, %v", dir, err)
	}
}

// The format is a promise: scripts read it, and so do later versions.
func TestLineFormat(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, user("say <hi> & \"bye\""))
	line := strings.TrimSuffix(lines(read(t, f.path(testID)))[1], "\n")
	const want = `{"v":1,"seq":2,"t":"2026-01-01T12:00:02.000Z","type":"user","crc":"8846b1b4",` +
		`"message":{"role":"user","blocks":[{"type":"text","text":"say <hi> & \"bye\""}]}}`
	if line != want {
		t.Errorf("\n%s\nwant\n%s", line, want)
	}
	docs := read(t, filepath.Join("..", "..", "docs", "journal.md"))
	if !strings.Contains(docs, want) {
		t.Error("docs/journal.md shows another line")
	}
	for _, kind := range lines(read(t, "record.go")) {
		if _, kind, ok := strings.Cut(kind, "case \""); ok && !strings.Contains(docs, "| `"+strings.TrimSuffix(kind, "\":\n")+"` |") {
			t.Errorf("docs/journal.md does not say what %q is", kind)
		}
	}
	var crc struct{ CRC string }
	if err := json.Unmarshal([]byte(line), &crc); err != nil {
		t.Fatal(err)
	}
	without := strings.Replace(line, `,"crc":"`+crc.CRC+`"`, "", 1)
	if sum := fmt.Sprintf("%08x", crc32.Checksum([]byte(without), crc32.MakeTable(crc32.Castagnoli))); sum != crc.CRC {
		t.Errorf("the line without its checksum sums to %s, not %s", sum, crc.CRC)
	}
}

func TestRedactedOnDiskOnly(t *testing.T) {
	f := newFixture(t)
	u := user("the key is " + secret)
	c := call("c")
	c.Input = `{"command":"curl -u x:` + secret + ` h", "password": 12345678}`
	c.Opaque = `{"arguments":"` + secret + `","signature":"` + secret + `"}`
	bound := think("so it is " + secret)
	bound.Opaque = `{"thinking":"so","signature":"AKIAIOSFODNN7EXAMPLE"}`
	sound := think("so it is")
	sound.Opaque = `{"thinking":"so","signature":"` + secret + `"}`
	f.write(t, testID, u, answer(bound, sound, c), &ToolResults{Message: &core.Message{Role: core.RoleUser, Blocks: []core.Block{
		core.ToolResult("c", false, core.Text(secret)),
	}}}, &DenialRecord{Target: "cat " + secret})
	if u.Message.PlainText() != "the key is "+secret {
		t.Error("the running conversation was changed")
	}
	onDisk := read(t, f.path(testID))
	// A signature is a provider's own bytes and stays, where what it is bound to
	// stays too; all else is gone.
	if n := strings.Count(onDisk, secret); n != 1 || !strings.Contains(onDisk, `\"signature\":\"`+secret) {
		t.Errorf("%d secrets on disk:\n%s", n, onDisk)
	}
	if n := strings.Count(onDisk, redactedMember); n != 4 {
		t.Errorf("%d records are marked as redacted", n)
	}
	if strings.Contains(onDisk, "AKIAIOSFODNN7EXAMPLE") {
		t.Error("bytes that are bound to words which were changed are kept")
	}
	h := f.load(t, testID)
	in := h.Messages[1].ToolUses()[0].Input
	if want := `{"command":"curl -u x:[REDACTED] h", "password": "[REDACTED]"}`; in != want {
		t.Errorf("input %s", in)
	}
}

func TestInputStaysJSON(t *testing.T) {
	f := newFixture(t)
	c := call("c")
	c.Input = `{"a":"-----BEGIN PRIVATE KEY-----","b":"` + strings.Repeat("A", 64) + `","c":"-----END PRIVATE KEY-----"}`
	f.write(t, testID, user("x"), answer(c))
	if in := f.load(t, testID).Messages[1].ToolUses()[0].Input; !json.Valid([]byte(in)) || strings.Contains(in, "AAAA") {
		t.Error(in)
	}
}

func TestBlobs(t *testing.T) {
	f := newFixture(t)
	big := strings.Repeat("0123456789abcde\n", 5000)
	img := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte(big)}
	lookalike := blobPrefix + "x"
	u := &User{Message: &core.Message{Role: core.RoleUser, Blocks: []core.Block{
		core.Text(big + secret), core.Text(lookalike), img, {Type: core.BlockImage, MediaType: "image/png", Data: []byte(lookalike)},
	}}}
	f.write(t, testID, u)
	if n := len(read(t, f.path(testID))); n > 4096 {
		t.Errorf("the journal has %d bytes", n)
	}
	want := *u.Message
	want.Blocks = append([]core.Block(nil), want.Blocks...)
	want.Blocks[0].Text = big + "[REDACTED]"
	h := f.load(t, testID)
	if !reflect.DeepEqual([]*core.Message{&want}, h.Messages) || len(h.Notices) != 0 { // a difference of 80 KB helps nobody
		t.Errorf("loads otherwise, notices %q", h.Notices)
	}

	dir := filepath.Join(f.root, ".garuda", "sessions", testID, "blobs")
	blobs, err := os.ReadDir(dir)
	if err != nil || len(blobs) != 3 {
		t.Fatalf("%d blobs, %v", len(blobs), err)
	}
	for i, b := range blobs {
		if i == 0 {
			err = os.Remove(filepath.Join(dir, b.Name()))
		} else {
			err = os.WriteFile(filepath.Join(dir, b.Name()), []byte("other"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	h = f.load(t, testID)
	all := strings.Join(h.Notices, "\n")
	for i, b := range blobs {
		want := "blob " + b.Name() + " is damaged"
		if i == 0 {
			want = "blob " + b.Name() + " is missing"
		}
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	if r, err := f.Verify(testID); err != nil || len(r.Problems) != 4 {
		t.Errorf("%+v %v", r, err)
	}
}

// faultyFile fails as it is told.
type faultyFile struct {
	file
	room       int // bytes until the disk is full; negative means no limit
	noTruncate bool
	syncErr    error
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if f.room < 0 || len(p) <= f.room {
		f.room -= min(len(p), max(f.room, 0))
		return f.file.Write(p)
	}
	n, err := f.file.Write(p[:f.room])
	if err == nil {
		err = &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	f.room = 0
	return n, err
}

func (f *faultyFile) Truncate(n int64) error {
	if f.noTruncate {
		return syscall.EIO
	}
	return f.file.Truncate(n)
}

func (f *faultyFile) Sync() error {
	if f.syncErr != nil {
		return f.syncErr
	}
	return f.file.Sync()
}

func TestFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the errors are Unix's")
	}
	for _, noTruncate := range []bool{false, true} {
		f := newFixture(t)
		f.wrap = func(in file) file { return &faultyFile{file: in, room: 900, noTruncate: noTruncate} }
		j := f.create(t, testID, user("first"))
		var failed error
		for range 10 {
			if failed = j.Append(user("more of it")); failed != nil {
				break
			}
		}
		if !errors.Is(failed, state.ErrFull) || !errors.Is(j.Err(), state.ErrFull) {
			t.Fatalf("%v, then %v", failed, j.Err())
		}
		if err := j.Append(user("still")); !errors.Is(err, state.ErrFull) {
			t.Error(err)
		}
		if err := j.Flush(); !errors.Is(err, state.ErrFull) {
			t.Error(err)
		}
		if len(f.fail) != 1 {
			t.Errorf("reported %d times", len(f.fail))
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		h := f.load(t, testID)
		if torn := len(h.Notices) == 1; torn != noTruncate || h.Turns < 3 {
			t.Errorf("%d turns, notices %q", h.Turns, h.Notices)
		}
	}
}

func TestFailedSync(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the errors are Unix's")
	}
	f := newFixture(t)
	f.wrap = func(in file) file { return &faultyFile{file: in, room: -1, syncErr: syscall.EIO} }
	j := f.create(t, testID, user("x"))
	if err := j.Flush(); !errors.Is(err, syscall.EIO) || !errors.Is(j.Err(), syscall.EIO) || len(f.fail) != 1 {
		t.Errorf("%v %v %v", err, j.Err(), f.fail)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	f := newFixture(t)
	if err := os.WriteFile(filepath.Join(f.root, ".garuda"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	j := f.create(t, testID)
	if err := j.Append(user("x")); err == nil || j.Err() == nil || len(f.fail) != 1 {
		t.Errorf("%v %v %v", err, j.Err(), f.fail)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestLocked(t *testing.T) {
	f := newFixture(t)
	j := f.create(t, testID, user("x"))
	other := fixtureIn(t, f.root)
	for name, try := range map[string]func() error{
		"resume": func() error { _, _, err := other.Resume(testID); return err },
		"rename": func() error { return other.Rename(testID, "t") },
		"delete": func() error { return other.Delete(testID) },
		"repair": func() error { _, err := other.Repair(testID); return err },
	} {
		var locked *state.LockedError
		if err := try(); !errors.As(err, &locked) || locked.PID != os.Getpid() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, _, err := other.Resume(testID)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if err := again.Append(user("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// slowFile lets a sync end only when it is told to, and counts.
type slowFile struct {
	file
	begun, finish chan struct{}
	syncs         *atomic.Int32
}

func (f slowFile) Sync() error {
	f.syncs.Add(1)
	f.begun <- struct{}{}
	<-f.finish
	return f.file.Sync()
}

func TestFlushesShareOneSync(t *testing.T) {
	f := newFixture(t)
	slow := slowFile{begun: make(chan struct{}, 10), finish: make(chan struct{}), syncs: new(atomic.Int32)}
	f.wrap = func(in file) file { slow.file = in; return slow }
	j := f.create(t, testID, user("x"))
	flush := func(wg *sync.WaitGroup) {
		wg.Go(func() {
			if err := j.Flush(); err != nil {
				t.Error(err)
			}
		})
	}
	var first, rest sync.WaitGroup
	flush(&first)
	<-slow.begun
	for range 8 {
		add(t, j, user("y")) // appending goes on while the disk works
		flush(&rest)
	}
	close(slow.finish)
	first.Wait()
	rest.Wait()
	if n := slow.syncs.Load(); n != 2 {
		t.Errorf("%d syncs for 9 flushes, 8 of which waited for the first", n)
	}
	before := slow.syncs.Load()
	for range 3 {
		flush(&rest)
	}
	rest.Wait()
	if n := slow.syncs.Load(); n != before {
		t.Errorf("flushing what is flushed went to the disk %d times", n-before)
	}
}

func TestConcurrentUse(t *testing.T) {
	f := newFixture(t)
	j := f.create(t, testID, user("x"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				if err := errors.Join(j.Append(user("y")), j.Flush()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if h := f.load(t, testID); h.Turns != 101 || h.LastSeq != 102 || len(h.Notices) != 0 {
		t.Errorf("%d turns, last %d, %q", h.Turns, h.LastSeq, h.Notices)
	}
}

func TestMemory(t *testing.T) {
	j := Memory(testID)
	if err := errors.Join(j.Append(user("x")), j.Flush(), j.Err(), j.Close()); err != nil {
		t.Error(err)
	}
}

func TestBadID(t *testing.T) {
	f := newFixture(t)
	for _, id := range []string{"", "../x", "a/b", ".."} {
		if _, err := f.Create(id, &Start{}); err == nil {
			t.Errorf("%q was taken", id)
		}
		if _, err := f.Load(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	f := newFixture(b)
	text := strings.Repeat("\tif err := j.write(n); err != nil { // line of code\n", 200) // 10 KB
	j := f.create(b, testID, user("x"))
	rec := results("a")
	rec.Message.Blocks[0].Content[0].Text = text
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Append(rec); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFlush(b *testing.B) {
	f := newFixture(b)
	j := f.create(b, testID, user("x"))
	for b.Loop() {
		if err := errors.Join(j.Append(user("y")), j.Flush()); err != nil {
			b.Fatal(err)
		}
	}
}
