package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// errInterrupted ends a command that a signal stopped before it had begun.
var errInterrupted = &codeError{code: exitSignal, err: errors.New("interrupted")}

// stopSignals watches for SIGINT, SIGTERM and SIGHUP from the moment it is made,
// so that no phase of a run dies of one unnoticed. The first ends what runs in
// order; the second kills what was started and ends the process at once.
type stopSignals struct {
	// ctx ends at the first signal.
	ctx    context.Context
	cancel context.CancelFunc
	kill   atomic.Pointer[func()]
	// orderly is true after running.
	orderly atomic.Bool
	ended   chan struct{}
	quit    chan struct{}
}

// openingLimit is how long what comes before a run may take to heed the first
// signal. A read from a disk that does not answer heeds nothing.
const openingLimit = 2 * time.Second

// watchSignals begins to watch; end must be called.
func watchSignals(ctx context.Context) *stopSignals {
	w := &stopSignals{ended: make(chan struct{}), quit: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(ctx)
	received := make(chan os.Signal, 2)
	signal.Notify(received, stoppingSignals()...)
	catchBrokenPipe()
	go w.watch(received)
	return w
}

// stoppingSignals leaves SIGHUP out where the program was started to outlive its
// terminal, as nohup does.
func stoppingSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

func (w *stopSignals) watch(received chan os.Signal) {
	defer close(w.ended)
	defer signal.Stop(received)
	select {
	case <-w.quit:
		return
	case <-received:
	}
	w.cancel()
	late := time.AfterFunc(openingLimit, func() {
		if !w.orderly.Load() {
			w.exit()
		}
	})
	defer late.Stop()
	select {
	case <-w.quit:
	case <-received:
		w.exit()
	}
}

func (w *stopSignals) exit() {
	if kill := w.kill.Load(); kill != nil {
		(*kill)()
	}
	os.Exit(exitSignal)
}

// killing says what the second signal kills before it ends the process.
func (w *stopSignals) killing(kill func()) { w.kill.Store(&kill) }

// running says that what runs now heeds the end of ctx, and takes its own time.
func (w *stopSignals) running() { w.orderly.Store(true) }

// explain makes errInterrupted of an error that the first signal brought about.
func (w *stopSignals) explain(err error) error {
	if err != nil && w.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// end stops to watch.
func (w *stopSignals) end() {
	close(w.quit)
	<-w.ended
	w.cancel()
}
