// Package headless runs turns without a terminal and reports them as text, as
// one JSON object, or as a stream of them.
//
// It never asks: a call that would need an answer was already denied by the
// permission engine. In the JSON formats nothing but JSON goes to stdout.
package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
)

// Format of the output.
type Format string

const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// Options of a run.
type Options struct {
	Format Format
	// Partial adds stream_event lines to the stream.
	Partial bool
	// Answer says that each turn ends with an answer of a given form: in the text
	// format only that goes to Stdout, as JSON.
	Answer bool
	// Verbose shows the calls on Stderr in the JSON formats too.
	Verbose bool
	// Activity shows the calls in place of the plain lines on Stderr; may be nil.
	Activity       *lines.Activity
	Stdout, Stderr io.Writer
	// Terminal says that a person reads Stdout on a terminal: text from the model
	// is then shown as what it is, and can send the terminal no command.
	Terminal bool
	// Init holds the fields of the system/init line that the session does not know.
	Init Init
	// Prompts are the user's messages: one from the command line, or any number
	// as they arrive. The run ends when it is closed and every turn has ended.
	Prompts <-chan engine.Prompt
	// PromptErr tells, once Prompts is closed, why that was early; may be nil.
	PromptErr func() error
	// Interrupted closes when the run is to end: the running turn is stopped, what
	// waits is dropped, and the result still comes out.
	Interrupted <-chan struct{}
}

// Init is what the first line of a stream tells.
type Init struct {
	CWD, PermissionMode, APIKeySource, Version string
	Tools                                      []string
}

// Run takes prompts until they end, and returns the exit code.
func Run(ctx context.Context, s *engine.Session, o Options) (int, error) {
	r := &run{s: s, o: o, sub: s.Subscribe(0)}
	defer r.sub.Close()
	r.activity = o.Activity
	if r.activity == nil && (o.Format == Text || o.Verbose) {
		r.activity = &lines.Activity{Out: o.Stderr}
	}
	if o.Format == StreamJSON {
		r.line(r.initLine())
	}
	return r.loop(ctx)
}

func (r *run) show(e engine.Event) {
	if asked, ok := e.(engine.Asked); ok {
		// No session of a headless run is told that somebody answers; one that
		// asks all the same must not wait for ever.
		r.s.Answer(asked.ID, asked.Question.Unanswered("nobody can be asked in this run"))
	}
	if r.activity != nil {
		r.activity.Show(e)
	}
	switch r.o.Format {
	case Text:
		r.text(e)
	case JSON:
		if end, ok := e.(engine.TurnEnded); ok {
			r.end(end.Result)
		}
	case StreamJSON:
		r.stream(e)
	}
}

func (r *run) text(e engine.Event) {
	switch e := e.(type) {
	case engine.TextDelta:
		if r.o.Answer {
			return // what is said beside the answer
		}
		if r.activity != nil {
			r.activity.BeforeText()
		}
		r.write(r.shown(e.Text))
	case engine.BlockEnd:
		if !e.Thinking && !r.o.Answer && r.lastText != '\n' {
			r.write("\n")
		}
	case engine.TurnEnded:
		if e.Result.Answer != nil {
			r.write(r.shown(compactJSON(e.Result.Answer)) + "\n")
		}
		for _, text := range errorsOf(e.Result) {
			fmt.Fprintln(r.o.Stderr, "garuda: "+core.Visible(text))
		}
	}
}

// shown is a text of the model's as Stdout gets it.
func (r *run) shown(text string) string {
	if r.o.Terminal {
		return core.Visible(text)
	}
	return text
}

// compactJSON is an answer on one line.
func compactJSON(answer []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, answer) != nil {
		return string(answer) // it was checked when it was taken
	}
	return b.String()
}

// errorsOf says in words how a turn ended, where it did not end well.
func errorsOf(r *engine.TurnResult) []string {
	var out []string
	switch {
	case r.Err != nil:
		out = append(out, r.Err.Error())
	case r.End != core.EndDone:
		out = append(out, lines.EndInWords(r))
	}
	if r.JournalErr != nil {
		out = append(out, r.JournalErr.Error())
	}
	return out
}

func (r *run) write(s string) {
	if r.writeErr != nil || s == "" {
		return
	}
	r.lastText = s[len(s)-1]
	if _, err := io.WriteString(r.o.Stdout, s); err != nil {
		r.writeErr = err
	}
}

// line writes one object with what every line has.
func (r *run) line(o object) {
	if r.writeErr != nil {
		return
	}
	o["session_id"], o["uuid"] = r.s.ID(), core.NewUUID()
	b, err := encodeLine(o)
	if err == nil {
		_, err = r.o.Stdout.Write(b)
	}
	if err != nil {
		r.writeErr = err
	}
}

func (r *run) initLine() object {
	in := r.o.Init
	return object{
		"type": "system", "subtype": "init", "cwd": in.CWD, "tools": in.Tools,
		"mcp_servers": []object{}, "model": r.s.Model().Spec, "permissionMode": in.PermissionMode,
		"slash_commands": []string{}, "skills": []string{}, "agents": []string{},
		"apiKeySource": in.APIKeySource, "garuda_version": in.Version,
	}
}

func (r *run) stream(e engine.Event) {
	switch e := e.(type) {
	case engine.Answered:
		r.line(object{"type": "assistant", "parent_tool_use_id": nil, "message": assistantMessage(e.Response, r.s.Model())})
	case engine.Results:
		for _, b := range e.Message.Blocks {
			if b.Type != core.BlockToolResult {
				continue // a note
			}
			r.line(object{"type": "user", "parent_tool_use_id": nil,
				"message": object{"role": "user", "content": []object{toolResult(b)}}})
		}
	case engine.Retrying:
		r.line(retryLine(e))
	case engine.Compacted:
		trigger := "auto"
		if e.Reason == "user" {
			trigger = "manual"
		}
		r.line(object{"type": "system", "subtype": "compact_boundary", "compact_metadata": object{
			"trigger": trigger, "pre_tokens": e.Before, "post_tokens": e.After}})
	case engine.TurnEnded:
		r.end(e.Result)
	default:
		if r.o.Partial {
			r.partial(e)
		}
	}
}

// partial shows the deltas of a response that is still arriving.
func (r *run) partial(e engine.Event) {
	switch e := e.(type) {
	case engine.TextDelta:
		r.delta("text", object{"type": "text", "text": ""}, object{"type": "text_delta", "text": e.Text})
	case engine.ThinkingDelta:
		r.delta("thinking", object{"type": "thinking", "thinking": ""}, object{"type": "thinking_delta", "thinking": e.Text})
	case engine.BlockEnd:
		if r.open != "" {
			r.open = ""
			r.event(object{"type": "content_block_stop", "index": 0, "discarded": e.Discarded})
		}
	}
}

func (r *run) delta(kind string, start, delta object) {
	if r.open != kind {
		r.open = kind
		r.event(object{"type": "content_block_start", "index": 0, "content_block": start})
	}
	r.event(object{"type": "content_block_delta", "index": 0, "delta": delta})
}

func (r *run) event(event object) {
	r.line(object{"type": "stream_event", "parent_tool_use_id": nil, "event": event})
}

func (r *run) end(result *engine.TurnResult) {
	r.line(resultLine(result, r.s.Model()))
	if result.Err != nil && r.activity == nil {
		fmt.Fprintln(r.o.Stderr, "garuda: "+core.Visible(result.Err.Error()))
	}
}
