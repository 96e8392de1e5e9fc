// Package shell holds the tools that run commands: bash, and those that look
// after what it runs in the background.
//
// It starts nothing itself but asks the session's executor, and decides
// nothing: its plan names the text that would run, and the policy reads it.
package shell

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/tool"
)

const (
	defaultTimeoutMs = 120_000
	maxTimeoutMs     = 600_000
	// streamLimit is how many bytes of each stream the model sees.
	streamLimit = 30_000
	// maxCommand is the longest text that can be one argument: the kernel's
	// MAX_ARG_STRLEN less its NUL.
	maxCommand = 128<<10 - 1
)

//go:embed bash.md
var bashDescription string

// Options of New.
type Options struct {
	// SpillThrough redacts the file with a command's whole output on its way to
	// the disk; see sandbox.Command. May be nil.
	SpillThrough func(io.Writer) io.WriteCloser
	// Background holds commands that outlive their call; nil where none may.
	Background *Background
	Sandbox    Sandbox
}

// New returns the tools of this package.
func New(opt Options) []tool.Tool {
	if opt.Background == nil {
		return []tool.Tool{&bash{opt}}
	}
	return []tool.Tool{&bash{opt}, processManager{opt.Background}, monitor{opt.Background}, sleep{}}
}

type bash struct{ opt Options }

type bashInput struct {
	Command     string `json:"command"`
	TimeoutMs   int    `json:"timeout_ms"`
	Description string `json:"description"`
	Background  bool   `json:"run_in_background"`
	Outside     bool   `json:"outside_sandbox"`
}

const bashSchema = `{"type":"object","properties":{` +
	`"command":{"type":"string"},` +
	`"timeout_ms":{"type":"integer","minimum":1000,"maximum":600000},` +
	`"description":{"type":"string","description":"what it does, in a few words"}`

const (
	bashBackground = `,"run_in_background":{"type":"boolean","description":"return at once; see process_manager"}`
	bashOutside    = `,"outside_sandbox":{"type":"boolean","description":"run it on the machine itself; asks the user"}`
	bashSchemaEnd  = `},"required":["command"],"additionalProperties":false}`
)

// outsideDescription is said only where a command may leave the sandbox.
const outsideDescription = " Set outside_sandbox only when a command failed for the sandbox and cannot do without."

func (b *bash) Spec() *tool.Spec {
	schema := bashSchema
	if b.opt.Background != nil {
		schema += bashBackground
	}
	description := strings.TrimSpace(bashDescription)
	if b.opt.Sandbox.offers() {
		schema += bashOutside
		description += outsideDescription
	}
	return &tool.Spec{
		Name: "bash", Description: description,
		Class: tool.ClassCommand, Set: "core", Schema: json.RawMessage(schema + bashSchemaEnd),
	}
}

// bashCall is a planned command.
type bashCall struct {
	text    string
	timeout time.Duration
	// strippedCd is true when the text began with a cd into the root.
	strippedCd bool
	background bool
	// mayStay is true where commands can be run in the background.
	mayStay bool
	// readOnly is true when it could not write in the project; set when it runs.
	readOnly bool
}

// commandText is a command as it will be run, without a cd into the root before it.
func commandText(command string, env *tool.Env) (text string, strippedCd bool, err error) {
	if env.Exec == nil {
		return "", false, errors.New("no commands can be run in this session; use the file tools")
	}
	text, strippedCd = stripCd(strings.TrimLeft(command, " \t\r\n"), env.Workspace.Root())
	switch {
	case text == "":
		return "", false, errors.New("the command is empty; give what bash is to run")
	case strings.ContainsRune(text, 0):
		return "", false, errors.New("the command holds a NUL character, which no program can be given; leave it out")
	case len(text) > maxCommand:
		return "", false, fmt.Errorf("the command has %d bytes, and the system takes at most %d; write a script with write_file and run that", len(text), maxCommand)
	}
	return text, strippedCd, nil
}

func (b *bash) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	var in bashInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	text, stripped, err := commandText(in.Command, env)
	if err != nil {
		return nil, err
	}
	timeoutMs := min(cmp.Or(in.TimeoutMs, env.CommandTimeoutMs, defaultTimeoutMs), maxTimeoutMs)
	return &tool.Plan{
		Target: text, Preview: text, RunsCommands: true,
		Effects: tool.Effects{
			Commands: []string{text}, Background: in.Background, OutsideSandbox: in.Outside && b.opt.Sandbox.mayLeave(),
		},
		Input: &bashCall{
			text: text, strippedCd: stripped, background: in.Background, mayStay: b.opt.Background != nil,
			timeout: time.Duration(timeoutMs) * time.Millisecond,
		},
	}, nil
}

// commandEnv is the session's environment for commands with what the decision
// about this call put in its place. The session's own is shared and not changed.
func commandEnv(call *tool.Call) []string {
	if call.Grant == nil || len(call.Grant.CommandEnv) == 0 {
		return call.Env.CommandEnv
	}
	return sandbox.WithEnv(call.Env.CommandEnv, call.Grant.CommandEnv)
}

func (b *bash) Run(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	env := call.Env
	plan, ok := call.Plan.Input.(*bashCall)
	if !ok {
		return nil, fmt.Errorf("run a plan that bash did not make (%T)", call.Plan.Input)
	}
	if plan.background {
		return b.inBackground(call, plan)
	}
	streams := [2]*Screen{NewScreen(streamLimit), NewScreen(streamLimit)}
	cmd := granted(call, plan.text)
	plan.readOnly = cmd.ReadOnlyRoot
	cmd.Timeout, cmd.Limit = plan.timeout, streamLimit
	cmd.SpillPath, cmd.SpillThrough = env.SpillPath(call.ID), b.opt.SpillThrough
	cmd.Output = func(stderr bool, chunk []byte) {
		s := streams[0]
		if stderr {
			s = streams[1]
		}
		s.Write(chunk)
		call.Emit(stderr, chunk)
	}
	before := look(ctx, call, cmd)
	res, err := env.Exec.Run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	settled := settle(ctx, call, before)
	ran := &ran{call: plan, res: res, streams: streams, root: env.Workspace.Root(), show: env.Workspace.Rel}
	if isolated(env.Exec, cmd) {
		ran.sandbox = &b.opt.Sandbox
	}
	out := ran.report()
	if settled != "" {
		out.Text = strings.TrimRight(out.Text, "\n") + "\n[Garuda: " + settled + "]"
	}
	ranIn(out, call)
	if res.Interrupted {
		return out, cmp.Or(context.Cause(ctx), tool.ErrInterrupted)
	}
	return out, nil
}

// granted is a command text as the decision about its call lets it run.
func granted(call *tool.Call, text string) *sandbox.Command {
	cmd := &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: call.Env.Workspace.Root(), Env: commandEnv(call), Call: call.ID,
		Terminals: true,
	}
	if call.Grant != nil {
		cmd.ReadOnlyRoot, cmd.Outside = call.Grant.ReadOnlyRoot, call.Grant.Outside
	}
	return cmd
}

// ranIn says on a result where the call's command runs.
func ranIn(out *tool.Output, call *tool.Call) {
	name, isolation := sandbox.Where(call.Env.Exec, call.Grant != nil && call.Grant.Outside)
	out.Executor, out.Isolation = name, string(isolation)
}

// inBackground starts the command and returns at once.
func (b *bash) inBackground(call *tool.Call, plan *bashCall) (*tool.Output, error) {
	j, err := b.opt.Background.start(call, plan.text)
	if err != nil {
		return nil, err
	}
	out := &tool.Output{
		Text: fmt.Sprintf("Started in the background as %s (pid %d). monitor waits for a line of it, process_manager shows its output and ends it; "+
			"you are told when it ends, with the session and after %s at the latest.", j.id, j.pid, core.Span(backgroundTime)),
		Summary: "in the background, " + j.id,
	}
	ranIn(out, call)
	return out, nil
}
