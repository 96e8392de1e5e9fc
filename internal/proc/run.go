package proc

import (
	"context"
	"fmt"
	"os"
	"sync"

	"garuda/internal/sandbox"
)

// readSize is how much of a stream is read at once; on Linux pipes are made
// larger than this, so that a command that prints fast is rarely stopped.
const readSize = 64 << 10

// Run starts a command without input, waits for its end and returns what it
// printed, as sandbox.Executor says. Argv[0] is looked up in the command's own
// PATH when it has no slash.
func (g *Group) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	null, err := openNull()
	if err != nil {
		return nil, fmt.Errorf("start %s: open its input: %w", name(cmd), err)
	}
	outR, outW, err := outPipe()
	if err != nil {
		closeAll([]*os.File{null})
		return nil, fmt.Errorf("start %s: make its output pipe: %w", name(cmd), err)
	}
	errR, errW, err := outPipe()
	if err != nil {
		closeAll([]*os.File{null, outR, outW})
		return nil, fmt.Errorf("start %s: make its error pipe: %w", name(cmd), err)
	}
	readers := []*os.File{outR, errR}
	p, err := g.launch(ctx, cmd, []*os.File{null, outW, errW})
	if err != nil {
		closeAll(readers)
		return nil, err
	}
	defer p.sup.finished(p)

	sink := newSink(cmd)
	var pumps sync.WaitGroup
	for i, r := range readers {
		pumps.Go(func() { pump(sink, i == 1, r) })
	}
	drained := make(chan struct{})
	go func() {
		pumps.Wait()
		close(drained)
	}()

	p.oversee(ctx, cmd.Timeout, drained)
	close(p.ended)
	// Whoever held the pipes is gone, so their end comes at once; only a process
	// that could not be ended is waited for in vain.
	limit, stop := p.sup.after(drainLimit)
	select {
	case <-drained:
	case <-limit:
	}
	stop()
	closeAll(readers)
	<-drained
	res := p.result
	sink.finish(&res)
	return &res, nil
}

// pump reads one stream to its end.
func pump(s *sink, stderr bool, r *os.File) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.write(stderr, buf[:n])
		}
		if err != nil {
			return // the end, or the pipe was closed because the command is over
		}
	}
}
