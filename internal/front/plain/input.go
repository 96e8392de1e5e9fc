package plain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"garuda/internal/core"
)

const (
	// maxLine is the longest line that is taken, in bytes.
	maxLine = 10 << 20
	// terminalLine is where Linux cuts a line that is typed or pasted into a
	// terminal in line mode (N_TTY_BUF_SIZE, less the newline).
	terminalLine = 4095
	// typedAhead is how many lines are read before the chat takes them.
	typedAhead = 256
)

var (
	errLineTooLong = errors.New("a line of the input is longer than " + strconv.Itoa(maxLine>>20) + " MB and was left out; give it as a file")
	errLineCut     = errors.New("that line is as long as a terminal lets a line be (" + strconv.Itoa(terminalLine) + " bytes), so its end was " +
		`probably cut; it was not sent: end lines with \ and go on in the next, or put the text into a file`)
)

// typedLine is one line of the input, and when it came.
type typedLine struct {
	text string
	at   time.Time
	err  error
	// ends is true when err ended the input.
	ends bool
}

// readLines reads In to its end and closes lines. It ends early when stop is
// closed and a read returns.
func readLines(in io.Reader, isTerminal bool, clock core.Clock, lines chan<- typedLine, stop <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readLine(r)
		end := err != nil && !errors.Is(err, errLineTooLong)
		if text == "" && errors.Is(err, io.EOF) {
			return
		}
		l := typedLine{text: text, at: clock.Now(), err: err}
		switch {
		case errors.Is(err, io.EOF):
			l.err = nil // the last line has no newline
		case end:
			l.err, l.ends = fmt.Errorf("read the input: %w", err), true
		case err == nil && isTerminal && len(text) == terminalLine:
			l.err = errLineCut
		}
		l.text = strings.ToValidUTF8(strings.TrimSuffix(l.text, "\r"), "\uFFFD")
		if isTerminal {
			l.text = withoutKeys(l.text)
		}
		select {
		case lines <- l:
		case <-stop:
			return
		}
		if end {
			return
		}
	}
}

// readLine returns the next line without its newline. A line that is too long
// is read to its end and dropped.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	tooLong := false
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil && tooLong:
			return "", errLineTooLong
		}
		return strings.TrimSuffix(string(line), "\n"), err
	}
}

// withoutKeys takes out the codes of keys that a terminal in line mode passes
// through as they are: arrows and the like, and the marks around a paste.
func withoutKeys(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	var b strings.Builder
	for {
		before, code, found := strings.Cut(s, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = afterKey(code)
	}
}

// afterKey is what follows the key's code: ESC [ parameters final, ESC O final,
// or ESC and a character.
func afterKey(code string) string {
	switch {
	case strings.HasPrefix(code, "["):
		for i := 1; i < len(code); i++ {
			if c := code[i]; c >= 0x40 && c <= 0x7e {
				return code[i+1:]
			} else if c < 0x20 || c > 0x7e {
				return code[i:]
			}
		}
		return ""
	case strings.HasPrefix(code, "O") && len(code) > 1:
		return code[2:]
	}
	return code
}
