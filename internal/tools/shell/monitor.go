package shell

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/tool"
)

//go:embed monitor.md
var monitorDescription string

const (
	modeWait  = "wait"
	modeWatch = "watch"
	// maxPattern is how long a pattern may be, in bytes.
	maxPattern = 1_000
	// endLines and goesOnLines are how many of the newest lines are shown of a
	// command that ended, and of one that goes on without a match.
	endLines, goesOnLines = 10, 3
)

type monitor struct{ background *Background }

type monitorInput struct {
	ID        string `json:"id"`
	Command   string `json:"command"`
	Pattern   string `json:"pattern"`
	Mode      string `json:"mode"`
	TimeoutMs int    `json:"timeout_ms"`
}

const monitorSchema = `{"type":"object","properties":{` +
	`"id":{"type":"string","description":"of a background command, or"},` +
	`"command":{"type":"string","description":"one to start in the background"},` +
	`"pattern":{"type":"string","description":"RE2, for one line"},` +
	`"mode":{"type":"string","enum":["wait","watch"],"description":"wait if left out"},` +
	`"timeout_ms":{"type":"integer","minimum":1000,"maximum":600000}},"required":["pattern"],"additionalProperties":false}`

func (monitor) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "monitor", Description: strings.TrimSpace(monitorDescription),
		Class: tool.ClassCommand, Set: "tasks", Schema: json.RawMessage(monitorSchema),
	}
}

// monitorCall is a planned call. command is empty where id names one that runs.
type monitorCall struct {
	id, command string
	pattern     *regexp.Regexp
	watch       bool
	timeout     time.Duration // 0 means none
}

func (m monitor) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	var in monitorInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	pattern, err := linePattern(in.Pattern)
	if err != nil {
		return nil, err
	}
	call := &monitorCall{id: in.ID, pattern: pattern, watch: in.Mode == modeWatch, timeout: time.Duration(in.TimeoutMs) * time.Millisecond}
	if call.timeout == 0 && !call.watch {
		call.timeout = defaultTimeoutMs * time.Millisecond
	}
	if call.watch && env.Notes == nil {
		return nil, errors.New("there is no conversation that a line could come into; use mode wait")
	}
	label := "/" + in.Pattern + "/ in "
	switch {
	case (in.ID == "") == (in.Command == ""):
		return nil, errors.New("give either the id of a background command (process_manager lists them) or a command to start, not both and not none")
	case in.ID != "":
		if _, err := m.background.get(in.ID); err != nil {
			return nil, err
		}
		return &tool.Plan{Class: tool.ClassRead, Label: label + in.ID, ReadOnly: true, Parallel: true, Input: call}, nil
	}
	if call.command, _, err = commandText(in.Command, env); err != nil {
		return nil, err
	}
	return &tool.Plan{
		Target: call.command, Preview: call.command, Label: label + call.command, RunsCommands: true,
		Effects: tool.Effects{Commands: []string{call.command}, Background: true}, Input: call,
	}, nil
}

// linePattern compiles a pattern with the standard library's engine, whose time is
// linear in the line.
func linePattern(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, errors.New("the pattern is empty; . matches every line that is not")
	}
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are taken", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err == nil {
		return re, nil
	}
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return nil, fmt.Errorf("the pattern %q is not valid: %w", text, err)
	}
	where := ""
	if at := strings.Index(text, bad.Expr); at >= 0 && bad.Expr != "" && bad.Expr != text {
		where = fmt.Sprintf(" at character %d, %q", len([]rune(text[:at]))+1, bad.Expr)
	}
	return nil, fmt.Errorf("the pattern %q is not valid: %s%s; it is RE2: no look-around, no back-references, and what is meant as it stands is written with \\ before it", text, bad.Code, where)
}

func (m monitor) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*monitorCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	var j *job
	var err error
	if call.command != "" {
		j, err = m.background.start(c, call.command)
	} else {
		j, err = m.background.get(call.id)
	}
	if err != nil {
		return nil, err
	}
	var out *tool.Output
	if call.watch {
		out = m.startWatch(c, j, call)
	} else {
		out, err = m.wait(ctx, j, call)
	}
	if out != nil && call.command != "" {
		ranIn(out, c)
	}
	return out, err
}

// errWaited ends a wait whose time is up.
var errWaited = errors.New("the time for the wait is up")

// wait waits for the first line that no wait has returned before and that matches.
func (m monitor) wait(ctx context.Context, j *job, call *monitorCall) (*tool.Output, error) {
	clock := m.background.clock
	began := clock.Now()
	ctx, cancel := core.Within(ctx, clock, call.timeout, errWaited)
	defer cancel()
	j.mu.Lock()
	next := j.waited
	j.mu.Unlock()
	lost := int64(0)
	for {
		over := j.over() // before the lines are read, so that none comes after them
		lines, n, more := j.read(next)
		lost += n
		for i, line := range lines {
			if call.pattern.MatchString(line) {
				j.returned(next + n + int64(i) + 1)
				return m.matched(j, line, clock.Now().Sub(began), lost), nil
			}
		}
		next += n + int64(len(lines))
		if over {
			return m.ended(j, lost), nil
		}
		select {
		case <-more:
		case <-j.ended:
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, errWaited) {
				return m.givenUp(j, call, err)
			}
			return m.timedOut(j, call, lost), nil
		}
	}
}

// read gives the lines from number n on, how many before them are lost, and what
// closes when another came.
func (j *job) read(n int64) (lines []string, lost int64, more <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines, lost = j.log.since(n)
	return lines, lost, j.log.change()
}

// returned notes that the next wait begins at line n.
func (j *job) returned(n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waited = max(j.waited, n)
}

func (m monitor) matched(j *job, line string, waited time.Duration, lost int64) *tool.Output {
	var b strings.Builder
	fmt.Fprintf(&b, "%s printed a line that matches (waited %s):\n", j.id, age(waited))
	writeStream(&b, "output", line, "", 0)
	if j.over() {
		fmt.Fprintf(&b, "[Garuda: %s has ended: %s]\n", j.id, j.shown(m.background.clock.Now()))
	} else {
		fmt.Fprintf(&b, "[Garuda: %s goes on (pid %d); another wait looks only at lines after this one]\n", j.id, j.pid)
	}
	b.WriteString(lostLines(lost))
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: j.id + " printed it"}
}

func (m monitor) ended(j *job, lost int64) *tool.Output {
	state := j.shown(m.background.clock.Now())
	var b strings.Builder
	fmt.Fprintf(&b, "%s ended, and no line matched: %s.\n", j.id, state)
	j.writeNewest(&b, endLines)
	b.WriteString(lostLines(lost))
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: "no match, " + state}
}

func (m monitor) timedOut(j *job, call *monitorCall, lost int64) *tool.Output {
	var b strings.Builder
	fmt.Fprintf(&b, "No line matched within %s; %s goes on (pid %d). A longer timeout_ms, mode watch or process_manager logs may help.\n",
		seconds(call.timeout), j.id, j.pid)
	j.writeNewest(&b, goesOnLines)
	b.WriteString(lostLines(lost))
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: "no match in " + seconds(call.timeout)}
}

// givenUp ends a wait that a person stopped, and the command that it had started.
func (monitor) givenUp(j *job, call *monitorCall, err error) (*tool.Output, error) {
	if call.command == "" {
		return nil, err
	}
	j.known.Store(true)
	j.process.Kill()
	return &tool.Output{
		Text:    "Error: monitor failed: interrupted; " + j.id + ", which it had started, was ended, effects unknown.",
		IsError: true, Summary: "interrupted",
	}, err
}

// writeNewest adds the newest lines of both streams.
func (j *job) writeNewest(b *strings.Builder, n int) {
	if text := j.newest(n); text != "" {
		writeStream(b, "output", text, "", 0)
	}
}

func (j *job) newest(n int) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines, _ := j.log.since(max(j.log.next-int64(n), 0))
	return strings.Join(lines, "\n")
}

func lostLines(n int64) string {
	if n == 0 {
		return ""
	}
	return "[Garuda: " + grouped(n) + " lines came too fast or too early to be looked at]\n"
}

// startWatch puts a watch on a command, in place of the one before.
func (m monitor) startWatch(c *tool.Call, j *job, call *monitorCall) *tool.Output {
	w := newWatch(m.background.clock, j, call, c.Env.Notes)
	before, replaced, ok := j.setWatch(w)
	if !ok {
		return m.ended(j, 0)
	}
	text := fmt.Sprintf("Watching %s (pid %d). Each line from now on that matches comes to you as a note, at most %d a minute", j.id, j.pid, watchRate)
	if call.timeout > 0 {
		text += ", for " + core.Span(call.timeout)
	}
	text += "; go on with other work."
	if replaced {
		text += " The watch on it before is over."
	}
	if before > 0 {
		text += " Of what it has printed so far " + matches(before) + "; process_manager logs shows that."
	}
	return &tool.Output{Text: text, Summary: "watching " + j.id}
}

func matches(n int) string {
	if n == 1 {
		return "1 line matches"
	}
	return strconv.Itoa(n) + " lines match"
}
