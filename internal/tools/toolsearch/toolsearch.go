// Package toolsearch holds tool_search, by which a model finds the tools whose
// schemas are not in every request.
//
// It only finds and names them. Loading is the session's affair: it adds to the
// list of tools what an Output asks for, and keeps that in the journal.
package toolsearch

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/tool"
)

const (
	// defaultLimit and maxLimit are how many tools one search by words loads.
	defaultLimit, maxLimit = 5, 20
	// lineLimit is how many characters of a description stand for a tool.
	lineLimit = 40
)

//go:embed tool_search.md
var description string

const schema = `{"type":"object","properties":{` +
	`"query":{"type":"string"},` +
	`"limit":{"type":"integer","minimum":1}},` +
	`"required":["query"],"additionalProperties":false}`

type search struct {
	spec tool.Spec
	// tools are those that can be found, sorted by name.
	tools []entry
}

// entry is one tool as a search sees it. Its words are taken apart when something is
// searched for: most sessions never do.
type entry struct {
	name, line string
	spec       *tool.Spec
}

// New returns tool_search over these tools, which its description names, each
// with one line: a list that is fixed with it, whatever is loaded later.
func New(deferred []*tool.Spec) tool.Tool {
	s := &search{spec: tool.Spec{Name: "tool_search", Class: tool.ClassRead, Schema: json.RawMessage(schema)}}
	var text strings.Builder
	text.WriteString(strings.TrimSpace(description))
	sorted := slices.SortedFunc(slices.Values(deferred), func(a, b *tool.Spec) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range sorted {
		e := entry{name: d.Name, line: oneLine(d.Description), spec: d}
		s.tools = append(s.tools, e)
		text.WriteString("\n" + e.String())
	}
	s.spec.Description = text.String()
	return s
}

func (e *entry) String() string {
	if e.line == "" {
		return e.name
	}
	return e.name + ": " + e.line
}

func (s *search) Spec() *tool.Spec { return &s.spec }

type input struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"`
}

// Plan finds the tools; a query that asks for nothing, and one that selects no
// tool that there is, fail.
func (s *search) Plan(_ context.Context, _ *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[input](raw)
	if err != nil {
		return nil, err
	}
	found, err := s.find(in)
	if err != nil {
		return nil, err
	}
	// Alone: a call behind it in the same response sees what it has loaded.
	return &tool.Plan{Label: core.Visible(in.Query), ReadOnly: true, Alone: true, Input: found}, nil
}

// Run says what was found and has it loaded.
func (s *search) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	found, ok := c.Plan.Input.(*result)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	if len(found.tools) == 0 {
		return &tool.Output{
			Text:    "No tool matches these words. There are: " + strings.Join(s.names(), ", ") + `. Load them by "select:" and their names.`,
			Summary: "no tool found",
		}, nil
	}
	var text strings.Builder
	out := &tool.Output{}
	text.WriteString("Loaded; call them from your next response on:")
	for _, e := range found.tools {
		text.WriteString("\n" + e.String())
		out.Load = append(out.Load, e.name)
	}
	for _, name := range found.missing {
		text.WriteString("\n" + s.missing(name))
	}
	if found.more > 0 {
		fmt.Fprintf(&text, "\n[%d more match; say more, or raise limit (at most %d)]", found.more, maxLimit)
	}
	out.Text, out.Summary = text.String(), "loaded "+strings.Join(out.Load, ", ")
	found.limits.Tell(out)
	return out, nil
}

func (s *search) names() []string {
	out := make([]string, len(s.tools))
	for i := range s.tools {
		out[i] = s.tools[i].name
	}
	return out
}

// oneLine is the first sentence of a description, cut where it is long. It may
// come from a server, so what cannot be seen is shown.
func oneLine(text string) string {
	text = core.Visible(strings.Join(strings.Fields(text), " "))
	for i := range len(text) {
		if strings.IndexByte(".;:", text[i]) >= 0 && (i+1 == len(text) || text[i+1] == ' ') {
			text = text[:i]
			break
		}
	}
	if utf8.RuneCountInString(text) <= lineLimit {
		return text
	}
	cut := string([]rune(text)[:lineLimit])
	if i := strings.LastIndexByte(cut, ' '); i > lineLimit/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,") + "…"
}

// words are the words of a text in lower case, without the s of a plural.
func words(text string) []string {
	out := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range out {
		out[i] = singular(w)
	}
	return out
}

func singular(w string) string {
	if len(w) > 3 && !strings.HasSuffix(w, "ss") {
		return strings.TrimSuffix(w, "s")
	}
	return w
}

// fieldWords are the words of a schema's field names.
func fieldWords(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil // a foreign schema that names its fields in another way
	}
	var out []string
	for name := range s.Properties {
		out = append(out, words(name)...)
	}
	return out
}
