package fileedit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
	"garuda/internal/tools/fileread"
)

// wrongEnv is a folder, some files of which were read, and the tools that change
// it beside those that read.
func wrongEnv(t *testing.T) (*tool.Env, []tool.Tool) {
	t.Helper()
	env := newEnv(t, map[string]string{
		"main.go": "package main\n\nfunc a() {\n\treturn\n}\n\nfunc b() {\n\treturn\n}\n", "new.go": "package main\n",
		"docs/guide.md": "one\n", "latin.txt": "caf\xe9, na\xefve, \xfcber, d\xe9j\xe0 vu\n", ".editorconfig": "[latin.txt]\ncharset = latin1\n",
		"logo.bin": "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00", 2000), "long.txt": strings.Repeat("line\n", 3000),
		"book.ipynb": `{"cells":[{"cell_type":"code","id":"c1","source":["x = 1"],"outputs":[],"execution_count":null,"metadata":{}}],"metadata":{},"nbformat":4,"nbformat_minor":5}` + "\n",
	})
	tools := append(New(), fileread.New()...)
	for _, path := range []string{"main.go", "latin.txt", "long.txt", "book.ipynb"} {
		if got := tooltest.Call(t, env, tools, "read_file", `{"path":"`+path+`"}`); strings.HasPrefix(got, "Error") {
			t.Fatal(got)
		}
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(env.Workspace.Root(), "out")); err != nil {
		t.Fatal(err)
	}
	return env, tools
}

func TestWrongCallsOfEditFile(t *testing.T) {
	env, tools := wrongEnv(t)
	changed := func() {
		write(t, filepath.Join(env.Workspace.Root(), "main.go"), "package main\n\nfunc c() {\n\treturn\n}\n")
	}
	gone := func() {
		if err := os.Remove(filepath.Join(env.Workspace.Root(), "main.go")); err != nil {
			t.Fatal(err)
		}
	}
	tooltest.Wrongs(t, env, tools, []tooltest.Wrong{
		{Name: "nothing", Tool: "edit_file", In: `{}`, Want: "Error: edit_file failed: path, old_string and new_string are missing; give path, old_string, new_string, and if you like replace_all"},
		{Name: "no new text", Tool: "edit_file", In: `{"filePath":"main.go","oldString":"x"}`, Want: "Error: edit_file failed: new_string is missing; give path, old_string, new_string, and if you like replace_all"},
		{Name: "edits of multi_edit", Tool: "edit_file", In: `{"path":"main.go","edits":[]}`, Want: `Error: edit_file failed: edit_file has no field "edits"; its fields are new_string, old_string, path, replace_all`},
		{Name: "outside", Tool: "edit_file", In: `{"path":"/etc/passwd","old_string":"a","new_string":"b"}`, Want: "Error: edit_file failed: /etc/passwd is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "through a link", Tool: "edit_file", In: `{"path":"out","old_string":"a","new_string":"b"}`, Want: "Error: edit_file failed: out leads to /etc/hostname, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a slip in the name", Tool: "edit_file", In: `{"path":"mian.go","old_string":"a","new_string":"b"}`, Want: "Error: edit_file failed: mian.go does not exist; did you mean main.go?"},
		{Name: "a folder", Tool: "edit_file", In: `{"path":"docs","old_string":"a","new_string":"b"}`, Want: "Error: edit_file failed: docs is a folder; use list_dir to see what is in it"},
		{Name: "never read", Tool: "edit_file", In: `{"path":"docs/guide.md","old_string":"one","new_string":"two"}`, Want: "Error: edit_file failed: docs/guide.md was not read in this session; read the part you want to change with read_file first"},
		{Name: "binary", Tool: "edit_file", In: `{"path":"logo.bin","old_string":"ELF","new_string":"FLE"}`, Want: "Error: edit_file failed: logo.bin is not text: it is an ELF program or library, which only a program can change; use bash"},
		{Name: "nothing to find", Tool: "edit_file", In: `{"path":"main.go","old_string":"","new_string":"b"}`, Want: "Error: edit_file failed: old_string is empty; to add text, replace a line by itself and the new text; to make a new file, use write_file"},
		{Name: "no difference", Tool: "edit_file", In: `{"path":"main.go","old_str":"return","new_str":"return"}`, Want: "Error: edit_file failed: old_string and new_string are the same; nothing would change"},
		{Name: "several places", Tool: "edit_file", In: `{"path":"main.go","old_string":"\treturn\n","new_string":""}`, Want: "Error: edit_file failed: old_string occurs 2 times in main.go, at lines 4 and 8; add lines around it until it is unique, or set replace_all"},
		{Name: "another indent", Tool: "edit_file", In: `{"path":"main.go","old_string":"func a() {\n    return\n}","new_string":"x"}`, Want: "Error: edit_file failed: old_string occurs 0 times in main.go (9 lines). The nearest text, at lines 3-5, differs only in indentation (tabs or spaces):\n3\tfunc a() {\n4\t\treturn\n5\t}"},
		{Name: "with line numbers", Tool: "edit_file", In: `{"path":"main.go","old_string":"3\tfunc a() {\n4\t\treturn","new_string":"x"}`, Want: "Error: edit_file failed: old_string occurs 0 times in main.go (9 lines). old_string holds the line numbers that read_file puts before the lines; leave them and the tab out."},
		{Name: "escaped twice", Tool: "edit_file", In: `{"path":"main.go","old_string":"func a() {\\n\\treturn","new_string":"x"}`, Want: "Error: edit_file failed: old_string occurs 0 times in main.go (9 lines). old_string is escaped once too often (\\n, \\t or \\\" as two characters)."},
		{Name: "nowhere near", Tool: "edit_file", In: `{"path":"main.go","old_string":"SELECT * FROM zebra","new_string":"x"}`, Want: "Error: edit_file failed: old_string occurs 0 times in main.go (9 lines). Nothing in the file resembles it; read the file again, or find the place with grep."},
		{Name: "all as a word", Tool: "edit_file", In: `{"path":"main.go","old_string":"return","new_string":"x","replaceAll":"yes"}`, Want: `Error: edit_file failed: replace_all is "yes", want true or false`},
		{Name: "not in the charset", Tool: "edit_file", In: `{"path":"latin.txt","old_string":"vu","new_string":"→"}`, Want: "Error: edit_file failed: edit latin.txt: the file's charset ISO-8859-1 (Latin-1) has no character '→' (U+2192); write it in another way, such as in ASCII or as an escape"},
		{Name: "changed since", Tool: "edit_file", In: `{"path":"main.go","old_string":"func a() {","new_string":"func x() {"}`, Want: "Error: edit_file failed: old_string occurs 0 times in main.go (5 lines). The file changed since it was read. The nearest text is at line 3:\n3\tfunc c() {", Before: changed},
		{Name: "gone since", Tool: "edit_file", In: `{"path":"main.go","old_string":"func a() {","new_string":"func x() {"}`, Want: "Error: edit_file failed: main.go does not exist; use glob to find it", Before: gone},
	})
}

func TestWrongCallsOfMultiEdit(t *testing.T) {
	env, tools := wrongEnv(t)
	tooltest.Wrongs(t, env, tools, []tooltest.Wrong{
		{Name: "nothing", Tool: "multi_edit", In: `{}`, Want: "Error: multi_edit failed: path and edits are missing; give path, edits"},
		{Name: "no edits", Tool: "multi_edit", In: `{"path":"main.go","edits":[]}`, Want: "Error: multi_edit failed: edits is an empty list; put at least one into it"},
		{Name: "one edit, bare", Tool: "multi_edit", In: `{"path":"main.go","old_string":"a","new_string":"b"}`, Want: `Error: multi_edit failed: multi_edit has no field "new_string"; its fields are edits, path`},
		{Name: "half an edit", Tool: "multi_edit", In: `{"file_path":"main.go","edits":[{"oldString":"a"}]}`, Want: "Error: multi_edit failed: edits[0].new_string is missing; give old_string, new_string, and if you like replace_all"},
		{Name: "an edit as text", Tool: "multi_edit", In: `{"path":"main.go","edits":["a"]}`, Want: `Error: multi_edit failed: edits[0] is "a", want an object with new_string, old_string, replace_all`},
		{Name: "too many", Tool: "multi_edit", In: `{"path":"main.go","edits":[` + strings.Repeat(`{"old_string":"a","new_string":"b"},`, 100) + `{"old_string":"a","new_string":"b"}]}`, Want: "Error: multi_edit failed: edits has 101 entries, want at most 100"},
		{Name: "never read", Tool: "multi_edit", In: `{"path":"docs/guide.md","edits":[{"old_string":"one","new_string":"two"}]}`, Want: "Error: multi_edit failed: docs/guide.md was not read in this session; read the part you want to change with read_file first"},
		{Name: "the second has no place", Tool: "multi_edit", In: `{"path":"main.go","edits":[{"old_string":"func a","new_string":"func x"},{"old_string":"func a() {","new_string":"func y() {"}]}`, Want: "Error: multi_edit failed: nothing was written: edit 2 of 2: old_string occurs 0 times in main.go (9 lines). The nearest text is at line 3:\n3\tfunc x() {"},
		{Name: "the second has two", Tool: "multi_edit", In: `{"path":"main.go","edits":[{"old_string":"func a","new_string":"func x"},{"old_string":"return","new_string":"x"}]}`, Want: "Error: multi_edit failed: nothing was written: edit 2 of 2: old_string occurs 2 times in main.go, at lines 4 and 8; add lines around it until it is unique, or set replace_all"},
		{Name: "the third says nothing", Tool: "multi_edit", In: `{"path":"main.go","edits":[{"old_string":"func a","new_string":"func x"},{"old_string":"func b","new_string":"func y"},{"old_string":"x","new_string":"x"}]}`, Want: "Error: multi_edit failed: nothing was written: edit 3 of 3: old_string and new_string are the same; nothing would change"},
		{Name: "together nothing", Tool: "multi_edit", In: `{"path":"main.go","edits":[{"old_string":"func a","new_string":"func x"},{"old_string":"func x","new_string":"func a"}]}`, Want: "Error: multi_edit failed: the edits undo each other; nothing would change, so leave the call out or correct new_string"},
	})
}

func TestWrongCallsOfWriteFile(t *testing.T) {
	env, tools := wrongEnv(t)
	changed := func() { write(t, filepath.Join(env.Workspace.Root(), "main.go"), "package main\n") }
	tooltest.Wrongs(t, env, tools, []tooltest.Wrong{
		{Name: "no text", Tool: "write_file", In: `{"path":"a.go"}`, Want: "Error: write_file failed: content is missing; give path, content"},
		{Name: "text as an object", Tool: "write_file", In: `{"path":"a.json","content":{"a":1}}`, Want: `Error: write_file failed: content is {"a":1}, want text`},
		{Name: "a mode", Tool: "write_file", In: `{"file_path":"a.go","file_text":"a","append":true}`, Want: `Error: write_file failed: write_file has no field "append"; its fields are content, path`},
		{Name: "outside", Tool: "write_file", In: `{"path":"../a.go","content":"a"}`, Want: "Error: write_file failed: ../a.go leads to $PARENT/a.go, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "a folder", Tool: "write_file", In: `{"path":"docs","content":"a"}`, Want: "Error: write_file failed: docs is a folder; use list_dir to see what is in it"},
		{Name: "below a file", Tool: "write_file", In: `{"path":"main.go/a.go","content":"a"}`, Want: "Error: write_file failed: main.go is a file, not a folder; it lies in ., and read_file reads it"},
		{Name: "never read", Tool: "write_file", In: `{"path":"new.go","content":"a"}`, Want: "Error: write_file failed: new.go exists and was not read in this session; read all of it with read_file first, or change parts of it with edit_file"},
		{Name: "read in part", Tool: "write_file", In: `{"path":"long.txt","content":"a"}`, Want: "Error: write_file failed: only a part of long.txt was read (complete lines: 1-2000); read the rest first, or change parts of it with edit_file"},
		{Name: "binary", Tool: "write_file", In: `{"path":"logo.bin","content":"a"}`, Want: "Error: write_file failed: logo.bin is not text: it is an ELF program or library, which is not replaced by text; delete it first if that is meant"},
		{Name: "what it is already", Tool: "write_file", In: `{"path":"main.go","content":"package main\n\nfunc a() {\n\treturn\n}\n\nfunc b() {\n\treturn\n}\n"}`, Want: "Error: write_file failed: main.go already holds exactly this text; nothing is to be done"},
		{Name: "not in the charset", Tool: "write_file", In: `{"path":"latin.txt","content":"→\n"}`, Want: "Error: write_file failed: write latin.txt: the file's charset ISO-8859-1 (Latin-1) has no character '→' (U+2192); write it in another way, such as in ASCII or as an escape"},
		{Name: "changed since", Tool: "write_file", In: `{"path":"main.go","content":"a"}`, Want: "Error: write_file failed: main.go changed since it was read; read it again first", Before: changed},
	})
}

func TestWrongCallsOfApplyPatch(t *testing.T) {
	env, tools := wrongEnv(t)
	patch := func(lines string) string { return `{"patch":"*** Begin Patch\n` + lines + `*** End Patch"}` }
	tooltest.Wrongs(t, env, tools, []tooltest.Wrong{
		{Name: "nothing", Tool: "apply_patch", In: `{}`, Want: "Error: apply_patch failed: patch is missing; give patch"},
		{Name: "under another name", Tool: "apply_patch", In: `{"input":"*** Begin Patch\n*** End Patch"}`, Want: "Error: apply_patch failed: the patch holds no file; put sections that begin with \"*** Add File: \", \"*** Update File: \" or \"*** Delete File: \" and a path into it"},
		{Name: "a unified diff", Tool: "apply_patch", In: `{"patch":"--- a/main.go\n+++ b/main.go\n@@ -1 +1 @@\n-a\n+b\n"}`, Want: `Error: apply_patch failed: line 1 of the patch: a patch begins with "*** Begin Patch" and names each file in a line like "*** Update File: path"; a unified diff is not read`},
		{Name: "cut", Tool: "apply_patch", In: `{"patch":"*** Begin Patch\n*** Add File: a\n+a"}`, Want: `Error: apply_patch failed: the patch does not end with "*** End Patch"; it was cut, and nothing was changed`},
		{Name: "empty", Tool: "apply_patch", In: patch(``), Want: "Error: apply_patch failed: the patch holds no file; put sections that begin with \"*** Add File: \", \"*** Update File: \" or \"*** Delete File: \" and a path into it"},
		{Name: "no section", Tool: "apply_patch", In: patch(`main.go\n`), Want: `Error: apply_patch failed: line 2 of the patch: "main.go" begins no section; a section begins with "*** Add File: ", "*** Update File: " or "*** Delete File: " and a path`},
		{Name: "an added line without its mark", Tool: "apply_patch", In: patch(`*** Add File: a\na\n`), Want: "Error: apply_patch failed: line 3 of the patch: every line of an added file begins with +; put a + before this one"},
		{Name: "a line without its mark", Tool: "apply_patch", In: patch(`*** Update File: main.go\n@@\npackage main\n+x\n`), Want: `Error: apply_patch failed: line 4 of the patch: "package main" begins with none of blank, + and -; a line that stays has a blank before it`},
		{Name: "no change", Tool: "apply_patch", In: patch(`*** Update File: main.go\n@@\n package main\n`), Want: "Error: apply_patch failed: line 3 of the patch: the hunk changes nothing: it has no line with + or -; add some, or leave the hunk out"},
		{Name: "no hunk", Tool: "apply_patch", In: patch(`*** Update File: main.go\n`), Want: "Error: apply_patch failed: line 3 of the patch: the update of main.go has no hunk; add an @@ line, and below it lines with -, + or a blank before them"},
		{Name: "outside", Tool: "apply_patch", In: patch(`*** Add File: /etc/x\n+a\n`), Want: "Error: apply_patch failed: /etc/x is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "not there", Tool: "apply_patch", In: patch(`*** Update File: mian.go\n@@\n-a\n+b\n`), Want: "Error: apply_patch failed: mian.go does not exist; did you mean main.go?"},
		{Name: "there already", Tool: "apply_patch", In: patch(`*** Add File: new.go\n+a\n`), Want: "Error: apply_patch failed: new.go is there already, and is not overwritten; take another name, change it with edit_file, or delete it first"},
		{Name: "never read", Tool: "apply_patch", In: patch(`*** Update File: docs/guide.md\n@@\n-one\n+two\n`), Want: "Error: apply_patch failed: docs/guide.md was not read in this session; read the part you want to change with read_file first"},
		{Name: "no such lines", Tool: "apply_patch", In: patch(`*** Update File: main.go\n@@\n func a() {\n-\treturn nil\n+\tx()\n`), Want: "Error: apply_patch failed: line 3 of the patch: the lines of this hunk do not stand in main.go. The nearest text is at lines 3-4:\n3\tfunc a() {\n4\t\treturn"},
		{Name: "two places", Tool: "apply_patch", In: patch(`*** Update File: main.go\n@@\n-\treturn\n+\tx()\n`), Want: "Error: apply_patch failed: line 3 of the patch: the lines of this hunk stand 2 times in main.go, at lines 4 and 8; add an @@ line with a line above the place, or more lines around it"},
		{Name: "no such head", Tool: "apply_patch", In: patch(`*** Update File: main.go\n@@ func zebra() {\n-\treturn\n+\tx()\n`), Want: `Error: apply_patch failed: line 3 of the patch: main.go has no line "func zebra() {"`},
		{Name: "to delete what is not there", Tool: "apply_patch", In: patch(`*** Delete File: gone.go\n`), Want: "Error: apply_patch failed: gone.go does not exist; use glob to find it"},
		{Name: "the same file twice", Tool: "apply_patch", In: patch(`*** Delete File: main.go\n*** Update File: main.go\n@@\n-package main\n+package x\n`), Want: "Error: apply_patch failed: the patch names main.go twice; put all that happens to a file into one section"},
		{Name: "onto another", Tool: "apply_patch", In: patch(`*** Update File: main.go\n*** Move to: new.go\n@@\n-package main\n+package x\n`), Want: "Error: apply_patch failed: new.go is there already, and is not overwritten; take another name, change it with edit_file, or delete it first"},
	})
}

func TestWrongCallsOfMoveDeleteAndNotebook(t *testing.T) {
	env, tools := wrongEnv(t)
	tooltest.Wrongs(t, env, tools, []tooltest.Wrong{
		{Name: "no goal", Tool: "move_file", In: `{"from":"main.go"}`, Want: "Error: move_file failed: to is missing; give from, to"},
		{Name: "a third name", Tool: "move_file", In: `{"source":"main.go","destination":"new.go"}`, Want: "Error: move_file failed: new.go is there already, and is not overwritten; take another name, change it with edit_file, or delete it first"},
		{Name: "over another", Tool: "move_file", In: `{"from":"main.go","to":"new.go"}`, Want: "Error: move_file failed: new.go is there already, and is not overwritten; take another name, change it with edit_file, or delete it first"},
		{Name: "into a folder", Tool: "move_file", In: `{"from":"main.go","to":"docs"}`, Want: "Error: move_file failed: docs is a folder; name the new path of the file itself, such as docs/NAME"},
		{Name: "a folder", Tool: "move_file", In: `{"from":"docs","to":"doc"}`, Want: "Error: move_file failed: docs is a folder; only single files are moved and deleted"},
		{Name: "a slip in the name", Tool: "move_file", In: `{"from":"mian.go","to":"x.go"}`, Want: "Error: move_file failed: mian.go does not exist; did you mean main.go?"},
		{Name: "outside", Tool: "move_file", In: `{"from":"main.go","to":"../x.go"}`, Want: "Error: move_file failed: ../x.go leads to $PARENT/x.go, which is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "from outside", Tool: "move_file", In: `{"from":"/etc/hostname","to":"x"}`, Want: "Error: move_file failed: /etc is outside the project ($ROOT); only the user can add a folder, with --add-dir"},

		{Name: "nothing", Tool: "delete_file", In: `{}`, Want: "Error: delete_file failed: path is missing; give path"},
		{Name: "several", Tool: "delete_file", In: `{"path":["a","b"]}`, Want: `Error: delete_file failed: path is ["a","b"], want text`},
		{Name: "a folder", Tool: "delete_file", In: `{"path":"docs"}`, Want: "Error: delete_file failed: docs is a folder; only single files are moved and deleted"},
		{Name: "a slip in the name", Tool: "delete_file", In: `{"path":"docs/giude.md"}`, Want: "Error: delete_file failed: docs/giude.md does not exist; did you mean docs/guide.md?"},
		{Name: "outside", Tool: "delete_file", In: `{"path":"/etc/hostname"}`, Want: "Error: delete_file failed: /etc is outside the project ($ROOT); only the user can add a folder, with --add-dir"},
		{Name: "and all below", Tool: "delete_file", In: `{"path":"docs","recursive":true}`, Want: `Error: delete_file failed: delete_file has no field "recursive"; its fields are path`},

		{Name: "nothing", Tool: "notebook_edit", In: `{}`, Want: "Error: notebook_edit failed: path is missing; give path, and if you like cell_id, cell_type, mode, source"},
		{Name: "no cell", Tool: "notebook_edit", In: `{"notebook_path":"book.ipynb","new_source":"x"}`, Want: "Error: notebook_edit failed: to replace a cell give its cell_id; read_file shows the ids"},
		{Name: "an unknown cell", Tool: "notebook_edit", In: `{"path":"book.ipynb","cell_id":"c9","source":"x"}`, Want: `Error: notebook_edit failed: edit book.ipynb: there is no cell with the id "c9"; the cells are c1`},
		{Name: "a number for a cell", Tool: "notebook_edit", In: `{"path":"book.ipynb","cell_number":0,"source":"x"}`, Want: `Error: notebook_edit failed: notebook_edit has no field "cell_number"; its fields are cell_id, cell_type, mode, path, source`},
		{Name: "an unknown mode", Tool: "notebook_edit", In: `{"path":"book.ipynb","cell_id":"c1","edit_mode":"append"}`, Want: `Error: notebook_edit failed: mode is "append", want replace, insert or delete`},
		{Name: "an unknown type", Tool: "notebook_edit", In: `{"path":"book.ipynb","mode":"insert","cell_type":"python"}`, Want: `Error: notebook_edit failed: cell_type is "python", want code, markdown or raw`},
		{Name: "no notebook", Tool: "notebook_edit", In: `{"path":"main.go","cell_id":"c1","source":"x"}`, Want: "Error: notebook_edit failed: edit main.go: it is not valid JSON: line 1: invalid character 'p' looking for beginning of value"},
		{Name: "no change", Tool: "notebook_edit", In: `{"path":"book.ipynb","cell_id":"c1","source":"x = 1"}`, Want: "Error: notebook_edit failed: the cell already is like that; nothing is to be done"},
		{Name: "never read", Tool: "notebook_edit", In: `{"path":"docs/guide.md","cell_id":"c1","source":"x"}`, Want: "Error: notebook_edit failed: docs/guide.md was not read in this session; read the part you want to change with read_file first"},
	})
}
