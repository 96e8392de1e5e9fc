package modelserver

import (
	"bytes"
	"slices"
)

// searchCall is a call of the tool that loads others, as it stands in a message of
// each format. In a text its quotes would be escaped.
const searchCall = `"name":"tool_search"`

// loads reports whether next lists more tools than p for the one reason that is
// allowed: a call of tool_search among the new messages, which speak of each tool
// that was added; the tools before are compared as ever.
func (p *parts) loads(next *parts) bool {
	if len(next.tools) <= len(p.tools) || len(next.messages) <= len(p.messages) {
		return false
	}
	said := slices.Concat(next.messages[len(p.messages):]...)
	if !bytes.Contains(said, []byte(searchCall)) {
		return false
	}
	for _, tool := range next.tools[len(p.tools):] {
		if name := toolName(tool); name == "" || !bytes.Contains(said, []byte(name)) {
			return false
		}
	}
	return true
}

// toolName is the name of a tool's definition, in any format.
func toolName(tool []byte) (name string) {
	eachMember(tool, func(_ int, key string, start, end int) {
		switch {
		case key == "name" && end-start > 2:
			name = string(tool[start+1 : end-1])
		case key == "function":
			name = toolName(tool[start:end])
		}
	})
	return name
}

// declarations are the functions of Gemini's list of tools, which has them all in
// one element; what is no function stays an element.
func declarations(tools [][]byte) (out [][]byte) {
	for _, tool := range tools {
		functions := false
		eachMember(tool, func(_ int, key string, start, end int) {
			if key != "functionDeclarations" {
				return
			}
			functions = true
			list := tool[start:end]
			for _, span := range elements(list) {
				out = append(out, list[span[0]:span[1]])
			}
		})
		if !functions {
			out = append(out, tool)
		}
	}
	return out
}

// Loads counts the requests that continue the one before them but for tools that
// tool_search has loaded, at the list's end. They are no Breaks.
func (s *Server) Loads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}
