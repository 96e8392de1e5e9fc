package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// asker puts one question at a time. An answer is without white space around it;
// io.EOF says that the input ended, context.Canceled that Ctrl-C was pressed.
type asker interface {
	line(question string) (string, error)
	// hidden does not show what is typed.
	hidden(question string) (string, error)
}

// terminal asks on the terminal of the program.
type terminal struct {
	ctx context.Context
	in  *os.File
	out io.Writer
}

func (f *Factory) terminal(ctx context.Context) *terminal {
	in, _ := f.In.(*os.File) // attended has looked
	return &terminal{ctx: ctx, in: in, out: f.Out}
}

func (t *terminal) line(question string) (string, error) {
	text, err := t.read(question, func() (string, error) { return readTyped(t.in) })
	if err != nil {
		fmt.Fprintln(t.out) // nothing has ended the question's line
	}
	return text, err
}

// hidden turns the echo off before the question stands there, so that not even
// the quickest answer is shown.
func (t *terminal) hidden(question string) (string, error) {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	text, err := t.read(question, func() (string, error) {
		screen := struct {
			io.Reader
			io.Writer
		}{keys{t.in}, t.out}
		return term.NewTerminal(screen, "").ReadPassword("")
	})
	restored := term.Restore(fd, before)
	if err != nil {
		fmt.Fprintln(t.out) // nothing has ended the question's line
	}
	return text, errors.Join(err, restored)
}

// keys hands on what is typed key for key, so that nothing behind the answer is
// taken, and minds Ctrl-C, which is a key like others while the input is hidden.
type keys struct{ in io.Reader }

func (k keys) Read(p []byte) (int, error) {
	const interrupt = 0x03
	n, err := k.in.Read(p[:min(len(p), 1)])
	if n > 0 && p[0] == interrupt {
		return 0, context.Canceled
	}
	return n, err
}

// read lets a signal end the wait. What reads then outlives it until the program
// ends, since a read from a terminal cannot be called off.
func (t *terminal) read(question string, read func() (string, error)) (string, error) {
	fmt.Fprint(t.out, question)
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-t.ctx.Done():
		return "", t.ctx.Err()
	}
}

// readTyped reads a line, byte for byte, so that nothing behind it is taken from
// the next question.
func readTyped(in io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for {
		n, err := in.Read(b[:])
		if n > 0 {
			if b[0] == '\n' {
				return string(line), nil
			}
			line = append(line, b[0])
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return string(line), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// confirm asks for yes or no; anything but a yes is a no.
func confirm(a asker, question string) (bool, error) {
	text, err := a.line(question)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	text = strings.ToLower(text)
	return text == "y" || text == "yes", err
}

// pick asks for one of a list, by number or by name; a text that is neither is
// returned as it is. The end of the input is no answer, not even the empty one
// that Enter gives: whoever presses Ctrl-D leaves.
func pick(a asker, question string, of []string) (string, error) {
	text, err := a.line(question)
	if errors.Is(err, io.EOF) {
		return "", errLeft
	}
	if err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(of) {
		return of[n-1], nil
	}
	return text, nil
}
