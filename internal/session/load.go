package session

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sort"
	"sync"

	"garuda/internal/state"
)

// Problem is a line of a journal that could not be read as written.
type Problem struct {
	File string
	// Line counts from 1.
	Line   int
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason) }

// loaded is a journal's readable records in order, and what could not be read.
type loaded struct {
	records  []loadedRecord
	problems []Problem
	// unknown counts records by types that only a newer Garuda knows.
	unknown map[string]int
	lastSeq int64
	// whole is the length in bytes of the lines that end in a newline; torn is
	// what follows them: a line whose writing was cut off.
	whole int64
	torn  []byte
	lines int
}

type loadedRecord struct {
	env  envelope
	line int
	rec  Record
}

// decoded is what became of one line.
type decoded struct {
	loadedRecord
	err   error
	blobs []string
}

// minParallel is the size in bytes from which a journal is decoded on all cores.
const minParallel = 256 << 10

// load reads a journal's content. session is its folder, for blobs; nil when
// there is none. The only error is a *VersionError: anything else that cannot be
// read is a problem, and the rest is loaded.
func load(file string, data []byte, session *state.Folder) (*loaded, error) {
	return loadFrom(file, &source{data: data}, session)
}

// loadFrom is load of what was read of a journal.
func loadFrom(file string, src *source, session *state.Folder) (*loaded, error) {
	l := &loaded{unknown: map[string]int{}, lastSeq: src.after}
	data := src.data
	if n := bytes.LastIndexByte(data, '\n') + 1; n < len(data) {
		data, l.torn = data[:n], data[n:]
	}
	l.whole = src.base + int64(len(data))
	lines := bytes.Split(data, []byte("\n"))
	lines = lines[:len(lines)-1] // what follows the last newline: nothing
	l.lines = len(lines)
	broken := false // an unreadable line explains a gap in the numbers
	for i, d := range decodeAll(lines, session, len(data)) {
		d.line = i + 1
		var version *VersionError
		if errors.As(d.err, &version) {
			version.File, version.Line = file, d.line
			if src.lines != nil {
				before, err := src.lines()
				if err != nil {
					return nil, err
				}
				version.Line += before
			}
			return nil, version
		}
		if d.err != nil {
			l.problem(file, d.line, d.err.Error())
			broken = true
			continue
		}
		for _, b := range d.blobs {
			l.problem(file, d.line, b)
		}
		switch seq := d.env.Seq; {
		case seq <= l.lastSeq:
			l.problem(file, d.line, fmt.Sprintf("record %d stands after record %d and was left out", seq, l.lastSeq))
			continue
		case seq > l.lastSeq+1 && !broken:
			l.problem(file, d.line, fmt.Sprintf("record %d follows record %d: what was between is missing", seq, l.lastSeq))
		}
		l.lastSeq, broken = d.env.Seq, false
		if d.rec == nil {
			l.unknown[d.env.Type]++
			continue
		}
		l.records = append(l.records, d.loadedRecord)
	}
	if src.lines == nil || len(l.problems) == 0 && len(l.torn) == 0 {
		return l, nil
	}
	before, err := src.lines()
	if err != nil {
		return nil, err
	}
	l.lines += before
	for i := range l.problems {
		l.problems[i].Line += before
	}
	return l, nil
}

func (l *loaded) problem(file string, line int, reason string) {
	l.problems = append(l.problems, Problem{File: file, Line: line, Reason: reason})
}

// decodeAll decodes lines, large journals on all cores.
func decodeAll(lines [][]byte, session *state.Folder, size int) []decoded {
	out := make([]decoded, len(lines))
	workers := 1
	if size >= minParallel {
		workers = min(runtime.GOMAXPROCS(0), len(lines))
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(lines); i += workers {
				out[i] = decodeLine(lines[i], session)
			}
		})
	}
	wg.Wait()
	return out
}

func decodeLine(line []byte, session *state.Folder) decoded {
	var d decoded
	if d.env, d.err = parseLine(line); d.err != nil {
		return d
	}
	if d.rec, d.err = decodeRecord(d.env, line); d.err != nil || d.rec == nil {
		return d
	}
	if mayReferTo(line) {
		d.rec, d.blobs = getBlobs(d.rec, session)
	}
	return d
}

// notices says what could not be read, for a person.
func (l *loaded) notices(file string) []string {
	const shown = 5
	var out []string
	for _, p := range l.problems[:min(len(l.problems), shown)] {
		out = append(out, p.String())
	}
	if more := len(l.problems) - shown; more > 0 {
		out = append(out, fmt.Sprintf("%s: %d more lines could not be read as written; `garuda sessions verify` names them all", file, more))
	}
	kinds := make([]string, 0, len(l.unknown))
	for k := range l.unknown {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s: %d records of the unknown type %q were skipped; a newer Garuda wrote them", file, l.unknown[k], k))
	}
	if len(l.torn) > 0 {
		out = append(out, fmt.Sprintf("%s:%d: the last line was cut off while it was written (%d bytes) and was dropped", file, l.lines+1, len(l.torn)))
	}
	return out
}
