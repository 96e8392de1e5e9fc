package wire

import (
	"fmt"

	"garuda/internal/llm"
)

// bytesPerToken is the estimate of page 01, before a provider has reported usage.
const bytesPerToken = 4

// roomNotice says that what every request begins with, the system prompt and the
// tools, does not fit into the model's window, or leaves less than half of it for
// the conversation; "" where there is room. Some local servers cut such a request
// without a word, and the model then never sees the prompt's beginning.
func roomNotice(info *llm.Info, system string, tools []llm.ToolSpec) string {
	bytes := len(system)
	for _, t := range tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	fixed, window := bytes/bytesPerToken, info.ContextWindow
	if window <= 0 || fixed <= window/2 {
		return ""
	}
	remedy := "; set the right contextWindow under models in models.json, or take another model"
	switch {
	case !info.Known:
		remedy = "" // the notice that the window is assumed says what to do
	case info.WindowSetting != "":
		remedy = "; " + info.WindowSetting
	}
	if fixed >= window {
		return fmt.Sprintf("%s cannot work: its window is %d tokens, and Garuda's instructions and tools alone are about %d, so its server will cut or refuse them%s",
			info.Spec, window, fixed, remedy)
	}
	return fmt.Sprintf("%s has a window of %d tokens, of which Garuda's instructions and tools take about %d, so that little is left for the work%s",
		info.Spec, window, fixed, remedy)
}
