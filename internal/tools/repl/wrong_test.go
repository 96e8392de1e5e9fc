//go:build unix

package repl

import (
	"strings"
	"testing"

	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

// The wrong calls that models make, and the exact text that comes back.
func TestWrongCalls(t *testing.T) {
	b := newBench(t)
	tooltest.Wrongs(t, b.env, []tool.Tool{b.tool}, []tooltest.Wrong{
		{Name: "nothing", Tool: "repl", In: `{}`, Want: "Error: repl failed: language is missing; give language, and if you like code, reset"},
		{Name: "no code", Tool: "repl", In: `{"language":"bash"}`, Want: "Error: repl failed: the code is empty; give some, or reset"},
		{Name: "an empty code", Tool: "repl", In: `{"language":"bash","code":" \n"}`, Want: "Error: repl failed: the code is empty; give some, or reset"},
		{Name: "no language", Tool: "repl", In: `{"code":"1"}`, Want: "Error: repl failed: language is missing; give language, and if you like code, reset"},
		{Name: "another language", Tool: "repl", In: `{"language":"ruby","code":"1"}`, Want: `Error: repl failed: language is "ruby", want python, node or bash`},
		{Name: "a language in other words", Tool: "repl", In: `{"language":"python3","code":""}`, Want: "Error: repl failed: the code is empty; give some, or reset"},
		{Name: "code as lines", Tool: "repl", In: `{"language":"bash","code":["true"]}`, Want: `Error: repl failed: code is ["true"], want text`},
		{Name: "a time", Tool: "repl", In: `{"language":"bash","code":"true","timeout_ms":1000}`, Want: `Error: repl failed: repl has no field "timeout_ms"; its fields are code, language, reset`},
		{Name: "half a yes", Tool: "repl", In: `{"language":"bash","code":"true","reset":"maybe"}`, Want: `Error: repl failed: reset is "maybe", want true or false`},
		{Name: "a NUL", Tool: "repl", In: `{"language":"bash","code":"echo \u0000"}`, Want: "Error: repl failed: the code holds a NUL character, which no interpreter takes"},
		{Name: "too long", Tool: "repl", In: `{"language":"bash","code":"` + strings.Repeat("a", maxCode+1) + `"}`, Want: "Error: repl failed: the code has 131073 bytes, at most 131072 are taken; put it into a file with write_file and load that"},
	})
	tooltest.Wrongs(t, &tool.Env{}, []tool.Tool{b.tool}, []tooltest.Wrong{
		{Name: "where no commands run", Tool: "repl", In: `{"language":"bash","code":"true"}`, Want: "Error: repl failed: no commands can be run in this session; use the file tools"},
	})
}
