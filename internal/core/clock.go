package core

import (
	"context"
	"strings"
	"time"
)

// Clock tells and waits for time. Tests put a fake one in its place
// (internal/testkit), so nothing in Garuda sleeps by calling time.Sleep.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, and then returns its error.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc runs f in its own goroutine after d, unless stop is called first.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the machine's clock.
var SystemClock Clock = systemClock{}

// Span writes a time in whole seconds, where it is one or more, and without the
// zeros at its end: 5m, not 5m0s.
func Span(d time.Duration) string {
	if d > time.Second {
		d = d.Round(time.Second)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Within is ctx until d has passed; then it ends with the cause late. cancel must
// be called.
func Within(ctx context.Context, clock Clock, d time.Duration, late error) (within context.Context, cancel context.CancelFunc) {
	within, end := context.WithCancelCause(ctx)
	stop := clock.AfterFunc(d, func() { end(late) })
	return within, func() {
		stop()
		end(nil)
	}
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
