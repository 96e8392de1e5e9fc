package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/state"
	"garuda/internal/userfile"
)

const (
	// toolchainsFile in Garuda's folder keeps what the tools answered, so that each is
	// asked once. It counts as little as an answer: every place is checked again.
	toolchainsFile    = "toolchains.json"
	toolchainsVersion = 1
	maxToolchainsFile = 1 << 20
	// askWithin is how long a tool may take to answer, askLimit how much it may print,
	// and maxTold how many places of one answer count.
	askWithin = 2 * time.Second
	askLimit  = 64 << 10
	maxTold   = 32
	// askAgain is how long a tool that did not answer is left alone. One that was only
	// too slow is asked again after askLater, then after twice that, and so on.
	askAgain = 24 * time.Hour
	askLater = 5 * time.Minute
)

// answered is a tool's answer, and the program that gave it.
type answered struct {
	Program string    `json:"program"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"time"`
	// Env is a digest of the variables that may change the answer.
	Env    string `json:"env"`
	Places []told `json:"places"`
	// Failed says why it did not answer, at the time in Asked: it is asked again then
	// only after askAgain, since each try takes the first command's time.
	Failed string    `json:"failed,omitempty"`
	Asked  time.Time `json:"asked,omitzero"`
	// Late counts how often in a row it was too slow.
	Late int `json:"late,omitempty"`
}

// errLate is in the error of a tool that did not answer in time.
var errLate = fmt.Errorf("it did not name its folders within %v", askWithin)

type toolchainsRecord struct {
	V     int                 `json:"v"`
	Tools map[string]answered `json:"tools"`
}

// foundTool is a tool of this machine.
type foundTool struct {
	tool
	// path is where the PATH has it, and real what that leads to.
	path, real string
	info       fs.FileInfo
}

// toolchains are the places of the toolchains of this machine.
func (b *Builder) toolchains(ctx context.Context) []sandbox.Entry {
	var entries []sandbox.Entry
	path := b.trustedPath()
	for _, dir := range filepath.SplitList(path) {
		entries = b.addTold(entries, told{Path: dir}, "programs on the PATH")
	}
	var found []foundTool
	for _, t := range tools() {
		f := foundTool{tool: t}
		if t.program != "" {
			if f.path = proc.LookPath(t.program, path); f.path == "" {
				continue
			}
			var err error
			if f.real, err = filepath.EvalSymlinks(f.path); err != nil {
				continue
			}
			if f.info, err = os.Stat(f.real); err != nil {
				continue
			}
			entries = b.addProgram(entries, f)
		}
		found = append(found, f)
		entries = b.addUsual(entries, t)
	}
	answers := b.ask(ctx, found)
	for _, f := range found {
		for i, place := range answers[f.program].Places {
			if i < maxTold {
				entries = b.addTold(entries, place, f.program+" names it")
			}
		}
	}
	return entries
}

// trustedPath is the PATH without the folders that commands can write, in which a
// command may have left a program for us to ask.
func (b *Builder) trustedPath() string {
	dirs := slices.DeleteFunc(filepath.SplitList(b.opt.Path), func(dir string) bool {
		if !filepath.IsAbs(dir) {
			return true
		}
		real := realPath(dir)
		for _, own := range slices.Concat([]string{b.opt.Root}, b.opt.Added, b.shared.writes) {
			if inside(own, real) || inside(own, filepath.Clean(dir)) {
				return true
			}
		}
		return false
	})
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// addProgram adds the tree that a program lies in: /x/tool/bin/tool is of /x/tool.
func (b *Builder) addProgram(to []sandbox.Entry, f foundTool) []sandbox.Entry {
	dir := filepath.Dir(f.real)
	to = b.addTold(to, told{Path: dir}, f.program)
	if filepath.Base(dir) == "bin" {
		tree := filepath.Dir(dir)
		// The folder of Go's programs lies beside people's sources and no libraries.
		if !ofSystem(tree) && tree != realPath(b.expand("$GOPATH")) && b.rules.checkTold(tree, tree) == nil {
			to = append(to, sandbox.Entry{Path: tree, Access: sandbox.ReadOnly, Why: f.program})
		}
	}
	return to
}

func (b *Builder) addUsual(to []sandbox.Entry, t tool) []sandbox.Entry {
	why := t.program
	if why == "" {
		why = "a toolchain"
	}
	for _, list := range []struct {
		paths           []string
		write, settings bool
	}{{t.read, false, false}, {t.write, true, false}, {t.settings, false, true}} {
		for _, p := range list.paths {
			path := b.expand(p)
			if path == "" {
				continue
			}
			if list.write && t.program != "" {
				b.missingCache(path)
			}
			to = b.addTold(to, told{path, list.write, list.settings}, why)
		}
	}
	return to
}

// expand puts the home folder or a variable's value in; "" when there is neither.
func (b *Builder) expand(path string) string {
	if name, ok := strings.CutPrefix(path, "$"); ok {
		name, rest, _ := strings.Cut(name, "/")
		value, _ := b.opt.Lookup(name)
		value, _, _ = strings.Cut(value, string(filepath.ListSeparator)) // of a GOPATH the first counts
		if !filepath.IsAbs(value) {
			value = b.expand(placeVariables()[name])
		}
		if value == "" {
			return ""
		}
		return filepath.Join(value, rest)
	}
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok || b.rules.home == "" {
		return ""
	}
	return filepath.Join(b.rules.home, rest)
}

// addTold adds a place that a tool names, if it may be shown and is there. Why it may
// not is for Explain.
func (b *Builder) addTold(to []sandbox.Entry, place told, why string) []sandbox.Entry {
	if place.Path == "" {
		return to
	}
	if place.Settings {
		return b.addSettings(to, place.Path, why)
	}
	real, err := follow(place.Path)
	if err == nil && (inside(b.opt.Root, real) || !place.Write && ofSystem(real)) {
		return to // it is seen as what it lies in
	}
	if err == nil {
		err = b.rules.checkTold(place.Path, real)
	}
	if err != nil {
		if errors.Is(err, ErrPlace) {
			b.leave(place.Path, err.Error())
		}
		return to
	}
	access := sandbox.ReadOnly
	if place.Write {
		access, why = sandbox.Writable, why+": a cache"
		if !isFolder(real) {
			return to
		}
	}
	return append(to, b.shown(place.Path, real, access, why)...)
}

// shown are the entries of a place: at its real path and, when a link in the home
// folder leads there, at the link's, which the session's own home does not have.
func (b *Builder) shown(path, real string, access sandbox.Access, why string) []sandbox.Entry {
	out := []sandbox.Entry{{Path: real, Access: access, Why: why}}
	if path = filepath.Clean(path); path != real && b.rules.home != "" && inside(b.rules.home, path) && !b.opt.InPlace {
		out = append(out, sandbox.Entry{Path: path, Source: real, Access: access, Why: why})
	}
	return out
}

// addSettings shows a copy of a file of settings, without credentials, where the tool
// looks for it: in the home folder, which is otherwise the session's own.
func (b *Builder) addSettings(to []sandbox.Entry, path, why string) []sandbox.Entry {
	path = filepath.Clean(path)
	if !inside(b.session.homeAt, path) || path == b.session.homeAt || b.opt.InPlace {
		return to
	}
	data, err := userfile.Read(path, maxGitFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.leave(path, err.Error())
		}
		return to
	}
	switch filepath.Ext(path) {
	case ".xml", ".json", ".Config", ".yml":
		if namesCredential(data) {
			b.leave(path, "it may hold a credential")
			return to
		}
	default:
		data = withoutCredentials(data)
	}
	sum := sha256.Sum256([]byte(path))
	copied := filepath.Join(b.session.copies, hex.EncodeToString(sum[:8]))
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		b.leave(path, err.Error())
		return to
	}
	return append(to, sandbox.Entry{Path: path, Source: copied, Access: sandbox.ReadOnly, Why: "settings of " + why + ", a copy without credentials"})
}

// ask gives the answers of the tools that can be asked, from the record where the
// program is the same, and keeps new ones.
func (b *Builder) ask(ctx context.Context, found []foundTool) map[string]answered {
	record := b.readRecord()
	env := b.envDigest()
	fresh := map[string]answered{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, f := range found {
		if f.answer == nil || f.needs != "" && !exists(b.expand(f.needs)) {
			continue
		}
		have := record[f.program]
		if have.Program == f.real && have.Size == f.info.Size() && have.Time.Equal(f.info.ModTime()) && have.Env == env && b.counts(have) {
			if have.Failed != "" {
				b.leave(f.path, have.Failed)
			}
			continue
		}
		delete(record, f.program)
		if b.opt.Ask == nil {
			continue
		}
		all.Go(func() {
			got := answered{Program: f.real, Size: f.info.Size(), Time: f.info.ModTime(), Env: env}
			var err error
			if got.Places, err = b.askOne(ctx, f); err != nil {
				b.leave(f.path, err.Error())
				if ctx.Err() != nil {
					return // it was not let answer
				}
				got.Failed, got.Asked = err.Error(), b.opt.Clock.Now().UTC().Truncate(time.Second)
				if errors.Is(err, errLate) {
					got.Late = have.Late + 1
				}
			}
			mu.Lock()
			defer mu.Unlock()
			fresh[f.program] = got
		})
	}
	all.Wait()
	if len(fresh) > 0 {
		for name, a := range fresh {
			record[name] = a
		}
		if err := b.writeRecord(record); err != nil {
			b.leave(toolchainsFile, err.Error())
		}
	}
	return record
}

// counts tells whether what is kept of a tool saves asking it. On a busy machine one
// that was too slow would be so again.
func (b *Builder) counts(have answered) bool {
	if have.Failed == "" {
		return true
	}
	again := askAgain
	if have.Late > 0 {
		again = min(askAgain, askLater<<min(have.Late-1, 10))
	}
	ago := b.opt.Clock.Now().Sub(have.Asked)
	return 0 <= ago && (ago < again || have.Late > 0 && ago < askAgain && b.busy())
}

// machineIsBusy tells whether more waits for the processors than they can do, where
// the system says so.
func machineIsBusy() bool {
	text, err := userfile.Read("/proc/loadavg", 1<<10)
	if err != nil {
		return false
	}
	minute, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(minute, 64)
	return err == nil && load > 2*float64(runtime.NumCPU())
}

// askOne runs one tool in an empty folder, so that no project's settings have a say.
func (b *Builder) askOne(ctx context.Context, f foundTool) ([]told, error) {
	dir, err := b.session.newFolder("ask-*")
	if err != nil {
		return nil, err
	}
	defer removeEmpty(b.missing(f.write)) // npm makes its cache to say where that is
	res, err := b.opt.Ask.Run(ctx, &sandbox.Command{
		Argv: append([]string{f.path}, f.args...), Dir: dir, Env: b.askEnv(f.tool, dir), Timeout: askWithin, Limit: askLimit,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask it for its folders: %w", err)
	case res.TimedOut:
		return nil, errLate
	case res.ExitCode != 0:
		return nil, errors.New("it does not name its folders")
	case res.Stdout.Total > int64(len(res.Stdout.Head)) || res.Stderr.Total > int64(len(res.Stderr.Head)):
		return nil, errors.New("it printed too much when it was asked for its folders")
	}
	out := string(res.Stdout.Head)
	if f.program == "java" { // it prints its settings where errors go
		out += "\n" + string(res.Stderr.Head)
	}
	return f.answer(out), nil
}

// askEnv is what an asked tool gets: what commands get, with the user's real home,
// since it is to name the places there. What it would write there goes to dir.
func (b *Builder) askEnv(t tool, dir string) []string {
	env := slices.DeleteFunc(slices.Clone(b.opt.AskEnv), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "PATH=")
	})
	env = append(env, "PATH="+b.trustedPath())
	if b.opt.Home != "" {
		env = append(env, "HOME="+b.opt.Home)
	}
	for name, value := range t.env {
		if value == askDir {
			value = dir
		} else if expanded := b.expand(value); expanded != "" {
			value = expanded
		}
		env = append(env, name+"="+value)
	}
	return append(env, b.placeEnv()...)
}

func (b *Builder) envDigest() string {
	sum := sha256.Sum256([]byte(strings.Join(append(b.placeEnv(), b.opt.Home), "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Env is what commands must have in their environment besides what is built for them:
// where temporary files go, and the places of toolchains that the user moved.
func (b *Builder) Env() []string {
	env := append(b.placeEnv(), "TMPDIR="+b.session.tempAt)
	if b.session.homeAt == homelessAt {
		env = append(env, "HOME="+homelessAt)
	}
	return env
}

// placeEnv are the variables that name places, as they are set.
func (b *Builder) placeEnv() []string {
	var env []string
	for name := range placeVariables() {
		value, set := b.opt.Lookup(name)
		if set && value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) &&
			!slices.ContainsFunc(filepath.SplitList(value), func(p string) bool { return !filepath.IsAbs(p) }) {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}

// readRecord reads what the tools answered before. One that is not understood, or of
// another version, is as none.
func (b *Builder) readRecord() map[string]answered {
	var r toolchainsRecord
	if b.opt.GarudaHome != "" {
		data, err := userfile.Read(filepath.Join(b.opt.GarudaHome, toolchainsFile), maxToolchainsFile)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.leave(toolchainsFile, err.Error())
		}
	}
	if r.V != toolchainsVersion || r.Tools == nil {
		return map[string]answered{}
	}
	return r.Tools
}

func (b *Builder) writeRecord(tools map[string]answered) error {
	if b.opt.GarudaHome == "" {
		return nil
	}
	data, err := json.MarshalIndent(toolchainsRecord{toolchainsVersion, tools}, "", "  ")
	if err != nil {
		return err
	}
	folder, err := state.MakePath(b.opt.GarudaHome)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Replace(toolchainsFile, append(data, '\n'), false)
}
