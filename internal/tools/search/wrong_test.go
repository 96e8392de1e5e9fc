package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/testkit/tooltest"
)

// The wrong calls that models make, and the exact text that comes back; where
// another agent's spelling is taken, what the call gives.
func TestWrongCalls(t *testing.T) {
	env := newEnv(t, map[string]string{
		"main.go": "package main\n\nfunc main() {}\n", "docs/guide.md": "one\n", "src/deep/a.ts": "let a = 1\n",
		"logo.bin": "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00", 2000), "secret.key": "package\n", ".gitignore": "out/\n", "out/x.go": "package x\n",
	})
	if err := os.Symlink("/etc", filepath.Join(env.Workspace.Root(), "away")); err != nil {
		t.Fatal(err)
	}
	tooltest.Wrongs(t, env, New(), []tooltest.Wrong{
		{Name: "nothing", Tool: "glob", In: `{}`, Want: "Error: glob failed: pattern is missing; give pattern, and if you like include_ignored, limit, path"},
		{Name: "an empty pattern", Tool: "glob", In: `{"pattern":""}`, Want: "Error: glob failed: the pattern is empty; **/* stands for every file"},
		{Name: "an absolute pattern", Tool: "glob", In: `{"pattern":"/etc/*"}`, Want: `Error: glob failed: the pattern "/etc/*" is absolute; give the folder as path, and a pattern relative to it`},
		{Name: "an absolute pattern below the root", Tool: "glob", In: `{"pattern":"$ROOT/**/*.go"}`, Want: `Error: glob failed: the pattern "$ROOT/**/*.go" is absolute; give the folder as path, and a pattern relative to it`},
		{Name: "a pattern that climbs", Tool: "glob", In: `{"pattern":"../*.go"}`, Want: `Error: glob failed: the pattern "../*.go" goes up with ..; give the folder as path instead`},
		{Name: "an open class", Tool: "glob", In: `{"pattern":"*.[ch"}`, Want: `Error: glob failed: the pattern "*.[ch" is not valid: a bracket or brace is not closed, or a backslash stands at the end`},
		{Name: "an open brace", Tool: "glob", In: `{"pattern":"*.{go,ts"}`, Want: `Error: glob failed: the pattern "*.{go,ts" is not valid: a bracket or brace is not closed, or a backslash stands at the end`},
		{Name: "a folder that is not there", Tool: "glob", In: `{"pattern":"*.go","path":"scr"}`, Want: "Error: glob failed: scr does not exist; did you mean src?"},
		{Name: "a file for a folder", Tool: "glob", In: `{"pattern":"*.go","path":"main.go"}`, Want: "Error: glob failed: main.go is a file, not a folder; it lies in ., and read_file reads it"},
		{Name: "outside", Tool: "glob", In: `{"pattern":"*","path":"/etc"}`, Want: "Error: glob failed: /etc is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a link that leads outside", Tool: "glob", In: `{"pattern":"*","path":"away"}`, Want: "Error: glob failed: away leads to /etc, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "no limit", Tool: "glob", In: `{"pattern":"*","limit":-1}`, Want: "Error: glob failed: limit is -1, want a whole number of at least 1"},
		{Name: "more than there may be", Tool: "glob", In: `{"pattern":"*.go","limit":5000}`, Want: "main.go\n[limit 5000 was cut to 1000, the most there is]"},
		{Name: "a regular expression", Tool: "glob", In: `{"pattern":".*\\.go$"}`, Want: "No files match .*\\.go$ in .: 7 files looked at; 1 ignored entry left out; include_ignored searches them."},
		{Name: "a field of grep", Tool: "glob", In: `{"pattern":"*.go","type":"go"}`, Want: `Error: glob failed: glob has no field "type"; its fields are include_ignored, limit, path, pattern`},
		{Name: "nothing matches", Tool: "glob", In: `{"pattern":"*.rs"}`, Want: "No files match *.rs in .: 7 files looked at; 1 ignored entry left out; include_ignored searches them."},
		{Name: "a folder's name", Tool: "glob", In: `{"pattern":"deep"}`, Want: "No files match deep in .: 7 files looked at; 1 ignored entry left out; include_ignored searches them; 1 folder matches; end the pattern in / to list folders."},
		{Name: "from the wrong folder", Tool: "glob", In: `{"pattern":"deep/*.ts"}`, Want: "src/deep/a.ts\n[nothing matches deep/*.ts from . on; these match it below]"},
		{Name: "another agent's names", Tool: "glob", In: `{"query":"*.ts","dir_path":"src","maxResults":"5","includeIgnored":"false"}`, Want: "src/deep/a.ts"},

		{Name: "nothing", Tool: "grep", In: `{}`, Want: "Error: grep failed: pattern is missing; give pattern, and if you like after, before, context, glob, ignore_case, include_ignored, limit, mode, multiline, offset, path, type"},
		{Name: "an empty pattern", Tool: "grep", In: `{"pattern":""}`, Want: "Error: grep failed: the pattern is empty; say what to search for, or list files with glob"},
		{Name: "an open group", Tool: "grep", In: `{"pattern":"func main("}`, Want: `Error: grep failed: the pattern "func main(" is not valid: missing closing ) at character 10, "("; a bracket to be found as such is written \( or \)`},
		{Name: "an open class", Tool: "grep", In: `{"pattern":"a[b"}`, Want: `Error: grep failed: the pattern "a[b" is not valid: missing closing ] at character 2, "[b"; a bracket to be found as such is written \[`},
		{Name: "nothing to repeat", Tool: "grep", In: `{"pattern":"*.go"}`, Want: `Error: grep failed: the pattern "*.go" is not valid: missing argument to repetition operator at character 1, "*"; this is a regular expression: .* stands for anything, and glob chooses files by name`},
		{Name: "a bad back-reference", Tool: "grep", In: `{"pattern":"(a)\\2"}`, Want: `Error: grep failed: the pattern "(a)\\2" is not valid: reference to undefined group number 2`},
		{Name: "a shell's escape", Tool: "grep", In: `{"pattern":"a\\<b"}`, Want: "No matches: 4 files searched; 1 ignored entry left out; include_ignored searches them; 1 binary file skipped; 1 protected file or folder skipped."},
		{Name: "the inner of two groups", Tool: "grep", In: `{"pattern":"é([()]\\((b)|(c)"}`, Want: `Error: grep failed: the pattern "é([()]\\((b)|(c)" is not valid: missing closing ) at character 2, "("; a bracket to be found as such is written \( or \)`},
		{Name: "too much closed", Tool: "grep", In: `{"pattern":"main())"}`, Want: `Error: grep failed: the pattern "main())" is not valid: unexpected ); a bracket to be found as such is written \( or \)`},
		{Name: "a bad look-ahead", Tool: "grep", In: `{"pattern":"a(?=b","ignore_case":true}`, Want: `Error: grep failed: the pattern "a(?=b" is not valid: missing closing )`},
		{Name: "a line break", Tool: "grep", In: `{"pattern":"a\nb"}`, Want: "Error: grep failed: the pattern holds a line break; set multiline to search across lines"},
		{Name: "an unknown mode", Tool: "grep", In: `{"pattern":"a","mode":"text"}`, Want: `Error: grep failed: mode is "text", want files, content or count`},
		{Name: "an unknown type", Tool: "grep", In: `{"pattern":"a","type":"golang"}`, Want: `Error: grep failed: there is no type "golang"; use glob, or one of c, cpp, cs, css, docker, elixir, go, html, java, javascript, js, json, kotlin, lua, make, markdown, md, php, proto, py, python, rb, ruby, rust, scala, sh, sql, swift, toml, ts, txt, typescript, xml, yaml, zig`},
		{Name: "a bad glob", Tool: "grep", In: `{"pattern":"a","glob":"*.{go"}`, Want: `Error: grep failed: the pattern "*.{go" is not valid: a bracket or brace is not closed, or a backslash stands at the end`},
		{Name: "a list of paths", Tool: "grep", In: `{"pattern":"a","path":["docs","src"]}`, Want: `Error: grep failed: path is ["docs","src"], want text`},
		{Name: "a folder that is not there", Tool: "grep", In: `{"pattern":"a","path":"dosc"}`, Want: "Error: grep failed: dosc does not exist; did you mean docs?"},
		{Name: "outside", Tool: "grep", In: `{"pattern":"a","path":"/etc"}`, Want: "Error: grep failed: /etc is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a protected file", Tool: "grep", In: `{"pattern":"a","path":"secret.key"}`, Want: "Error: grep failed: secret.key may not be read: it is protected; go on without it, or ask the user for what you need of it"},
		{Name: "binary", Tool: "grep", In: `{"pattern":"a","path":"logo.bin"}`, Want: "Error: grep failed: logo.bin is not text: it is binary, which is not searched; bash has programs for it, such as strings"},
		{Name: "too many lines", Tool: "grep", In: `{"pattern":"a","context":-1}`, Want: "Error: grep failed: context is -1, want a whole number of at least 0"},
		{Name: "more than there may be", Tool: "grep", In: `{"pattern":"func","context":50,"limit":5000}`, Want: "main.go\n[context 50 was cut to 5, the most there is, limit 5000 was cut to 500, the most there is]"},
		{Name: "the limit in words", Tool: "grep", In: `{"pattern":"a","head_limit":"ten"}`, Want: `Error: grep failed: limit is "ten", want a whole number of at least 1`},
		{Name: "a field of rg", Tool: "grep", In: `{"pattern":"a","max_depth":2}`, Want: `Error: grep failed: grep has no field "max_depth"; its fields are after, before, context, glob, ignore_case, include_ignored, limit, mode, multiline, offset, path, pattern, type`},
		{Name: "nothing matches", Tool: "grep", In: `{"pattern":"zebra"}`, Want: "No matches: 4 files searched; 1 ignored entry left out; include_ignored searches them; 1 binary file skipped; 1 protected file or folder skipped."},
		{Name: "no file of a kind", Tool: "grep", In: `{"pattern":"package","type":"rust"}`, Want: "No matches: 0 files searched; 1 ignored entry left out; include_ignored searches them."},
		{Name: "another agent's names", Tool: "grep", In: `{"regex":"FUNC","include":"*.go","-i":"true","output_mode":"content","-C":1}`, Want: "main.go-2-\nmain.go:3:func main() {}"},
		{Name: "another agent's value", Tool: "grep", In: `{"pattern":"func","output_mode":"files_with_matches","-n":true}`, Want: "main.go"},
	})
}
