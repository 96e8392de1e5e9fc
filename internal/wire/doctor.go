package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/provider"
	"garuda/internal/sandbox"
	"garuda/internal/workspace"
)

// The states of a check. Only a failed one makes `garuda doctor` end with 1:
// something configured does not work.
const (
	CheckOK     = "ok"
	CheckNote   = "note"
	CheckFailed = "FAILED"
)

// Check is one line of `garuda doctor`.
type Check struct {
	State string `json:"state"`
	What  string `json:"what"`
	Text  string `json:"text"`
}

// Doctor looks at everything that is set up, and goes on where one part fails.
func Doctor(ctx context.Context, o *Options) []Check {
	d := &doctor{}
	d.say(CheckOK, "version", fmt.Sprintf("%s, %s/%s, %s", o.Version, runtime.GOOS, runtime.GOARCH, runtime.Version()))
	s, err := Open(ctx, o)
	var root *workspace.RootError
	if errors.As(err, &root) {
		d.say(CheckNote, "folder", err.Error()+"; only what does not belong to a project is checked")
		outside := *o
		outside.WithoutFolder = true
		s, err = Open(ctx, &outside)
	}
	if err != nil {
		d.say(CheckFailed, "start", err.Error())
		return d.checks
	}
	defer s.Close()
	d.folders(s)
	d.settings(s)
	if s.workspace != nil {
		d.rules(s)
		d.commands(ctx, s)
	}
	d.models(ctx, s, o.Model)
	if s.workspace != nil {
		d.sessions(s)
	}
	return d.checks
}

type doctor struct{ checks []Check }

func (d *doctor) say(state, what, text string) {
	d.checks = append(d.checks, Check{State: state, What: what, Text: text})
}

func (d *doctor) folders(s *System) {
	if s.workspace != nil {
		d.say(CheckOK, "folder", s.Root())
	}
	if s.places.garuda == "" {
		d.say(CheckNote, "user folder", "there is no home folder, so no user settings, keys or sessions of the user")
		return
	}
	d.say(CheckOK, "user folder", s.places.garuda)
}

// settings tells every value that was set, and from where.
func (d *doctor) settings(s *System) {
	set := 0
	for _, v := range s.settings.Values() {
		var from []string
		for _, src := range v.Sources {
			if src.Kind != 0 {
				from = append(from, src.Name)
			}
		}
		if len(from) > 0 {
			set++
			d.say(CheckOK, "setting "+v.Key, v.JSON+" ("+strings.Join(from, ", ")+")")
		}
	}
	if set == 0 {
		d.say(CheckOK, "settings", "all values are the built-in ones")
	}
	for _, n := range s.notices {
		d.say(CheckNote, "notice", n)
	}
}

// commands runs one through the executor.
func (d *doctor) commands(ctx context.Context, s *System) {
	bash, err := s.host.Bash()
	if err != nil {
		d.say(CheckFailed, "commands", err.Error())
		return
	}
	const limit = 5 * time.Second
	r, err := s.executor.Run(ctx, &sandbox.Command{Argv: []string{bash, "-c", "true"}, Dir: s.Root(), Env: s.env, Timeout: limit, Limit: 1 << 10})
	switch {
	case err != nil:
		d.say(CheckFailed, "commands", err.Error())
	case r.ExitCode != 0:
		d.say(CheckFailed, "commands", fmt.Sprintf("%s -c true ended with %d: %s", bash, r.ExitCode, r.Stderr.Head))
	default:
		d.say(CheckOK, "commands", fmt.Sprintf("%s works (%s)", bash, r.Duration.Round(time.Millisecond)))
	}
	d.sandbox(s)
	if u, err := user.Current(); err == nil && u.Uid == "0" {
		d.say(CheckNote, "user", "you are root: commands may change the whole machine")
	}
}

// sandbox says what holds commands. One that was wanted and is missing is a note:
// where it was required nothing would have started.
func (d *doctor) sandbox(s *System) {
	inside, err := s.executor.Inside()
	switch {
	case isUnknown(err):
		d.say(CheckFailed, "sandbox", "no command runs: "+err.Error())
	case err != nil:
		d.say(CheckNote, "sandbox", "none, so commands run on this machine with your rights, and what is not read-only is asked for: "+err.Error())
	case inside == nil:
		d.say(CheckNote, "sandbox", "none, as executor is host: commands run on this machine with your rights; what is not read-only is asked for")
	default:
		d.say(CheckOK, "sandbox", fmt.Sprintf("%s holds commands: they reach %s; garuda sandbox explain says what they read and write", inside.Name(), s.networkInWords()))
		for _, better := range s.found.Better() {
			d.say(CheckNote, "sandbox", better)
		}
	}
}

func keyInWords(p provider.Status) string {
	if p.KeySource == "none" {
		return "without a key"
	}
	return "key from " + p.KeySource
}

func modelCount(n int) string {
	switch n {
	case 0:
		return "no models listed"
	case 1:
		return "1 model"
	}
	return fmt.Sprintf("%d models", n)
}

func (d *doctor) models(ctx context.Context, s *System, flag string) {
	for _, p := range s.providers.List(ctx, false) {
		switch {
		case p.Problem == nil:
			d.say(CheckOK, "provider "+p.Name, p.BaseURL+", "+keyInWords(p)+", "+modelCount(len(p.Models)))
		case wanted(s, p.Name, flag):
			d.say(CheckFailed, "provider "+p.Name, p.Problem.Error())
		}
	}
	choice, err := s.providers.Choose(ctx, provider.Preferences{Flag: flag, Setting: s.settings.Model, Info: modelInfo(&s.settings.ModelInfo)})
	if err != nil {
		var none *provider.NoModelError
		state := CheckFailed
		if errors.As(err, &none) {
			state = CheckNote // nothing is configured, so nothing configured fails
		}
		d.say(state, "model", err.Error())
		return
	}
	text := fmt.Sprintf("%s (from %s), window %d tokens", choice.Info.Spec, choice.By, choice.Info.ContextWindow)
	if !choice.Info.Known {
		text += " (assumed)"
	}
	if _, err := s.providers.Open(choice); err != nil {
		d.say(CheckFailed, "model", text+": "+err.Error())
		return
	}
	if err := s.providers.Reach(ctx, choice); err != nil {
		d.say(CheckFailed, "model", text+": "+err.Error())
		return
	}
	d.say(CheckOK, "model", text+", its server answers")
	if choice.Notice != "" {
		d.say(CheckNote, "model", choice.Notice)
	}
	if said := unheeded(choice.Info, thinking(s.settings.Thinking)); said != "" {
		d.say(CheckNote, "thinking", said)
	}
	d.subagents(ctx, s, choice)
}

// subagents checks the model that the settings name for them.
func (d *doctor) subagents(ctx context.Context, s *System, main *provider.Choice) {
	choice, err := s.subagentChoice(main)
	switch {
	case err != nil:
		d.say(CheckFailed, "model of subagents", err.Error())
		return
	case choice.Info.Spec == main.Info.Spec:
		return
	}
	_, err = s.providers.Open(choice)
	if err == nil {
		err = s.providers.Reach(ctx, choice)
	}
	if err != nil {
		d.say(CheckFailed, "model of subagents", choice.Info.Spec+": "+err.Error())
		return
	}
	d.say(CheckOK, "model of subagents", choice.Info.Spec+", its server answers; this version starts no subagents yet")
}

// unheeded says what a level of thinking comes to with a model that does not know
// it; "" where it is sent as it is.
func unheeded(info *llm.Info, level llm.ThinkingLevel) string {
	if level == llm.ThinkDefault || level == llm.ThinkOff {
		return ""
	}
	if !info.Thinks {
		return fmt.Sprintf("the level is %s, but %s is not known to think, so it has no effect", level, info.Spec)
	}
	word := llm.Effort(level, info.Efforts)
	if word == "" || word == string(level) {
		return ""
	}
	return fmt.Sprintf("the level is %s; %s knows %s, and %s is the nearest of them", level, info.Spec, strings.Join(info.Efforts, ", "), word)
}

// wanted reports whether the settings or flags name this provider.
func wanted(s *System, name, flag string) bool {
	for _, spec := range []string{flag, os.Getenv("GARUDA_MODEL"), s.settings.Model, s.file.Default} {
		if p, _, ok := strings.Cut(spec, "/"); ok && p == name {
			return true
		}
	}
	return false
}

func (d *doctor) sessions(s *System) {
	infos, err := s.sessions.List(0)
	if err != nil {
		d.say(CheckFailed, "sessions", err.Error())
		return
	}
	unreadable := 0
	for _, i := range infos {
		if i.Unreadable != "" {
			unreadable++
			d.say(CheckFailed, "session "+i.ID, core.Visible(i.Unreadable))
		}
	}
	d.say(CheckOK, "sessions", fmt.Sprintf("%d in %s", len(infos)-unreadable, filepath.Join(s.state.Path(), "sessions")))
}
