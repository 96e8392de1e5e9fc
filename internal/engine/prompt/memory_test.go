package prompt

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMemory(t *testing.T) {
	p := parts()
	without := Build(p)
	p.Memory = []Fact{{"fact", "oldest", 0}, {"command", "often", 3}, {"gotcha", "often too", 3}, {"decision", "newest", 0}}
	got, ok := strings.CutPrefix(Build(p), without)
	want := "\nRemembered of this project in earlier sessions; it may be out of date, so check what you build on:\n\n" +
		"- [gotcha] often too\n- [command] often\n- [decision] newest\n- [fact] oldest\n"
	if !ok || got != want {
		t.Errorf("%q", got)
	}
	if again := Build(p); again != without+got {
		t.Error("equal parts gave different prompts")
	}
}

func TestMemoryIsCut(t *testing.T) {
	p := parts()
	without := Build(p)
	for i := range 300 {
		p.Memory = append(p.Memory, Fact{"fact", fmt.Sprintf("%03d %s", i, strings.Repeat("ä", 385)), 0})
	}
	got := strings.TrimPrefix(Build(p), without)
	_, facts, _ := strings.Cut(got, "\n\n")
	if n := utf8.RuneCountInString(facts); n > memoryLimit+100 || n < memoryLimit-400 {
		t.Errorf("%d characters of facts", n)
	}
	if !strings.HasPrefix(facts, "- [fact] 299 ") || !strings.HasSuffix(facts, "\n[280 more are not shown here]\n") {
		t.Errorf("%.40q … %q", facts, facts[len(facts)-60:])
	}
	p.Tools = append(p.Tools, "recall")
	if !strings.HasSuffix(Build(p), "[280 more are not shown here; recall finds them]\n") {
		t.Error("recall is not named")
	}
}
