package lines

import (
	"fmt"
	"time"

	"garuda/internal/engine"
)

// maxRetryReason is how much of what a server said is shown of a failure that is
// only passing.
const maxRetryReason = 120

// retrying says in one line that a request is sent again. Where the screen
// redraws, the line stays open and whoever writes there counts the seconds.
func (a *Activity) retrying(e engine.Retrying) {
	a.pending = pending{}
	s := a.screen()
	s.EndLine()
	text := "! " + RetryReason(e) + "; " + fmt.Sprintf("attempt %d of %d", e.Attempt+1, e.Max+1)
	if s.Redraws {
		s.Text(Warn, text)
		return
	}
	s.Line(Warn, text+" in "+Left(e.Wait))
}

// RetryReason says in a few words why a request failed that is sent again, and
// what the server said.
func RetryReason(e engine.Retrying) string {
	said := firstLine(oneLine(e.Err.Said()), maxRetryReason)
	if e.Err.Status != 0 {
		said = fmt.Sprintf("HTTP %d: %s", e.Err.Status, said)
	}
	return e.Reason + " (" + said + ")"
}

// Elapsed is a time that has passed, in whole seconds: "12 s", "3 min 5 s".
func Elapsed(d time.Duration) string {
	n := int(d / time.Second)
	if n < 120 {
		return fmt.Sprintf("%d s", n)
	}
	return fmt.Sprintf("%d min %d s", n/60, n%60)
}

// Left is a time that is still to pass. A second that has begun counts, so that a
// countdown never shows 0 while it runs.
func Left(d time.Duration) string { return Elapsed(d + time.Second - 1) }
