package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// serverCall is a call of a tool that the provider runs, or what it gave.
type serverCall struct {
	ID   string          `json:"id"`
	Type string          `json:"toolType"`
	Args json.RawMessage `json:"args"`
}

// search gathers what the provider's own tools did. Models of the third generation
// send their calls as parts; before that, only the grounding tells of a search.
type search struct {
	queries   []string // each once
	calls     bool
	grounding json.RawMessage // the last that came: it is cumulative
}

func (s *search) asked(queries ...string) {
	for _, q := range queries {
		if q != "" && !slices.Contains(s.queries, q) {
			s.queries = append(s.queries, q)
		}
	}
}

// tool shows a call or its end.
func (s *search) tool(p *part, emit func(llm.Event)) {
	s.calls = true
	if c := p.ToolCall; c != nil {
		var args struct {
			Queries []string `json:"queries"`
			Query   string   `json:"query"`
		}
		input := string(c.Args)
		if json.Unmarshal(c.Args, &args) == nil && (len(args.Queries) > 0 || args.Query != "") {
			all := args.Queries
			if args.Query != "" {
				all = append(all, args.Query)
			}
			input = strings.Join(all, "; ")
			if toolName(c.Type) == webSearch {
				s.asked(all...)
			}
		}
		emit(llm.ServerTool{ID: c.ID, Name: toolName(c.Type), Input: input})
	}
	if r := p.ToolReply; r != nil {
		emit(llm.ServerTool{ID: r.ID, Name: toolName(r.Type), Done: true, Result: "the model has its results"})
	}
}

func toolName(typ string) string {
	if strings.HasPrefix(typ, "GOOGLE_SEARCH") {
		return webSearch
	}
	return strings.ToLower(typ)
}

// block is what was found, for the journal, once the answer is there. A search
// that nothing has told of yet is shown.
func (s *search) block(emit func(llm.Event)) (core.Block, bool) {
	var found struct {
		Queries []string `json:"webSearchQueries"`
		Chunks  []struct {
			Web struct {
				Title string `json:"title"`
			} `json:"web"`
		} `json:"groundingChunks"`
	}
	if len(s.grounding) == 0 || json.Unmarshal(s.grounding, &found) != nil || len(found.Queries)+len(found.Chunks) == 0 {
		return core.Block{}, false // with the tool at hand, an empty one comes with every answer
	}
	s.asked(found.Queries...)
	if !s.calls {
		id := core.NewCallID()
		var titles []string
		for _, c := range found.Chunks {
			if c.Web.Title != "" && !slices.Contains(titles, c.Web.Title) {
				titles = append(titles, c.Web.Title)
			}
		}
		result := fmt.Sprintf("%d sources", len(found.Chunks))
		if len(titles) > 0 {
			result += ": " + strings.Join(titles[:min(len(titles), 5)], ", ")
		}
		emit(llm.ServerTool{ID: id, Name: webSearch, Input: strings.Join(found.Queries, "; ")})
		emit(llm.ServerTool{ID: id, Name: webSearch, Done: true, Result: result})
	}
	return core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: groundingKey + string(s.grounding) + "}"}, true
}

// billed is how many searches the provider charges: each query from the third
// generation on, before that each answer that searched.
func (s *search) billed(f family) int {
	if !f.third() {
		return min(len(s.queries), 1)
	}
	return len(s.queries)
}
