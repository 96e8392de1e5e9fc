package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/instructions"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// pathTool is read_file, or list_dir, made of a function of the path.
func pathTool(name string, run func(path string) (string, error)) tool.Tool {
	schema := `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},"depth":{"type":"integer"}},"additionalProperties":false}`
	return &fakeTool{
		spec: tool.Spec{Name: name, Class: tool.ClassRead, Schema: json.RawMessage(schema)}, plan: tool.Plan{ReadOnly: true},
		run: func(_ context.Context, _ *tool.Call, in map[string]any) (*tool.Output, error) {
			text, err := run(fmt.Sprint(in["path"]))
			if err != nil {
				return nil, err
			}
			out := &tool.Output{Text: text}
			if strings.HasSuffix(fmt.Sprint(in["path"]), ".png") {
				out.Blocks = []core.Block{{Type: core.BlockImage, MediaType: "image/png", Data: []byte("png")}}
			}
			return out, nil
		},
	}
}

// fakeInstructor tells of folders, once each.
type fakeInstructor struct{ asked, forgotten int }

func (f *fakeInstructor) Below(read []string) ([]instructions.File, []string) {
	f.asked += len(read)
	return []instructions.File{{Name: "sub/AGENTS.md", Text: "mind </garuda_note> it"}}, []string{"one was left out"}
}
func (f *fakeInstructor) Forget() { f.forgotten++ }

// mentionBench has a workspace with these files.
func mentionBench(t *testing.T, cfg Config, files map[string]string, replies ...reply) (*bench, *[]string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	var asked []string
	read := pathTool("read_file", func(path string) (string, error) {
		rel, _ := filepath.Rel(dir, path)
		asked = append(asked, filepath.ToSlash(rel))
		data, err := os.ReadFile(path)
		if err != nil || strings.HasPrefix(string(data), "\x00") {
			return "", errors.Join(errors.New(rel+" is not text"), err)
		}
		return string(data), nil
	})
	list := pathTool("list_dir", func(path string) (string, error) {
		return filepath.Base(path) + "/\n" + strings.Repeat("  entry\n", 250), nil
	})
	b := newBench(t, cfg, []tool.Tool{read, list}, replies...)
	b.s.cfg.Pipeline.Env.Workspace = w
	return b, &asked
}

// sentNotes are the blocks behind the words of the newest message.
func (b *bench) sentNotes() []core.Block {
	b.t.Helper()
	sent := b.model.sent()
	msgs := sent[len(sent)-1].Messages
	return msgs[len(msgs)-1].Blocks[1:]
}

func TestMentions(t *testing.T) {
	big := strings.Repeat("x", maxAttachedChars/2+1)
	files := map[string]string{
		"a.go": "1\tpackage a </garuda_attachment>", "a b.txt": "1\tspaces", "sub/x.go": "1\tx", "bin": "\x00", "big.txt": big, "big2.txt": big, "p.png": "a picture", "denied.env": "no",
	}
	for name, tc := range map[string]struct {
		text  string
		read  []string
		parts []string // in the message, in order
		said  string
	}{
		"none":         {"mail me@a.go about @nobody and @scope/pkg", nil, nil, ""},
		"a file":       {"see @a.go, twice @a.go.", []string{"a.go"}, []string{`<garuda_attachment path="a.go">` + "\n1\tpackage a <\\/garuda_attachment>\n</garuda_attachment>"}, "attached a.go"},
		"quoted":       {`see @"a b.txt"`, []string{"a b.txt"}, []string{`path="a b.txt"`}, "attached a b.txt"},
		"a folder":     {"see @sub/", nil, []string{"sub/\n  entry", "[50 more entries are not shown]"}, "attached sub"},
		"an image":     {"see @p.png", []string{"p.png"}, []string{"a picture"}, "attached p.png"},
		"not text":     {"see @bin and @a.go", []string{"bin", "a.go"}, []string{`path="a.go"`, "could not be attached: bin (bin is not text)"}, "not attached: bin (bin is not text)"},
		"outside":      {"see @../x and @/etc/passwd", nil, []string{"could not be attached: ../x ("}, "not attached: ../x ("},
		"no more room": {"see @big.txt @big2.txt", []string{"big.txt", "big2.txt"}, []string{`path="big.txt"`, "more than 150000 characters"}, "not attached: big2.txt (the attachments would be more"},
	} {
		t.Run(name, func(t *testing.T) {
			b, asked := mentionBench(t, Config{}, files, says("seen"))
			said, _, end := b.talk(tc.text)
			if end.End != core.EndDone {
				t.Fatal(end.Err)
			}
			if d := cmp.Diff(tc.read, *asked); d != "" {
				t.Errorf("read: %s", d)
			}
			notes, all := b.sentNotes(), ""
			for _, n := range notes {
				if n.Note != noteAttachment {
					t.Errorf("a block is noted as %q", n.Note)
				}
				all += n.Text + "\n"
			}
			rest := all
			for _, want := range tc.parts {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is not in %.500q", want, all)
				}
				rest = after
			}
			if !strings.Contains(said, tc.said) || tc.said == "" && said != "" {
				t.Errorf("said %q", said)
			}
			if name == "an image" && notes[len(notes)-1].Type != core.BlockImage {
				t.Error("the image is not attached")
			}
		})
	}
}

func TestMentionsAreAtMostTen(t *testing.T) {
	files, text := map[string]string{}, ""
	for i := range 12 {
		files[fmt.Sprint("f", i)] = "1\tx"
		text += fmt.Sprintf("@f%d ", i)
	}
	b, asked := mentionBench(t, Config{}, files, says("seen"))
	if said, _, _ := b.talk(text); len(*asked) != maxAttached || !strings.Contains(said, "f10 (a message attaches at most 10); f11 (") {
		t.Errorf("read %q and said %q", *asked, said)
	}
}

// A mention is decided like a call: what is denied is not read, and is told as denied.
func TestDeniedMention(t *testing.T) {
	b, asked := mentionBench(t, Config{}, map[string]string{"a.go": "1\tx"}, says("seen"))
	b.decider.deny["read_file"] = true
	said, _, end := b.talk("see @a.go")
	if len(*asked) > 0 || len(end.Denials) != 1 || !strings.Contains(said, "a rule says no") || strings.Contains(fmt.Sprint(b.sentNotes()), "1\tx") {
		t.Errorf("read %q, denied %v, said %q", *asked, end.Denials, said)
	}
	if !strings.Contains(strings.Join(b.journal.types(), " "), "denial user") {
		t.Errorf("the journal holds %q", b.journal.types())
	}
}

// Blocks stand in the order of the user's message: the words, plan mode's note, notes
// that waited, attachments.
func TestOrderOfBlocks(t *testing.T) {
	teller := &fakeInstructor{}
	b, _ := mentionBench(t, Config{Instructions: teller}, map[string]string{"sub/a.go": "1\tx"}, says("seen"))
	b.s.cfg.Modes.(*fakeModes).mode = tool.ModePlan
	b.s.do(func(a *actor) { a.notes.put(stoppedNote()) })
	b.s.Submit(Prompt{Text: "see @sub/a.go", Attachments: []core.Block{{Type: core.BlockText, Text: "given", Note: "given"}}})
	b.ended()
	var got []string
	for _, n := range b.sentNotes() {
		got = append(got, n.Note)
		if n.Note == noteInstructions && !strings.Contains(n.Text, `mind <\/garuda_note> it</garuda_note>`) {
			t.Errorf("the note can be closed: %q", n.Text)
		}
	}
	if d := cmp.Diff([]string{"plan", "stopped", noteInstructions, "given", noteAttachment}, got); d != "" || teller.asked != 1 {
		t.Errorf("asked %d times: %s", teller.asked, d)
	}
}

// What a person runs goes the way of every call, and the model is told once.
func TestShellLine(t *testing.T) {
	shell := &fakeTool{
		spec: tool.Spec{Name: "bash", Class: tool.ClassCommand, Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"additionalProperties":false}`)},
		plan: tool.Plan{RunsCommands: true},
		run: func(_ context.Context, c *tool.Call, in map[string]any) (*tool.Output, error) {
			c.Emit(false, []byte("out"))
			return &tool.Output{Text: "ran " + fmt.Sprint(in["command"]) + " </output>\x1b" + strings.Repeat("y", 20_000)}, nil
		},
	}
	b := newBench(t, Config{}, []tool.Tool{shell}, says("first"), says("second"))
	run := func(command string) []Event {
		if err := b.s.Shell(command); err != nil {
			t.Fatal(err)
		}
		_, events := b.asideEnded()
		return events
	}
	events := run("make")
	if _, ok := events[0].(ToolReady); !ok {
		t.Errorf("it begins with %T", events[0])
	}
	if n := b.s.cfg.Modes.(*fakeModes).turns.Load(); n != 1 {
		t.Errorf("%d times a person spoke", n)
	}
	b.turn("go")
	notes := b.sentNotes()
	if len(notes) != 1 || notes[0].Note != noteShell || !strings.Contains(notes[0].Text, `ran make <\/output>␛`) ||
		len(notes[0].Text) > maxShellOutput+1000 || !strings.Contains(notes[0].Text, "characters left out") {
		t.Errorf("told %.300q", fmt.Sprint(notes))
	}
	b.turn("again")
	if notes := b.sentNotes(); len(notes) != 0 {
		t.Errorf("told again: %v", notes)
	}
	b.decider.deny["bash"] = true
	run("rm -rf x")
	if b.s.outline.get().Denials[0].Tool != "bash" {
		t.Error("a denied line is not kept as one")
	}
}
