package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
)

// maxStdin is how much of a prompt standard input may bring, and how long a line
// of messages may be.
const maxStdin = 10 << 20

// stdinPatience is how long a run with a prompt of its own waits for standard
// input to end before it says what it waits for.
const stdinPatience = 3 * time.Second

// errNoPrompt is a headless run without anything to do.
var errNoPrompt = errors.New("-p needs a prompt: as an argument or on standard input")

// promptSource hands prompts to a headless run.
type promptSource struct {
	out chan engine.Prompt
	err error // set before out is closed
}

func (p *promptSource) failure() error { return p.err }

func headlessPrompts(ctx context.Context, f *Factory, o *runOptions) (*promptSource, error) {
	if o.inputFormat == "stream-json" {
		if o.outputFormat != "stream-json" {
			return nil, usagef("--input-format stream-json goes with --output-format stream-json")
		}
		return streamPrompts(ctx, f, o), nil
	}
	text, err := promptText(ctx, f, o)
	if err != nil {
		return nil, err
	}
	p := &promptSource{out: make(chan engine.Prompt, 1)}
	p.out <- engine.Prompt{Text: text, Timeout: o.timeout}
	close(p.out)
	return p, nil
}

// promptText is the argument, what standard input brings, or both.
func promptText(ctx context.Context, f *Factory, o *runOptions) (string, error) {
	var piped string
	if !f.InIsTerminal {
		b, err := readPiped(ctx, f, o.prompt != "")
		if err != nil {
			return "", err
		}
		piped = strings.TrimSpace(strings.ToValidUTF8(string(b), "\ufffd"))
	}
	text := o.promptArgument()
	switch {
	case text == "" && piped == "":
		return "", usage(errNoPrompt)
	case text == "":
		return piped, nil
	case piped == "":
		return text, nil
	}
	return text + "\n\n" + piped, nil
}

// promptArgument is the prompt of the command line; arguments are bytes, and
// need not be UTF-8.
func (o *runOptions) promptArgument() string {
	return strings.TrimSpace(strings.ToValidUTF8(o.prompt, "\ufffd"))
}

// readPiped reads standard input to its end. Nothing can call a read off, so
// when ctx ends it goes on unheard until the process does.
func readPiped(ctx context.Context, f *Factory, alsoArgument bool) ([]byte, error) {
	stop := func() bool { return true }
	if alsoArgument {
		stop = f.Clock.AfterFunc(stdinPatience, func() {
			fmt.Fprintln(f.Err, "garuda: waiting for the end of standard input (close it, or use < /dev/null)")
		})
	}
	defer stop()
	type content struct {
		b   []byte
		err error
	}
	read := make(chan content, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(f.In, maxStdin+1))
		read <- content{b, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-read:
		if c.err != nil {
			return nil, fmt.Errorf("read the prompt from standard input: %w", c.err)
		}
		if len(c.b) > maxStdin {
			return nil, usagef("the prompt on standard input is larger than %d MB; put it into a file and name the file", maxStdin>>20)
		}
		return c.b, nil
	}
}

// streamPrompts reads one JSON object a line from standard input, each a further
// message of the user, as Claude Code's stream-json input has them.
func streamPrompts(ctx context.Context, f *Factory, o *runOptions) *promptSource {
	p := &promptSource{out: make(chan engine.Prompt)}
	go func() {
		defer close(p.out)
		p.err = p.read(ctx, f.In, o)
	}()
	return p
}

// read sends prompts until the input ends, or holds what is no message.
func (p *promptSource) read(ctx context.Context, in io.Reader, o *runOptions) error {
	sent := 0
	send := func(text string) {
		select {
		case p.out <- engine.Prompt{Text: text, Timeout: o.timeout}:
			sent++
		case <-ctx.Done(): // nobody takes it any more
		}
	}
	if text := o.promptArgument(); text != "" {
		send(text)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxStdin)
	n := 1
	for ; ctx.Err() == nil && lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		text, err := userLine(lines.Bytes())
		if err != nil {
			return fmt.Errorf("standard input, line %d: %w", n, err)
		}
		send(text)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("standard input, line %d: it is longer than %d MB", n, maxStdin>>20)
	case err != nil:
		return fmt.Errorf("read standard input: %w", err)
	case sent == 0:
		return errNoPrompt
	}
	return nil
}

// userLine is the text of one line's message.
func userLine(line []byte) (string, error) {
	var in struct {
		Type    string `json:"type"`
		Message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return "", fmt.Errorf("not a JSON object: %w", err)
	}
	if in.Type != "user" {
		return "", fmt.Errorf("type is %q, want \"user\"", in.Type)
	}
	if in.Message.Role != "" && in.Message.Role != "user" {
		return "", fmt.Errorf("message.role is %q, want \"user\"", in.Message.Role)
	}
	text, err := contentText(in.Message.Content)
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("message.content holds no text")
	}
	return text, err
}

// contentText is a string's, or that of a list of text blocks.
func contentText(content json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var blocks []struct{ Type, Text string }
	if err := json.Unmarshal(content, &blocks); err != nil {
		return "", errors.New("message.content is neither a string nor a list of blocks")
	}
	var parts []string
	for _, b := range blocks {
		if b.Type != string(core.BlockText) {
			return "", fmt.Errorf("message.content holds a block of type %q; only text is taken", b.Type)
		}
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n"), nil
}
