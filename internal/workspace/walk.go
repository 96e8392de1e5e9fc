package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// WalkOptions say what a walk visits.
type WalkOptions struct {
	// IncludeIgnored visits what the ignore lists leave out, but never .git.
	IncludeIgnored bool
	// NodeModules visits folders of that name although they are left out unasked.
	NodeModules bool
	// LeftOut is told of each entry that is ignored and each folder that could not be
	// listed, by its path from the root or added folder, with slashes; from several
	// goroutines at once. May be nil.
	LeftOut func(rel string, kind Kind)
	// Depth is how many folders deep to go: 1 visits only the folder's own
	// entries. 0 means no limit.
	Depth int
}

// Entry is one thing that a walk came across.
type Entry struct {
	Name string
	Kind Kind
	// Depth is 1 for the entries of the folder where the walk began.
	Depth int

	w     *Workspace
	mount *mount
	rel   string
	dir   folder // that holds it, open while the entry is visited
}

// Path is the entry's place. No link leads to it, so Abs and Real are the same.
func (e *Entry) Path() Path {
	abs := e.mount.path(e.rel)
	p := Path{Abs: abs, Real: abs, Rel: e.rel, Exists: true, Info: Info{Kind: e.Kind}, mount: e.mount, rel: e.rel}
	if e.mount != e.w.mounts[0] {
		p.Rel = e.w.Rel(abs)
	}
	return p
}

// Below is the entry's path from the folder where the walk began, with slashes. It
// costs less than Path.
func (e *Entry) Below(from Path) string {
	if from.rel == "." {
		return e.rel
	}
	return e.rel[min(len(from.rel)+1, len(e.rel)):]
}

// Info describes the entry again, with its size and times; a link itself.
func (e *Entry) Info() (Info, error) {
	info, err := e.dir.lstat(e.Name)
	if err != nil {
		return info, e.w.failure("look at", e.Path(), err)
	}
	return info, nil
}

// WalkReport says what a walk did not visit.
type WalkReport struct {
	// Ignored counts the files and whole folders that were left out.
	Ignored int
	// NodeModules counts those of them that were left out only for their name.
	NodeModules int
	// Unreadable are the folders that could not be listed, as they are shown,
	// sorted; at most 20, while UnreadableCount counts all.
	Unreadable      []string
	UnreadableCount int
}

// ErrSkipFolder, returned by a visit of a folder, leaves out what is in it.
var ErrSkipFolder = errors.New("skip this folder")

// Walk visits everything below a folder, on all processors: visit is called from
// several goroutines at once and in no order, and must not keep the entry.
// Links are visited but not followed. A visit's error ends the walk and is
// returned, except ErrSkipFolder; so does the end of ctx. The report is never nil.
func (w *Workspace) Walk(ctx context.Context, from Path, opt WalkOptions, visit func(worker int, e *Entry) error) (*WalkReport, error) {
	wk := &walk{ctx: ctx, w: w, m: from.mount, opt: opt, visit: visit}
	wk.wake.L = &wk.mu
	if from.Exists && from.Info.Kind != KindFolder {
		return &wk.report, &NotFolderError{Path: from.Rel}
	}
	wk.push(walkTask{dir: from.rel, rules: w.rulesAbove(from)})
	var all sync.WaitGroup
	for worker := 1; worker < walkWorkers(); worker++ {
		all.Go(func() { wk.work(worker) })
	}
	wk.work(0)
	all.Wait()
	for i := range wk.stack { // what an early end left over
		wk.stack[i].open.done()
	}
	if wk.panicked != nil {
		panic(wk.panicked)
	}
	slices.Sort(wk.report.Unreadable)
	return &wk.report, wk.err
}

// walkWorkers is how many goroutines walk; visit's worker is below it.
func walkWorkers() int { return max(2, min(runtime.GOMAXPROCS(0), 8)) }

// WalkWorkers is the number of different worker values a visit may see.
func WalkWorkers() int { return walkWorkers() }

// rulesAbove are the rules that hold where a walk begins, without the folder's own.
func (w *Workspace) rulesAbove(from Path) *rules {
	r := &rules{base: w.baseRulesOf(from.mount)}
	if from.rel == "." {
		return r
	}
	r = r.in(from.mount, ".", true, true)
	for i, c := range from.rel {
		if c == '/' {
			r = r.in(from.mount, from.rel[:i], true, true)
		}
	}
	return r
}

// walk is one walk: a stack of folders to list and of files to visit.
type walk struct {
	ctx   context.Context
	w     *Workspace
	m     *mount
	opt   WalkOptions
	visit func(worker int, e *Entry) error

	mu       sync.Mutex
	wake     sync.Cond
	stack    []walkTask
	busy     int // workers that may still push
	err      error
	panicked any
	report   WalkReport
}

// walkTask is a folder to list or, with entries, some of a folder's files.
type walkTask struct {
	dir     string
	depth   int
	rules   *rules
	entries []dirEntry
	open    *openDir // with entries: the folder itself
}

// openDir is a folder that stays open while tasks need it. There are hardly more
// at a time than workers: a folder's files are taken before the folders in it.
type openDir struct {
	folder
	users atomic.Int32
}

func (d *openDir) done() {
	if d != nil && d.users.Add(-1) == 0 {
		d.close()
	}
}

// walkBatch is how many files of a folder one worker visits before another may
// take the rest.
const walkBatch = 64

func (wk *walk) push(tasks ...walkTask) {
	wk.mu.Lock()
	wk.stack = append(wk.stack, tasks...)
	wk.mu.Unlock()
	if len(tasks) > 1 {
		wk.wake.Broadcast()
	} else {
		wk.wake.Signal()
	}
}

func (wk *walk) work(worker int) {
	for {
		wk.mu.Lock()
		for len(wk.stack) == 0 && wk.busy > 0 && wk.err == nil {
			wk.wake.Wait()
		}
		if len(wk.stack) == 0 || wk.err != nil {
			wk.mu.Unlock()
			wk.wake.Broadcast()
			return
		}
		task := wk.stack[len(wk.stack)-1]
		wk.stack = wk.stack[:len(wk.stack)-1]
		wk.busy++
		wk.mu.Unlock()

		err := wk.guarded(worker, task)

		wk.mu.Lock()
		wk.busy--
		if err != nil && wk.err == nil {
			wk.err = err
		}
		over := wk.err != nil || wk.busy == 0 && len(wk.stack) == 0
		wk.mu.Unlock()
		if over { // what was pushed woke the others already
			wk.wake.Broadcast()
		}
	}
}

var errPanicked = errors.New("a visit panicked")

// guarded carries a panic of a visit over to the goroutine that called Walk.
func (wk *walk) guarded(worker int, task walkTask) (err error) {
	defer func() {
		if v := recover(); v != nil {
			wk.mu.Lock()
			wk.panicked = v
			wk.mu.Unlock()
			err = errPanicked
		}
	}()
	defer task.open.done()
	if err := wk.ctx.Err(); err != nil {
		return err
	}
	if task.entries != nil {
		return wk.files(worker, task)
	}
	return wk.list(worker, task)
}

func (wk *walk) list(worker int, task walkTask) error {
	dir, entries, err := wk.m.dir.listOpen(task.dir)
	if dir != nil {
		task.open = &openDir{folder: dir}
		task.open.users.Add(1)
		defer task.open.done()
	}
	if err != nil {
		if task.depth == 0 {
			from := Path{Abs: wk.m.path(task.dir), Rel: wk.w.Rel(wk.m.path(task.dir)), mount: wk.m, rel: task.dir}
			return wk.w.failure("list", from, err)
		}
		wk.unreadable(task.dir, err)
	}
	wk.tellKinds(dir, entries)
	task.depth++
	if wk.opt.IncludeIgnored {
		entries = slices.DeleteFunc(entries, func(e dirEntry) bool { return neverShown(e.name) })
	} else {
		entries = wk.prune(&task, entries)
	}
	var folders []walkTask
	files := entries[:0]
	for _, e := range entries {
		if e.kind != KindFolder {
			files = append(files, e)
			continue
		}
		rel := joinRel(task.dir, e.name)
		err := wk.visit(worker, &Entry{Name: e.name, Kind: e.kind, Depth: task.depth, w: wk.w, mount: wk.m, rel: rel, dir: dir})
		switch {
		case errors.Is(err, ErrSkipFolder):
		case err != nil:
			return err
		case wk.opt.Depth == 0 || task.depth < wk.opt.Depth:
			folders = append(folders, walkTask{dir: rel, depth: task.depth, rules: task.rules})
		}
	}
	if len(folders) > 0 {
		wk.push(folders...)
	}
	for len(files) > walkBatch {
		rest := task
		rest.open.users.Add(1)
		rest.entries, files = files[len(files)-walkBatch:], files[:len(files)-walkBatch]
		wk.push(rest)
	}
	task.entries = files
	return wk.files(worker, task)
}

func (wk *walk) files(worker int, task walkTask) error {
	for i, e := range task.entries {
		if i%16 == 0 && wk.ctx.Err() != nil {
			return wk.ctx.Err()
		}
		entry := Entry{Name: e.name, Kind: e.kind, Depth: task.depth, w: wk.w, mount: wk.m, rel: joinRel(task.dir, e.name), dir: task.open.folder}
		if err := wk.visit(worker, &entry); err != nil && !errors.Is(err, ErrSkipFolder) {
			return err
		}
	}
	return nil
}

// tellKinds looks at entries whose kind listing the folder did not tell.
func (wk *walk) tellKinds(dir folder, entries []dirEntry) {
	for i := range entries {
		if entries[i].kind == KindOther {
			if info, err := dir.lstat(entries[i].name); err == nil {
				entries[i].kind = info.Kind
			}
		}
	}
}

// prune takes out what is ignored, and brings the rules up to this folder.
func (wk *walk) prune(task *walkTask, entries []dirEntry) []dirEntry {
	var hasGit, hasGaruda bool
	for _, e := range entries {
		hasGit = hasGit || e.name == gitIgnore
		hasGaruda = hasGaruda || e.name == garudaIgnore
	}
	task.rules = task.rules.in(wk.m, task.dir, hasGit, hasGaruda)
	ignored, modules := 0, 0
	kept := entries[:0]
	for _, e := range entries {
		isDir := e.kind == KindFolder
		rel := joinRel(task.dir, e.name)
		switch {
		case neverShown(e.name):
			continue
		case isDir && e.name == nodeModules && wk.opt.NodeModules:
		case task.rules.ignored(rel, e.name, isDir):
			ignored++
			if isDir && e.name == nodeModules {
				modules++
			}
			if wk.opt.LeftOut != nil {
				wk.opt.LeftOut(rel, e.kind)
			}
			continue
		}
		kept = append(kept, e)
	}
	if ignored > 0 {
		wk.mu.Lock()
		wk.report.Ignored += ignored
		wk.report.NodeModules += modules
		wk.mu.Unlock()
	}
	return kept
}

func (wk *walk) unreadable(dir string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLink) {
		return // removed or exchanged while the walk went on
	}
	if wk.opt.LeftOut != nil {
		wk.opt.LeftOut(dir, KindFolder)
	}
	const shown = 20
	wk.mu.Lock()
	defer wk.mu.Unlock()
	wk.report.UnreadableCount++
	if len(wk.report.Unreadable) < shown {
		wk.report.Unreadable = append(wk.report.Unreadable, wk.w.Rel(wk.m.path(dir)))
	}
}

func joinRel(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// Lstat describes an entry again, with its size and times; a link itself.
func (w *Workspace) Lstat(p Path) (Info, error) {
	info, err := p.mount.dir.lstat(p.rel)
	return info, w.failure("look at", p, err)
}

// Readlink is a link's target as it is written.
func (w *Workspace) Readlink(p Path) (string, error) {
	target, err := p.mount.dir.readlink(p.rel)
	return filepath.ToSlash(target), w.failure("read the link", p, err)
}
