package repl

import (
	"bytes"
	"slices"
)

// maxStatus is how long an answer's status may be, in bytes.
const maxStatus = 16

// finder looks in a stream for the answer of one call: NUL, its token, a space,
// the status, NUL. All else is output, whatever it looks like.
type finder struct {
	mark []byte
	// held is the beginning of what may be the answer.
	held []byte
}

func newFinder(token string) *finder { return &finder{mark: []byte("\x00" + token + " ")} }

// feed takes the stream's next bytes, and gives what is output of them and of those
// that were held back. With status, which is not empty once the answer came, before
// is what stands in front of it and rest what stands behind. A status that is none
// is statusBroken. The slices are valid until the next call.
func (f *finder) feed(b []byte) (before, rest []byte, status string) {
	all := b
	if len(f.held) > 0 {
		all = slices.Concat(f.held, b)
	}
	at := bytes.Index(all, f.mark)
	if at < 0 {
		at = len(all) - f.begun(all)
		f.held = bytes.Clone(all[at:])
		return all[:at], nil, ""
	}
	tail := all[at+len(f.mark):]
	end := bytes.IndexByte(tail, 0)
	switch {
	case end < 0 && len(tail) <= maxStatus:
		f.held = bytes.Clone(all[at:])
		return all[:at], nil, ""
	case end < 0 || end > maxStatus || !isStatus(tail[:end]):
		return all[:at], nil, statusBroken
	}
	return all[:at], tail[end+1:], string(tail[:end])
}

// begun is how many bytes at the end of b may be the beginning of the mark.
func (f *finder) begun(b []byte) int {
	for n := min(len(b), len(f.mark)-1); n > 0; n-- {
		if bytes.HasPrefix(f.mark, b[len(b)-n:]) {
			return n
		}
	}
	return 0
}

// isStatus reports whether a program may answer with this: a word of its own or an
// exit code.
func isStatus(b []byte) bool {
	switch string(b) {
	case statusOK, statusError, statusExit, statusMissing:
		return true
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 3
}
