// Package replay runs a recorded session through the real loop again: the answers and
// results are those of the journal, and what the loop makes of them must be what it
// made of them then.
//
// It runs no tool, asks nobody, waits for nothing, and neither reads nor writes the
// project. Whom to ask for a model's description and its requests it is told.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
	"garuda/internal/llm/replay"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// Options are what a replay needs of the program around it.
type Options struct {
	// Registry says which tools only read; none of them is run.
	Registry *tool.Registry
	// Tools gives the definitions of the tools that a session had, those on first, and
	// says what of them is not to be had here.
	Tools func(setup *session.Setup) (on, deferred []llm.ToolSpec, missing string)
	// AnswerTool is the name of the tool that takes an answer.
	AnswerTool string
	// Model describes a model as it was, which may be nil, and tells its requests.
	// problem says why they cannot be told; then no request is compared.
	Model func(spec string, was *session.ModelSetup) (info *llm.Info, hasher replay.Hasher, problem string)
}

// Verdict is what came of a replay.
type Verdict string

const (
	// Same: all that was replayed went as recorded.
	Same Verdict = "same"
	// Redacted: what differs does so because secrets were taken out of the journal.
	Redacted Verdict = "redacted"
	// Different: something went another way.
	Different Verdict = "different"
)

// Report is what a replay found.
type Report struct {
	ID      string  `json:"session"`
	File    string  `json:"file"`
	Verdict Verdict `json:"verdict"`
	// Turns, Steps and Calls count what was replayed.
	Turns int `json:"turns"`
	Steps int `json:"steps"`
	Calls int `json:"calls"`
	// Requests were as recorded, byte for byte; Redacted ones differ where a secret
	// stood, and Uncompared ones have nothing to be compared with.
	Requests   int `json:"requests"`
	Redacted   int `json:"redacted"`
	Uncompared int `json:"uncompared"`
	// Differences are what went another way, in order.
	Differences []Difference `json:"differences,omitempty"`
	// Notes say what was not replayed or not compared, and why.
	Notes []string `json:"notes,omitempty"`
}

// Difference is one thing that went another way than recorded.
type Difference struct {
	// Line is the journal's, counted from 1.
	Line int    `json:"line"`
	What string `json:"what"`
	// Recorded and Replayed show both, in short, where there is something to show.
	Recorded string `json:"recorded,omitempty"`
	Replayed string `json:"replayed,omitempty"`
}

// maxDifferences is how many differences end a replay: what follows them means little.
const maxDifferences = 20

// Run replays a recording. The error is for one that holds nothing to replay, or when
// ctx ended.
func Run(ctx context.Context, rec *session.Recording, o Options) (*Report, error) {
	r := &replayer{ctx: ctx, rec: rec, o: o, report: &Report{ID: rec.ID, File: rec.File}, noted: map[string]bool{}}
	defer r.closeSession()
	for _, n := range rec.Notices {
		r.note(n)
	}
	for i := 0; i < len(rec.Records) && !r.ended; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := r.record(i)
		if err != nil {
			return nil, err
		}
		i = next
	}
	if r.report.Turns == 0 && len(r.report.Notes) == 0 {
		return nil, errors.New("the journal holds no turn")
	}
	r.judge()
	return r.report, nil
}

// replayer is a replay in work.
type replayer struct {
	ctx    context.Context
	rec    *session.Recording
	o      Options
	report *Report
	noted  map[string]bool
	ended  bool
	// compared is false where the open session's requests cannot be compared.
	compared bool

	// at is the newest Start or Resume, which says how the session was set up.
	at     setting
	live   *engine.Session
	events *engine.Subscription
	out    *recorder
	model  *replay.Model
	player player
	// redacted is true once the running session's conversation differs from what the
	// model saw.
	redacted bool
}

// setting is how a session was set up.
type setting struct {
	id     string
	model  string
	limits session.Limits
	setup  *session.Setup
	// maxOutput is the output limit that was set by hand for the model.
	maxOutput int
}

func (r *replayer) note(text string) {
	if !r.noted[text] {
		r.noted[text] = true
		r.report.Notes = append(r.report.Notes, text)
	}
}

func (r *replayer) end(format string, args ...any) {
	r.ended = true
	r.note(fmt.Sprintf(format, args...))
}

func (r *replayer) differs(line int, what, recorded, replayed string) {
	r.report.Differences = append(r.report.Differences, Difference{Line: line, What: what, Recorded: recorded, Replayed: replayed})
	if len(r.report.Differences) >= maxDifferences {
		r.end("the replay ends after %d differences", maxDifferences)
	}
}

func (r *replayer) judge() {
	switch {
	case len(r.report.Differences) > 0:
		r.report.Verdict = Different
	case r.report.Redacted > 0:
		r.report.Verdict = Redacted
	default:
		r.report.Verdict = Same
	}
}

// record takes up the record at i, and returns which one comes next.
func (r *replayer) record(i int) (next int, err error) {
	if r.rec.Records[i].Redacted {
		r.redacted = true
	}
	switch rec := r.rec.Records[i].Record.(type) {
	case *session.Start:
		r.at = settingOf(rec.SessionID, rec.Model, rec.Limits, rec.Setup)
		r.begin(i, nil)
	case *session.Resume:
		history := r.rec.Before(i)
		r.at = settingOf(cmp.Or(rec.SessionID, r.at.id), rec.Model, rec.Limits, rec.Setup)
		if history.Model != rec.Model {
			history.Messages = session.ForAnotherModel(history.Messages)
		}
		r.begin(i, history)
	case *session.Model:
		return i + 1, r.switchModel(rec)
	case *session.Thinking:
		if r.live != nil {
			return i + 1, r.live.SetThinking(llm.ThinkingLevel(rec.Choice))
		}
	case *session.Undo, *session.Redo, *session.Compaction:
		// Between turns: a person wanted another conversation.
		r.begin(i, r.rec.Before(i+1))
	case *session.User:
		return r.turn(i)
	}
	return i + 1, nil
}

func settingOf(id, model string, limits session.Limits, setup *session.Setup) setting {
	s := setting{id: id, model: model, limits: limits, setup: setup}
	if setup != nil {
		s.maxOutput = setup.MaxOutput
	}
	return s
}

// begin opens a session as the record at i says, in place of the open one.
func (r *replayer) begin(i int, history *session.History) {
	r.closeSession()
	r.redacted = history == nil && r.rec.Records[i].Redacted
	r.compared = true
	setup := r.at.setup
	if setup == nil {
		setup = &session.Setup{}
		r.uncompared("this journal does not say what its requests were made of")
	}
	system, ok := r.rec.Prompt(setup)
	if !ok {
		r.uncompared("the system prompt is not kept beside this journal")
	}
	on, deferred, missing := r.o.Tools(setup)
	if missing != "" {
		r.uncompared(missing)
	}
	answer := ""
	if setup.Answer != "" {
		answer = r.o.AnswerTool
	}
	r.model, r.out = r.modelOf(r.at.model, r.at.limits.ContextWindow, setup.Model), &recorder{}
	r.player = player{}
	clock := instant{core.SystemClock}
	r.live = engine.New(engine.Config{
		ID: r.at.id, Model: r.model, System: system, Tools: on, Deferred: deferred, AnswerTool: answer,
		Pipeline: &tool.Pipeline{Registry: r.o.Registry, Env: &tool.Env{Clock: clock}, Replay: r.player.result},
		Modes:    modes{}, Thinking: llm.ThinkingLevel(setup.Thinking), DropThinking: setup.DropThinking,
		Limits: engine.Limits{
			MaxSteps: r.at.limits.MaxSteps, TokenBudget: r.at.limits.TokenBudget, SpendUSD: r.at.limits.SpendUSD, MaxOutput: r.at.maxOutput,
		},
		OpenJournal:   func() (engine.Journal, error) { return r.out, nil },
		RecordedNotes: r.player.notes, RecordedSteering: r.player.steered,
		History: history, Clock: clock, Jitter: func() float64 { return 0 },
	})
	r.events = r.live.Subscribe(0)
}

// uncompared says why the open session's requests cannot be compared; the first
// reason is told.
func (r *replayer) uncompared(why string) {
	if r.compared {
		r.note(why + ": requests are not compared")
	}
	r.compared = false
}

// modelOf describes a model as it was then, and gives the answers that are recorded.
func (r *replayer) modelOf(spec string, window int, was *session.ModelSetup) *replay.Model {
	info, hasher, problem := r.o.Model(spec, was)
	if problem != "" {
		r.uncompared(problem)
	}
	if window > 0 && window != info.ContextWindow {
		was := *info
		was.ContextWindow, was.Known = window, true
		info = &was
	}
	if !r.compared {
		hasher = nil
	}
	return replay.New(info, hasher)
}

func (r *replayer) switchModel(rec *session.Model) error {
	if r.live == nil {
		return nil
	}
	r.model = r.modelOf(rec.Model, rec.ContextWindow, rec.Known)
	r.at.model, r.at.limits.ContextWindow, r.at.maxOutput = rec.Model, rec.ContextWindow, rec.MaxOutput
	if r.at.setup != nil { // for a session that is begun anew from here
		with := *r.at.setup
		with.Model = rec.Known
		r.at.setup = &with
	}
	if err := r.live.SetModel(r.model, rec.MaxOutput); err != nil {
		return fmt.Errorf("replay the switch to %s: %w", rec.Model, err)
	}
	return nil
}

func (r *replayer) closeSession() {
	if r.live == nil {
		return
	}
	r.events.Close()
	_ = r.live.Close() // its journal is in memory
	r.live = nil
}

// turn replays the turn that begins with the message at i, and returns the place
// behind it.
func (r *replayer) turn(i int) (next int, err error) {
	if r.live == nil {
		r.end("line %d: the record of how the session was begun is lost, and with it what the loop needs", r.rec.Records[i].Line)
		return len(r.rec.Records), nil
	}
	t := readTurn(r.rec.Records, i)
	first := r.out.len()
	r.player = player{results: t.results, waiting: t.notes, steering: t.steering}
	r.model.Play(t.attempts)
	r.live.Submit(t.prompt)
	result, err := r.await()
	if err != nil {
		return 0, err
	}
	r.report.Turns++
	r.report.Steps += result.Steps
	r.report.Calls += len(t.results)
	r.requests(t)
	r.compare(t, r.out.from(first))
	switch {
	case t.cut:
		r.end("line %d: the turn was interrupted here, and the replay ends with it", r.rec.Records[t.last].Line)
	case len(r.report.Differences) > 0:
		r.end("line %d: the replay ends with the turn that went another way", r.rec.Records[t.last].Line)
	}
	return t.last + 1, nil
}

// await waits for the end of the turn.
func (r *replayer) await() (*engine.TurnResult, error) {
	for {
		_, event, err := r.events.Next(r.ctx)
		if err != nil {
			return nil, fmt.Errorf("replay session %s: %w", r.rec.ID, err)
		}
		if done, ok := event.(engine.TurnEnded); ok {
			return done.Result, nil
		}
	}
}

// requests counts how the turn's requests compare.
func (r *replayer) requests(t *turn) {
	m := r.model.Counts()
	redacted := r.redacted || slices.ContainsFunc(r.rec.Records[t.first:t.last+1], func(rec session.Recorded) bool { return rec.Redacted })
	r.redacted = redacted
	r.report.Requests += m.Same
	r.report.Uncompared += m.Unknown
	if m.HashErr != nil {
		r.note(m.HashErr.Error() + ": requests are not compared")
	}
	for _, n := range m.Differ {
		if redacted {
			r.report.Redacted++
			continue
		}
		r.differs(t.lines[n], "the request before this answer", "", "")
	}
	if redacted && len(m.Differ) > 0 {
		r.note("secrets were taken out of the journal before it was written, so requests that held them cannot be as they were")
	}
}

// instant is a clock on which no wait takes any time.
type instant struct{ core.Clock }

// Sleep implements core.Clock.
func (instant) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// modes is the mode of a replay: what a mode adds to a message was recorded with it.
type modes struct{}

func (modes) Mode() string         { return "build" }
func (modes) SetMode(string) error { return nil }
func (modes) BeginTurn()           {}
