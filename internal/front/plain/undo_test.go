package plain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/plain"
	"garuda/internal/llm/script"
	"garuda/internal/snapshot"
	"garuda/internal/testkit"
	"garuda/internal/tool"
)

func undoDialog(t *testing.T) *dialog {
	d := &dialog{t: t, clock: testkit.NewClock(), options: plain.Options{IsTerminal: true}, interrupts: make(chan os.Signal)}
	d.begin(&script.Scenario{Version: 1, Steps: []script.Step{{Text: "nothing"}}})
	d.step("wait", "› ")
	return d
}

// What an undo would do is on one screen: the list is cut, but what it cuts is counted,
// what is not covered reads as a sentence, and the prompt has every answer.
func TestUndoQuestion(t *testing.T) {
	d := undoDialog(t)
	var changes []snapshot.Change
	for i := range 40 {
		changes = append(changes, snapshot.Change{What: snapshot.Added, Path: fmt.Sprintf("a%02d", i)})
	}
	changes = append(changes, snapshot.Change{What: snapshot.Removed, Path: "mine"}, snapshot.Change{What: snapshot.Modified, Path: "other"})
	message := core.UserText("do it")
	message.Blocks = append(message.Blocks, core.Block{Type: core.BlockText, Note: "undo", Text: "<garuda_note>a note</garuda_note>"})
	d.host.plan = &plain.Undo{Turn: engine.BackTurn{Point: "p", Message: message, Conversation: true}, Files: &snapshot.Plan{
		Changes: changes,
		LeftOut: []snapshot.LeftOut{{Path: ".env", Reason: snapshot.Secret}, {Path: "big", Reason: snapshot.Large}, {Path: "pipe", Reason: snapshot.Special}},
	}}
	d.step("type", "/undo")
	for _, want := range []string{
		"? take the turn back: do it\n", "  + a29\n  … and 12 more: 1 go, 10 are made, 1 get other contents\n",
		"not covered, files larger than 10 MB: big\n", "not covered, files that may hold secrets: .env\n", "not covered, what is no regular file: pipe\n",
		"y/f/c/n› ",
	} {
		d.step("wait", want)
	}
	d.step("type", "f")
	d.step("wait", "42 files and folders put back; /redo takes that back")
	d.host.plan.Files = &snapshot.Plan{}
	d.step("type", "/redo")
	d.step("wait", "no file differs")
	d.step("wait", "y/n› ")
	d.step("type", "y")
	d.step("wait", "no file differed, the conversation is as it was; /undo takes it back again")
	d.end()
	if want := []undone{{true, false, false}, {true, true, true}}; !slices.Equal(d.host.did, want) {
		t.Errorf("done: %v, want %v", d.host.did, want)
	}
}

// The list of /diff has the signs of the lists of /undo.
func TestDiffSigns(t *testing.T) {
	d := undoDialog(t)
	for _, what := range []snapshot.What{snapshot.Added, snapshot.Removed, snapshot.Modified, snapshot.ModeOnly} {
		d.host.diff = append(d.host.diff, snapshot.FileDiff{Change: snapshot.Change{What: what, Path: "x"}})
	}
	d.step("type", "/diff last sub")
	d.step("wait", "  + x\n  - x\n  ~ x\n  m x\n")
	d.end()
	if !d.host.last || d.host.path != "sub" {
		t.Errorf("asked for last %v, path %q", d.host.last, d.host.path)
	}
}

// An exclamation mark alone is no message to the model, and who stops a command of their
// own is told nothing of a turn.
func TestCommandLines(t *testing.T) {
	d := undoDialog(t)
	d.step("type", " ! ")
	d.step("wait", "error: say which command: !git status")
	d.host.extra = []tool.Tool{&fakeTool{
		spec: tool.Spec{Name: engine.ShellTool, Class: tool.ClassCommand, Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
		plan: func(callInput) *tool.Plan { return &tool.Plan{Target: "free", RunsCommands: true} },
		run: func(ctx context.Context, c *tool.Call, _ callInput) (*tool.Output, error) {
			return runCommand(ctx, c, callInput{Print: "working\n", Hang: true})
		},
	}}
	d.step("type", "/new")
	d.step("wait", "new session")
	d.step("type", "!sleep 100")
	d.step("wait", "working")
	d.step("interrupt", "")
	d.step("wait", "stopped the command\n")
	d.step("wait", "interrupted")
	d.step("wait", "› ")
	d.end()
	if got := d.screen.text(); strings.Contains(got, "done ·") || strings.Contains(got, "the turn") {
		t.Errorf("a turn was taken, or is told of:\n%s", got)
	}
}
