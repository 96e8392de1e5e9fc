package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Report is what a check of a project's logs found.
type Report struct {
	Files, Lines int
	// Broken names what was tampered with or damaged, Notes what is no proof of
	// either: a line that a crash cut off, a log without a checkpoint.
	Broken, Notes []string
}

// OK says that nothing was found to be broken.
func (r *Report) OK() bool { return len(r.Broken) == 0 }

func (r *Report) broken(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Verify checks every log of the project against its hashes and its checkpoint.
// The error is for a folder that cannot be listed: nothing is known then.
func (r *Reader) Verify() (*Report, error) {
	report := &Report{}
	// The checkpoints come before the logs: those that are written just now may
	// have gone on since, and none may seem to be without its log.
	marks, err := r.marks()
	if err != nil {
		return nil, fmt.Errorf("check the audit log: %w", err)
	}
	names, err := r.files()
	if err != nil {
		return nil, fmt.Errorf("check the audit log: %w", err)
	}
	for _, name := range names {
		report.Files++
		mark := marks[name]
		if mark == nil { // the log may have been begun meanwhile
			again, err := r.marks()
			if err != nil {
				return nil, fmt.Errorf("check the audit log: %w", err)
			}
			mark = again[name]
		}
		r.verifyFile(report, name, mark)
		delete(marks, name)
	}
	for name := range marks {
		report.broken("%s: the log is gone; its checkpoint is still there", name)
	}
	return report, nil
}

var errNoLine = errors.New("it names no line")

// found is a checkpoint as it was read.
type found struct {
	mark mark
	err  error
}

// marks reads all checkpoints, by the name of their log.
func (r *Reader) marks() (map[string]*found, error) {
	out := map[string]*found{}
	if r.folder == nil {
		return out, nil
	}
	folder, err := r.folder.Sub(checkpointsName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil:
		return nil, err
	}
	defer folder.Close()
	names, err := list(folder, logSuffix+".json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		out[strings.TrimSuffix(name, ".json")] = readMark(folder, name)
	}
	return out, nil
}

// verifyFile follows one log's chain.
func (r *Reader) verifyFile(report *Report, name string, mark *found) {
	c := chain{name: name, report: report, prev: firstPrev}
	if mark != nil && mark.err == nil {
		c.mark = &mark.mark
	}
	err := r.each(name, c.next)
	report.Lines += c.lines
	switch {
	case err != nil:
		report.broken("%s: %s", filepath.Join(r.path, name), err)
	case mark == nil && c.lines == 0 && !c.torn:
		report.note("%s is empty and has no checkpoint: its process ended before the first line, or both were removed", name)
	case mark == nil && c.lines > 0:
		report.note("%s has no checkpoint: lines that were cut from its end would not show", name)
	case mark != nil && mark.err != nil:
		report.broken("%s: its checkpoint cannot be read: %s", name, mark.err)
	case c.mark != nil && !c.met && !c.lost:
		report.broken("%s ends at line %d; its checkpoint knows line %d, so lines were cut from its end", name, c.seq, c.mark.Seq)
	case c.torn:
		report.note("%s: its last line was cut off, as by a crash", name)
	}
}

// chain follows the lines of one log.
type chain struct {
	name   string
	report *Report
	mark   *mark

	lines int
	seq   int64
	prev  string
	// met says that the checkpoint's line was there, lost that the chain broke
	// before it could be, torn that the last line has no end.
	met, lost, torn bool
}

func (c *chain) next(raw []byte, whole bool) bool {
	if !whole {
		c.torn = true
		return false
	}
	c.lines++
	l, err := decode(raw)
	switch {
	case err != nil:
		c.report.broken("%s, line %d: %s", c.name, c.lines, err)
		c.lost = true
		return false
	case l.Prev != c.prev || l.Seq != c.seq+1:
		c.report.broken("%s, line %d: it does not follow the line before; lines were removed, put in or moved", c.name, c.lines)
		c.lost = true
		return false
	}
	c.seq, c.prev = l.Seq, l.Hash
	if c.mark != nil && c.mark.Seq == l.Seq {
		c.met = true
		if c.mark.Hash != l.Hash {
			c.report.broken("%s, line %d: it is not the line that the checkpoint knows; the log was written anew", c.name, c.lines)
		}
	}
	return true
}
