//go:build unix

package shell

import (
	"context"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

// The wrong calls that models make, and the exact text that comes back.
func TestWrongCalls(t *testing.T) {
	env := hostEnv(t)
	b := NewBackground(core.SystemClock)
	t.Cleanup(func() { b.Close(context.Background()) })
	tooltest.Wrongs(t, env, New(Options{Background: b}), []tooltest.Wrong{
		{Name: "nothing", Tool: "bash", In: `{}`, Want: "Error: bash failed: command is missing; give command, and if you like description, run_in_background, timeout_ms"},
		{Name: "an empty command", Tool: "bash", In: `{"command":" \n"}`, Want: "Error: bash failed: the command is empty; give what bash is to run"},
		{Name: "a list of words", Tool: "bash", In: `{"command":["ls","-l"]}`, Want: `Error: bash failed: command is ["ls","-l"], want text`},
		{Name: "seconds", Tool: "bash", In: `{"cmd":"true","timeout":120}`, Want: "Error: bash failed: timeout_ms is 120, want a whole number from 1000 to 600000"},
		{Name: "too long a time", Tool: "bash", In: `{"command":"true","timeoutMs":"3600000"}`, Want: "Error: bash failed: timeout_ms is 3600000, want a whole number from 1000 to 600000"},
		{Name: "a folder", Tool: "bash", In: `{"command":"true","workdir":"src"}`, Want: `Error: bash failed: bash has no field "workdir"; its fields are command, description, run_in_background, timeout_ms`},
		{Name: "half a yes", Tool: "bash", In: `{"command":"true","run_in_background":"maybe"}`, Want: `Error: bash failed: run_in_background is "maybe", want true or false`},
		{Name: "a NUL", Tool: "bash", In: `{"command":"echo \u0000"}`, Want: "Error: bash failed: the command holds a NUL character, which no program can be given; leave it out"},
		{Name: "too long", Tool: "bash", In: `{"command":"` + strings.Repeat("a", 1<<17) + `"}`, Want: "Error: bash failed: the command has 131072 bytes, and the system takes at most 131071; write a script with write_file and run that"},
		{Name: "it failed", Tool: "bash", In: `{"command":"exit 3"}`, Want: "Exit code: 3\n(no output)"},

		{Name: "nothing", Tool: "process_manager", In: `{}`, Want: "Error: process_manager failed: action is missing; give action, and if you like id, lines, stream"},
		{Name: "an unknown action", Tool: "process_manager", In: `{"action":"restart","id":"b1"}`, Want: `Error: process_manager failed: action is "restart", want list, status, logs or kill`},
		{Name: "of which", Tool: "process_manager", In: `{"action":"logs"}`, Want: "Error: process_manager failed: logs needs the id of a background command; list shows them"},
		{Name: "another agent's word", Tool: "process_manager", In: `{"action":"stop","shell_id":"b7"}`, Want: `Error: process_manager failed: there is no background command "b7", and none runs; bash with run_in_background starts one`},
		{Name: "a pid", Tool: "process_manager", In: `{"action":"kill","pid":4711}`, Want: `Error: process_manager failed: process_manager has no field "pid"; did you mean "id"?`},
		{Name: "a pid as the id", Tool: "process_manager", In: `{"action":"kill","id":4711}`, Want: `Error: process_manager failed: id is 4711, want text: "4711"`},
		{Name: "an unknown one", Tool: "process_manager", In: `{"action":"status","bash_id":"b7"}`, Want: `Error: process_manager failed: there is no background command "b7", and none runs; bash with run_in_background starts one`},
		{Name: "too many lines", Tool: "process_manager", In: `{"action":"logs","id":"b1","lines":100000}`, Want: "Error: process_manager failed: lines is 100000, want a whole number from 1 to 2000"},
		{Name: "an unknown stream", Tool: "process_manager", In: `{"action":"logs","id":"b1","stream":"all"}`, Want: `Error: process_manager failed: stream is "all", want stdout or stderr`},

		{Name: "no pattern", Tool: "monitor", In: `{"id":"b1"}`, Want: "Error: monitor failed: pattern is missing; give pattern, and if you like command, id, mode, timeout_ms"},
		{Name: "of what", Tool: "monitor", In: `{"pattern":"ready"}`, Want: "Error: monitor failed: give either the id of a background command (process_manager lists them) or a command to start, not both and not none"},
		{Name: "of two things", Tool: "monitor", In: `{"pattern":"ready","id":"b1","command":"make"}`, Want: "Error: monitor failed: give either the id of a background command (process_manager lists them) or a command to start, not both and not none"},
		{Name: "an unknown one", Tool: "monitor", In: `{"pattern":"ready","id":"b7"}`, Want: `Error: monitor failed: there is no background command "b7", and none runs; bash with run_in_background starts one`},
		{Name: "an empty pattern", Tool: "monitor", In: `{"pattern":"","id":"b1"}`, Want: "Error: monitor failed: the pattern is empty; . matches every line that is not"},
		{Name: "an open group", Tool: "monitor", In: `{"pattern":"ready(","id":"b1"}`, Want: `Error: monitor failed: the pattern "ready(" is not valid: missing closing ); it is RE2: no look-around, no back-references, and what is meant as it stands is written with \ before it`},
		{Name: "look-ahead", Tool: "monitor", In: `{"pattern":"a(?=b)","id":"b1"}`, Want: `Error: monitor failed: the pattern "a(?=b)" is not valid: invalid or unsupported Perl syntax at character 2, "(?="; it is RE2: no look-around, no back-references, and what is meant as it stands is written with \ before it`},
		{Name: "an unknown mode", Tool: "monitor", In: `{"pattern":"a","id":"b1","mode":"poll"}`, Want: `Error: monitor failed: mode is "poll", want wait or watch`},
		{Name: "seconds", Tool: "monitor", In: `{"pattern":"a","id":"b1","timeout":30}`, Want: "Error: monitor failed: timeout_ms is 30, want a whole number from 1000 to 600000"},

		{Name: "nothing", Tool: "sleep", In: `{}`, Want: "Error: sleep failed: seconds is missing; give seconds"},
		{Name: "too long", Tool: "sleep", In: `{"seconds":3600}`, Want: "Error: sleep failed: seconds is 3600, want a whole number from 1 to 600"},
		{Name: "half a second", Tool: "sleep", In: `{"seconds":0.5}`, Want: "Error: sleep failed: seconds is 0.5, want a whole number from 1 to 600"},
		{Name: "milliseconds", Tool: "sleep", In: `{"ms":500}`, Want: `Error: sleep failed: sleep has no field "ms"; its fields are seconds`},
		{Name: "a text", Tool: "sleep", In: `{"seconds":"5s"}`, Want: `Error: sleep failed: seconds is "5s", want a whole number from 1 to 600`},
	})
	tooltest.Wrongs(t, env, New(Options{}), []tooltest.Wrong{
		{Name: "in the background where nothing may stay", Tool: "bash", In: `{"command":"true","run_in_background":true}`, Want: `Error: bash failed: bash has no field "run_in_background"; its fields are command, description, timeout_ms`},
	})
	tooltest.Wrongs(t, &tool.Env{}, New(Options{}), []tooltest.Wrong{
		{Name: "where no commands run", Tool: "bash", In: `{"command":"true"}`, Want: "Error: bash failed: no commands can be run in this session; use the file tools"},
	})
}
