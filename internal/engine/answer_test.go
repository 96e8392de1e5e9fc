package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// answerer takes answers; a path "bad" does not fit.
func answerer() *fakeTool {
	return newTool("give", tool.Plan{ReadOnly: true}, func(_ context.Context, _ *tool.Call, in map[string]any) (*tool.Output, error) {
		if in["path"] == "bad" {
			return &tool.Output{Text: "it does not fit", IsError: true}, nil
		}
		b, err := json.Marshal(in)
		return &tool.Output{Text: "taken", Answer: b}, err
	})
}

func give(id, path string) core.Block { return use(id, "give", `{"path":"`+path+`"}`) }

func TestAnswerTool(t *testing.T) {
	wrong := []reply{calls(give("1", "bad")), calls(give("2", "bad")), calls(give("3", "bad")), calls(give("4", "bad"))}
	talk := []reply{says("done"), says("really"), says("I said so"), says("no")}
	for _, tc := range []struct {
		name    string
		replies []reply
		end     core.TurnEnd
		answer  string
		steps   int
	}{
		{"at once", []reply{calls(give("1", "ok"))}, core.EndDone, `{"path":"ok"}`, 1},
		{"after work", []reply{calls(use("1", "look", `{"path":"a"}`)), calls(give("2", "ok"))}, core.EndDone, `{"path":"ok"}`, 2},
		{"beside work; the last counts", []reply{calls(give("1", "ok"), use("2", "look", `{"path":"a"}`), give("3", "better"))}, core.EndDone, `{"path":"better"}`, 1},
		{"mended", []reply{wrong[0], calls(give("2", "ok"))}, core.EndDone, `{"path":"ok"}`, 2},
		{"reminded", []reply{says("done"), calls(give("1", "ok"))}, core.EndDone, `{"path":"ok"}`, 2},
		{"the third retry fits", []reply{wrong[0], says("hm"), wrong[2], calls(give("4", "ok"))}, core.EndDone, `{"path":"ok"}`, 4},
		{"wrong each time", wrong, core.EndNoAnswer, "", 4},
		{"never given", talk, core.EndNoAnswer, "", 4},
		{"both", []reply{wrong[0], talk[0], wrong[2], talk[1]}, core.EndNoAnswer, "", 4},
		{"steps", append(wrong[:1:1], calls(use("2", "look", `{"path":"a"}`)), calls(use("3", "look", `{"path":"b"}`)), calls(use("4", "look", `{"path":"c"}`)), calls(use("5", "look", `{"path":"d"}`))), core.EndMaxSteps, "", 5},
	} {
		b := newBench(t, Config{AnswerTool: "give", Limits: Limits{MaxSteps: 5}}, []tool.Tool{answerer(), looker()}, tc.replies...)
		r := b.turn("go")
		if r.End != tc.end || string(r.Answer) != tc.answer || r.Steps != tc.steps || r.Err != nil {
			t.Errorf("%s: %s after %d steps with %s, %v", tc.name, r.End, r.Steps, r.Answer, r.Err)
		}
	}
}

// The reminder is part of the conversation, also of one that is taken up again.
func TestAnswerReminder(t *testing.T) {
	b := newBench(t, Config{AnswerTool: "give"}, []tool.Tool{answerer()}, says("done"), calls(give("1", "ok")), calls(give("2", "next")))
	b.turn("go")
	sent := b.model.sent()
	last := sent[1].Messages[len(sent[1].Messages)-1]
	if last.Role != core.RoleUser || !strings.Contains(last.Blocks[0].Text, "reads only a call of give") {
		t.Errorf("the second request ends with %+v", last)
	}
	if diff := cmp.Diff([]string{"user", "assistant", "continue", "assistant", "tool_results", "end"}, b.journal.types()); diff != "" {
		t.Error(diff)
	}
	if r := b.turn("again"); string(r.Answer) != `{"path":"next"}` {
		t.Errorf("the next turn gives %s", r.Answer)
	}
}

// Without the setting nothing of it happens.
func TestNoAnswerTool(t *testing.T) {
	b := newBench(t, Config{}, []tool.Tool{answerer()}, calls(give("1", "ok")), says("done"))
	if r := b.turn("go"); r.End != core.EndDone || r.Answer != nil || r.Steps != 2 {
		t.Errorf("%s after %d steps with %s", r.End, r.Steps, r.Answer)
	}
}
