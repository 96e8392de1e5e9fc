package replay

import (
	"encoding/json"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
	"garuda/internal/llm/replay"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// turn is a recorded turn, ready to be played.
type turn struct {
	// first and last are the places of its records, the user's message and its end.
	first, last int
	prompt      engine.Prompt
	attempts    []replay.Attempt
	// lines are where in the journal the attempts stand.
	lines []int
	// results are how its calls ended, by id; notes are what stood at each place where
	// the loop takes up notes that wait.
	results map[string]*tool.CallResult
	notes   [][]core.Block
	// steering is what the user sent before the model wanted to end, by step.
	steering map[int][]core.Block
	// want are the records that the replay must make too.
	want []made
	// cut is true for a turn that did not come to its end by itself.
	cut bool
}

// made is a record that the loop makes, and where it stands.
type made struct {
	line int
	rec  session.Record
}

// readTurn gathers the turn whose user's message stands at first.
func readTurn(records []session.Recorded, first int) *turn {
	t := &turn{first: first, last: first, results: map[string]*tool.CallResult{}, steering: map[int][]core.Block{}, cut: true}
	g := gatherer{turn: t, denied: map[string]*session.DenialRecord{}, granted: map[string]bool{}}
	if user, ok := records[first].Record.(*session.User); ok {
		t.prompt = promptOf(user.Message)
		t.notes = append(t.notes, nil) // all that stood in the message is in the prompt
		t.want = append(t.want, made{records[first].Line, user})
	}
	for i := first + 1; i < len(records); i++ {
		switch rec := records[i].Record.(type) {
		case *session.User, *session.Start, *session.Resume:
			return g.done()
		case *session.End:
			t.last = i
			t.cut = rec.StopReason == core.EndInterrupted || rec.StopReason == core.EndTimeout
			if !t.cut {
				t.want = append(t.want, made{records[i].Line, rec})
			}
			return g.done()
		default:
			t.last = i
			g.take(&records[i])
		}
	}
	return g.done()
}

// gatherer collects a turn's records. What is known of a call may stand before or
// behind its result.
type gatherer struct {
	turn    *turn
	denied  map[string]*session.DenialRecord
	granted map[string]bool
	loads   []string
	step    int
}

// noteSteer marks what the user sent while a turn ran.
const noteSteer = "steer"

func (g *gatherer) take(r *session.Recorded) {
	t := g.turn
	switch rec := r.Record.(type) {
	case *session.Unreported:
		if rec.Failure != nil {
			g.attempt(r.Line, replay.Attempt{Err: failed(rec.Failure, rec.Reason)})
		}
	case *session.SideUsage:
		g.side(r.Line, rec)
	case *session.Assistant:
		g.step = rec.Step
		g.attempt(r.Line, replay.Attempt{Response: response(rec), Hash: rec.RequestHash})
		t.want = append(t.want, made{r.Line, rec})
	case *session.ToolResults:
		t.want = append(t.want, made{r.Line, rec})
		if !rec.Synthetic && rec.Message != nil {
			g.results(rec)
		}
	case *session.Tools:
		g.loads = append(g.loads, rec.Added...)
		t.want = append(t.want, made{r.Line, rec})
	case *session.DenialRecord:
		g.denied[rec.CallID] = rec
	case *session.GrantRecord:
		g.granted[rec.CallID] = rec.Choice != string(tool.AnswerDeny)
	case *session.Continue:
		if m := rec.Message; m != nil && len(m.Blocks) > 0 && m.Blocks[0].Note == noteSteer {
			t.steering[g.step] = m.Blocks
		}
		t.want = append(t.want, made{r.Line, rec})
	case *session.Compaction:
		t.want = append(t.want, made{r.Line, rec})
	}
}

func (g *gatherer) attempt(line int, a replay.Attempt) {
	g.turn.attempts, g.turn.lines = append(g.turn.attempts, a), append(g.turn.lines, line)
}

// purposeSummary is the only side request that the loop itself makes.
const purposeSummary = "summary"

func (g *gatherer) side(line int, rec *session.SideUsage) {
	switch {
	case rec.Purpose != purposeSummary:
	case rec.Failure != nil:
		g.attempt(line, replay.Attempt{Err: failed(rec.Failure, rec.Purpose)})
	case rec.Text != "":
		g.attempt(line, replay.Attempt{Hash: rec.RequestHash, Response: &llm.Response{
			Message: &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text(rec.Text)}}, Stop: rec.Stop,
			Usage: rec.Usage, UsageReported: rec.Usage.Unreported == 0, BilledUSD: rec.Cost.USD,
		}})
	}
}

// results takes up the results of a step's calls. The tools that it loaded go to the
// call that made the step's record of them, and which one that was does not matter.
func (g *gatherer) results(rec *session.ToolResults) {
	answers := 0
	for _, b := range rec.Message.Blocks {
		if b.Type == core.BlockToolResult {
			answers++
		}
	}
	g.turn.notes = append(g.turn.notes, rec.Message.Blocks[answers:])
	for i := range rec.Calls {
		if i >= answers {
			break // a damaged journal
		}
		c := &rec.Calls[i]
		g.turn.results[c.ID] = &tool.CallResult{
			ID: c.ID, Name: c.Name, Result: rec.Message.Blocks[i], Denied: c.Denied,
			Duration: time.Duration(c.Ms) * time.Millisecond, Writes: c.Files,
			Output: &tool.Output{Executor: c.Executor, Isolation: c.Isolation, Todos: c.Todos},
		}
		if i == 0 {
			g.turn.results[c.ID].Output.Load, g.loads = g.loads, nil
		}
	}
}

// done completes the results with what was decided of their calls.
func (g *gatherer) done() *turn {
	for id, r := range g.turn.results {
		d := g.denied[id]
		switch {
		case r.Denied && d != nil:
			r.Decision = &tool.Decision{Outcome: tool.Deny, By: d.By, Reason: d.Reason}
			r.Target = d.Target
		case r.Denied:
			r.Decision = &tool.Decision{Outcome: tool.Deny}
		case g.granted[id]:
			r.Decision = &tool.Decision{Outcome: tool.Allow, By: "user"}
		}
	}
	return g.turn
}

// promptOf is the prompt that becomes this message again: its first words, and all
// else, which is Garuda's, as it stands.
func promptOf(m *core.Message) engine.Prompt {
	if m == nil || len(m.Blocks) == 0 {
		return engine.Prompt{}
	}
	if first := m.Blocks[0]; first.Type == core.BlockText && first.Note == "" {
		return engine.Prompt{Text: first.Text, Attachments: m.Blocks[1:]}
	}
	return engine.Prompt{Attachments: m.Blocks}
}

func response(rec *session.Assistant) *llm.Response {
	r := &llm.Response{
		ID: rec.ResponseID, Model: rec.Model, Message: rec.Message, Stop: rec.Stop, RawStop: rec.RawStop,
		Usage: rec.Usage, UsageReported: rec.UsageReported, RequestHash: rec.RequestHash,
	}
	if rec.Cost.Known {
		r.BilledUSD = rec.Cost.USD
	}
	if r.Message == nil { // nothing of it was kept
		r.Message = &core.Message{Role: core.RoleAssistant}
	}
	return r
}

func failed(f *session.Failure, reason string) error {
	return &llm.Error{
		Kind: llm.ErrorKind(f.Kind), Status: f.Status, Message: reason, RetryAfter: time.Duration(f.RetryAfterMs) * time.Millisecond,
		NoRetry: f.NoRetry, Streaming: f.Streaming, Window: f.Window, MaxOutput: f.MaxOutput, OutputLimit: f.OutputLimit,
		Image: f.Image, Block: f.Block,
	}
}

// player hands the loop what its turn needs.
type player struct {
	results map[string]*tool.CallResult
	waiting [][]core.Block

	steering map[int][]core.Block
}

// steered is what the user sent before a step's answer.
func (p *player) steered(step int) []core.Block { return p.steering[step] }

// result is how a call ended. One that was not recorded is a call that the loop should
// not have made, and fails.
func (p *player) result(use core.Block) *tool.CallResult {
	r := p.results[use.ID]
	if r == nil {
		return &tool.CallResult{ID: use.ID, Name: use.Name, Result: core.ToolResult(use.ID, true, core.Text("the recording has no result of this call"))}
	}
	out := *r
	out.Name = use.Name
	out.Input = json.RawMessage(use.Input)
	if out.Output != nil && !out.Result.IsError {
		with := *out.Output
		with.Answer = out.Input // only the tool that takes answers is asked for one
		out.Output = &with
	}
	return &out
}

// notes are those of the next place.
func (p *player) notes() []core.Block {
	if len(p.waiting) == 0 {
		return nil
	}
	next := p.waiting[0]
	p.waiting = p.waiting[1:]
	return next
}
