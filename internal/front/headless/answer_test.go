package headless

import (
	"bytes"
	"encoding/json"
	"testing"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
)

// An answer of a given form is a field of the result; a run without one has failed.
func TestAnswerInResult(t *testing.T) {
	info := &llm.Info{Spec: "p/m"}
	given := resultLine(&engine.TurnResult{End: core.EndDone, Answer: json.RawMessage(`{"n": 12345678901234567890}`)}, info)
	if got := asJSON(t, given["structured_output"]); got != `{"n":12345678901234567890}` || given["subtype"] != "success" {
		t.Errorf("%v with %s", given["subtype"], got)
	}
	failed := &engine.TurnResult{End: core.EndNoAnswer}
	line := resultLine(failed, info)
	_, has := line["structured_output"]
	if has || line["subtype"] != "error_max_structured_output_retries" || line["terminal_reason"] != "error" || line["is_error"] != true || exitCode(failed) != 1 {
		t.Errorf("without one: %v", line)
	}
}

// With a schema standard output has the answer and nothing that was said beside it;
// on a terminal it can send no command.
func TestAnswerAsText(t *testing.T) {
	for _, tc := range []struct {
		terminal bool
		want     string
	}{{false, "{\"a\":\"\u009b\"}\n"}, {true, core.Visible("{\"a\":\"\u009b\"}") + "\n"}} {
		var out, errs bytes.Buffer
		r := &run{o: Options{Format: Text, Answer: true, Terminal: tc.terminal, Stdout: &out, Stderr: &errs}}
		r.show(engine.TextDelta{Text: "I looked."})
		r.show(engine.BlockEnd{})
		r.show(engine.TurnEnded{Result: &engine.TurnResult{End: core.EndDone, Answer: json.RawMessage("{\"a\": \"\u009b\"}")}})
		if out.String() != tc.want || errs.Len() > 0 {
			t.Errorf("%q, want %q; %s", out.String(), tc.want, errs.String())
		}
	}
}
