// Package repl holds the tool that runs code in interpreters which are kept
// between its calls.
//
// It starts nothing itself but asks the session's executor, and decides nothing.
// What the code may do is not known before it runs, so its plan names no command:
// the policy then asks for every call that no sandbox holds.
package repl

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/tool"
)

const (
	// defaultTime and maxTime bound a call, as they do a command of bash.
	defaultTime, maxTime = 2 * time.Minute, 10 * time.Minute
	// outputLimit is how many bytes of a call's output the model sees.
	outputLimit = 30_000
	// maxCode is the longest code of a call, in bytes.
	maxCode = 128 << 10
)

//go:embed repl.md
var description string

// New returns the tool of this package, for the interpreters of one session; none
// where that has none.
func New(i *Interpreters) []tool.Tool {
	if i == nil {
		return nil
	}
	return []tool.Tool{repl{i}}
}

type repl struct{ interpreters *Interpreters }

type input struct {
	Language string `json:"language"`
	Code     string `json:"code"`
	Reset    bool   `json:"reset"`
}

const schema = `{"type":"object","properties":{` +
	`"language":{"type":"string","enum":["python","node","bash"]},` +
	`"code":{"type":"string"},` +
	`"reset":{"type":"boolean","description":"begin a new interpreter first"}},"required":["language"],"additionalProperties":false}`

func (repl) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "repl", Description: strings.TrimSpace(description),
		Class: tool.ClassCommand, Set: "more", Schema: json.RawMessage(schema),
	}
}

func (repl) Plan(_ context.Context, env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	in := &input{}
	if err := json.Unmarshal(raw, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	switch {
	case env.Exec == nil:
		return nil, errors.New("no commands can be run in this session; use the file tools")
	case languages(in.Language) == nil:
		return nil, fmt.Errorf("there is no interpreter for %q; they are python, node and bash", in.Language)
	case strings.TrimSpace(in.Code) == "" && !in.Reset:
		return nil, errors.New("the code is empty; give some, or reset")
	case strings.ContainsRune(in.Code, 0):
		return nil, errors.New("the code holds a NUL character, which no interpreter takes")
	case len(in.Code) > maxCode:
		return nil, fmt.Errorf("the code has %d bytes, at most %d are taken; put it into a file with write_file and load that", len(in.Code), maxCode)
	}
	preview := in.Code
	if in.Reset {
		preview = strings.TrimRight("(begin a new interpreter)\n"+in.Code, "\n")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(in.Code), "\n")
	return &tool.Plan{
		Target: in.Language, Label: strings.TrimSuffix(in.Language+": "+cmp.Or(first, "reset"), "\r"), Preview: preview,
		RunsCommands: true, Input: in,
	}, nil
}

func (r repl) Run(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	in, ok := call.Plan.Input.(*input)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	s, err := r.interpreters.slot(ctx, in.Language)
	if err != nil {
		return nil, err
	}
	defer s.release()
	out, err := s.run(ctx, call, in)
	if out != nil {
		out.Executor, out.Isolation = call.Env.Exec.Name(), string(call.Env.Exec.Isolation())
	}
	return out, err
}

func (s *slot) run(ctx context.Context, call *tool.Call, in *input) (*tool.Output, error) {
	var said []string
	if in.Reset {
		s.end()
		if strings.TrimSpace(in.Code) == "" {
			return &tool.Output{Text: "The next call begins a new " + in.Language + ".", Summary: "reset"}, nil
		}
	}
	token := newToken()
	it := s.running()
	if it != nil && it.over() {
		said = append(said, fmt.Sprintf("the %s of before had ended (%s); this is a new one, without its state", in.Language, it.how()))
		it = nil
	}
	if it != nil && it.readOnly != readOnlyRoot(call) {
		s.end()
		said = append(said, fmt.Sprintf("the mode changed, and with it what code may write; this is a new %s, without the state of before", in.Language))
		it = nil
	}
	if it == nil {
		var err error
		if it, err = s.start(call, token); err != nil {
			return nil, err
		}
	}
	limit := min(cmp.Or(time.Duration(call.Env.CommandTimeoutMs)*time.Millisecond, defaultTime), maxTime)
	a := it.ask(ctx, token, in.Code, limit, call.Emit)
	if call.Env.Exec.Isolation() == sandbox.IsolationOS && !it.readOnly {
		if undone := call.Env.Watcher.Disarm(); undone != "" {
			said = append(said, undone)
		}
	}
	out, err := a.report(in.Language, limit, said)
	if a.gone() {
		s.end()
	}
	return out, err
}

// report says how a call ended: for the model, and in a few words for a person.
// The error is why it was given up.
func (a *answer) report(language string, limit time.Duration, said []string) (*tool.Output, error) {
	out := &tool.Output{IsError: a.failed(), Summary: a.status}
	lost := "; its state is gone, and the next call begins a new one"
	var b strings.Builder
	switch a.status {
	case statusMissing:
		return nil, fmt.Errorf("%s is not installed here: %s", language, languages(language).missing)
	case statusTimeout:
		fmt.Fprintf(&b, "Error: repl failed: timed out after %s; %s and everything it started were ended%s.\n", limit, language, lost)
	case statusInterrupted:
		fmt.Fprintf(&b, "Error: repl failed: interrupted, effects unknown; %s was ended%s.\n", language, lost)
	case statusBroken:
		fmt.Fprintf(&b, "Error: repl failed: %s did not say how the code ended, because the code disturbed it; it was ended%s.\n", language, lost)
	case statusExit, statusEnded:
		out.Summary = "ended: " + a.how
		fmt.Fprintf(&b, "%s ended: %s%s.\n", language, a.how, lost)
	case statusOK, statusError:
	default: // an exit code of bash
		fmt.Fprintf(&b, "Exit code: %s\n", a.status)
		out.Summary = "exit " + a.status
	}
	lines, cut := a.output.WriteBlock(&b, "output")
	if lines == 0 {
		b.WriteString("(no output)\n")
	}
	if cut > 0 {
		said = append(said, strconv.FormatInt(cut, 10)+" bytes were cut from the middle and are lost; let the code print less")
	}
	for _, s := range said {
		fmt.Fprintf(&b, "[Garuda: %s]\n", s)
	}
	out.Text = strings.TrimSuffix(b.String(), "\n")
	return out, a.err
}
