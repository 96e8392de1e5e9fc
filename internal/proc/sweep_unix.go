//go:build unix

package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"garuda/internal/core"
)

// Sweep ends what a killed Garuda left running: dir is the RunningDir it had.
// It finds the recorded processes, their sessions, what hangs below them, and
// whatever carries that Garuda's mark, sends TERM, and KILL 2 s later; files of
// a Garuda that still runs, or that lives in another container, are left alone.
// It returns how many processes there were, and is quick when there are none:
// then it reads one folder.
func Sweep(ctx context.Context, clock core.Clock, dir string) (int, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for processes of a killed Garuda: %w", err)
	}
	ended := 0
	var errs []error
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ledgerSuffix+unfinishedSuffix) {
			errs = append(errs, sweepUnfinished(clock, dir, f))
			continue
		}
		if !strings.HasSuffix(f.Name(), ledgerSuffix) {
			continue
		}
		n, err := sweepFile(ctx, clock, filepath.Join(dir, f.Name()))
		ended += n
		if err != nil {
			errs = append(errs, fmt.Errorf("end what a killed Garuda left, by %s: %w", f.Name(), err))
		}
	}
	return ended, errors.Join(errs...)
}

// sweepUnfinished removes a file that a killed Garuda was about to begin with,
// before it had started anything. One that is being made is never an hour old.
func sweepUnfinished(clock core.Clock, dir string, f fs.DirEntry) error {
	info, err := f.Info()
	if errors.Is(err, fs.ErrNotExist) || err == nil && clock.Now().Sub(info.ModTime()) < time.Hour {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(dir, f.Name()))
}

func sweepFile(ctx context.Context, clock core.Clock, path string) (int, error) {
	head, recorded, err := readLedger(path)
	if err != nil {
		return 0, err
	}
	boot, space, err := place()
	if err != nil {
		return 0, err
	}
	if head.Boot != boot {
		return 0, os.Remove(path) // the machine was restarted: all of it is gone
	}
	if head.Namespace != space {
		return 0, nil
	}
	if owner, err := processEntry(head.Owner.Pid); err == nil && owner.start == head.Owner.Start && !owner.zombie {
		return 0, nil
	}
	n, err := endOrphaned(ctx, clock, head.Instance, recorded)
	if err != nil {
		return n, err
	}
	return n, os.Remove(path)
}

// readLedger reads a file of package proc. A last line that was not finished
// when Garuda was killed is left out.
func readLedger(path string) (head ledgerHead, recorded map[identity]bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|syscall.O_NONBLOCK, 0)
	if err != nil {
		return head, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	if !lines.Scan() {
		return head, nil, fmt.Errorf("its first line is missing (%w); remove the file when no Garuda runs", errors.Join(lines.Err(), fs.ErrInvalid))
	}
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil || head.V != ledgerVersion || head.Instance == "" {
		return head, nil, fmt.Errorf("its first line is not understood (version %d); remove the file when no Garuda runs", head.V)
	}
	recorded = map[identity]bool{}
	for lines.Scan() {
		var id identity
		if json.Unmarshal(lines.Bytes(), &id) == nil && id.Pid > 1 {
			recorded[id] = true
		}
	}
	return head, recorded, lines.Err()
}

// endOrphaned ends the processes of a Garuda that is gone.
func endOrphaned(ctx context.Context, clock core.Clock, instance string, recorded map[identity]bool) (int, error) {
	seen := map[identity]bool{}
	termed := map[identity]bool{}
	killAt := clock.Now().Add(grace)
	for {
		found, err := orphaned(instance, recorded)
		if err != nil || len(found) == 0 {
			return len(seen), err
		}
		now := clock.Now()
		if now.After(killAt.Add(killLimit)) {
			return len(seen), fmt.Errorf("process %d is still there after KILL; the kernel or another user holds it", found[0].pid)
		}
		for _, e := range found {
			id := identity{e.pid, e.start}
			seen[id] = true
			switch {
			case !now.Before(killAt):
				_ = syscall.Kill(e.pid, kill) // one that is gone is as wanted; one that stays is reported above
			case !termed[id]:
				termed[id] = true
				_ = syscall.Kill(e.pid, terminate) // as above
			}
		}
		if err := clock.Sleep(ctx, 10*time.Millisecond); err != nil {
			return len(seen), err
		}
	}
}

// orphaned lists what belongs to the commands of that instance.
func orphaned(instance string, recorded map[identity]bool) ([]entry, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	sessions := map[int]bool{}
	for _, e := range all {
		if recorded[identity{e.pid, e.start}] {
			sessions[e.pid] = true
		}
	}
	root := func(e entry) bool {
		return e.pid > 1 && e.pid != self &&
			(sessions[e.session] || strings.HasPrefix(markOf(e.pid), instance+"-"))
	}
	found := descendants(all, root, func(e entry) bool { return e.pid == self })
	alive := found[:0]
	for _, e := range found {
		if !e.zombie {
			alive = append(alive, e)
		}
	}
	return alive, nil
}
