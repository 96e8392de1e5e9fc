package wire

import (
	"garuda/internal/tool"
	"garuda/internal/tools/structured"
)

// answerTool is the tool that takes the answer of a turn; none where the user asked
// for no form of it.
func (s *System) answerTool() []tool.Tool {
	if s.options.AnswerSchema == nil {
		return nil
	}
	return []tool.Tool{structured.New(s.options.AnswerSchema)}
}

// answerName is that tool's name, or "".
func (s *System) answerName() string {
	if s.options.AnswerSchema == nil {
		return ""
	}
	return structured.Name
}

// only are the tools that --tools names, and the one without which no turn could
// end; nil where --tools is not given.
func (s *System) only() []string {
	names := s.options.Tools
	if name := s.answerName(); name != "" && len(names) > 0 {
		names = append(names[:len(names):len(names)], name)
	}
	return names
}
