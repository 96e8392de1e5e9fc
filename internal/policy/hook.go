package policy

import (
	"fmt"

	"garuda/internal/tool"
)

// byHook is the By of what a hook said.
const byHook = "hook"

// hookSaid is what a hook says of the call, where it says just this.
func (s *situation) hookSaid(outcome tool.Outcome) (*tool.HookVerdict, string) {
	h := s.req.Hook
	if h == nil || h.Outcome != outcome {
		return nil, ""
	}
	why := ""
	if h.Reason != "" {
		why = ": " + h.Reason
	}
	return h, why
}

func (s *situation) hookDenies() *verdict {
	h, why := s.hookSaid(tool.Deny)
	if h == nil {
		return nil
	}
	return deny(byHook, fmt.Sprintf("the hook %s does not allow it%s. Do not try it by other means; go on without it, or ask the user", h.Name, why))
}

func (s *situation) hookAsks() *verdict {
	h, why := s.hookSaid(tool.Ask)
	if h == nil {
		return nil
	}
	return ask(byHook, fmt.Sprintf("the hook %s wants it to be asked%s", h.Name, why))
}

// hookAllows counts a hook of the user like a rule of theirs. One that came with the
// project can ask and deny, and allows nothing.
func (s *situation) hookAllows() *verdict {
	h, why := s.hookSaid(tool.Allow)
	if h == nil || !h.OfUser || s.carriesOut() != "" {
		return nil
	}
	return allow(byHook, fmt.Sprintf("the user's hook %s allows it%s", h.Name, why))
}
