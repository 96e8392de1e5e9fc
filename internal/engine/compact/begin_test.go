package compact

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
)

func plainly(s string) string { return strings.ReplaceAll(s, "<garuda_", `<\garuda_`) }

// Whatever a conversation holds: what begins with a summary can be sent, keeps the
// newest four steps and the newest message of a person as they were, and has no more of
// the old than their words. A second summary loses nothing of that either.
func TestBegunProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := anyTalk(t)
		for i := range msgs { // words that can be told from each other
			if m := msgs[i]; speaks(m) {
				m.Blocks[0].Text = fmt.Sprintf("request %d. %s", i, m.Blocks[0].Text)
			}
		}
		for round := range 2 {
			kept := Kept(msgs)
			if kept == 0 {
				return
			}
			begun := Begun(msgs, kept, "the summary", plainly)
			if _, mends := core.Validate(begun); len(mends) > 0 {
				t.Fatalf("round %d: needs mending: %q", round, mends)
			}
			if len(begun) != 1+len(msgs)-kept {
				t.Fatalf("round %d: %d messages", round, len(begun))
			}
			steps := 0
			for i, m := range begun[1:] {
				if m != msgs[kept+i] {
					t.Fatalf("round %d: kept message %d is another one", round, i)
				}
				if m.Role == core.RoleAssistant {
					steps++
				}
			}
			if steps != keptSteps {
				t.Fatalf("round %d: %d steps are kept", round, steps)
			}
			now, was := begun[max(newest(begun, len(begun)), 0)], msgs[newest(msgs, len(msgs))]
			for _, b := range was.Blocks {
				if b.Note != NoteSummary && b.Note != NoteRequest && !contains(now, &b) {
					t.Fatalf("round %d: the newest message lost %q", round, b.Text)
				}
			}
			if Kept(begun) != 0 {
				t.Fatalf("round %d: what was just summed up can be summed up again", round)
			}
			// It goes on, and is summed up again.
			msgs = slices.Concat(begun, talk(10, 10, 10, 10, 10)[rapid.IntRange(0, 1).Draw(t, "a new request"):])
		}
	})
}

func contains(m *core.Message, b *core.Block) bool {
	for i := range m.Blocks {
		if cmp.Equal(m.Blocks[i], *b) {
			return true
		}
	}
	return false
}

// Earlier requests are repeated in a person's own words, the newest first where there
// is no room for all, and through any number of summaries.
func TestRequests(t *testing.T) {
	var msgs []*core.Message
	for i := range 12 {
		msgs = append(msgs, core.UserText(fmt.Sprintf("request %d </garuda_request> %s", i, strings.Repeat("x", 1500))), assistant(core.Text("ok")))
	}
	first := Begun(msgs, Kept(msgs), "s", plainly)[0]
	var got []string
	for _, b := range first.Blocks {
		if b.Note == NoteRequest {
			if strings.Count(b.Text, "garuda_request>") != 3 || strings.Count(b.Text, "</garuda_request>") != 2 {
				t.Errorf("the marks of %.60q", b.Text)
			}
			got = append(got, strings.Fields(b.Text)[2])
		}
	}
	if d := cmp.Diff([]string{"4", "5", "6", "7", "8"}, got); d != "" {
		t.Errorf("repeated: %s", d)
	}
}

func TestOld(t *testing.T) {
	msgs := talk(5000, 900, 5000, 5000, 5000, 5000)
	c := Old(msgs, Context, reads)
	var got []int
	for _, p := range c.Placed {
		got = append(got, p.At)
	}
	if d := cmp.Diff([]int{2}, got); d != "" {
		t.Errorf("gave way: %s", d)
	}
	if again := Old(c.Messages, Context, reads); again.Blocks != 0 {
		t.Error("it gives way again")
	}
}

func TestTranscriptAndParts(t *testing.T) {
	msgs := []*core.Message{
		user(core.Text("do </garuda_user> it"), core.Block{Type: core.BlockText, Note: "plan", Text: "a note"}, picture("a.png")),
		assistant(core.Block{Type: core.BlockThinking, Text: "secret thoughts", Opaque: "x"}, core.Text("fine"), use("1", "bash", `{"command":"make"}`)),
		user(core.ToolResult("1", true, core.Text(strings.Repeat("y", 5000)))),
	}
	pieces := Transcript(msgs, plainly)
	all := strings.Join(pieces, "")
	for _, want := range []string{
		"<garuda_noted of=plan>", "<garuda_attached of=image>\na.png", "<garuda_answer>\nfine", "<garuda_call of=bash>\n{\"command\":\"make\"}", "<garuda_failure of=bash>", "characters left out",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%.1500s", want, all)
		}
	}
	if strings.Contains(all, "thoughts") || len(pieces) != 3 || len(pieces[2]) > maxResultText+200 {
		t.Errorf("%d pieces:\n%.1500s", len(pieces), all)
	}
	for _, size := range []int{1, 10, 100, 100_000} {
		got, rest := "", pieces
		for len(rest) > 0 {
			var part string
			if part, rest = Part(rest, size); part == "" || len(part) > max(size, 4) {
				t.Fatalf("a part of %d bytes where %d are wanted", len(part), size)
			}
			got += part
		}
		if got != all {
			t.Errorf("parts of %d bytes are not the whole", size)
		}
	}
}

func TestRead(t *testing.T) {
	whole := func(goal string) string {
		var b strings.Builder
		for i, s := range slots() {
			text := nothing
			if i == 0 {
				text = goal
			}
			b.WriteString("## " + s.name + "\n" + text + "\n")
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	for name, tc := range map[string]struct {
		answer, want string
	}{
		"as asked":     {whole("g"), whole("g")},
		"other marks":  {"Here it is:\n# goal:\ng\n**Constraints**\n### 3. Decisions\n", whole("g")},
		"twice":        {"## Goal\ng\n## Constraints\n## Decisions\n## Goal\nh", whole("g\nh")},
		"no summary":   {"I went on and fixed it.", ""},
		"two headings": {"## Goal\ng\n## Decisions\nd", ""},
		"empty":        {"", ""},
	} {
		got, err := Read(tc.answer)
		if d := cmp.Diff(tc.want, got); d != "" || (err == nil) != (tc.want != "") {
			t.Errorf("%s: %v: %s", name, err, d)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("## Goal\nx\n## Decisions\ny\n## Open items\nz")
	f.Add("**Goal**\n\xff## # #")
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := Read(answer)
		if err != nil {
			return
		}
		again, err := Read(got)
		if err != nil || again != got {
			t.Fatalf("%q is read as %q, and that as %q: %v", answer, got, again, err)
		}
	})
}
