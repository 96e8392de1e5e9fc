package shell

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoCommand is in the error for an id that no background command has.
var ErrNoCommand = errors.New("there is no such background command")

// Command is one background command, as others than its tools see it.
type Command struct {
	// ID is b and a number.
	ID string
	// Text is what bash was given, whole.
	Text string
	Pid  int
	// Running is false once nothing of it is left; State says in words how it stands.
	Running bool
	State   string
}

// List returns the background commands, the oldest first: those that run, and
// the newest of those that have ended.
func (b *Background) List() []Command {
	jobs := b.list()
	out := make([]Command, len(jobs))
	now := b.clock.Now()
	for i, j := range jobs {
		out[i] = Command{ID: j.id, Text: j.text, Pid: j.pid, Running: !j.over(), State: j.state(now)}
	}
	return out
}

// Stop ends a command with everything it started, waits until nothing of it is
// left, and says for the model what was done; one that had ended already is no
// error. An id that no command has gives an error that is ErrNoCommand and lists
// what runs; the end of ctx gives its cause.
func (b *Background) Stop(ctx context.Context, id string) (said string, err error) {
	j, err := b.get(id)
	if err != nil {
		return "", err
	}
	if j.over() {
		return j.id + " had ended already: " + j.shown(b.clock.Now()) + ".", nil
	}
	if err := j.kill(ctx); err != nil {
		return "", fmt.Errorf("end %s: %w", j.id, err)
	}
	return j.id + " and everything it started were ended.", nil
}
