package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/llm"
	"garuda/internal/tool"
)

// chat is the state of the line chat. Only the goroutine of Run touches it, and
// only it prints, so nothing is written into the middle of something else.
type chat struct {
	o      Options
	clock  core.Clock
	screen *lines.Screen

	input      chan typedLine
	stopInput  chan struct{}
	inputEnded bool
	inputErr   error

	session  *engine.Session
	activity *lines.Activity
	events   chan numbered
	stopPump func()
	// seen is the number of the session's event that was shown last.
	seen int64

	// queue holds what waits for the end of the turn: prompts and commands.
	queue []string
	// partial is what was typed before a \ at a line's end.
	partial string
	// busy is true from a prompt's submission to the end of its turn.
	busy, stopping bool
	// aside is true while what runs is a command line or a compaction, and no turn.
	aside    bool
	question *question
	confirm  *confirm
	// handOff waits while the chat is idle. planAsked is true once the running turn
	// has shown a plan for approval.
	handOff   *handOff
	planAsked bool
	// answerable receives a question's number once it may be answered.
	answerable chan int

	inText   bool
	thinking thinking
	// showThinking prints what the model thinks, not only that it does.
	showThinking bool
	waiting      waiting
	// ticks tells that a time which is shown has moved on.
	ticks      chan struct{}
	promptMark int

	// pressed is when Ctrl-C was last pressed to do what a second press goes
	// further with.
	pressed     time.Time
	leaving     bool
	interrupted bool

	listedSessions []SessionInfo
	listedModels   []*llm.Info
	// lastTurn is how the session's last turn in this chat ended; nil before.
	lastTurn *engine.TurnResult
}

func newChat(ctx context.Context, o Options) *chat {
	c := &chat{
		o: o, clock: o.Clock, screen: lines.NewScreen(o.Out, o.Color),
		input: make(chan typedLine, typedAhead), stopInput: make(chan struct{}),
		answerable: make(chan int, 1), ticks: make(chan struct{}, 1), stopPump: func() {}, promptMark: -1,
		showThinking: o.ShowThinking,
	}
	if c.screen.Redraws = o.Redraw; o.Redraw {
		c.screen.Wrap = func(text string) []string { return hang(text, c.width()) }
	}
	if c.clock == nil {
		c.clock = core.SystemClock
	}
	c.follow(ctx)
	go readLines(o.In, o.IsTerminal, c.clock, c.input, c.stopInput)
	return c
}

// release ends what newChat started.
func (c *chat) release() {
	c.endTime()
	c.stopPump()
	close(c.stopInput)
}

func (c *chat) banner() {
	b := c.o.Host.Banner()
	c.screen.Line(lines.Bold, b.Name+" "+b.Version)
	c.screen.Line(lines.Normal, "model    "+c.session.Model().Spec)
	c.screen.Line(lines.Normal, "sandbox  "+b.Sandbox)
	c.screen.Line(lines.Normal, "folder   "+b.Folder)
	c.notices(c.o.Notices)
	c.takeUpTodos()
	c.screen.Line(lines.Normal, "")
}

func (c *chat) notices(texts []string) {
	for _, text := range texts {
		c.screen.Line(lines.Warn, "! "+text)
	}
}

// follow takes up the host's open session where it is another one than before.
func (c *chat) follow(ctx context.Context) {
	s := c.o.Host.Current()
	if s == c.session {
		return
	}
	c.stopPump()
	c.session = s
	c.activity = &lines.Activity{Screen: c.screen, Diffs: true, Todos: true, Live: true, Clock: c.clock}
	c.events, c.seen = make(chan numbered), -1
	c.busy, c.aside, c.stopping, c.question, c.lastTurn = false, false, false, nil, nil
	c.handOff = nil
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go pump(ctx, s.Subscribe(0), c.events, done)
	c.stopPump = func() { cancel(); <-done }
}

// numbered is an event with its number in the session.
type numbered struct {
	seq   int64
	event engine.Event
}

// pump moves a session's events to a channel, so that they can be waited for
// beside other things. What was not taken yet stays in the session's log.
func pump(ctx context.Context, sub *engine.Subscription, events chan<- numbered, done chan<- struct{}) {
	defer close(done)
	defer sub.Close()
	for {
		seq, e, err := sub.Next(ctx)
		if err != nil {
			return // the session was closed, or the chat follows another one
		}
		select {
		case events <- numbered{seq, e}:
		case <-ctx.Done():
			return
		}
	}
}

// loop runs until the person leaves. Its error is the reason where the chat
// could not go on.
func (c *chat) loop(ctx context.Context) (exit int, err error) {
	for {
		c.takeQueued(ctx)
		if err := c.screen.Err(); err != nil {
			return exitError, fmt.Errorf("write to standard output: %w", err)
		}
		if c.leaving || c.idle() && c.inputEnded {
			return c.exitCode(), c.inputErr
		}
		c.keepTime()
		c.prompt()
		select {
		case l, ok := <-c.takeable():
			c.line(ctx, l, ok)
		case e := <-c.events:
			c.event(ctx, e)
		case id := <-c.answerable:
			c.becomeAnswerable(id)
		case <-c.ticks:
			c.ticked()
		case <-c.o.Interrupts:
			c.interrupt()
		case <-ctx.Done():
			return exitError, context.Cause(ctx)
		}
	}
}

func (c *chat) exitCode() int {
	switch {
	case c.interrupted:
		return exitInterrupted
	case c.inputErr != nil:
		return exitError
	}
	return exitDone
}

func (c *chat) idle() bool { return !c.busy && c.question == nil && c.confirm == nil }

// takeable is where the next line comes from, or nil while none is wanted: what
// is no terminal waits with the next line until the last one is done.
func (c *chat) takeable() <-chan typedLine {
	if c.inputEnded || !c.o.IsTerminal && c.busy {
		return nil
	}
	return c.input
}

// prompt shows that a line is waited for, where a person waits to type it.
func (c *chat) prompt() {
	if !c.o.IsTerminal || c.inputEnded || c.stopping || c.promptMark == c.screen.Mark() {
		return
	}
	text := "› "
	switch {
	case c.question != nil:
		text = c.question.keys() + "› "
	case c.confirm != nil:
		text = cmp.Or(c.confirm.keys, "y/n") + "› "
	case c.busy:
		return
	case c.handOff != nil:
		text = "b/t/k› "
	case c.partial != "":
		text = "… "
	case c.o.Host.Mode() == tool.ModePlan:
		text = "plan› "
	case c.o.Host.Mode() == tool.ModeAcceptEdits: // edits are not asked for: it has to show
		text = "accept_edits› "
	}
	c.screen.EndLine()
	c.screen.Text(lines.Bold, text)
	c.promptMark = c.screen.Mark()
}

// catchUp shows what a command has brought about, before anything else is asked.
func (c *chat) catchUp(ctx context.Context) {
	for c.idle() && c.seen < c.session.LastEvent() {
		select {
		case e := <-c.events:
			c.event(ctx, e)
		case <-ctx.Done():
			return // the loop ends with it
		}
	}
}

// event shows what happened.
func (c *chat) event(ctx context.Context, n numbered) {
	c.seen = n.seq
	e := n.event
	c.observe(e)
	switch e := e.(type) {
	case engine.TurnStarted:
		c.busy, c.handOff, c.planAsked = true, nil, false
	case engine.TextDelta:
		c.text(e.Text)
		return
	case engine.ThinkingDelta:
		c.think(e.Text)
		return
	case engine.BlockEnd:
		c.blockEnd(e)
	case engine.Asked:
		c.ask(ctx, e)
	case engine.Withdrawn:
		c.withdraw(e.ID)
	case engine.AsideEnded:
		c.asideEnded(e)
		return
	case engine.TurnEnded:
		c.activity.Show(e)
		c.turnEnded(e.Result)
		return
	}
	c.activity.Show(e)
	if _, ok := e.(engine.Retrying); ok {
		c.showTime() // at once, and each second from then on
	}
}

func (c *chat) text(text string) {
	if !c.inText {
		c.inText = true
		c.screen.EndLine()
	}
	c.screen.Text(lines.Normal, text)
}

func (c *chat) blockEnd(e engine.BlockEnd) {
	if !e.Thinking {
		c.inText = false
		c.screen.EndLine()
		return
	}
	c.thought()
}

func (c *chat) turnEnded(r *engine.TurnResult) {
	c.busy, c.stopping, c.pressed = false, false, time.Time{}
	c.screen.EndLine()
	switch {
	case r.Err != nil:
		c.fail(r.Err)
	case r.End != core.EndDone && r.End != core.EndInterrupted:
		c.screen.Line(lines.Warn, "! "+lines.EndInWords(r))
	}
	for _, p := range r.Unsent {
		c.say("not sent: " + inShort(p.Text))
	}
	if r.JournalErr != nil {
		c.fail(r.JournalErr)
	}
	c.lastTurn = r
	c.screen.Line(lines.Dim, lines.Usage(r, c.session.Model())+"\n")
	c.offerBuild(r)
}

// fail prints an error; the chat goes on.
func (c *chat) fail(err error) { c.screen.Line(lines.Bad, "error: "+err.Error()) }

func (c *chat) say(text string) { c.screen.Line(lines.Dim, text) }

// closeLimit is how long leaving waits for the session to end.
const closeLimit = 5 * time.Second

// errSlow tells that a session did not end in time.
var errSlow = errors.New("the session did not end within " + closeLimit.String() + "; what it ran may still be running")

// leave closes the session, within a limit; a press of Ctrl-C goes at once.
func (c *chat) leave(exit int, err error) (int, error) {
	c.screen.EndLine()
	closed := make(chan error, 1)
	s := c.session
	go func() { closed <- s.Close() }()
	late := make(chan struct{})
	stop := c.clock.AfterFunc(closeLimit, func() { close(late) })
	defer stop()
	select {
	case closeErr := <-closed:
		if closeErr != nil {
			exit, err = max(exit, exitError), errors.Join(err, closeErr)
		}
	case <-late:
		exit, err = max(exit, exitError), errors.Join(err, errSlow)
	case <-c.o.Interrupts:
		exit = exitInterrupted
	}
	return exit, err
}
