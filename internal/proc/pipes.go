package proc

import (
	"os"
	"sync"
	"sync/atomic"
)

// pipes are the three pipes of a started program.
type pipes struct {
	child          [3]*os.File
	stdin          *os.File
	stdout, stderr *pipeReader
	open           atomic.Int32
	// drained closes when both readers have come to an end; abandoned when
	// nobody will read them any more.
	drained, abandoned chan struct{}
	abandonOnce        sync.Once
}

func newPipes() (*pipes, error) {
	pp := &pipes{drained: make(chan struct{}), abandoned: make(chan struct{})}
	pp.open.Store(2)
	pp.stdout, pp.stderr = &pipeReader{pipes: pp}, &pipeReader{pipes: pp}
	var err error
	if pp.child[0], pp.stdin, err = inPipe(); err != nil {
		return nil, err
	}
	if pp.stdout.file, pp.child[1], err = outPipe(); err != nil {
		closeAll([]*os.File{pp.child[0], pp.stdin})
		return nil, err
	}
	if pp.stderr.file, pp.child[2], err = outPipe(); err != nil {
		closeAll([]*os.File{pp.child[0], pp.stdin, pp.child[1], pp.stdout.file})
		return nil, err
	}
	return pp, nil
}

func (pp *pipes) close() { closeAll([]*os.File{pp.stdin, pp.stdout.file, pp.stderr.file}) }

// pipeReader is the reading end of a program's output; it notices the end.
type pipeReader struct {
	pipes *pipes
	file  *os.File
	once  sync.Once
}

func (r *pipeReader) Read(b []byte) (int, error) {
	n, err := r.file.Read(b)
	if err != nil {
		r.once.Do(func() {
			if r.pipes.open.Add(-1) == 0 {
				close(r.pipes.drained)
			}
		})
	}
	return n, err
}

// awaitReaders closes the pipes of an ended program: at once when all was read
// or nobody will, else after the time for draining.
func (p *Process) awaitReaders() {
	limit, stop := p.sup.after(drainLimit)
	defer stop()
	select {
	case <-p.pipes.drained:
	case <-p.pipes.abandoned:
	case <-limit:
	}
	p.pipes.close()
}

func (p *Process) abandonPipes() {
	if p.pipes != nil {
		p.pipes.abandonOnce.Do(func() { close(p.pipes.abandoned) })
	}
}
