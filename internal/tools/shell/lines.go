package shell

import (
	"bytes"

	"garuda/internal/core"
)

const (
	// maxLines is how many of a command's newest lines monitor can still look at,
	// and lineLimit where each is cut, in bytes.
	maxLines, lineLimit = 500, 2_000
)

// lineLog is the newest whole lines that a command printed, of both streams in
// the order of their ends, as a terminal would show them. They are numbered from 0.
type lineLog struct {
	lines []string // as they were printed; see since
	// next is the number of the line that comes next.
	next int64
	// changed is closed and replaced with each new line; nil while nobody waits.
	changed chan struct{}
}

func (l *lineLog) add(line string) {
	if len(l.lines) == 2*maxLines {
		l.lines = append(make([]string, 0, 2*maxLines), l.lines[maxLines:]...)
	}
	l.lines = append(l.lines, line)
	l.next++
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// since gives the lines from number n on, and how many before them were not kept.
// They are made readable only here: most are never looked at.
func (l *lineLog) since(n int64) (lines []string, lost int64) {
	first := l.next - int64(min(len(l.lines), maxLines))
	lost = max(first-n, 0)
	from := max(n, first)
	for _, line := range l.lines[len(l.lines)-int(l.next-from):] {
		lines = append(lines, readable([]byte(line)))
	}
	return lines, lost
}

// change is closed when another line came.
func (l *lineLog) change() <-chan struct{} {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// splitter makes lines of what a screen settles on.
type splitter struct {
	log  *lineLog
	part []byte
}

func (s *splitter) write(b []byte) {
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			s.grow(b)
			return
		}
		s.grow(b[:end])
		s.end()
		b = b[end+1:]
	}
}

// grow adds to the unfinished line, up to the limit.
func (s *splitter) grow(b []byte) {
	s.part = append(s.part, b[:min(len(b), max(lineLimit-len(s.part), 0))]...)
}

func (s *splitter) end() {
	s.log.add(string(core.WholeAtEnd(s.part)))
	s.part = s.part[:0]
}

// finish ends the stream: what stands on its last line is a line too.
func (s *splitter) finish() {
	if len(s.part) > 0 {
		s.end()
	}
}
