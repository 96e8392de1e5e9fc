package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// place is a home folder and a project to load from.
type place struct {
	t                    *testing.T
	userHome, home, root string
}

func newPlace(t *testing.T) *place {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, filepath.Join(dir, "home"), filepath.Join(dir, "home", ".garuda"), filepath.Join(dir, "project")}
	for _, d := range []string{p.home, filepath.Join(p.root, ".garuda")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) user(text string) { p.write(filepath.Join(p.home, "settings.json"), text) }
func (p *place) project(text string) {
	p.write(filepath.Join(p.root, ".garuda", "settings.json"), text)
}
func (p *place) userProject(text string) {
	p.write(UserProjectFile(p.home, p.root), text)
}

func (p *place) options() Options {
	return Options{Home: p.home, UserHome: p.userHome, Root: p.root}
}

func (p *place) load(o Options) (*Settings, []string) {
	p.t.Helper()
	s, notices, err := Load(o)
	if err != nil {
		p.t.Fatal(err)
	}
	var texts []string
	for _, n := range notices {
		texts = append(texts, n.String())
	}
	return s, texts
}

// same compares settings by their values, not by where they came from.
func same(a, b *Settings) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Settings{}), cmpopts.IgnoreFields(Rule{}, "Source", "Line"), cmpopts.EquateEmpty())
}

func TestNoFilesGiveTheDefaults(t *testing.T) {
	p := newPlace(t)
	s, notices := p.load(p.options())
	if diff := same(Defaults(), s); diff != "" || len(notices) > 0 {
		t.Error(diff, notices)
	}
	want := Limits{MaxSteps: 50, TokenBudget: 20_000_000, CommandTimeoutMs: 120_000}
	if diff := cmp.Diff(want, s.Limits); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"core", "edit", "git", "web"}, s.ToolSets); diff != "" {
		t.Error(diff)
	}
	if s.Mode != "build" || s.Executor != "auto" || s.Strict || !s.Undo || !s.Audit.Checkpoint || s.MoE.Enabled {
		t.Errorf("%+v", s)
	}
}

func TestOrderOfSources(t *testing.T) {
	p := newPlace(t)
	p.project(`{"limits": {"maxSteps": 40, "commandTimeoutMs": 5000}, "permissions": {"deny": ["bash(a)"]}, "mode": "plan"}`)
	p.user("\ufeff// mine\n" + `{"limits": {"maxSteps": 60,}, "permissions": {"allow": ["bash(b)"], "deny": ["bash(c)"]}, "toolSets": ["code", "-web"]}`)
	p.userProject(`{"permissions": {"allow": [{"rule": "bash(d)", "match": ["d"]}]}, "limits": {"maxSteps": 70}, "toolSets": ["edit-plus", "web"]}`)
	extra := filepath.Join(p.root, "extra.json")
	p.write(extra, `{"executor": "os", "limits": {"maxSteps": 80}}`)
	o := p.options()
	o.File = extra
	o.Flags = []FlagValue{{"--executor", "executor", "host"}, {"--allow", "permissions.allow", "bash(e)"}, {"--deny", "permissions.deny", "bash(f)"}}
	s, notices := p.load(o)

	if len(notices) > 0 {
		t.Error(notices)
	}
	if diff := cmp.Diff(Limits{MaxSteps: 80, TokenBudget: 20_000_000, CommandTimeoutMs: 5000}, s.Limits); diff != "" {
		t.Error(diff)
	}
	if s.Mode != "plan" || s.Executor != "host" {
		t.Error(s.Mode, s.Executor)
	}
	if diff := cmp.Diff([]string{"core", "git", "code", "edit", "web"}, s.ToolSets); diff != "" {
		t.Error(diff)
	}
	mine := Source{UserProject, "~/.garuda/projects/" + RootKey(p.root) + "/settings.json"}
	want := Permissions{
		Allow: []Rule{
			{Text: "bash(b)", Source: Source{User, "~/.garuda/settings.json"}, Line: 2},
			{Text: "bash(d)", Match: []string{"d"}, Source: mine, Line: 1},
			{Text: "bash(e)", Source: Source{Flag, "--allow"}},
		},
		Deny: []Rule{
			{Text: "bash(a)", Source: Source{Project, "project .garuda/settings.json"}, Line: 1},
			{Text: "bash(c)", Source: Source{User, "~/.garuda/settings.json"}, Line: 2},
			{Text: "bash(f)", Source: Source{Flag, "--deny"}},
		},
	}
	if diff := cmp.Diff(want, s.Permissions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Source{{File, extra}}, s.Sources("limits.maxSteps")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Source{{Project, "project .garuda/settings.json"}}, s.Sources("mode")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Source{{BuiltIn, "built-in"}}, s.Sources("limits.tokenBudget")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]SourceKind{User, UserProject, Flag}, kinds(s.Sources("permissions.allow"))); diff != "" {
		t.Error(diff)
	}
}

func kinds(sources []Source) []SourceKind {
	var out []SourceKind
	for _, s := range sources {
		out = append(out, s.Kind)
	}
	return out
}

func TestErrorsNameThePlace(t *testing.T) {
	const where = "read settings ~/.garuda/settings.json: "
	cases := []struct{ name, text, want string }{
		{"unknown key", "{\n  \"premissions\": {}\n}", `line 2, column 3: unknown key "premissions"; did you mean "permissions"?`},
		{"unknown key in a group", "{\"limits\": {\n\"maxStep\": 3}}", `line 2, column 1: unknown key "limits.maxStep"; did you mean "limits.maxSteps"?`},
		{"unknown key far from all", `{"zzzzzzzz": 1}`, `line 1, column 2: unknown key "zzzzzzzz"`},
		{"key in the wrong place", `{"maxSteps": 1}`, `line 1, column 2: unknown key "maxSteps"; did you mean "limits.maxSteps"?`},
		{"dotted key", `{"limits.maxSteps": 1}`, `line 1, column 2: unknown key "limits.maxSteps"; write it nested: {"limits": {"maxSteps": …}}`},
		{"unknown guard", `{"guard": {"rm-rot": "off"}}`, `line 1, column 12: unknown key "guard.rm-rot"; did you mean "guard.rm-root"?`},
		{"wrong case", `{"Model": "a/b"}`, `line 1, column 2: unknown key "Model"; did you mean "model"?`},
		{"group is a value", `{"limits": 3}`, `line 1, column 12: a number here, where an object belongs`},
		{"string for a number", `{"limits": {"maxSteps": "3"}}`, `line 1, column 25: a string here, where an integer belongs`},
		{"fraction", `{"limits": {"maxSteps": 1.5}}`, `line 1, column 25: 1.5 is not an integer`},
		{"below the least", `{"limits": {"maxSteps": 0}}`, `line 1, column 25: 0 is below 1, the least`},
		{"above the most", `{"subagents": {"maxSteps": 201}}`, `line 1, column 28: 201 is above 200, the most`},
		{"huge number", `{"limits": {"spendUsd": 1e999}}`, `line 1, column 25: "1e999" is not a number`},
		{"null", `{"mode": null}`, `line 1, column 10: null here, where one of build, plan, accept_edits belongs`},
		{"unknown word", `{"mode": "plam"}`, `line 1, column 10: "plam" is not one of build, plan, accept_edits; did you mean "plan"?`},
		{"unknown tool set", `{"toolSets": ["gti"]}`, `line 1, column 15: "gti" is not one of core, -core, edit, -edit, git, -git, web, -web, code, -code, tasks, -tasks, agents, -agents, more, -more, edit-plus, -edit-plus; did you mean "git"?`},
		{"characters, not bytes, are counted", `{"ui": {/* größer */"vim": 1}}`, `line 1, column 28: a number here, where true or false belongs`},
		{"one rule instead of a list", `{"permissions": {"allow": "x"}}`, `line 1, column 27: a string here, where a list of rules: "tool(pattern)", or {rule, match, notMatch, files} belongs`},
		{"rule without its text", `{"permissions": {"allow": [{}]}}`, `line 1, column 28: a rule without "rule"`},
		{"rule with more", `{"permissions": {"allow": [{"rule": "x", "mach": []}]}}`, `line 1, column 42: a rule has no "mach"; did you mean "match"?`},
		{"rule with a control character", `{"permissions": {"deny": ["a\u001b[2J"]}}`, `line 1, column 27: "a\x1b[2J" is not a rule`},
		{"not a variable", `{"env": {"allow": ["A B"]}}`, `line 1, column 20: "A B" is not a name of an environment variable`},
		{"not OTEL", `{"telemetry": {"PATH": "x"}}`, `line 1, column 16: "PATH" is not a name of an OTEL_ variable`},
		{"twice", `{"mode": "plan", "mode": "build"}`, `line 1, column 18: key "mode" stands here a second time`},
		{"broken", "{\n\"mode\": \"plan\"\n\"executor\"", `line 3, column 1: invalid character '"' after object value (expecting ',' or '}')`},
		{"broken after a wide character", "{/*é*/ 1", `line 1, column 8: invalid character '1' at start of object name`},
		{"empty", "", `line 1, column 1: parsing value: unexpected EOF`},
		{"not UTF-8", "{\"model\": \"\xff\"}", `line 1, column 12: the text is not UTF-8`},
		{"deep", strings.Repeat("[", 5000), `line 1, column 33: nested more than 32 levels deep`},
		{"a list", `[]`, `line 1, column 1: a list here, where an object belongs`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.user(c.text)
			_, _, err := Load(p.options())
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v", err)
			}
			if diff := cmp.Diff(where+c.want, e.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	p := newPlace(t)
	o := p.options()
	o.File = filepath.Join(p.userHome, "gone.json")
	if _, _, err := Load(o); err == nil || err.Error() != "read settings ~/gone.json: no such file or directory" {
		t.Errorf("--settings that is missing: %v", err)
	}
	p.user(`{"ui": {"statusLine": "` + strings.Repeat("x", maxFile) + `"}}`)
	if _, _, err := Load(p.options()); err == nil || err.Error() != "read settings ~/.garuda/settings.json: larger than 1 MB" {
		t.Errorf("large file: %v", err)
	}
}

func TestFlags(t *testing.T) {
	p := newPlace(t)
	o := p.options()
	for _, c := range []struct {
		flag FlagValue
		want string
	}{
		{FlagValue{"--executor", "executor", "hots"}, `--executor: "hots" is not one of auto, os, host; did you mean "host"?`},
		{FlagValue{"--max-turns", "limits.maxSteps", "0"}, `--max-turns: 0 is below 1, the least`},
		{FlagValue{"--max-turns", "limits.maxSteps", "many"}, `--max-turns: "many" is not a number`},
		{FlagValue{"--allow", "permissions.allow", ""}, `--allow: "" is not a rule`},
	} {
		o.Flags = []FlagValue{c.flag}
		if _, _, err := Load(o); err == nil || err.Error() != c.want {
			t.Errorf("%v: error is %v, want %s", c.flag, err, c.want)
		}
	}
	o.Flags = []FlagValue{{"--max-spend-usd", "limits.spendUsd", "0.5"}, {"--think", "thinking.effort", "high"}, {"--lsp", "lsp.enabled", "true"}}
	s, _ := p.load(o)
	if s.Limits.SpendUSD != 0.5 || s.Thinking.Effort != "high" || !s.LSP {
		t.Errorf("%+v", s)
	}
}

func TestOlderModelObject(t *testing.T) {
	p := newPlace(t)
	p.user(`{"model": {"contextWindow": 1000, "price": {"input": 0}}}`)
	s, notices := p.load(p.options())
	zero := 0.0
	if diff := cmp.Diff(ModelInfo{ContextWindow: 1000, Price: Price{Input: &zero}}, s.ModelInfo); diff != "" {
		t.Error(diff)
	}
	want := []string{`~/.garuda/settings.json, line 1: the object under "model" is read as "modelInfo"; please rename it`}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Error(diff)
	}
	p.user(`{"model": {"maxTokens": 1}}`)
	if _, _, err := Load(p.options()); err == nil {
		t.Error("an older object with a key it never had was taken")
	}
}

func TestValuesHideWhatMayHoldAPassword(t *testing.T) {
	p := newPlace(t)
	p.user(`{"jobs": {"databaseUrl": "postgres://u:hunter2@h/db"}, "telemetry": {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=hunter2"}, "model": "a/b"}`)
	s, _ := p.load(p.options())
	shown := map[string]string{}
	for _, v := range s.Values() {
		if strings.Contains(v.JSON, "hunter2") {
			t.Errorf("%s shows %s", v.Key, v.JSON)
		}
		shown[v.Key] = v.JSON
	}
	for key, want := range map[string]string{"model": `"a/b"`, "limits.maxSteps": "50", "limits.spendUsd": "", "jobs.databaseUrl": "<hidden>", "toolSets": `["core","edit","git","web"]`, "guard.rm-root": `"deny"`, "profile": ""} {
		if shown[key] != want {
			t.Errorf("%s shows %s, want %s", key, shown[key], want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"limits": {"maxSteps": 3}, /* c */ "permissions": {"deny": ["a", {"rule": "b"}]},}`)
	f.Add(`{"model": {"contextWindow": 1}}`)
	f.Add("{\"a\\u0000\": [[[{")
	f.Fuzz(func(t *testing.T, text string) {
		source := Source{User, "f"}
		found, _, err := decode([]byte(text), source)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v is not an *Error", err)
			}
			lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
			if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1])+1 {
				t.Fatalf("no such place: %v in %q", e, text)
			}
			return
		}
		with := Defaults()
		for _, e := range found {
			e.change.set(with, source)
			if e.change.tighten != nil {
				e.change.tighten(Defaults(), source)
			}
		}
		with.Values()
	})
}

// Without a home folder, files of the current folder must not pass for the user's.
func TestNoHomeReadsNoUserFiles(t *testing.T) {
	p := newPlace(t)
	p.write(filepath.Join(p.root, "settings.json"), `{"executor": "host"}`)
	p.write(filepath.Join(p.root, UserProjectFile("", p.root)), `{"executor": "host"}`)
	t.Chdir(p.root)
	s, _ := p.load(Options{Root: p.root})
	if s.Executor != "auto" {
		t.Error("a file of the project was read as the user's")
	}
	if err := AddProjectRule("", p.root, Rule{Text: "bash(x)"}); err == nil {
		t.Error("a rule was written without a home folder")
	}
}
