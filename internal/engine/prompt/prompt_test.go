package prompt

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
		{Name: "AGENTS.md", Text: "same", Rank: 2},
		{Name: "CLAUDE.md", Text: strings.Repeat("c", 100), Rank: 3},
		{Name: "GARUDA.md", Text: long, Rank: 1},
		{Name: "empty.md", Text: " \n"},
	}
	got := Build(p)
	if !strings.Contains(got, long) {
		t.Error("the most important file was cut")
	}
	if strings.Contains(got, strings.Repeat("c", 7)) || !strings.Contains(got, "[cut here") {
		t.Error("the file beyond the limit was not cut to what was left")
	}
	if strings.Contains(got, "empty.md") {
		t.Error("an empty file is named")
	}
	p.Instructions = []Instructions{{Name: "AGENTS.md", Text: "tabs only"}, {Name: "CLAUDE.md", Text: "tabs only\n"}}
	if n := strings.Count(Build(p), "tabs only"); n != 1 {
		t.Errorf("a text that stands twice was included %d times", n)
	}
}

var update = flag.Bool("update", false, "write the prompts of testdata anew")

// The prompts of testdata are whole ones: who changes a word sees what every session
// of everybody gets from then on.
func TestGolden(t *testing.T) {
	all := parts()
	all.Notes = []string{"Go: go build ./... and go test ./..."}
	all.Instructions = []Instructions{
		{Name: "the user's AGENTS.md", Text: "Answer in French.\n", User: true},
		{Name: "../AGENTS.md", Text: "tabs", Rank: 2}, {Name: "GARUDA.md", Text: "spaces", Rank: 1},
	}
	all.Memory = []Fact{{Kind: "fact", Text: "the port is 8080"}}
	few := Parts{Root: "/p", Version: "1", Model: "a/m", Platform: "linux", Tools: []string{"read_file"}}
	for name, p := range map[string]Parts{"all": all, "few": few} {
		file, got := "testdata/"+name+".txt", Build(p)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: the prompt is another one (-want +got; -update writes it anew):\n%s", name, d)
		}
	}
}

// Whatever a project's files hold, no more is told than the limit, and it takes nothing
// from what is the user's own.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var files []Instructions
		var texts [][]rune
		own, all := 0, 0
		for range rapid.IntRange(0, 8).Draw(t, "files") {
			f := Instructions{Rank: rapid.IntRange(0, 4).Draw(t, "rank"), User: rapid.Bool().Draw(t, "user")}
			n := rapid.IntRange(0, 50_000).Draw(t, "size")
			if all += n; f.User {
				own += n
			}
			files, texts = append(files, f), append(texts, make([]rune, n))
		}
		told, ofUser := 0, 0
		for i, n := range shares(files, texts) {
			if n < 0 || n > len(texts[i]) {
				t.Fatalf("%d of %d characters", n, len(texts[i]))
			}
			if told += n; files[i].User {
				ofUser += n
			}
		}
		if told != min(all, instructionLimit) {
			t.Fatalf("%d of %d characters are told", told, all)
		}
		if ofUser < min(own, userShare) {
			t.Fatalf("%d of the user's %d characters are told", ofUser, own)
		}
	})
}
