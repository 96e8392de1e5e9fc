package shell

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/tool"
)

const (
	// watchRate is how many lines of a watch the model gets in a minute; of more
	// it gets their number.
	watchRate = 20
	watchSpan = time.Minute
	// briefLimit is how many characters of a line, or of a command, are enough to
	// know it by.
	briefLimit = 120
)

// The kinds of notes.
const (
	kindEnd     = "background"
	kindMonitor = "monitor"
)

// watch looks at the lines of one command and notes those that match.
type watch struct {
	clock   core.Clock
	job     *job
	pattern *regexp.Regexp
	timeout time.Duration
	notes   tool.Notes

	// stop ends the watch; done closes when it has ended.
	stop, done chan struct{}

	// shown and more count the lines of the minute that runs, and tick ends it.
	shown, more int
	tick        chan struct{}
	stopTick    func() bool
}

func newWatch(clock core.Clock, j *job, call *monitorCall, notes tool.Notes) *watch {
	return &watch{
		clock: clock, job: j, pattern: call.pattern, timeout: call.timeout, notes: notes,
		stop: make(chan struct{}), done: make(chan struct{}), tick: make(chan struct{}, 1),
	}
}

// setWatch begins a watch on a command that runs, in place of the one before. It
// says how many of the lines that are there match; ok is false where the command
// has ended.
func (j *job) setWatch(w *watch) (before int, replaced, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over() {
		return 0, false, false
	}
	if j.watch != nil {
		close(j.watch.stop)
		replaced = true
	}
	lines, _ := j.log.since(0)
	for _, line := range lines {
		if w.pattern.MatchString(line) {
			before++
		}
	}
	j.watch = w
	go w.run(j.log.next)
	return before, replaced, true
}

// unwatch ends the watch on a command, if there is one.
func (j *job) unwatch() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.watch != nil {
		close(j.watch.stop)
		j.watch = nil
	}
}

// announce tells of a command's end, behind the last lines of its watch.
func (j *job) announce() {
	j.mu.Lock()
	w := j.watch
	j.mu.Unlock()
	if w != nil {
		<-w.done
	}
	if j.notes == nil || j.known.Load() {
		return
	}
	state := j.state(j.endedAt)
	text := fmt.Sprintf("Background command %s (%s) ended: %s.", j.id, j.brief(), state)
	quote := j.newest(endLines)
	if quote != "" {
		text += " Its newest lines:"
	}
	j.notes.Add(tool.Note{
		Kind: kindEnd, Text: text, Quote: quote, Stale: j.known.Load,
		Brief: fmt.Sprintf("background command %s ended: %s (%s)", j.id, state, core.Visible(j.brief())),
	})
}

// run notes lines from number next on until the command or the watch ends.
func (w *watch) run(next int64) {
	defer close(w.done)
	defer w.endMinute()
	late := make(chan struct{})
	if w.timeout > 0 {
		defer w.clock.AfterFunc(w.timeout, func() { close(late) })()
	}
	for {
		over := w.job.over() // before the lines are read, so that none comes after them
		lines, lost, more := w.job.read(next)
		next += lost + int64(len(lines))
		w.take(lines)
		if over {
			return
		}
		select {
		case <-more:
		case <-w.job.ended:
		case <-w.tick:
			w.endMinute()
		case <-w.stop:
			return
		case <-late:
			w.note(tool.Note{
				Kind: kindMonitor, Text: fmt.Sprintf("The watch on %s is over after %s; the command goes on.", w.job.id, core.Span(w.timeout)),
				Brief: "the watch on " + w.job.id + " is over",
			})
			return
		}
	}
}

// note tells the conversation, unless the session ends.
func (w *watch) note(n tool.Note) {
	if !w.job.silent.Load() {
		w.notes.Add(n)
	}
}

// take notes those of the lines that match, and counts what is too much.
func (w *watch) take(lines []string) {
	var out []string
	for _, line := range lines {
		switch {
		case !w.pattern.MatchString(line):
		case w.shown < watchRate:
			if w.stopTick == nil {
				w.stopTick = w.clock.AfterFunc(watchSpan, func() {
					select {
					case w.tick <- struct{}{}:
					default: // one that was not taken will do
					}
				})
			}
			w.shown++
			out = append(out, line)
		default:
			w.more++
		}
	}
	if len(out) == 0 {
		return
	}
	what, brief := "a line", fmt.Sprintf("%s printed %q", w.job.id, core.Cut(core.Visible(out[0]), briefLimit))
	if len(out) > 1 {
		what = fmt.Sprintf("%d lines", len(out))
		brief += fmt.Sprintf(" and %d more lines that match", len(out)-1)
	}
	text := fmt.Sprintf("%s (%s) printed %s that you watch for:", w.job.id, w.job.brief(), what)
	if w.shown == watchRate {
		text = fmt.Sprintf("%s That makes %d in a minute; until it is over more are only counted.", strings.TrimSuffix(text, ":")+".", watchRate)
	}
	w.note(tool.Note{Kind: kindMonitor, Text: text, Quote: strings.Join(out, "\n"), Brief: brief})
}

// endMinute begins a new count, and tells how many lines the old one left out.
func (w *watch) endMinute() {
	if w.stopTick != nil {
		w.stopTick()
		w.stopTick = nil
	}
	if w.more > 0 {
		text := fmt.Sprintf("%s printed %s more that you watch for in that minute.", w.job.id, grouped(int64(w.more)))
		w.note(tool.Note{Kind: kindMonitor, Text: text + " process_manager logs shows the newest.", Brief: text})
	}
	w.shown, w.more = 0, 0
}
