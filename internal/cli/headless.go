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
	"garuda/internal/front/headless"
)

// maxStdin is how much of a prompt standard input may bring.
const maxStdin = 10 << 20

// shutdownLimit is how long a headless run may still take after its last line.
const shutdownLimit = 5 * time.Second

// stdinPatience is how long a run with a prompt of its own waits for standard
// input to end before it says what it waits for.
const stdinPatience = 3 * time.Second

func runHeadless(ctx context.Context, f *Factory, o *runOptions) error {
	prompts, err := headlessPrompts(ctx, f, o)
	if err != nil {
		return err
	}
	o.Options.Version = f.Version
	sys, err := f.Open(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer sys.Close()
	notices(f, sys)
	s, err := openSession(f, sys, o)
	if err != nil {
		return err
	}
	interrupts, stop := interruptChannel(sys.Kill)
	defer stop()
	code, err := headless.Run(ctx, s, headless.Options{
		Format: headless.Format(o.outputFormat), Partial: o.partial, Verbose: o.verbose,
		Stdout: f.Out, Stderr: f.Err, Prompts: prompts.out, PromptErr: prompts.failure, Interrupts: interrupts,
		Init: headless.Init{
			CWD: sys.Root(), PermissionMode: permissionMode(sys.Mode(), o.Yolo), APIKeySource: sys.Model().KeySource,
			Version: f.Version, Tools: sys.ToolNames(),
		},
	})
	if closeErr := headless.Shutdown(s, f.Clock, shutdownLimit); closeErr != nil && err == nil && code == 0 {
		// The turn's own result has told a journal that failed; this is the rest.
		fmt.Fprintln(f.Err, "garuda: close the session: "+closeErr.Error())
		code = exitError
	}
	switch {
	case err != nil:
		return &codeError{code: max(code, exitError), err: err}
	case code != 0:
		return &codeError{code: code, err: errSilent}
	}
	return nil
}

// permissionMode says the mode in Claude Code's words.
func permissionMode(mode string, yolo bool) string {
	switch {
	case mode == "plan":
		return "plan"
	case yolo:
		return "bypassPermissions"
	case mode == "accept_edits":
		return "acceptEdits"
	}
	return "default"
}

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
	text, err := promptText(f, o)
	if err != nil {
		return nil, err
	}
	p := &promptSource{out: make(chan engine.Prompt, 1)}
	p.out <- engine.Prompt{Text: text, Timeout: o.timeout}
	close(p.out)
	return p, nil
}

// promptText is the argument, what standard input brings, or both.
func promptText(f *Factory, o *runOptions) (string, error) {
	var piped string
	if !f.InIsTerminal {
		stop := func() bool { return true }
		if o.prompt != "" {
			stop = f.Clock.AfterFunc(stdinPatience, func() {
				fmt.Fprintln(f.Err, "garuda: waiting for the end of standard input (close it, or use < /dev/null)")
			})
		}
		b, err := io.ReadAll(io.LimitReader(f.In, maxStdin+1))
		stop()
		if err != nil {
			return "", fmt.Errorf("read the prompt from standard input: %w", err)
		}
		if len(b) > maxStdin {
			return "", usagef("the prompt on standard input is larger than %d MB; put it into a file and name the file", maxStdin>>20)
		}
		piped = strings.ToValidUTF8(strings.TrimSpace(string(b)), "\ufffd")
	}
	text := strings.TrimSpace(o.prompt)
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

// streamPrompts reads one JSON object a line from standard input, each a further
// message of the user, as Claude Code's stream-json input has them.
func streamPrompts(ctx context.Context, f *Factory, o *runOptions) *promptSource {
	p := &promptSource{out: make(chan engine.Prompt)}
	send := func(text string) bool {
		select {
		case p.out <- engine.Prompt{Text: text, Timeout: o.timeout}:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(p.out)
		if strings.TrimSpace(o.prompt) != "" && !send(o.prompt) {
			return
		}
		lines := bufio.NewScanner(f.In)
		lines.Buffer(make([]byte, 64<<10), maxStdin)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			text, err := userLine(lines.Bytes())
			if err != nil {
				p.err = fmt.Errorf("standard input, line %d: %w", n, err)
				return
			}
			if !send(text) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			p.err = fmt.Errorf("read standard input: %w", err)
		}
	}()
	return p
}

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
	var text string
	if json.Unmarshal(in.Message.Content, &text) == nil {
		return text, nil
	}
	var blocks []struct{ Type, Text string }
	if err := json.Unmarshal(in.Message.Content, &blocks); err != nil {
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
