package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"garuda/internal/llm"
)

func TestRoomNotice(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "read", Description: strings.Repeat("d", 996), Schema: json.RawMessage(strings.Repeat("s", 3000))}}
	system := strings.Repeat("s", 4000) // 2,000 tokens with the tools
	tests := []struct {
		window  int
		setting string
		known   bool
		want    []string
		lacks   string // the remedy, where the notice that a window is assumed has it
	}{
		{window: 2000, known: true, setting: "start it larger", want: []string{"cannot work", "window is 2000", "about 2000", "start it larger"}},
		{window: 3999, known: true, want: []string{"little is left", "contextWindow under models in models.json"}},
		{window: 3999, setting: "start it larger", want: []string{"so that little is left for the work"}, lacks: "; "},
		{window: 4000},
		{window: 0},
	}
	for _, tt := range tests {
		got := roomNotice(&llm.Info{Spec: "ollama/m", ContextWindow: tt.window, Known: tt.known, WindowSetting: tt.setting}, system, tools)
		if len(tt.want) == 0 && got != "" {
			t.Errorf("%d: %s", tt.window, got)
		}
		if tt.lacks != "" && strings.Contains(got, tt.lacks) {
			t.Errorf("%d: %q is in %q", tt.window, tt.lacks, got)
		}
		for _, part := range tt.want {
			if !strings.Contains(got, part) {
				t.Errorf("%d: %q is not in %q", tt.window, part, got)
			}
		}
	}
}
