package tool

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The names and values that are promised to be taken, each by a tool that has the
// canonical one.
func TestOtherNames(t *testing.T) {
	for _, tc := range []struct{ given, ours string }{
		{"file_path", "path"}, {"filePath", "path"}, {"notebook_path", "path"}, {"notebookPath", "path"},
		{"oldString", "old_string"}, {"newString", "new_string"}, {"replaceAll", "replace_all"},
		{"includeIgnored", "include_ignored"}, {"startLine", "start_line"}, {"start_line", "offset"},
		{"new_source", "source"}, {"edit_mode", "mode"}, {"subagent_type", "agent"}, {"timeout", "timeout_ms"},
		{"include", "glob"}, {"cmd", "command"}, {"input", "patch"}, {"source", "from"}, {"destination", "to"}, {"paths", "files"},
	} {
		in, err := newInputSchema(&Spec{Name: "t", Schema: json.RawMessage(
			fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"additionalProperties":false}`, tc.ours))})
		if err != nil {
			t.Fatal(err)
		}
		got, err := in.check(fmt.Sprintf(`{%q:"x"}`, tc.given))
		if want := fmt.Sprintf(`{%q:"x"}`, tc.ours); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", tc.given, got, err, want)
		}
	}
	for _, tc := range []struct{ given, ours string }{
		{"done", "completed"}, {"doing", "in_progress"}, {"todo", "pending"}, {"files_with_matches", "files"},
		{"stop", "kill"}, {"python3", "python"}, {"js", "node"}, {"sh", "bash"}, {"lines", "content"}, {"output", "logs"}, {"follow", "watch"},
	} {
		in, err := newInputSchema(&Spec{Name: "t", Schema: json.RawMessage(
			fmt.Sprintf(`{"type":"object","properties":{"x":{"type":"string","enum":[%q]}}}`, tc.ours))})
		if err != nil {
			t.Fatal(err)
		}
		got, err := in.check(fmt.Sprintf(`{"x":%q}`, tc.given))
		if want := fmt.Sprintf(`{"x":%q}`, tc.ours); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", tc.given, got, err, want)
		}
	}
}
