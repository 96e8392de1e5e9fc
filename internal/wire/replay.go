package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"garuda/internal/engine/replay"
	"garuda/internal/llm"
	llmreplay "garuda/internal/llm/replay"
	"garuda/internal/session"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
	"garuda/internal/tools/structured"
	"garuda/internal/tools/toolsearch"
)

// setup is what this session's requests are made of besides the conversation.
func (s *System) setup() *session.Setup {
	out := &session.Setup{
		System: s.system, Thinking: string(thinking(s.settings.Thinking)), DropThinking: !s.settings.Thinking.KeepBlocks,
		MaxOutput: s.infoOf(s.model.Info().Spec).MaxTokens, Model: session.SetupOf(s.model.Info()),
	}
	for _, spec := range s.toolSpecs(toolset.On) {
		out.Tools = append(out.Tools, spec.Name)
	}
	for _, spec := range s.toolSpecs(toolset.Deferred) {
		out.Deferred = append(out.Deferred, spec.Name)
	}
	if s.options.AnswerSchema != nil {
		out.Answer = string(structured.New(s.options.AnswerSchema).Spec().Schema)
	}
	return out
}

// Replay runs a recorded session through the loop again. ref is a session as Find
// takes it, or the path of a journal.
func (s *System) Replay(ctx context.Context, ref string) (*replay.Report, error) {
	rec, err := s.recording(ref)
	if err != nil {
		return nil, err
	}
	return replay.Run(ctx, rec, replay.Options{
		Registry: s.registry, Tools: s.recordedTools, AnswerTool: structured.Name, Model: s.recordedModel,
	})
}

func (s *System) recording(ref string) (*session.Recording, error) {
	info, err := s.sessions.Find(ref)
	if err == nil {
		return s.sessions.Recording(info.ID)
	}
	if _, statErr := os.Stat(ref); statErr == nil {
		return session.ReadRecording(ref)
	} else if !errors.Is(statErr, fs.ErrNotExist) && strings.ContainsAny(ref, `/\`) {
		err = statErr
	}
	return nil, &SettingsError{Err: fmt.Errorf("find session %q: %w; see garuda sessions list", ref, err)}
}

// recordedTools are the definitions of the tools that a session had.
func (s *System) recordedTools(setup *session.Setup) (on, deferred []llm.ToolSpec, missing string) {
	known := map[string]*tool.Spec{}
	for _, r := range s.tools {
		known[r.Spec.Name] = r.Spec
	}
	if setup.Answer != "" {
		if schema, err := structured.Parse([]byte(setup.Answer)); err == nil {
			known[structured.Name] = structured.New(schema).Spec()
		}
	}
	var lost []string
	var waiting []*tool.Spec
	for _, name := range setup.Deferred {
		if spec := known[name]; spec != nil {
			waiting = append(waiting, spec)
		} else {
			lost = append(lost, name)
		}
	}
	known[toolset.Search] = toolsearch.New(waiting).Spec()
	for _, name := range setup.Tools {
		if spec := known[name]; spec != nil {
			on = append(on, toolSpec(spec))
		} else {
			lost = append(lost, name)
		}
	}
	for _, spec := range waiting {
		deferred = append(deferred, toolSpec(spec))
	}
	if len(lost) > 0 {
		missing = "tools of this session are not to be had here (" + strings.Join(lost, ", ") + ")"
	}
	return on, deferred, missing
}

// recordedModel describes the model of a recording, and tells its requests without
// sending any: as the journal knows the model, or else as it is known here. A server is
// not asked about it.
func (s *System) recordedModel(spec string, was *session.ModelSetup) (*llm.Info, llmreplay.Hasher, string) {
	if was != nil {
		info := was.Known()
		hasher, err := s.providers.Hasher(info)
		if err != nil {
			return info, nil, err.Error()
		}
		return info, hasher, ""
	}
	choice, err := s.providers.Resolve(spec, modelInfo(&s.settings.ModelInfo))
	if err != nil {
		return &llm.Info{Spec: spec}, nil, err.Error()
	}
	return choice.Info, nil, "this journal does not say what its model was"
}
