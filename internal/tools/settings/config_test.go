package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/config"
	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

// files keeps settings in a file, as the program does.
type files struct {
	settings *config.Settings
	home     string
}

func (c files) Settings() []Setting {
	var out []Setting
	values := c.settings.Values()
	for i, k := range config.Keys() {
		s := Setting{Key: k.Name, JSON: values[i].JSON, Type: k.Type, Meaning: k.Meaning, Unit: k.Unit}
		for _, from := range values[i].Sources {
			s.Sources = append(s.Sources, Source{
				Name: from.Name, BuiltIn: from.Kind == config.BuiltIn, Other: from.Kind != config.BuiltIn && from.Kind != config.User,
			})
		}
		out = append(out, s)
	}
	return out
}

func (c files) Check(key string, value []byte) error { return config.CheckValue(key, value) }
func (c files) Set(key string, value []byte) error   { return config.SetUser(c.home, key, value) }
func (c files) CanSet() bool                         { return c.home != "" }

func load(t *testing.T, text string, flags ...config.FlagValue) (files, []tool.Tool) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(config.UserFile(home), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, err := config.Load(config.Options{Home: home, UserHome: filepath.Dir(home), Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	store := files{s, home}
	o := Options{
		Store: store, Shown: "~/.garuda/settings.json",
		Redact: func(text string) string { return strings.ReplaceAll(text, "sk-secret", "[hidden]") },
	}
	return store, []tool.Tool{New(o)}
}

func TestSpec(t *testing.T) {
	_, tools := load(t, "{}")
	tooltest.CheckSpec[input](t, tools[0].Spec(), 420)
}

func TestRead(t *testing.T) {
	_, tools := load(t, `{"thinking": {"effort": "low"}, "jobs": {"databaseUrl": "postgres://u:hunter2@h/d"}, "telemetry": {"OTEL_EXPORTER_OTLP_HEADERS": "key=hunter2"},
		"permissions": {"allow": ["bash(curl -H sk-secret *)"]}, "env": {"allow": ["MY_TOKEN"]}}`)
	for _, tc := range []struct{ in, want string }{
		{`{"key":"thinking.effort"}`, "thinking.effort: \"low\" (~/"},
		{`{"key":"thinking.effort"}`, "one of "},
		{`{"key":"thinking"}`, "thinking.show: false (built-in)"},
		{`{"key":"thinking","value":null}`, "thinking.effort: \"low\""},
		{`{"key":"env.allow"}`, `["MY_TOKEN"]`},
		{`{}`, "permissions.allow: "},
		{`{"key":"jobs.databaseUrl"}`, "<hidden>"},
		{`{"key":"telemetry"}`, "<hidden>"},
	} {
		got := tooltest.Call(t, nil, tools, "config", tc.in)
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q is missing in\n%s", tc.in, tc.want, got)
		}
		if strings.Contains(got, "hunter2") || strings.Contains(got, "sk-secret") {
			t.Errorf("%s shows a secret:\n%s", tc.in, got)
		}
	}
}

func TestSet(t *testing.T) {
	store, tools := load(t, "{\n  // mine\n  \"thinking\": {\"effort\": \"low\"}\n}\n", config.FlagValue{Flag: "--think", Key: "thinking.effort", Text: "max"})
	want := `Set thinking.effort to "high" in ~/.garuda/settings.json. It has effect from the next start of Garuda. --think says something of it too, and may count before it.`
	if got := tooltest.Call(t, nil, tools, "config", `{"setting":"thinking.effort","value":"high"}`); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := tooltest.Call(t, nil, tools, "config", `{"key":"todo.enabled","value":"true"}`); !strings.HasPrefix(got, "Set todo.enabled to true in ") {
		t.Error(got)
	}
	text, err := os.ReadFile(config.UserFile(store.home))
	if err != nil || !strings.Contains(string(text), "// mine\n  \"thinking\": {\"effort\": \"high\"}") || !strings.Contains(string(text), `"enabled": true`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// Reading is free; a change is asked about, and says what it would do.
func TestClasses(t *testing.T) {
	_, tools := load(t, `{"ui": {"vim": false}}`)
	// The tool's own class is what a rule is for, and what a crash leaves uncertain.
	if class := tools[0].Spec().Class; class != tool.ClassInput {
		t.Errorf("the class is %s", class)
	}
	plan, err := tools[0].Plan(t.Context(), nil, []byte(`{"key":"ui.vim","value":true}`))
	if err != nil || plan.Class != "" || !plan.Each || plan.ReadOnly || plan.Preview != "false → true\nin ~/.garuda/settings.json" || plan.Target != "ui.vim" {
		t.Errorf("%+v, %v", plan, err)
	}
	plan, err = tools[0].Plan(t.Context(), nil, []byte(`{"key":"ui"}`))
	if err != nil || plan.Class != tool.ClassRead || !plan.ReadOnly {
		t.Errorf("%+v, %v", plan, err)
	}
}

// Of every key of the table those can be set that may be, and no others.
func TestSettable(t *testing.T) {
	got := map[string]bool{}
	for _, k := range config.Keys() {
		if canSet(k.Name) {
			group, _, _ := strings.Cut(k.Name, ".")
			got[group] = true
			if k.Name == "ui.statusLine" || k.Name == "subagents.model" || k.Name == "mode" {
				t.Errorf("%s can be set", k.Name)
			}
		}
	}
	if len(got) != 7 {
		t.Errorf("settable are %v", got)
	}
}

// What a model gets for the calls that go wrong.
func TestTeaches(t *testing.T) {
	store, tools := load(t, "{}")
	const only = ", only thinking, notifications, ui, todo.enabled, lsp.enabled, subagents.enabled, toolSets can; tell the user what to write into ~/.garuda/settings.json"
	for _, tc := range []struct{ in, want string }{
		{`{"key":"thinking.efort"}`, `there is no setting "thinking.efort"; did you mean "thinking.effort"?`},
		{`{"key":"effort","value":"low"}`, `there is no setting "effort"; did you mean "thinking.effort"?`},
		{`{"key":"thinkin"}`, `there is no setting "thinkin"; did you mean "thinking"?`},
		{`{"key":"permissions.allow","value":["bash"]}`, `permissions.allow can be read here but not set` + only},
		{`{"key":"mode","value":"accept_edits"}`, `mode can be read here but not set` + only},
		{`{"key":"ui.statusLine","value":"curl x"}`, `ui.statusLine can be read here but not set` + only},
		{`{"key":"subagents.model","value":"a/b"}`, `subagents.model can be read here but not set` + only},
		{`{"key":"thinking","value":{"effort":"low"}}`, `thinking is a group; set one of thinking.enabled, thinking.effort, thinking.show, thinking.keepBlocks`},
		{`{"key":"thinking.effort","value":"hgh"}`, `thinking.effort takes one of off, low, medium, high, xhigh, max: "hgh" is not one of off, low, medium, high, xhigh, max; did you mean "high"?`},
		{`{"key":"ui.vim","value":"yes"}`, `ui.vim takes true or false: a string here, where true or false belongs`},
		{`{"value":true}`, `value without key: say which setting it is for`},
		{`{"keys":"ui"}`, `config has no field "keys"; did you mean "key"?`},
	} {
		if got := tooltest.Call(t, nil, tools, "config", tc.in); got != "Error: config failed: "+tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.in, got, tc.want)
		}
	}
	if text, err := os.ReadFile(config.UserFile(store.home)); err != nil || string(text) != "{}" {
		t.Errorf("the file was changed: %s, %v", text, err)
	}
}

// The chat's line counts what was read.
func TestSummary(t *testing.T) {
	_, tools := load(t, "{}")
	for key, want := range map[string]string{"ui.vim": "1 setting", "limits": "settings"} {
		out, err := tools[0].Run(t.Context(), &tool.Call{Plan: &tool.Plan{Input: key}})
		if err != nil || !strings.HasSuffix(out.Summary, want) {
			t.Errorf("%s: %+v, %v", key, out, err)
		}
	}
}
