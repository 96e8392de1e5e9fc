package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"garuda/internal/sandbox"
)

// spillLimit is how large the file with a command's whole output may grow.
const spillLimit = 64 << 20

// sink takes both streams of a command, in the order in which they arrive.
type sink struct {
	output func(stderr bool, chunk []byte)

	mu             sync.Mutex
	stdout, stderr sandbox.Keeper
	spill          *spill
}

func newSink(cmd *sandbox.Command) *sink {
	s := &sink{output: cmd.Output, stdout: sandbox.NewKeeper(cmd.Limit), stderr: sandbox.NewKeeper(cmd.Limit)}
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
	k.Add(chunk)
	if s.spill != nil {
		s.spill.write(chunk, k.Full())
	}
	if s.output != nil {
		s.output(stderr, chunk)
	}
}

func (s *sink) finish(res *sandbox.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	res.Stdout, res.Stderr = s.stdout.Captured(), s.stderr.Captured()
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

// open makes the file. Whatever stands in its place already, a link included,
// is an error.
func (s *spill) open() error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
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
