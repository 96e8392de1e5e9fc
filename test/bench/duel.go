package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"garuda/internal/core"
	"garuda/internal/wire"
)

// duel is a tool call that is measured against something else, turn by turn, so
// that both meet the same machine. It runs in a process of its own, in which one
// session stays open as in a conversation.
type duel struct {
	// Before is done once, unmeasured.
	Before []deed `json:"before,omitempty"`
	Mine   deed   `json:"mine"`
	Other  deed   `json:"other"`
	Rounds int    `json:"rounds"`
	// All keeps what every round of Mine said, not only the last.
	All bool `json:"all,omitempty"`
}

// deed is one thing to do: calls of a tool, of which each round makes the next;
// or a command; or the saving of as many bytes as a file has.
type deed struct {
	Tool   string            `json:"tool,omitempty"`
	Inputs []json.RawMessage `json:"inputs,omitempty"`
	Argv   []string          `json:"argv,omitempty"`
	Save   string            `json:"save,omitempty"`
}

// score is how long both took in each round, and what the last round said.
type score struct {
	Mine, Other         []time.Duration
	MineSaid, OtherSaid string
}

// least and against are the quickest rounds of both: other work on the machine
// only ever adds to them.
func (s *score) least() time.Duration   { return quickest(s.Mine) }
func (s *score) against() time.Duration { return quickest(s.Other) }

func quickest(all []time.Duration) time.Duration {
	var out time.Duration
	for i, d := range all {
		if i == 0 || d < out {
			out = d
		}
	}
	return out
}

// fight runs a duel in a folder of the bench, or an absolute one.
func (b *bench) fight(ctx context.Context, folder string, d duel) (*score, error) {
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(b.dir, folder)
	}
	job, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	report := filepath.Join(b.dir, "duel.json")
	cmd := exec.CommandContext(ctx, b.self, "-duel", report, string(job))
	cmd.Dir, cmd.Env = folder, b.environment()
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("measure %s: %w\n%s", d.Mine.Tool, err, text)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	s := &score{}
	return s, json.Unmarshal(text, s)
}

// duelAndReport runs a duel in the process's folder and writes its score.
func duelAndReport(ctx context.Context, report string, args []string) error {
	if len(args) != 1 {
		return errors.New("a duel is one argument")
	}
	var d duel
	if err := json.Unmarshal([]byte(args[0]), &d); err != nil {
		return fmt.Errorf("read the duel: %w", err)
	}
	sys, err := wire.Open(ctx, &wire.Options{WithoutModel: true, InMemory: true, Yolo: true})
	if err != nil {
		return err
	}
	defer sys.Close()
	for _, first := range d.Before {
		for i := range first.Inputs {
			if _, err := first.do(ctx, sys, i); err != nil {
				return err
			}
		}
	}
	var s score
	for i := range d.Rounds + 1 {
		start := time.Now()
		said, err := d.Mine.do(ctx, sys, i)
		if err != nil {
			return err
		}
		middle := time.Now()
		if d.All {
			said = s.MineSaid + said + "\n"
		}
		s.MineSaid = said
		if s.OtherSaid, err = d.Other.do(ctx, sys, i); err != nil {
			return err
		}
		if end := time.Now(); i > 0 { // the first round warms the caches
			s.Mine, s.Other = append(s.Mine, middle.Sub(start)), append(s.Other, end.Sub(middle))
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(report, text, 0o644)
}

func (a *deed) do(ctx context.Context, sys *wire.System, round int) (said string, err error) {
	switch {
	case a.Tool != "":
		input := a.Inputs[round%len(a.Inputs)]
		out := sys.Call(ctx, core.Block{Type: core.BlockToolUse, ID: fmt.Sprint("call_", round), Name: a.Tool, Input: string(input)})
		if out.Result.IsError {
			return "", fmt.Errorf("%s %.200s: %s", a.Tool, input, out.Result.ResultText())
		}
		return out.Result.ResultText(), nil
	case a.Save != "":
		return "", saveAgain(a.Save)
	}
	cmd := exec.CommandContext(ctx, a.Argv[0], a.Argv[1:]...)
	out, err := cmd.Output()
	// Without a match ripgrep ends with 1, and so does grep.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("run %v: %w", a.Argv, err)
	}
	return string(out), nil
}

// saveAgain is the least that a safe write of a file takes: its bytes into a
// new one beside it, onto the disk, and then under its name.
func saveAgain(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "save-")
	if err != nil {
		return err
	}
	_, err = f.Write(old)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path+".saved")
}
