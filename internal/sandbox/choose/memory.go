package choose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
)

// Remembered is Executor that spares the trial where the same one went well before,
// which a file says (~/.garuda/sandbox.json, made when its folder is there). Only that
// the best kind works is ever remembered, and only for as long as nothing has changed
// that the trial could depend on: a file that is wrong can make commands fail, and
// neither run without a sandbox nor in a weaker one.
//
// When a command's sandbox cannot be set up although that was remembered, the file is
// removed, the trial made after all, and what it showed is in the command's error.
// file is "" where nothing is to be remembered.
func Remembered(ctx context.Context, opt wrapped.Options, file string) (sandbox.Executor, State) {
	return remembered(ctx, opt, kinds(), &memory{file: file, facts: circumstances})
}

func remembered(ctx context.Context, opt wrapped.Options, kinds []kind, m *memory) (sandbox.Executor, State) {
	report := opt.Report
	if report == nil {
		report = func(error) {}
	}
	if m.file == "" || len(kinds) == 0 {
		return first(ctx, opt, kinds)
	}
	// Before the trial: what changes meanwhile makes it worth nothing.
	facts, err := m.facts()
	if errors.Is(err, errNoFacts) {
		return first(ctx, opt, kinds)
	}
	if err != nil {
		report(fmt.Errorf("remember that the sandbox works: %w", err))
		return first(ctx, opt, kinds)
	}
	best := kinds[0]
	if m.holds(best.name, facts) {
		if e, err := best.make(opt); err == nil {
			return &trusted{Executor: e, opt: opt, kind: best, memory: m, report: report}, best.state()
		}
	}
	e, s := first(ctx, opt, kinds)
	if e != nil && s.Backend == best.name {
		if err := m.keep(best.name, facts); err != nil {
			report(fmt.Errorf("remember that the sandbox works: %w", err))
		}
	}
	return e, s
}

// errNoFacts is what facts say where nobody knows what a trial depends on.
var errNoFacts = errors.New("what a trial depends on is not known on this system")

// memory is the file that says that a trial went well.
type memory struct {
	file string
	// facts are all that the outcome of a trial can depend on, in one text; errNoFacts
	// where nobody knows what that is.
	facts func() (string, error)
}

// memoryVersion is that of the file: a JSON object with the backend that worked, and
// the facts under which it did.
const memoryVersion = 1

type memoryFile struct {
	Version int    `json:"version"`
	Backend string `json:"backend"`
	Facts   string `json:"facts"`
}

// memoryLimit is how long the file may be, in bytes.
const memoryLimit = 4 << 10

// holds reports whether a backend is known to work under these facts. Whatever is
// wrong with the file means no.
func (m *memory) holds(backend, facts string) bool {
	f, err := os.OpenFile(m.file, os.O_RDONLY|noWait, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || !private(info) {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, memoryLimit+1))
	if err != nil || len(text) > memoryLimit {
		return false
	}
	var kept memoryFile
	err = json.Unmarshal(text, &kept)
	return err == nil && kept == memoryFile{memoryVersion, backend, facts}
}

// keep writes the file so that a reader finds the old one or the new one. Without
// the folder nothing is kept.
func (m *memory) keep(backend, facts string) (err error) {
	text, err := json.Marshal(memoryFile{memoryVersion, backend, facts})
	if err != nil {
		return err
	}
	// It is made readable and writable by its owner only.
	temp, err := os.CreateTemp(filepath.Dir(m.file), ".sandbox-*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), m.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func (m *memory) forget() error {
	if err := os.Remove(m.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// trusted is an executor that was not tried at this start.
type trusted struct {
	sandbox.Executor
	opt    wrapped.Options
	kind   kind
	memory *memory
	report func(error)

	doubted sync.Once
	found   error // how the trial went that was made after all
}

// Run runs one command; see sandbox.Executor.
func (t *trusted) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	res, err := t.Executor.Run(ctx, cmd)
	return res, t.doubt(ctx, err)
}

// Start starts a program whose pipes the caller talks to.
func (t *trusted) Start(ctx context.Context, cmd *sandbox.Command) (sandbox.Process, error) {
	p, err := t.Executor.Start(ctx, cmd)
	return p, t.doubt(ctx, err)
}

// doubt looks after the first command that could not be started whether the sandbox
// works at all. The command is not run again, whatever comes of it.
func (t *trusted) doubt(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, proc.ErrNotFound) || errors.Is(err, proc.ErrShutdown) || errors.Is(err, wrapped.ErrNoView) {
		return err
	}
	t.doubted.Do(func() {
		if err := t.memory.forget(); err != nil {
			t.report(fmt.Errorf("forget that the sandbox worked: %w", err))
		}
		t.found = try(ctx, t.opt, t.kind)
	})
	if t.found == nil || inconclusive(t.found) {
		return err // the command's own trouble, or nothing is known of it
	}
	text := "The sandbox had worked when it was last tried, before this start, and does not now"
	if t.kind.mend != nil {
		if mend := t.kind.mend(t.found); mend != "" {
			text += "; to mend it: " + mend
		}
	}
	return fmt.Errorf("%w. %s (%w). No command runs until Garuda is started again and has looked anew", err, text, t.found)
}
