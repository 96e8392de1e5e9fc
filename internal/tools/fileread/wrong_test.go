package fileread

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
		"main.go": "package main\n\nfunc main() {}\n", "docs/guide.md": "one\n", "docs/notes.md": "two\n", "empty": "",
		"logo.bin": "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00", 2000), "secret.key": "k", "paper.pdf": "%PDF-1.7\nnothing",
	})
	root := env.Workspace.Root()
	write(t, filepath.Join(root, "large.log"), strings.Repeat("x\n", 5_500_000))
	if err := os.Symlink("/etc/hostname", filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	tooltest.Wrongs(t, env, New(), []tooltest.Wrong{
		{Name: "nothing", Tool: "read_file", In: `{}`, Want: "Error: read_file failed: path is missing; give path, and if you like limit, offset, pages"},
		{Name: "no JSON", Tool: "read_file", In: `{"path":"main.go`, Want: "Error: read_file failed: the arguments are not a JSON object (unexpected end of JSON input); send them again as one"},
		{Name: "a list", Tool: "read_file", In: `["main.go"]`, Want: `Error: read_file failed: the arguments are not a JSON object but ["main.go"]; send the fields by name`},
		{Name: "another agent's names", Tool: "read_file", In: `{"file_path":"main.go","startLine":"3","limit":"1"}`, Want: "3\tfunc main() {}"},
		{Name: "one name twice", Tool: "read_file", In: `{"file_path":"main.go","path":"empty"}`, Want: `Error: read_file failed: "file_path" and "path" are the same field; give one`},
		{Name: "an unknown field", Tool: "read_file", In: `{"path":"main.go","limits":5}`, Want: `Error: read_file failed: read_file has no field "limits"; did you mean "limit"?`},
		{Name: "far from any field", Tool: "read_file", In: `{"path":"main.go","end_line":5}`, Want: `Error: read_file failed: read_file has no field "end_line"; its fields are limit, offset, pages, path`},
		{Name: "a list of paths", Tool: "read_file", In: `{"path":["main.go","empty"]}`, Want: `Error: read_file failed: path is ["main.go","empty"], want text`},
		{Name: "from line 0", Tool: "read_file", In: `{"path":"main.go","offset":0}`, Want: "Error: read_file failed: offset is 0, want a whole number of at least 1"},
		{Name: "more lines than there may be", Tool: "read_file", In: `{"path":"main.go","offset":3,"limit":9999}`, Want: "3\tfunc main() {}\n[limit 9999 was cut to 2000, the most there is]"},
		{Name: "no number", Tool: "read_file", In: `{"path":"main.go","limit":"all"}`, Want: `Error: read_file failed: limit is "all", want a whole number of at least 1`},
		{Name: "an empty path", Tool: "read_file", In: `{"path":""}`, Want: `Error: read_file failed: cannot use "": the path is empty; name a file or folder, "." is the root`},
		{Name: "outside", Tool: "read_file", In: `{"path":"../other/x"}`, Want: "Error: read_file failed: ../other/x leads to $PARENT/other/x, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "outside, absolute", Tool: "read_file", In: `{"path":"/etc/passwd"}`, Want: "Error: read_file failed: /etc/passwd is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a link that leads outside", Tool: "read_file", In: `{"path":"out"}`, Want: "Error: read_file failed: out leads to /etc/hostname, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a name with a slip", Tool: "read_file", In: `{"path":"docs/giude.md"}`, Want: "Error: read_file failed: docs/giude.md does not exist; did you mean docs/guide.md?"},
		{Name: "the wrong folder", Tool: "read_file", In: `{"path":"src/guide.md"}`, Want: "Error: read_file failed: src/guide.md does not exist; use glob to find it"},
		{Name: "nothing like it", Tool: "read_file", In: `{"path":"docs/deep/er/zebra.txt"}`, Want: "Error: read_file failed: docs/deep/er/zebra.txt does not exist; the deepest folder of that path that does is docs"},
		{Name: "a folder", Tool: "read_file", In: `{"path":"docs"}`, Want: "Error: read_file failed: docs is a folder; use list_dir to see what is in it"},
		{Name: "past the end", Tool: "read_file", In: `{"path":"main.go","offset":4}`, Want: "Error: read_file failed: main.go has 3 lines; offset 4 is past its end"},
		{Name: "an empty file", Tool: "read_file", In: `{"path":"empty"}`, Want: "empty is empty (0 lines)."},
		{Name: "binary", Tool: "read_file", In: `{"path":"logo.bin"}`, Want: "Error: read_file failed: logo.bin is not text: it is an ELF program or library of 2.0 KB; bash has programs that look into such files"},
		{Name: "too large", Tool: "read_file", In: `{"path":"large.log"}`, Want: "Error: read_file failed: large.log has 11 MB, and files of more than 10 MB are read in parts: give offset and limit, or find the place with grep"},
		{Name: "past the end of a large one", Tool: "read_file", In: `{"path":"large.log","offset":6000000}`, Want: "Error: read_file failed: large.log has 5500000 lines; offset 6000000 is past its end"},
		{Name: "pages of text", Tool: "read_file", In: `{"path":"main.go","pages":"1-2"}`, Want: "Error: read_file failed: main.go is no PDF document, and only those have pages: use offset and limit"},
		{Name: "pages that are none", Tool: "read_file", In: `{"path":"paper.pdf","pages":"all"}`, Want: `Error: read_file failed: pages is "all"; write it like "1-5", "3" or "2,4-6", with pages counted from 1`},
		{Name: "pages as a number", Tool: "read_file", In: `{"path":"paper.pdf","pages":3}`, Want: `Error: read_file failed: pages is 3, want text: "3"`},
		{Name: "pages the wrong way round", Tool: "read_file", In: `{"path":"paper.pdf","pages":"5-2"}`, Want: `Error: read_file failed: pages is "5-2", which ends before it begins; did you mean "2-5"?`},
		{Name: "too many pages", Tool: "read_file", In: `{"path":"paper.pdf","pages":"1-50"}`, Want: `Error: read_file failed: pages "1-50" are more than the 20 that one call gives; begin with "1-20"`},
		{Name: "a broken PDF", Tool: "read_file", In: `{"path":"paper.pdf"}`, Want: "Error: read_file failed: paper.pdf is a PDF document that cannot be read: no page was found in it; it may be damaged or cut short"},

		{Name: "no files", Tool: "read_many_files", In: `{}`, Want: "Error: read_many_files failed: files is missing; give files"},
		{Name: "an empty list", Tool: "read_many_files", In: `{"files":[]}`, Want: "Error: read_many_files failed: files is an empty list; put at least one into it"},
		{Name: "paths for files", Tool: "read_many_files", In: `{"paths":["main.go"]}`, Want: `Error: read_many_files failed: files[0] is "main.go", want an object with limit, offset, pages, path`},
		{Name: "no list", Tool: "read_many_files", In: `{"files":"main.go"}`, Want: `Error: read_many_files failed: files is "main.go", want a list of objects with limit, offset, pages, path`},
		{Name: "without the path", Tool: "read_many_files", In: `{"files":[{"path":"empty"},{"offset":1}]}`, Want: "Error: read_many_files failed: files[1].path is missing; give path, and if you like limit, offset, pages"},
		{Name: "too many files", Tool: "read_many_files", In: `{"files":[` + strings.Repeat(`{"path":"a"},`, 20) + `{"path":"a"}]}`, Want: "Error: read_many_files failed: files has 21 entries, want at most 20"},
		{Name: "some cannot be read", Tool: "read_many_files", In: `{"files":[{"filePath":"docs/notes.md"},{"path":"docs"},{"path":"/etc/passwd"},{"path":"logo.bin"},{"path":"main.md"}]}`, Want: "===== docs/notes.md =====\n1\ttwo\n===== docs =====\n[unreadable: docs is a folder; use list_dir to see what is in it]\n===== /etc/passwd =====\n[unreadable: /etc/passwd is outside the project ($ROOT); only the user can add a folder, with --add-dir]\n===== logo.bin =====\n[unreadable: logo.bin is not text: it is an ELF program or library of 2.0 KB; bash has programs that look into such files]\n===== main.md =====\n[unreadable: main.md does not exist; did you mean main.go?]"},

		{Name: "no depth", Tool: "list_dir", In: `{"path":"docs","depth":0}`, Want: "Error: list_dir failed: depth is 0, want a whole number of at least 1"},
		{Name: "a file", Tool: "list_dir", In: `{"path":"main.go"}`, Want: "Error: list_dir failed: main.go is a file, not a folder; it lies in ., and read_file reads it"},
		{Name: "a folder that is not there", Tool: "list_dir", In: `{"path":"doc"}`, Want: "Error: list_dir failed: doc does not exist; did you mean docs?"},
		{Name: "a folder outside", Tool: "list_dir", In: `{"dir_path":"/etc"}`, Want: "Error: list_dir failed: /etc is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a field of glob", Tool: "list_dir", In: `{"path":"docs","pattern":"*.md"}`, Want: `Error: list_dir failed: list_dir has no field "pattern"; its fields are depth, include_ignored, path`},
		{Name: "the depth in words", Tool: "list_dir", In: `{"depth":"deep"}`, Want: `Error: list_dir failed: depth is "deep", want a whole number of at least 1`},
		{Name: "a boolean in words", Tool: "list_dir", In: `{"directory":"docs","includeIgnored":"TRUE"}`, Want: "docs/\n  guide.md  4 B\n  notes.md  4 B"},
	})
}
