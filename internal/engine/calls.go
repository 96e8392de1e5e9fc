package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"garuda/internal/core"
	"garuda/internal/engine/turn"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// maxParallel is how many read-only calls run at once.
const maxParallel = 8

// runCalls runs a response's calls and takes their results into journal and
// conversation, in call order. It reports whether the turn runs in circles.
func (t *turnRun) runCalls(ctx context.Context, calls []core.Block) (inCircles bool) {
	t.keepFloor(calls)
	results := make([]*tool.CallResult, len(calls))
	for i := 0; i < len(calls); {
		batch := t.nextBatch(ctx, calls[i:])
		t.runBatch(ctx, batch, results[i:])
		t.loadTools(results[i : i+len(batch)])
		i += len(batch)
	}
	m := &core.Message{Role: core.RoleUser, Blocks: make([]core.Block, len(calls))}
	infos := make([]session.CallInfo, len(calls))
	for i, r := range results {
		if d := r.Decision; d != nil && d.Outcome == tool.Allow && d.By == "user" {
			t.repeats.Allowed() // a person wants it again
		}
		m.Blocks[i] = r.Result
		infos[i] = t.callInfo(r)
		t.denied(r)
	}
	t.takeAnswer(results)
	answers := m.Blocks
	m.Blocks = slices.Concat(answers, t.instructed(t.readBy(results)), t.a.notes.take(), t.takeSteering())
	t.a.journal.append(&session.ToolResults{Message: m, Calls: infos})
	t.a.journal.flush()
	unseen := t.a.conv.append(m)
	t.publish(Results{Message: m})
	t.a.sayUnseen(unseen)
	return t.repeats.Step(calls, answers)
}

func (t *turnRun) callInfo(r *tool.CallResult) session.CallInfo {
	info := session.CallInfo{ID: r.ID, Name: r.Name, Ms: r.Duration.Milliseconds(), Denied: r.Denied, Subagent: t.chargeChildren(r.ID)}
	if r.Output != nil {
		info.Executor, info.Isolation, info.Todos = r.Output.Executor, r.Output.Isolation, r.Output.Todos
	}
	if r.Output != nil && !r.Result.IsError {
		info.Files = t.fromRoot(r.Writes)
	}
	return info
}

func (t *turnRun) denied(r *tool.CallResult) {
	if !r.Denied {
		return
	}
	t.a.journal.append(&session.DenialRecord{
		CallID: r.ID, Tool: r.Name, Target: r.Target, By: r.Decision.By, Reason: r.Decision.Reason,
	})
	t.result.Denials = append(t.result.Denials, Denial{
		Tool: r.Name, CallID: r.ID, Input: string(r.Input), Reason: r.Decision.Reason,
	})
}

// nextBatch prepares the calls that run next: the read-only ones at the front,
// or one other. A call is prepared only when all before it have run, since they
// may change what it sees.
func (t *turnRun) nextBatch(ctx context.Context, calls []core.Block) []*tool.Prepared {
	var batch []*tool.Prepared
	for _, c := range calls {
		if len(batch) == maxParallel {
			break
		}
		p := t.cfg.Pipeline.Prepare(ctx, c)
		if len(batch) > 0 && !p.Batchable() {
			break // it is prepared again after the batch
		}
		batch = append(batch, p)
		if !p.Batchable() {
			break
		}
	}
	return batch
}

func (t *turnRun) runBatch(ctx context.Context, batch []*tool.Prepared, results []*tool.CallResult) {
	// All are told of in the order of the answer, whichever runs first.
	for _, p := range batch {
		t.publish(readyOf(p))
	}
	if len(batch) == 1 {
		results[0] = t.runCall(ctx, batch[0], t.repeat(batch[0]))
		return
	}
	var wg sync.WaitGroup
	for i, p := range batch {
		repeat := t.repeat(p)
		wg.Go(func() { results[i] = t.runCall(ctx, p, repeat) })
	}
	wg.Wait()
}

func (t *turnRun) repeat(p *tool.Prepared) int {
	return t.repeats.Before(turn.Sign(p.Use.Name, p.Use.Input))
}

func readyOf(p *tool.Prepared) ToolReady {
	ready := ToolReady{ID: p.Use.ID, Name: p.Use.Name, Input: p.Use.Input}
	if p.Plan != nil {
		ready.Target, ready.Label = p.Plan.Target, cmp.Or(p.Plan.Label, p.Plan.Target)
	}
	return ready
}

// runCall runs one call and publishes what happens to it.
func (t *turnRun) runCall(ctx context.Context, p *tool.Prepared, repeat int) *tool.CallResult {
	id, log := p.Use.ID, t.a.s.log
	ctx, end := t.a.s.running.start(ctx, id, p.Plan != nil && p.Plan.RunsCommands)
	defer end()
	out := &outputs{log: log, id: id}
	result := t.cfg.Pipeline.Run(ctx, p, repeat, tool.Observer{
		Progress: func(text string) { log.publish(ToolProgress{ID: id, Text: text}) },
		Emit:     out.emit,
	})
	out.end()
	log.publish(ToolEnded{Result: result})
	return result
}

// outputs shows what one call prints, a stream for each of stdout and stderr.
type outputs struct {
	log     *eventLog
	id      string
	mu      sync.Mutex
	streams [2]*growing
}

func (o *outputs) emit(stderr bool, chunk []byte) {
	i := 0
	if stderr {
		i = 1
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streams[i] == nil {
		o.streams[i] = o.log.open(&growing{kind: growOutput, id: o.id, stderr: stderr, window: outputWindow})
	}
	o.log.grow(o.streams[i], chunk)
}

func (o *outputs) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, g := range o.streams {
		if g != nil {
			o.log.finish(g, false)
		}
	}
}
