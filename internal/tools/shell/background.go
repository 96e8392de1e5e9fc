package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/tool"
)

const (
	// backgroundTime is how long a background command may run.
	backgroundTime = 2 * time.Hour
	// maxRunning is how many may run at once, and maxEnded how many that have
	// ended are remembered.
	maxRunning, maxEnded = 16, 32
	// logLimit is how many bytes of each stream are kept, beginning and end.
	logLimit = 512 << 10
)

// Background is the commands that run beside the conversation of one session.
// It is safe for concurrent use.
type Background struct {
	clock core.Clock

	mu     sync.Mutex
	last   int
	jobs   []*job
	closed bool
}

// NewBackground makes an empty one; Close ends what it holds.
func NewBackground(clock core.Clock) *Background { return &Background{clock: clock} }

// job is one background command.
type job struct {
	id, text string
	pid      int
	began    time.Time
	process  sandbox.Process

	// notes tells the conversation of the command's end; may be nil.
	notes tool.Notes
	// known is true once the model needs no note of the end: it saw it, it brought
	// it about, or the session is over.
	known atomic.Bool
	// silent is true once the session ends, and hears nothing of the command any more.
	silent atomic.Bool
	// disarm undoes, at the command's end, what nobody can be asked about then, and
	// says so; disarmed is what it said. Nil where the command was asked about itself.
	disarm   func() string
	disarmed string

	mu      sync.Mutex
	streams [2]*Screen
	log     lineLog
	// waited is the number of the first line that no monitor has returned yet.
	waited int64
	watch  *watch

	// ended closes when nothing of the command is left; the fields below are
	// set before.
	ended   chan struct{}
	endedAt time.Time
	result  *sandbox.Result
	// told closes after that, when the conversation was told.
	told chan struct{}
}

var errTooMany = errors.New(strconv.Itoa(maxRunning) + " commands run in the background already; end one with process_manager first")

// start runs a command text beside the conversation. It outlives the call and
// the turn, and ends by itself, by kill, or with the session.
func (b *Background) start(call *tool.Call, text string) (*job, error) {
	env := call.Env
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("the session is ending")
	}
	running := 0
	for _, j := range b.jobs {
		if !j.over() {
			running++
		}
	}
	if running >= maxRunning {
		return nil, errTooMany
	}
	cmd := granted(call, text)
	cmd.LockWatched = true
	env.Watcher.Begin()
	cmd.Timeout = backgroundTime
	p, err := env.Exec.Start(context.Background(), cmd)
	if err != nil {
		return nil, err
	}
	_ = p.Stdin().Close() // it reads nothing; a pipe that is closed says so
	b.last++
	j := &job{
		id: "b" + strconv.Itoa(b.last), text: text, pid: p.Pid(), process: p, began: b.clock.Now(),
		notes: env.Notes, ended: make(chan struct{}), told: make(chan struct{}),
	}
	for i := range j.streams {
		j.streams[i] = NewScreen(logLimit)
		j.streams[i].lines = &splitter{log: &j.log}
	}
	if isolated(env.Exec, cmd) && !cmd.ReadOnlyRoot {
		j.disarm = env.Watcher.Disarm
	}
	b.jobs = append(b.jobs, j)
	b.forget()
	go j.attend(b.clock)
	return j, nil
}

// forget drops the oldest of those that have ended.
func (b *Background) forget() {
	over := 0
	for _, j := range b.jobs {
		if j.over() {
			over++
		}
	}
	for i := 0; over > maxEnded && i < len(b.jobs); {
		if !b.jobs[i].over() {
			i++
			continue
		}
		b.jobs = append(b.jobs[:i:i], b.jobs[i+1:]...)
		over--
	}
}

// attend keeps what the command prints until it has ended, and tells of that.
func (j *job) attend(clock core.Clock) {
	var wg sync.WaitGroup
	for i, r := range []io.Reader{j.process.Stdout(), j.process.Stderr()} {
		wg.Go(func() { j.keep(i, r) })
	}
	res, _ := j.process.Wait() // its error is always nil: see sandbox.Process
	wg.Wait()
	if j.disarm != nil {
		j.disarmed = oneLine(j.disarm())
	}
	j.result, j.endedAt = res, clock.Now()
	close(j.ended)
	j.announce()
	close(j.told)
}

func (j *job) keep(stream int, r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		j.mu.Lock()
		j.streams[stream].Write(buf[:n])
		j.mu.Unlock()
		if err != nil {
			break
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.streams[stream].finish()
}

func (j *job) over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// get finds a job; the error lists what there is.
func (b *Background) get(id string) (*job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var known []string
	for _, j := range b.jobs {
		if j.id == id {
			return j, nil
		}
		if !j.over() {
			known = append(known, j.id)
		}
	}
	if len(known) == 0 {
		return nil, unknownError{fmt.Sprintf("there is no background command %q, and none runs; bash with run_in_background starts one", id)}
	}
	return nil, unknownError{fmt.Sprintf("there is no background command %q; running: %s", id, strings.Join(known, ", "))}
}

// unknownError is ErrNoCommand with what there is instead.
type unknownError struct{ text string }

func (e unknownError) Error() string { return e.text }
func (unknownError) Unwrap() error   { return ErrNoCommand }

// list returns the jobs, the oldest first.
func (b *Background) list() []*job {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*job(nil), b.jobs...)
}

// kill ends a job and waits for its end: TERM to its group, KILL after 2 s.
func (j *job) kill(ctx context.Context) error {
	j.known.Store(true)
	j.process.Kill()
	select {
	case <-j.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// EndAll ends every command that still runs and waits for their end, at most
// until ctx ends.
func (b *Background) EndAll(ctx context.Context) {
	for _, j := range b.list() {
		j.known.Store(true)
		j.silent.Store(true)
		j.unwatch()
		j.process.Kill()
	}
	for _, j := range b.list() {
		select {
		case <-j.told:
		case <-ctx.Done():
			return
		}
	}
}

// Close is EndAll, and nothing new is started afterwards.
func (b *Background) Close(ctx context.Context) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.EndAll(ctx)
}

// shown is state for the model, which then knows of an end.
func (j *job) shown(now time.Time) string {
	if j.over() {
		j.known.Store(true)
	}
	return j.state(now)
}

// state says in words how a job stands.
func (j *job) state(now time.Time) string {
	if !j.over() {
		return "running for " + age(now.Sub(j.began))
	}
	how := "exit code " + strconv.Itoa(j.result.ExitCode)
	switch {
	case j.result.TimedOut:
		how = "ended after " + age(backgroundTime) + ", the longest that a background command may run"
	case j.result.Signal != "":
		how = "ended by " + j.result.Signal
	}
	how += " after " + age(j.endedAt.Sub(j.began))
	if j.disarmed != "" {
		how += "; " + j.disarmed
	}
	return how
}

func age(d time.Duration) string { return d.Round(time.Second).String() }

// tail returns the newest n lines of a stream and how many there are before them,
// -1 when some of those were not kept.
func (j *job) tail(stream, n int) (text string, before int) {
	j.mu.Lock()
	kept, pending := j.streams[stream].peek()
	j.mu.Unlock()
	cut := len(kept.Tail) > 0 && kept.Total > int64(len(kept.Head)+len(kept.Tail))
	whole := kept.Head
	if cut {
		whole = wholeAtStart(kept.Tail)
	} else {
		whole = append(bytes.Clone(whole), kept.Tail...)
	}
	lines := strings.Split(strings.TrimSuffix(readable(append(bytes.Clone(whole), pending...)), "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return "", 0
	}
	before = max(len(lines)-n, 0)
	lines = lines[before:]
	if cut {
		before = -1
	}
	return strings.Join(lines, "\n"), before
}
