package lines

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/tool"
)

// What is shown of a running command's output: its first lines as they come,
// then one line now and then, and at the end its last lines.
const (
	firstLines = 20
	lastLines  = 10
	// failedLines takes the place of lastLines where a call failed.
	failedLines = 200
	// liveEvery is the time between two lines of a long output.
	liveEvery = 10 * time.Second
	// maxLine is how many bytes of a line are kept.
	maxLine = 1000
)

// output is what one call has printed.
type output struct {
	streams [2]partial
	lines   int
	skipped int64
	// last is a ring of the newest lines that were not shown at once; waiting
	// counts all of those.
	last      [failedLines][]byte
	waiting   int
	lastShown time.Time
}

// partial is the unfinished line of a stream.
type partial struct {
	data []byte
	// cr is true when a carriage return came last: what follows overwrites the line.
	cr  bool
	cut bool
}

func (a *Activity) output(e engine.ToolOutput) {
	o := a.outputs[e.ID]
	if o == nil {
		if a.outputs == nil {
			a.outputs = make(map[string]*output)
		}
		o = &output{}
		a.outputs[e.ID] = o
	}
	p := &o.streams[0]
	if e.Stderr {
		p = &o.streams[1]
	}
	o.skipped += e.Skipped
	now := a.now()
	for data := e.Data; ; {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		p.add(line)
		if !whole {
			return
		}
		a.outputLine(e.ID, o, p, now)
		data = rest
	}
}

// add takes more of a line. A progress bar that returns to the line's start
// leaves its last state only.
func (p *partial) add(data []byte) {
	for first := true; ; first = false {
		piece, rest, more := bytes.Cut(data, []byte("\r"))
		if !first {
			p.cr = true
		}
		if len(piece) > 0 && p.cr {
			p.data, p.cr, p.cut = p.data[:0], false, false
		}
		n := min(len(piece), maxLine-len(p.data))
		p.data = append(p.data, piece[:n]...)
		p.cut = p.cut || n < len(piece)
		if !more {
			return
		}
		data = rest
	}
}

// outputLine ends the stream's line: it is shown, or kept for the end.
func (a *Activity) outputLine(id string, o *output, p *partial, now time.Time) {
	if p.cut {
		p.data = append(p.data, "…"...)
	}
	o.lines++
	if o.lines <= firstLines {
		o.lastShown = now
		a.shown(id, printed(p.data))
	} else {
		slot := &o.last[o.waiting%failedLines]
		*slot = append((*slot)[:0], p.data...)
		o.waiting++
		if now.Sub(o.lastShown) >= liveEvery {
			o.lastShown = now
			a.shown(id, fmt.Sprintf("… line %d: %s", o.lines, printed(p.data)))
		}
	}
	*p = partial{data: p.data[:0]}
}

// shown prints a line of a call's output, after the call's name where another
// call had the word before.
func (a *Activity) shown(id, line string) {
	if a.last != id {
		a.last = id
		a.line(Dim, "  "+a.names[id]+" printed:")
	}
	a.screen().Verbatim(Dim, "    "+line)
}

// finishOutput shows the end of what the call printed.
func (a *Activity) finishOutput(r *tool.CallResult) {
	o := a.outputs[r.ID]
	if o == nil {
		return
	}
	delete(a.outputs, r.ID)
	for i := range o.streams {
		if p := &o.streams[i]; len(p.data) > 0 {
			a.outputLine(r.ID, o, p, o.lastShown)
		}
	}
	tail := min(o.waiting, lastLines)
	if r.Result.IsError {
		tail = min(o.waiting, failedLines)
	}
	switch hidden := o.waiting - tail; {
	case o.skipped > 0:
		a.shown(r.ID, fmt.Sprintf("… %s, and %d bytes that came too fast to show", Count(hidden, "line"), o.skipped))
	case hidden > 0:
		a.shown(r.ID, "… "+Count(hidden, "line"))
	}
	for i := o.waiting - tail; i < o.waiting; i++ {
		a.shown(r.ID, printed(o.last[i%failedLines]))
	}
}

func (a *Activity) now() time.Time {
	if a.Clock == nil {
		a.Clock = core.SystemClock
	}
	return a.Clock.Now()
}

// printed is a line of output without the codes that only colour text
// (ESC [ … m). All other codes stay, to be made visible: what would move the
// cursor or hide text is worth seeing.
func printed(line []byte) string {
	s := string(line)
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for {
		before, code, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := strings.IndexFunc(code, func(r rune) bool { return r != ';' && r != ':' && (r < '0' || r > '9') })
		if n >= 0 && code[n] == 'm' {
			s = code[n+1:]
			continue
		}
		b.WriteString("\x1b[")
		s = code
	}
}
