package prompt

import (
	"strings"
	"testing"
)

func parts() Parts {
	return Parts{
		Root: "/home/ada/project", Version: "0.1.0", Model: "anthropic/sonnet", Platform: "linux",
		Tools:    []string{"bash", "edit_file", "glob", "grep", "list_dir", "read_file", "write_file"},
		Attended: true,
	}
}

func TestBuildIsSmallAndStable(t *testing.T) {
	got := Build(parts())
	if again := Build(parts()); again != got {
		t.Error("equal parts gave different prompts")
	}
	if len(got) > 3000 {
		t.Errorf("the prompt without instructions is %d bytes, want at most 3000", len(got))
	}
}

func TestBuildNamesOnlyOfferedTools(t *testing.T) {
	p := parts()
	p.Tools = []string{"read_file", "grep"}
	got := Build(p)
	for _, name := range []string{"bash", "edit_file", "glob", "list_dir", "old_string"} {
		if strings.Contains(got, name) {
			t.Errorf("the prompt names %q, which is not offered:\n%s", name, got)
		}
	}
}

func TestBuildCleansNames(t *testing.T) {
	p := parts()
	p.Model = "x/<evil>\u202e\x1b[31m"
	if got := Build(p); strings.ContainsAny(got, "\u202e\x1b<>") {
		t.Errorf("the prompt holds what the model's name smuggled in: %q", got)
	}
}

func TestInstructions(t *testing.T) {
	p := parts()
	long := strings.Repeat("é", instructionLimit-10)
	p.Instructions = []Instructions{
		{"AGENTS.md", "same"},
		{"CLAUDE.md", strings.Repeat("c", 100)},
		{"GARUDA.md", long},
		{"empty.md", " \n"},
	}
	got := Build(p)
	if !strings.Contains(got, long) {
		t.Error("the most important file was cut")
	}
	if strings.Contains(got, strings.Repeat("c", 11)) || !strings.Contains(got, "[cut here") {
		t.Error("the file beyond the limit was not cut to what was left")
	}
	if strings.Contains(got, "empty.md") {
		t.Error("an empty file is named")
	}
	p.Instructions = []Instructions{{"AGENTS.md", "tabs only"}, {"CLAUDE.md", "tabs only\n"}}
	if n := strings.Count(Build(p), "tabs only"); n != 1 {
		t.Errorf("a text that stands twice was included %d times", n)
	}
}
