package core

import (
	"context"
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
