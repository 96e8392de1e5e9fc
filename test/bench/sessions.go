package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/session"
	"garuda/internal/state"
)

const (
	// longRecords and longBytes are how long the long journal is; it was summed up
	// each time that summaryAt bytes had come.
	longRecords, longBytes, summaryAt = 100_000, 200 << 20, 800 << 10
	// manySessions are how many a list lists.
	manySessions = 10_000
)

// sessions measures how soon a long journal is ready for a prompt, how long a list of
// many takes, and what a record costs that is waited for.
func (b *bench) sessions(ctx context.Context) ([]row, error) {
	var rows []row
	for _, measure := range []func(context.Context) ([]row, error){b.longJournal, b.manyListed, b.appends} {
		some, err := measure(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// storeIn opens the sessions of a folder of the bench.
func (b *bench) storeIn(folder string) (*session.Store, string, error) {
	root := filepath.Join(b.dir, folder)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, "", err
	}
	dir, err := state.Open(root)
	if err != nil {
		return nil, "", err
	}
	return session.NewStore(dir, session.Options{}), root, nil
}

// longJournal measures a turn that goes on with a long session, against one that begins
// a new one: the difference is what opening it takes.
func (b *bench) longJournal(ctx context.Context) ([]row, error) {
	store, root, err := b.storeIn("longsession")
	if err != nil {
		return nil, err
	}
	if err := writeLong(store, root); err != nil {
		return nil, err
	}
	var mine, least []cost
	for i := range max(3, b.runs/4) + 1 {
		l, _, err := b.play(ctx, "newsession", 0, b.headless()...)
		if err != nil {
			return nil, err
		}
		m, _, err := b.play(ctx, "longsession", 0, append(b.headless(), "-c")...)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			mine, least = append(mine, m), append(least, l)
		}
	}
	const limit, most = 400 * time.Millisecond, 150e6
	return []row{
		{"a turn of a session of 200 MB", ms(walls(mine)), "400 ms", ms(walls(least)) + " for a new one", walls(mine) <= limit},
		{"  CPU time", ms(cpus(mine)), "", ms(cpus(least)), true},
		{"  peak memory", mb(peaks(mine)), "150 MB", mb(peaks(least)), peaks(mine) <= most},
	}, nil
}

func cpus(costs []cost) time.Duration {
	var all []time.Duration
	for _, c := range costs {
		all = append(all, c.CPU)
	}
	return median(all)
}

// writeLong writes a session of steps that read files, summed up as it fills.
func writeLong(store *session.Store, root string) error {
	id := core.NewSessionID(time.Now())
	j, err := store.Create(id, &session.Start{SessionID: id, Root: root, Version: "bench", Model: "bench/m"})
	if err != nil {
		return err
	}
	const perStep = 2
	text := strings.Repeat("a line of a file that was read, with some words in it\n", (longBytes/longRecords*perStep-700)/54)
	if err := j.Append(&session.User{Message: core.UserText("Do the task and then stop.")}); err != nil {
		return err
	}
	for n, filled := 1, 0; n < longRecords-1; n += perStep {
		for _, rec := range step(n, text) {
			if err := j.Append(rec); err != nil {
				return err
			}
		}
		if filled += len(text); filled >= summaryAt {
			filled = 0
			if err := j.Append(summary()); err != nil {
				return err
			}
		}
	}
	return errors.Join(j.Append(&session.End{StopReason: core.EndDone, Steps: longRecords / perStep}), j.Close())
}

func step(n int, text string) []session.Record {
	id := fmt.Sprintf("call_%d", n)
	return []session.Record{
		&session.Assistant{Step: n, Stop: core.StopToolUse, UsageReported: true, Usage: core.Usage{Input: 1000, Output: 50}, Cost: core.Cost{Known: true},
			Message: &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: id, Name: "read_file", Input: `{"path":"a.txt"}`}}}},
		&session.ToolResults{Calls: []session.CallInfo{{ID: id, Name: "read_file", Ms: 1}},
			Message: &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult(id, false, core.Text(text))}}},
	}
}

func summary() *session.Compaction {
	return &session.Compaction{Stage: session.StageSummary, Reason: "due", Before: 200_000, After: 4_000, Cost: core.Cost{Known: true},
		Messages: []session.Placed{{Message: core.UserText(strings.Repeat("what was done so far, in short. ", 400))}}}
}

// manyListed measures a list of many sessions, with a fresh index and without one.
func (b *bench) manyListed(ctx context.Context) ([]row, error) {
	store, root, err := b.storeIn("many")
	if err != nil {
		return nil, err
	}
	if err := writeMany(store, root); err != nil {
		return nil, err
	}
	list, all := []string{b.garuda, "sessions", "list"}, []string{b.garuda, "sessions", "list", "--all"}
	var rebuilt, fresh, least []cost
	for range 3 {
		if err := os.Remove(filepath.Join(root, ".garuda", "sessions", "index.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, m := range []struct {
			into *[]cost
			args []string
		}{{&rebuilt, all}, {&fresh, list}, {&fresh, list}} {
			c, err := b.run(ctx, "many", nil, m.args...)
			if err != nil {
				return nil, err
			}
			*m.into = append(*m.into, c)
		}
		c, err := b.run(ctx, "newsession", nil, list...)
		if err != nil {
			return nil, err
		}
		least = append(least, c)
	}
	own := walls(fresh) - walls(least)
	return []row{
		{"list of 10,000 sessions", "+" + ms(own), "+50 ms", ms(walls(least)) + " for a few", own <= 50*time.Millisecond},
		{"  CPU time", "+" + ms(cpus(fresh)-cpus(least)), "", ms(cpus(least)), true},
		{"  all of them, without an index", ms(walls(rebuilt)), "3000 ms", "", walls(rebuilt) <= 3*time.Second},
		{"  CPU time", ms(cpus(rebuilt)), "", "", true},
	}, nil
}

// writeMany writes one session and copies of it, which takes no wait for the disk.
func writeMany(store *session.Store, root string) error {
	begin := time.Now().Add(-manySessions * time.Second)
	first := core.NewSessionID(begin)
	j, err := store.Create(first, &session.Start{SessionID: first, Root: root, Version: "bench", Model: "bench/m"})
	if err != nil {
		return err
	}
	recs := append([]session.Record{&session.User{Message: core.UserText("one prompt of many")}}, step(1, strings.Repeat("text ", 600))...)
	for _, rec := range append(recs, &session.End{StopReason: core.EndDone, Steps: 1}) {
		if err := j.Append(rec); err != nil {
			return err
		}
	}
	if err := j.Close(); err != nil {
		return err
	}
	folder := filepath.Join(root, ".garuda", "sessions")
	text, err := os.ReadFile(filepath.Join(folder, first+".jsonl"))
	if err != nil {
		return err
	}
	for n := range manySessions - 1 {
		id := core.NewSessionID(begin.Add(time.Duration(n+1) * time.Second))
		if err := os.WriteFile(filepath.Join(folder, id+".jsonl"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// appends measures what a record costs that is waited for until it is on the disk,
// against one that is not and against the disk itself.
func (b *bench) appends(context.Context) ([]row, error) {
	const rounds = 200
	store, root, err := b.storeIn("appends")
	if err != nil {
		return nil, err
	}
	id := core.NewSessionID(time.Now())
	j, err := store.Create(id, &session.Start{SessionID: id, Root: root, Version: "bench", Model: "bench/m"})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(j.Append(&session.User{Message: core.UserText("hi")}), j.Flush()); err != nil {
		return nil, err
	}
	recs := step(1, strings.Repeat("text ", 600))
	line, err := json.Marshal(recs[1])
	if err != nil {
		return nil, err
	}
	plain, err := os.Create(filepath.Join(root, "plain"))
	if err != nil {
		return nil, err
	}
	var written, waited, disk []time.Duration
	for range rounds {
		begun := time.Now()
		if err := j.Append(recs[1]); err != nil {
			return nil, err
		}
		wrote := time.Now()
		if err := j.Flush(); err != nil {
			return nil, err
		}
		written, waited = append(written, wrote.Sub(begun)), append(waited, time.Since(begun))
		begun = time.Now()
		if _, err := plain.Write(append(line, '\n')); err != nil {
			return nil, err
		}
		if err := state.Datasync(plain); err != nil {
			return nil, err
		}
		disk = append(disk, time.Since(begun))
	}
	if err := errors.Join(j.Close(), plain.Close()); err != nil {
		return nil, err
	}
	return []row{
		{"a record of 3 KB, written", us(median(written)), "", "", true},
		{"  and on the disk", us(median(waited)), "", us(median(disk)) + " for the bytes alone; 4 waits a step", true},
	}, nil
}
