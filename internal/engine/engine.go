// Package engine runs one session: it takes the user's messages, drives the
// model and the tools step by step, keeps the journal ahead of everything that
// is shown, and publishes what happens to any number of surfaces.
//
// It knows no provider, no tool, no permission rule and no screen: those are
// handed to it behind interfaces.
package engine

import (
	"math/rand/v2"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// Journal is where a session's records go. Append writes; Flush returns when
// everything appended is on disk. After a failure it may go on in memory, and
// Err then says why.
type Journal interface {
	Append(r session.Record) error
	Flush() error
	Err() error
	Close() error
}

// Modes is the permission mode of the session's whole tree of agents.
type Modes interface {
	Mode() string
	SetMode(mode string) error
	// BeginTurn forgets what was counted and denied in the turn before. It is called
	// for turns that a person began.
	BeginTurn()
}

// Limits bound a session; zero fields mean no bound, but MaxSteps, which has a default.
type Limits struct {
	MaxSteps    int
	TokenBudget int
	SpendUSD    float64
	// MaxOutput is the output limit of a request in tokens; 0 means
	// llm.MaxTokens for the model and how much it thinks.
	MaxOutput int
}

// Config is what a session is made of.
type Config struct {
	ID    string
	Model llm.Model
	// System is the system prompt, built once; InstructionBytes of it are instructions.
	System           string
	InstructionBytes int
	// Instructions tells of those that hold for a part of the project; may be nil.
	Instructions Instructor
	// Tools are in every request, Deferred ones once tool_search has loaded them.
	Tools, Deferred []llm.ToolSpec
	// AnswerTool, when set, is the tool with whose call a turn must end: its output
	// is the answer.
	AnswerTool string
	// Pipeline runs the calls; the engine sets what it has of the session: whom to
	// ask and to tell, which tools are not loaded yet, and Consult, Notes and Briefer
	// of its Env.
	Pipeline *tool.Pipeline
	Modes    Modes
	Limits   Limits
	// Budget is the account of an agent below another session; see
	// Session.ChildBudget. Nil makes one of its own from Limits. The session closes it.
	Budget *budget.Account
	// Thinking is how much the model thinks, until SetThinking; a resumed session
	// goes on with what was chosen in it.
	Thinking llm.ThinkingLevel
	// DropThinking sends no thinking of turns before back to the model. That of
	// the turn that runs always goes back, since providers want it.
	DropThinking bool
	// OpenJournal is called before the first message is taken; nil for a session
	// in memory only. Its error is shown, and the session goes on in memory.
	OpenJournal func() (Journal, error)
	// History is what a resumed session begins with; nil for a new one.
	History *session.History
	// Snapshots keep the work tree before each turn; nil keeps none, and then no turn
	// can be taken back.
	Snapshots Snapshots
	// CanAsk says whether a surface will answer questions.
	CanAsk bool
	// RecordedNotes, for a replay, gives the notes that stood at each place where the
	// session takes up what waits: with a message, and behind results. Notes of its
	// own are then left out. Nil everywhere else.
	RecordedNotes func() []core.Block
	// RecordedSteering is the same for what the user sent before the answer of this step,
	// with which the model wanted to end.
	RecordedSteering func(step int) []core.Block
	// Wakes lets a note of a tool begin a turn while nothing runs: a chat is open,
	// and its person sees that.
	Wakes bool
	Clock core.Clock
	// Jitter gives random numbers in [0, 1) for retry delays; nil means the
	// system's.
	Jitter func() float64
}

const defaultMaxSteps = 50

func (c *Config) setDefaults() {
	if c.Limits.MaxSteps <= 0 {
		c.Limits.MaxSteps = defaultMaxSteps
	}
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
}

// Prompt is one message of the user.
type Prompt struct {
	Text string
	// Attachments follow the text, as blocks that are marked as notes.
	Attachments []core.Block
	// notes are why the session began the turn by itself.
	notes []core.Block
	// Timeout ends the turn; 0 means none.
	Timeout time.Duration
}

// Interrupt is what a person wants to stop.
type Interrupt int

const (
	// StopCommand ends the newest running command; the turn goes on.
	StopCommand Interrupt = iota
	// StopTurn ends the turn.
	StopTurn
)

// Session is one conversation in work. Its methods may be called from any
// goroutine; one goroutine of its own does the work.
type Session struct {
	cfg     Config
	log     *eventLog
	mailbox chan func(*actor)
	done    chan struct{}
	running runningCalls
	outline outline
	tools   *toolList
	notes   pending
	account *budget.Account
	// closeErr is set before done is closed.
	closeErr error
	// firstModel is the model that the session began with.
	firstModel *llm.Info
}

// New starts a session. Close ends it.
func New(cfg Config) *Session {
	cfg.setDefaults()
	s := &Session{
		cfg: cfg, log: newEventLog(), tools: newToolList(cfg.Tools, cfg.Deferred),
		mailbox: make(chan func(*actor)), done: make(chan struct{}), firstModel: cfg.Model.Info(),
	}
	s.notes.recorded = cfg.RecordedNotes
	a := newActor(s)
	go a.loop()
	return s
}

// ID is the session's id.
func (s *Session) ID() string { return s.cfg.ID }

// Model says which model the session talks to.
func (s *Session) Model() *llm.Info {
	info := s.firstModel
	s.do(func(a *actor) { info = a.s.cfg.Model.Info() })
	return info
}

// SetModel goes on with the same conversation and another model, with this
// output limit in tokens; 0 means llm.MaxTokens for the model and how much it
// thinks. It is refused while a turn runs.
func (s *Session) SetModel(m llm.Model, maxOutput int) error {
	var err error
	s.do(func(a *actor) { err = a.setModel(m, maxOutput) })
	return err
}

// Thinking is how much the model thinks from the next message on.
func (s *Session) Thinking() llm.ThinkingLevel {
	level := s.cfg.Thinking
	s.do(func(a *actor) { level = a.thinking })
	return level
}

// SetThinking changes how much the model thinks, from the next message on;
// llm.ThinkDefault leaves it to the model, llm.ThinkOff turns it off where the
// model lets it. The output limit follows, where it was not set by hand. The
// choice goes with the session. An unknown level is an error.
func (s *Session) SetThinking(level llm.ThinkingLevel) error {
	var err error
	s.do(func(a *actor) { err = a.setThinking(level) })
	return err
}

// Rename gives the session a title, on one line.
func (s *Session) Rename(title string) error {
	err := errClosed
	s.do(func(a *actor) {
		a.journal.append(&session.Title{Title: title})
		a.journal.flush()
		err = a.journal.failure()
	})
	return err
}

// Subscribe reads the session's events from number from on (0 for all that are kept).
func (s *Session) Subscribe(from int64) *Subscription { return s.log.subscribe(from) }

// Submit takes a message of the user. While a turn runs it waits in a queue, and
// becomes a turn of its own afterwards.
func (s *Session) Submit(p Prompt) { s.do(func(a *actor) { a.submit(p) }) }

// Interrupt stops what was asked. StopCommand reports whether there was a
// command to stop.
func (s *Session) Interrupt(what Interrupt) bool {
	if what == StopCommand {
		return s.running.stopNewest()
	}
	ok := false
	s.do(func(a *actor) { ok = a.stopTurn() })
	return ok
}

// Unqueue takes back the messages that wait, the oldest first.
func (s *Session) Unqueue() []Prompt {
	var out []Prompt
	s.do(func(a *actor) { out, a.queue = a.queue, nil })
	return out
}

// Answer answers the question with this id; an id that no longer waits is ignored.
func (s *Session) Answer(id int, answer tool.Answer) {
	s.do(func(a *actor) { a.questions.answer(id, answer) })
}

// SetMode changes the permission mode from the next decision on.
func (s *Session) SetMode(mode string) error {
	var err error
	s.do(func(a *actor) { err = a.setMode(mode, byUser) })
	return err
}

// Busy reports whether a turn runs.
func (s *Session) Busy() bool {
	busy := false
	s.do(func(a *actor) { busy = a.cancelTurn != nil })
	return busy
}

// Totals are the sums of the session's finished turns.
func (s *Session) Totals() Totals {
	var t Totals
	s.do(func(a *actor) { t = a.totals })
	return t
}

// Close stops the turn that runs, waits for it, and closes the journal.
func (s *Session) Close() error {
	s.do(func(a *actor) { a.close() })
	<-s.done
	return s.closeErr
}

// do runs f in the session's goroutine and waits for it; after Close it does nothing.
func (s *Session) do(f func(*actor)) {
	finished := make(chan struct{})
	select {
	case s.mailbox <- func(a *actor) { defer close(finished); f(a) }:
		<-finished
	case <-s.done:
	}
}
