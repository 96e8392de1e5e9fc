package memory

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/testkit/tooltest"
)

type args = tooltest.Args

func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[rememberInput](t, remember{}.Spec(), 390)
	tooltest.CheckSpec[recallInput](t, recall{}.Spec(), 240)
	tooltest.CheckSpec[forgetInput](t, forget{}.Spec(), 200)
}

func TestRememberRecallForget(t *testing.T) {
	p := newPlace(t)
	s := p.store(t)
	must := func(tl int, in args) string {
		t.Helper()
		return tooltest.MustRun(t, nil, New(s)[tl], in)
	}
	for _, tc := range []struct {
		tool int
		in   args
		want string
	}{
		{1, args{}, "Nothing is remembered of this project."},
		{0, args{"text": "sh test.sh runs the tests", "kind": "command"}, "Remembered, for the next session on: - [command] sh test.sh runs the tests"},
		{0, args{"text": " The API\n is  frozen "}, "Remembered, for the next session on: - [fact] The API is frozen"},
		{1, args{}, "- [fact] The API is frozen\n- [command] sh test.sh runs the tests"},
		{1, args{"query": "TESTS sh"}, "- [command] sh test.sh runs the tests"},
		{1, args{"query": "command"}, "- [command] sh test.sh runs the tests"},
		{1, args{"query": "tests frozen"}, "None of 2 facts has all of these words: tests, frozen. Try fewer, or none for the newest."},
		{2, args{"text": "api IS"}, "Forgot 1 fact:\n- [fact] The API is frozen"},
		{1, args{}, "- [command] sh test.sh runs the tests"},
	} {
		if got := must(tc.tool, tc.in); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.in, got, tc.want)
		}
	}
	if got := p.read(t); got != "- [command] sh test.sh runs the tests\n" {
		t.Errorf("%q", got)
	}
	m, err := p.store(t).Load() // another session
	if err != nil {
		t.Fatal(err)
	}
	want := []Fact{{Kind: "command", Text: "sh test.sh runs the tests", Hits: 2, Trusted: true}}
	if d := cmp.Diff(want, m.Facts); d != "" {
		t.Error(d)
	}
}

func TestRecallShowsTheNewest(t *testing.T) {
	p := newPlace(t)
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "- [fact] number %d\n", i)
	}
	p.write(t, b.String())
	s := p.store(t)
	yes(t, s)
	got := tooltest.MustRun(t, nil, recall{s}, args{"query": "number"})
	if !strings.HasPrefix(got, "The newest 15 of 40 facts; more words find fewer:\n- [fact] number 39\n") || !strings.HasSuffix(got, "number 25") {
		t.Error(got)
	}
	m, _ := s.Load()
	if m.Facts[39].Hits != 1 || m.Facts[24].Hits != 0 {
		t.Errorf("counted %d and %d", m.Facts[39].Hits, m.Facts[24].Hits)
	}
}

// Wrong calls, and what the model is told.
func TestRefusals(t *testing.T) {
	p := newPlace(t)
	p.write(t, "- [fact] Uses pnpm.\n- [command] ls -R\n")
	s := p.store(t)
	yes(t, s)
	for _, tc := range []struct{ name, tool, in, want string }{
		{"no text", "remember", `{}`, "Error: remember failed: text is missing; give text, and if you like kind"},
		{"an empty one", "remember", `{"text":" \n"}`, "Error: remember failed: the text is empty; say one fact in a sentence"},
		{"too long", "remember", `{"text":"` + strings.Repeat("a", 401) + `"}`, "Error: remember failed: the text has 401 characters, and a fact at most 400; shorten it, or remember several facts"},
		{"known", "remember", `{"text":"uses  PNPM","kind":"decision"}`, "Error: remember failed: it is remembered already: - [fact] Uses pnpm."},
		{"another command", "remember", `{"text":"ls -r","kind":"command"}`, ""},
		{"an unknown kind", "remember", `{"text":"a","kind":"todo"}`, `Error: remember failed: kind is "todo", want fact, decision, gotcha or command`},
		{"another name", "remember", `{"fact":"it works","category":"gotcha"}`, ""},
		{"a misspelt name", "remember", `{"txt":"it works"}`, `Error: remember failed: remember has no field "txt"; did you mean "text"?`},
		{"hidden characters", "remember", `{"text":"a\u202eb"}`, "Error: remember failed: the text holds characters that nobody would see: a[U+202E]b"},
		{"a secret", "remember", `{"text":"the key is sk-ant-` + strings.Repeat("a1B2", 8) + `"}`,
			"Error: remember failed: the text holds what looks like a secret, and the memory is a plain file of the project; say where the secret is kept instead"},
		{"nothing to forget", "forget", `{"text":"yarn"}`, `Error: forget failed: none of 2 facts holds "yarn"; recall shows what is remembered`},
		{"all of it", "forget", `{"text":" "}`, "Error: forget failed: the text is too short to say which facts are meant; take some words of theirs"},
		{"recall by another name", "recall", `{"pattern":"pnpm"}`, ""},
	} {
		if got := tooltest.Refusal(t, nil, New(s), tc.tool, tc.in); got != tc.want {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
}

func TestAtMost300(t *testing.T) {
	p := newPlace(t)
	p.write(t, strings.Repeat("- [fact] a\n", 299)) // as a person may
	s := p.store(t)
	yes(t, s)
	tooltest.MustRun(t, nil, remember{s}, args{"text": "the last one"})
	tooltest.WantError(t, nil, remember{s}, args{"text": "one more"}, "300 facts are remembered, the most there may be; forget what is out of date first")
}

func TestForgetDeletesWhatWasShown(t *testing.T) {
	p := newPlace(t)
	p.write(t, "# Ours\n- [fact] one of a\n- [fact] two of a\r\nwords\n")
	s := p.store(t)
	plan, err := forget{s}.Plan(t.Context(), nil, []byte(`{"text":"of a"}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := "-- [fact] one of a\n-- [fact] two of a"; plan.Preview != want || !plan.Destructive || plan.ReadOnly {
		t.Errorf("%+v", plan)
	}
	p.write(t, "# Ours\n- [fact] one of a\n- [fact] two of a\r\nwords\n- three of a\n")
	in := plan.Input.(*forgetPlan)
	if err := s.remove(t.Context(), in.lower, in.facts); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("%v", err)
	}
	tooltest.MustRun(t, nil, forget{s}, args{"text": "of a"})
	if got := p.read(t); got != "# Ours\nwords\n" {
		t.Errorf("%q", got)
	}
}

// Several processes at once lose nothing.
func TestConcurrent(t *testing.T) {
	p := newPlace(t)
	var wg sync.WaitGroup
	const n = 12
	for i := range n {
		s := p.store(t)
		wg.Go(func() {
			if _, err := tooltest.Run(nil, remember{s}, args{"text": fmt.Sprintf("number %d of them", i)}); err != nil {
				t.Error(err)
			}
			if _, err := tooltest.Run(nil, recall{s}, args{"query": "number"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	trusted, foreign := load(t, p.store(t))
	if got := strings.Count(trusted, "number"); got != n || foreign != "" {
		t.Errorf("%d facts, and %q", got, foreign)
	}
	entries, err := os.ReadDir(p.path("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".tmp-") {
			t.Errorf("%s was left", e.Name())
		}
	}
}
