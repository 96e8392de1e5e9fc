package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"garuda/internal/sandbox"
)

// spillLimit is how large the file with a command's whole output may grow.
const spillLimit = 64 << 20

// keeper holds on to the beginning and the end of a stream.
type keeper struct {
	headLimit, tailLimit int
	head                 []byte
	// tail is a ring once it is full; next is where its oldest byte lies.
	tail  []byte
	next  int
	total int64
}

func newKeeper(limit int) keeper {
	limit = max(limit, 0)
	return keeper{headLimit: limit - limit/2, tailLimit: limit / 2}
}

func (k *keeper) write(b []byte) {
	k.total += int64(len(b))
	if room := k.headLimit - len(k.head); room > 0 {
		n := min(room, len(b))
		k.head = append(k.head, b[:n]...)
		b = b[n:]
	}
	if len(b) >= k.tailLimit {
		k.tail = append(k.tail[:0], b[len(b)-k.tailLimit:]...)
		k.next = 0
		return
	}
	if room := k.tailLimit - len(k.tail); room > 0 {
		n := min(room, len(b))
		k.tail = append(k.tail, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(k.tail[k.next:], b)
		k.next = (k.next + n) % k.tailLimit
		b = b[n:]
	}
}

// captured is what was kept: all of it in Head when nothing was lost.
func (k *keeper) captured() sandbox.Captured {
	tail := append(k.tail[k.next:len(k.tail):len(k.tail)], k.tail[:k.next]...)
	if k.total == int64(len(k.head)+len(tail)) {
		return sandbox.Captured{Head: append(k.head, tail...), Total: k.total}
	}
	return sandbox.Captured{Head: k.head, Tail: tail, Total: k.total}
}

// sink takes both streams of a command, in the order in which they arrive.
type sink struct {
	output func(stderr bool, chunk []byte)

	mu             sync.Mutex
	stdout, stderr keeper
	spill          *spill
}

func newSink(cmd *sandbox.Command) *sink {
	s := &sink{output: cmd.Output, stdout: newKeeper(cmd.Limit), stderr: newKeeper(cmd.Limit)}
	if cmd.SpillPath != "" {
		s.spill = &spill{path: cmd.SpillPath, through: cmd.SpillThrough}
	}
	return s
}

func (s *sink) write(stderr bool, chunk []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &s.stdout
	if stderr {
		k = &s.stderr
	}
	k.write(chunk)
	if s.spill != nil {
		s.spill.write(chunk, k.total > int64(k.headLimit+k.tailLimit))
	}
	if s.output != nil {
		s.output(stderr, chunk)
	}
}

func (s *sink) finish(res *sandbox.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	res.Stdout, res.Stderr = s.stdout.captured(), s.stderr.captured()
	if s.spill != nil {
		s.spill.finish(res)
	}
}

// spill is the file with a command's whole output. It is made only once more
// was printed than is kept, so that most commands write no file.
type spill struct {
	path    string
	through func(io.Writer) io.WriteCloser
	// pending is what came before the file was made.
	pending []byte
	file    *os.File
	w       io.WriteCloser
	taken   int64
	cut     bool
	err     error
}

func (s *spill) write(chunk []byte, due bool) {
	switch {
	case s.err != nil || s.cut:
		return
	case s.w == nil && !due:
		s.pending = append(s.pending, chunk...)
		return
	case s.w == nil:
		if s.err = s.open(); s.err != nil {
			return
		}
		s.put(s.pending)
		s.pending = nil
	}
	s.put(chunk)
}

func (s *spill) put(b []byte) {
	if room := spillLimit - s.taken; int64(len(b)) > room {
		b, s.cut = b[:room], true
	}
	s.taken += int64(len(b))
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
}

// open makes the file, and the last folder of its path where that is missing.
// Whatever stands in its place already, a link included, is an error.
func (s *spill) open() error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | noFollow
	f, err := os.OpenFile(s.path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(filepath.Dir(s.path), 0o700); err == nil {
			f, err = os.OpenFile(s.path, flags, 0o600)
		}
	}
	if err != nil {
		return err
	}
	s.file, s.w = f, f
	if s.through != nil {
		s.w = s.through(f)
	}
	return nil
}

func (s *spill) finish(res *sandbox.Result) {
	if s.file != nil {
		res.Spill, res.SpillCut = s.path, s.cut
		if s.through != nil {
			s.err = errors.Join(s.err, s.w.Close())
		}
		s.err = errors.Join(s.err, s.file.Close())
	}
	if s.err != nil {
		res.SpillErr = fmt.Errorf("keep the whole output in %s: %w", s.path, s.err)
	}
}
