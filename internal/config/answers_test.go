package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAddProjectRuleToNothing(t *testing.T) {
	p := newPlace(t)
	for _, rule := range []string{"bash(go test *)", `write_file("a\b")`, "bash(go test *)"} {
		if err := AddProjectRule(p.home, p.root, Rule{Text: rule}); err != nil {
			t.Fatal(err)
		}
	}
	file := UserProjectFile(p.home, p.root)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := `// Your own answers for one project ("always in this project").
{
  "permissions": {
    "allow": [
      "bash(go test *)",
      "write_file(\"a\\b\")",
    ],
  },
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	s, _ := p.load(p.options())
	if diff := cmp.Diff([]string{"bash(go test *)", `write_file("a\b")`}, texts(s.Permissions.Allow)); diff != "" {
		t.Error(diff)
	}
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700, file + ".lock": 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(path), info.Mode().Perm(), want)
		}
	}
}

// TestAddBoundRule: a rule that holds while its script is as it was gives way to the
// same rule for another state of it, and to the one for every state.
func TestAddBoundRule(t *testing.T) {
	p := newPlace(t)
	bound := func(c string) Rule {
		return Rule{Text: "bash(sh <a>.sh)", Files: map[string]string{"<a>.sh": "sha256:" + strings.Repeat(c, 64)}}
	}
	for i, tt := range []struct {
		add  Rule
		want []Rule
	}{
		{Rule{Text: "bash(x)"}, []Rule{{Text: "bash(x)"}}},
		{bound("0"), []Rule{{Text: "bash(x)"}, bound("0")}},
		{bound("0"), []Rule{{Text: "bash(x)"}, bound("0")}},
		{bound("1"), []Rule{{Text: "bash(x)"}, bound("1")}},
		{Rule{Text: bound("1").Text}, []Rule{{Text: "bash(x)"}, {Text: bound("1").Text}}},
	} {
		if err := AddProjectRule(p.home, p.root, tt.add); err != nil {
			t.Fatal(err)
		}
		s, _ := p.load(p.options())
		got := slices.Clone(s.Permissions.Allow)
		for i := range got {
			got[i].Source, got[i].Line = Source{}, 0
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
}

func texts(rules []Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.Text)
	}
	return out
}

func TestAddProjectRuleKeepsTheFile(t *testing.T) {
	cases := []struct{ name, before, after string }{
		{"comments", "{ // top\n  /* list */ \"permissions\": {\"allow\": [\n      \"a\", // why a\n      // the end\n    ]}, \"mode\": \"plan\" }",
			"{ // top\n  /* list */ \"permissions\": {\"allow\": [\n      \"a\", // why a\n      // the end\n      \"new\",\n    ]}, \"mode\": \"plan\" }"},
		{"no trailing comma", "{\"permissions\": {\"allow\": [\"a\" /* why */]}}",
			"{\"permissions\": {\"allow\": [\"a\", /* why */\n      \"new\",\n    ]}}"},
		{"no list yet", "{\n  \"permissions\": {\n    \"deny\": [\"x\"]\n  }\n}\n",
			"{\n  \"permissions\": {\n    \"deny\": [\"x\"],\n    \"allow\": [\n      \"new\",\n    ],\n  }\n}\n"},
		{"no permissions yet", "{}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"new\",\n    ],\n  },\n}"},
		{"there already", "{\"permissions\":{\"allow\":[ \"new\"]}}", "{\"permissions\":{\"allow\":[ \"new\"]}}"},
		{"there with a hash", `{"permissions":{"allow":[{"rule":"new","files":{}}]}}`, "{\"permissions\":{\"allow\":[{\"rule\":\"new\",\"files\":{}},\n      \"new\",\n    ]}}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			after, err := withRule([]byte(c.before), Rule{Text: "new"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAddProjectRuleChangesNothingElse draws files and wants every setting but
// the new rule to stay as it was.
func TestAddProjectRuleChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := func(text []byte) *Settings {
			found, _, err := decode(text, Source{})
			if err != nil {
				t.Fatal(err)
			}
			s := Defaults()
			for _, e := range found {
				e.change.set(s, Source{})
			}
			return s
		}
		file := []byte(encode(validFile(t, 5)))
		before := load(file)
		text, err := withRule(file, Rule{Text: "the new rule"})
		if err != nil {
			t.Fatal(err)
		}
		after := load(text)
		last := len(after.Permissions.Allow) - 1
		if last < 0 || after.Permissions.Allow[last].Text != "the new rule" {
			t.Fatalf("the rule is not the last of %v", after.Permissions.Allow)
		}
		again, err := withRule(text, Rule{Text: "the new rule"})
		if err != nil || string(again) != string(text) {
			t.Fatalf("a second time changed the file: %v", err)
		}
		after.Permissions.Allow = after.Permissions.Allow[:last]
		if diff := same(before, after); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAddProjectRuleLeavesABrokenFileAlone(t *testing.T) {
	p := newPlace(t)
	p.userProject(`{"permissions": `)
	err := AddProjectRule(p.home, p.root, Rule{Text: "bash(x)"})
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("error is %v", err)
	}
	got, err := os.ReadFile(UserProjectFile(p.home, p.root))
	if err != nil || string(got) != `{"permissions": ` {
		t.Errorf("file is %q, %v", got, err)
	}
	if err := AddProjectRule(p.home, p.root, Rule{Text: "a\nb"}); err == nil {
		t.Error("a rule of two lines was taken")
	}
}

func TestAddProjectRuleFromManyProcesses(t *testing.T) {
	p := newPlace(t)
	const many = 20
	var wg sync.WaitGroup
	errs := make([]error, many)
	for i := range many {
		wg.Go(func() { errs[i] = AddProjectRule(p.home, p.root, Rule{Text: fmt.Sprintf("bash(%02d)", i)}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	s, _ := p.load(p.options())
	got := texts(s.Permissions.Allow)
	slices.Sort(got)
	if len(got) != many || got[0] != "bash(00)" || got[many-1] != "bash(19)" {
		t.Errorf("rules are %v", got)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(UserProjectFile(p.home, p.root)), ".settings-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}
