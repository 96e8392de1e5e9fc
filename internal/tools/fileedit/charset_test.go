package fileedit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"garuda/internal/tool"
	"garuda/internal/tools/fileread"
	"garuda/internal/workspace"
)

// kindOfFile is a charset as the library writes it, and what the tests put in.
type kindOfFile struct {
	folder  string // for which .editorconfig gives the charset
	charset encoding.Encoding
	mark    string
	words   []string
	broken  []string // bytes that are nothing in it, also before ASCII
	lacks   string   // a character that it does not have
}

const editorconfig = "root = true\n[latin/*]\ncharset = latin1\n[western/*]\ncharset = windows-1252\n[sjis/*]\ncharset = shift_jis\n[gbk/*]\ncharset = gbk\n"

func kindsOfFiles() []kindOfFile {
	all := []string{"é", "漢字", "😀", "a\u0301"}
	return []kindOfFile{
		{"utf8", unicode.UTF8, "", all, []string{"\xff", "\xc3", "\xed\xa0\x80"}, ""},
		{"mark", unicode.UTF8, "\xef\xbb\xbf", all, []string{"\xff", "\xc3"}, ""},
		{"le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "\xff\xfe", all, []string{"\x00\xdc"}, ""},
		{"be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "\xfe\xff", all, []string{"\xdc\x00"}, ""},
		{"latin", charmap.ISO8859_1, "", []string{"é", "ÿ", "\u0085", "Ã"}, nil, "€"},
		{"western", charmap.Windows1252, "", []string{"é", "€", "“", "Ã"}, []string{"\x81", "\x9d"}, "日"},
		{"sjis", japanese.ShiftJIS, "", []string{"表", "ソ", "ｱ", "の", "\\"}, []string{"\xff", "\xa0"}, "é"},
		{"gbk", simplifiedchinese.GBK, "", []string{"中", "模", "€", "丂"}, []string{"\xff"}, "ñ"},
	}
}

// put writes text in the charset; the test's bytes are not those of the code
// that is tested.
func (k kindOfFile) put(t *rapid.T, text string) []byte {
	raw, err := k.charset.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %q: %v", k.folder, text, err)
	}
	return raw
}

// fileCase is a file and what it has to be afterwards.
type fileCase struct {
	kindOfFile
	raw, want []byte
	text      string   // of the lines, with LF and a mark for each broken place
	names     []string // of the lines to edit: "line3"
	crlf, lf  int
}

func drawFileCase(t *rapid.T) *fileCase {
	c := &fileCase{kindOfFile: rapid.SampledFrom(kindsOfFiles()).Draw(t, "charset")}
	c.raw, c.want = []byte(c.mark), []byte(c.mark)
	newlines := rapid.SampledFrom([][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}}).Draw(t, "newlines")
	n := rapid.IntRange(1, 6).Draw(t, "lines")
	for i := range n {
		name, edited := fmt.Sprint("line", i), rapid.Bool().Draw(t, "edited")
		before, after := rapid.SampledFrom(c.words).Draw(t, "before"), rapid.SampledFrom(c.words).Draw(t, "after")
		line := c.put(t, before+name+after+".")
		want := line
		shown := before + name + after + "."
		if edited {
			c.names = append(c.names, name)
			want = c.put(t, before+rapid.SampledFrom(c.words).Draw(t, "new")+"NEW"+fmt.Sprint(i)+after+".")
		} else if len(c.broken) > 0 && rapid.Bool().Draw(t, "broken") {
			junk := append([]byte(rapid.SampledFrom(c.broken).Draw(t, "junk")), c.put(t, "|")...)
			line = append(junk, line...)
			want = line
			shown = "\ufffd|" + shown
		}
		newline := rapid.SampledFrom(newlines).Draw(t, "newline")
		if i == n-1 && rapid.Bool().Draw(t, "no final newline") {
			newline = ""
		}
		switch newline {
		case "\n":
			c.lf++
		case "\r\n":
			c.crlf++
		}
		end := c.put(t, newline)
		c.raw = append(append(c.raw, line...), end...)
		c.want = append(append(c.want, want...), end...)
		c.text += shown + strings.TrimPrefix(newline, "\r")
	}
	return c
}

// edits are old and new texts of the lines to edit, taken from the bytes that are wanted.
func (c *fileCase) edits(t *rapid.T) []args {
	wanted, err := c.charset.NewDecoder().Bytes(c.want[len(c.mark):])
	if err != nil {
		t.Fatal(err)
	}
	var out []args
	lines := strings.Split(string(wanted), "\n")
	for _, name := range c.names {
		var i int
		_, _ = fmt.Sscanf(name, "line%d", &i)
		old := strings.Split(c.text, "\n")[i]
		out = append(out, args{"old_string": old, "new_string": strings.TrimSuffix(lines[i], "\r")})
	}
	return out
}

func asPatch(path, moveTo string, edits []args) string {
	patch := "*** Begin Patch\n*** Update File: " + path + "\n"
	if moveTo != "" {
		patch += "*** Move to: " + moveTo + "\n"
	}
	for _, e := range edits {
		patch += fmt.Sprintf("@@\n-%s\n+%s\n", e["old_string"], e["new_string"])
	}
	return patch + "*** End Patch"
}

// writingCall is a call and the file that it has to leave.
type writingCall struct {
	name string
	tool tool.Tool
	in   args
	at   string
	want []byte
}

// Every tool that writes keeps charset, mark, newlines, the final newline, and
// every byte that the change is not about, in every charset.
func TestToolsKeepCharsets(t *testing.T) {
	env := newEnv(t, map[string]string{".editorconfig": editorconfig})
	root := env.Workspace.Root()
	rapid.Check(t, func(t *rapid.T) {
		c := drawFileCase(t)
		path, moved := c.folder+"/f.txt", c.folder+"/moved.txt"
		edits := []args(nil)
		if len(c.names) > 0 {
			edits = c.edits(t)
		}
		calls := []writingCall{{"move_file", moveFile{}, args{"from": path, "to": moved}, moved, c.raw}}
		if len(edits) > 0 {
			calls = append(calls,
				writingCall{"multi_edit", multiEdit{}, args{"path": path, "edits": edits}, path, c.want},
				writingCall{"apply_patch", applyPatch{}, args{"patch": asPatch(path, "", edits)}, path, c.want},
				writingCall{"apply_patch that moves", applyPatch{}, args{"patch": asPatch(path, moved, edits)}, moved, c.want})
		}
		if len(edits) == 1 {
			in := args{"path": path, "old_string": edits[0]["old_string"], "new_string": edits[0]["new_string"]}
			calls = append(calls, writingCall{"edit_file", editFile{}, in, path, c.want})
		}
		call := rapid.SampledFrom(calls).Draw(t, "call")
		for _, name := range []string{path, moved} {
			if err := os.Remove(filepath.Join(root, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		prepare(t, env, path, c.raw)
		if _, err := run(env, call.tool, call.in); err != nil {
			t.Fatalf("%s of %q with %v: %v", call.name, c.raw, call.in, err)
		}
		got, err := os.ReadFile(filepath.Join(root, call.at))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, call.want) {
			t.Fatalf("%s of %q in %s with %v:\n%q, want\n%q", call.name, c.raw, c.folder, call.in, got, call.want)
		}
	})
}

// prepare writes a file and has it read.
func prepare(t *rapid.T, env *tool.Env, path string, raw []byte) {
	abs := filepath.Join(env.Workspace.Root(), path)
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(abs, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	env.Tracker.Forget()
	if _, err := run(env, fileread.New()[0], args{"path": path}); err != nil {
		t.Fatal(err)
	}
}

// write_file writes a whole new text in the old file's charset, with its mark
// and the newlines that it has more of; and a new file as .editorconfig says.
func TestWriteFileKeepsCharsets(t *testing.T) {
	env := newEnv(t, map[string]string{".editorconfig": editorconfig})
	rapid.Check(t, func(t *rapid.T) {
		c := drawFileCase(t)
		path := c.folder + "/f.txt"
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append([]string{"x\n", "y"}, c.words...)), 1, 8).Draw(t, "text"), "")
		prepare(t, env, path, c.raw)
		want := text
		if c.crlf > c.lf {
			want = strings.ReplaceAll(text, "\n", "\r\n")
		}
		wanted := append([]byte(c.mark), c.put(t, want)...)
		_, err := run(env, writeFile{}, args{"path": path, "content": text})
		got, readErr := os.ReadFile(filepath.Join(env.Workspace.Root(), path))
		switch {
		case readErr != nil:
			t.Fatal(readErr)
		case err != nil && strings.Contains(err.Error(), "already holds exactly"), err != nil && isOtherText(err):
			wanted = c.raw
		case err != nil:
			t.Fatalf("%s, %q over %q: %v", c.folder, text, c.raw, err)
		}
		if !bytes.Equal(got, wanted) {
			t.Fatalf("%s, %q over %q: %q, want %q", c.folder, text, c.raw, got, wanted)
		}
	})
}

// isOtherText: what would be read as UTF-8 afterwards is refused.
func isOtherText(err error) bool {
	return strings.Contains(err.Error(), "could no longer be told")
}

// A new file has the charset that .editorconfig gives; a character that it lacks
// is named, whichever tool writes it, and nothing is written.
func TestCharactersThatACharsetLacks(t *testing.T) {
	files := map[string]string{".editorconfig": editorconfig}
	for _, k := range kindsOfFiles() {
		files[k.folder+"/f.txt"] = "a\n"
		files[k.folder+"/n.ipynb"] = `{"cells":[{"cell_type":"raw","id":"c","metadata":{},"source":"a"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	}
	env := newEnv(t, files)
	for _, k := range kindsOfFiles() {
		if k.lacks == "" {
			continue
		}
		path, book := k.folder+"/f.txt", k.folder+"/n.ipynb"
		read(t, env, path)
		read(t, env, book)
		want := fmt.Sprintf("has no character %q (U+%04X)", []rune(k.lacks)[0], []rune(k.lacks)[0])
		for _, call := range []struct {
			tool tool.Tool
			in   args
		}{
			{writeFile{}, args{"path": path, "content": k.lacks}},
			{writeFile{}, args{"path": k.folder + "/new.txt", "content": k.lacks}},
			{editFile{}, args{"path": path, "old_string": "a", "new_string": k.lacks}},
			{multiEdit{}, args{"path": path, "edits": []args{{"old_string": "a", "new_string": k.lacks}}}},
			{applyPatch{}, args{"patch": asPatch(path, "", []args{{"old_string": "a", "new_string": k.lacks}})}},
			{applyPatch{}, args{"patch": "*** Begin Patch\n*** Add File: " + k.folder + "/new.txt\n+" + k.lacks + "\n*** End Patch"}},
			{notebookEdit{}, args{"path": book, "cell_id": "c", "source": k.lacks}},
		} {
			wantError(t, env, call.tool, call.in, want)
		}
		if got := content(t, env, path); got != "a\n" {
			t.Errorf("%s is now %q", path, got)
		}
		mustRun(t, env, writeFile{}, args{"path": k.folder + "/new.txt", "content": k.words[0] + "x\n"})
		raw, err := k.charset.NewEncoder().String(k.words[0] + "x\n")
		if got := content(t, env, k.folder+"/new.txt"); err != nil || got != k.mark+raw {
			t.Errorf("%s: the new file is %q, %v", k.folder, got, err)
		}
		mustRun(t, env, notebookEdit{}, args{"path": book, "cell_id": "c", "source": k.words[0]})
		raw, err = k.charset.NewEncoder().String(strings.Replace(files[book], `"a"`, `"`+strings.ReplaceAll(k.words[0], `\`, `\\`)+`"`, 1))
		if got := content(t, env, book); err != nil || got != raw {
			t.Errorf("%s: the notebook is %q, %v; want %q", k.folder, got, err, raw)
		}
	}
}

// An edit whose span touches bytes that are nothing in the charset is refused,
// whichever tool makes it.
func TestBrokenSpans(t *testing.T) {
	env := newEnv(t, map[string]string{".editorconfig": editorconfig, "sjis/f": "a\xffb\nc\n", "utf8/f": "a\xffb\nc\n"})
	for _, path := range []string{"sjis/f", "utf8/f"} {
		before := content(t, env, path)
		if got := mustRun(t, env, fileread.New()[0], args{"path": path}); !strings.Contains(got, "shown as U+FFFD and cannot be edited") {
			t.Errorf("%s does not say so: %s", path, got)
		}
		for _, call := range []struct {
			tool tool.Tool
			in   args
		}{
			{editFile{}, args{"path": path, "old_string": "a\ufffdb", "new_string": "ab"}},
			{multiEdit{}, args{"path": path, "edits": []args{{"old_string": "c", "new_string": "d"}, {"old_string": "\ufffd", "new_string": ""}}}},
			{applyPatch{}, args{"patch": asPatch(path, "", []args{{"old_string": "a\ufffdb", "new_string": "ab"}})}},
		} {
			wantError(t, env, call.tool, call.in, workspace.ErrBrokenSpan.Error())
		}
		if got := content(t, env, path); got != before {
			t.Errorf("%s is now %q", path, got)
		}
	}
}
