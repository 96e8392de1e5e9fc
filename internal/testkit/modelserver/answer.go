package modelserver

import (
	"fmt"
	"strings"
)

// answer is a step being spoken in one format.
type answer struct {
	step  *Step
	wire  Wire
	model string
	// n numbers the answer, for ids; agents merge what shares one.
	n int
	// usage is true when Chat Completions was asked to report it.
	usage bool
}

// created is the time that answers claim, in Unix seconds; fixed, so that runs compare.
const created = 1_750_000_000

func (a *answer) id(prefix string) string { return fmt.Sprintf("%s_scripted%04d", prefix, a.n) }

func (a *answer) callID(i int) string {
	if id := a.step.Calls[i].ID; id != "" {
		return id
	}
	return fmt.Sprintf("call_%04d%02d", a.n, i)
}

func (a *answer) signature() string {
	if a.step.Signature != "" {
		return a.step.Signature
	}
	return fmt.Sprintf("sig-%04d-A/b+c==", a.n)
}

func (a *answer) counts() Usage {
	if a.step.Usage != nil {
		return *a.step.Usage
	}
	return Usage{Input: 1000, Output: 20}
}

// stop puts the step's stop reason into a format's own words.
func (a *answer) stop(words map[string]string) string {
	stop := a.step.Stop
	if stop == "" {
		stop = "end_turn"
		if len(a.step.Calls) > 0 {
			stop = "tool_use"
		}
	}
	if own, ok := words[stop]; ok {
		return own
	}
	return stop
}

// formatOf tells the wire format from a request's path.
func formatOf(path string) string {
	if _, _, ok := geminiPath(path); ok {
		return "gemini"
	}
	for _, f := range []struct{ tail, format string }{
		{"/chat/completions", "chat"}, {"/responses", "responses"}, {"/v1/messages", "anthropic"},
	} {
		if strings.HasSuffix(path, f.tail) {
			return f.format
		}
	}
	return ""
}

// render returns the answer's events, and the same as one body.
func (a *answer) render(format string) (stream []event, whole any, err error) {
	e := &events{}
	switch format {
	case "anthropic":
		whole = a.anthropic(e)
	case "chat":
		whole = a.chat(e)
		e.list = append(e.list, event{data: []byte("[DONE]")})
	case "responses":
		whole = a.responses(e)
	case "gemini":
		whole = a.gemini(e)
	}
	return e.list, whole, e.err
}
