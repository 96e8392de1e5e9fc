package wire

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"garuda/internal/audit"
	"garuda/internal/engine"
	"garuda/internal/front/headless"
	"garuda/internal/front/plain"
	"garuda/internal/llm"
	"garuda/internal/llm/catalog"
	"garuda/internal/session"
	"garuda/internal/tool/toolset"
)

// listed is how many sessions a chat lists.
const listed = 20

// Host is what the chat needs of the program around it. Its methods are called
// one at a time.
type Host struct {
	sys *System
	s   *engine.Session
}

var _ plain.Host = (*Host)(nil)

// NewHost makes the host of a chat that begins with this session.
func NewHost(sys *System, s *engine.Session) *Host { return &Host{sys: sys, s: s} }

// Banner is what the chat says first.
func (h *Host) Banner() plain.Banner {
	return plain.Banner{
		Name: "Garuda", Version: h.sys.options.Version,
		Sandbox: h.sys.SandboxInWords(), Folder: h.sys.Root(),
	}
}

// Current is the open session.
func (h *Host) Current() *engine.Session { return h.s }

// Mode is the permission mode.
func (h *Host) Mode() string { return h.sys.Mode() }

// New opens a new session in place of the open one.
func (h *Host) New(context.Context) error {
	return h.replace(SessionOptions{}, nil)
}

// replace closes the open session when the other one is open.
func (h *Host) replace(o SessionOptions, said *[]string) error {
	s, notices, err := h.sys.OpenSession(o)
	if err != nil {
		return err
	}
	if said != nil {
		*said = notices
	}
	old := h.s
	h.s = s
	h.sys.policy.ForgetSession()
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	h.sys.endBackground(ctx)
	if err := headless.Shutdown(old, h.sys.clock, killLimit); err != nil {
		return fmt.Errorf("close session %s: %w", old.ID(), err)
	}
	return nil
}

// Sessions lists the newest ones.
func (h *Host) Sessions(context.Context) ([]plain.SessionInfo, error) {
	infos, err := h.sys.sessions.List(listed)
	if err != nil {
		return nil, err
	}
	out := make([]plain.SessionInfo, len(infos))
	for i, info := range infos {
		out[i] = sessionInfo(info)
	}
	return out, nil
}

func sessionInfo(i session.Info) plain.SessionInfo {
	return plain.SessionInfo{
		ID: i.ID, Time: i.Time.Local(), Title: i.Title, FirstPrompt: i.Prompt,
		Turns: i.Turns, Model: i.Model, Cost: i.Cost, AtLeast: i.AtLeast,
	}
}

// Find finds a session by what a person calls it.
func (h *Host) Find(_ context.Context, ref string) (plain.SessionInfo, error) {
	info, err := h.sys.sessions.Find(ref)
	return sessionInfo(info), err
}

// Resume goes on with another session.
func (h *Host) Resume(_ context.Context, id string) ([]string, error) {
	var said []string
	err := h.replace(SessionOptions{Resume: id}, &said)
	return said, err
}

// Fork goes on in a copy of the open session.
func (h *Host) Fork(_ context.Context, step int) ([]string, error) {
	var said []string
	err := h.replace(SessionOptions{Resume: h.s.ID(), Fork: true, Step: step}, &said)
	return said, err
}

// Export writes the open session as Markdown into a new file below the root.
func (h *Host) Export(_ context.Context, name string) error {
	if !filepath.IsLocal(name) {
		return errors.New("it may only lie in this folder")
	}
	transcript, err := h.sys.sessions.Transcript(h.s.ID())
	if err != nil {
		return err
	}
	return session.ExportFile(h.sys.state, name, transcript)
}

// Rename gives a session a title.
func (h *Host) Rename(_ context.Context, id, title string) error {
	if h.s.ID() != id {
		return h.sys.sessions.Rename(id, title)
	}
	if title = session.CleanTitle(title); title == "" {
		return errors.New("the title is empty")
	}
	return h.s.Rename(title) // its journal is this process's already
}

// Delete removes a session.
func (h *Host) Delete(_ context.Context, id string) error { return h.sys.sessions.Delete(id) }

// Tools are the open session's tools with their states.
func (h *Host) Tools() []toolset.Row { return h.sys.toolsOf(h.s) }

// Audit opens the folder's audit log.
func (h *Host) Audit() (*audit.Reader, error) { return h.sys.Audit() }

// Models are those that can be used now.
func (h *Host) Models(ctx context.Context) ([]*llm.Info, error) {
	var out []*llm.Info
	for _, p := range h.sys.providers.List(ctx, false) {
		if p.Problem == nil {
			out = append(out, p.Models...)
		}
	}
	return out, nil
}

// IsAlias reports whether the word stands for a Claude model.
func (h *Host) IsAlias(word string) bool {
	_, ok := catalog.Alias(word)
	return ok
}

// SwitchModel goes on with the same conversation and another model, which sessions
// that are opened from now on begin with too.
func (h *Host) SwitchModel(ctx context.Context, spec string) ([]string, error) {
	choice, err := h.sys.providers.Resolve(spec, nil) // for the name behind an alias
	if err != nil {
		return nil, err
	}
	described := h.sys.infoOf(choice.Info.Spec)
	if choice, err = h.sys.providers.Resolve(choice.Info.Spec, modelInfo(described)); err != nil {
		return nil, err
	}
	h.sys.providers.Measure(ctx, choice)
	model, err := h.sys.providers.Open(choice)
	if err != nil {
		return nil, err
	}
	var notices []string
	if choice.Notice != "" {
		notices = append(notices, choice.Notice)
	}
	said, err := h.sys.checkSpend(model.Info())
	if err != nil {
		return nil, err
	}
	if said != "" {
		notices = append(notices, said)
	}
	if err := h.s.SetModel(model, described.MaxTokens); err != nil {
		return nil, err
	}
	h.sys.adopt(model)
	return notices, nil
}

// ShowThinking reports whether the settings want the model's thinking shown.
func (s *System) ShowThinking() bool { return s.settings.Thinking.Show }
