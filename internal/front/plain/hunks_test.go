package plain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func TestParseHunks(t *testing.T) {
	q := &tool.Question{Hunks: 3}
	for text, want := range map[string]tool.Answer{
		"h 2":             {Choice: tool.AnswerOnce, Hunks: []int{2}},
		"h 3,1,3":         {Choice: tool.AnswerOnce, Hunks: []int{3, 1}},
		"H 1,2 not there": {Choice: tool.AnswerOnce, Hunks: []int{1, 2}, Comment: "not there"},
	} {
		got, err := parseAnswer(text, q)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"h", "h 0", "h 4", "h x", "h 1,", "h 1;2", "h -1"} {
		if got, err := parseAnswer(text, q); err == nil || !strings.Contains(err.Error(), "is no hunk") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if _, err := parseAnswer("h 1", &tool.Question{}); err == nil || !strings.Contains(err.Error(), "no parts to choose from") {
		t.Error(err)
	}
}

func TestNumberedHunks(t *testing.T) {
	got := numberedHunks("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+@@ -9 +9 @@\n@@ -5 +5 @@\n y")
	want := "--- a\n+++ b\n@@ -1 +1 @@ (hunk 1)\n-x\n+@@ -9 +9 @@\n@@ -5 +5 @@ (hunk 2)\n y"
	if got != want {
		t.Error(got)
	}
}
