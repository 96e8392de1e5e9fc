package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// strictness ranks the values of every key that a project may make stricter: a
// higher number is stricter. It is written from the product's description and not
// from the table, so that a slip there shows here.
func strictness(s *Settings) map[string]float64 {
	off := func(on bool) float64 {
		if on {
			return 0
		}
		return 1
	}
	below := func(limit float64) float64 {
		if limit == 0 {
			return -1e18 // no limit at all
		}
		return -limit
	}
	word := func(w string, loosest ...string) float64 { return float64(slices.Index(loosest, w)) }
	out := map[string]float64{
		"mode":                    word(s.Mode, "accept_edits", "build", "plan"),
		"executor":                word(s.Executor, "host", "auto", "os"),
		"profile":                 1 - off(s.Strict),
		"web.enabled":             off(s.Web.Enabled),
		"web.allowLocalhost":      off(s.Web.AllowLocalhost),
		"limits.maxSteps":         below(float64(s.Limits.MaxSteps)),
		"limits.tokenBudget":      below(float64(s.Limits.TokenBudget)),
		"limits.spendUsd":         below(s.Limits.SpendUSD),
		"limits.commandTimeoutMs": below(float64(s.Limits.CommandTimeoutMs)),
		"subagents.enabled":       off(s.Subagents.Enabled),
		"subagents.maxSteps":      below(float64(s.Subagents.MaxSteps)),
		"subagents.tokenBudget":   below(float64(s.Subagents.TokenBudget)),
		"moe.enabled":             off(s.MoE.Enabled),
		"moe.maxSteps":            below(float64(s.MoE.MaxSteps)),
		"moe.tokenBudget":         below(float64(s.MoE.TokenBudget)),
		"daemons.enabled":         off(s.Daemons),
		"skills.enabled":          off(s.Skills),
		"agents.enabled":          off(s.AgentFiles),
		"commands.enabled":        off(s.Commands),
		"hooks.enabled":           off(s.Hooks),
		"mcp.enabled":             off(s.MCP),
		"shell.mode":              word(s.ShellMode, "direct", "staged"),
	}
	for _, g := range s.Guard {
		out["guard."+g.ID] = word(g.Level, "off", "ask", "deny")
	}
	return out
}

// untouchable are the values that a project may not set at all in this version.
func untouchable(s *Settings) map[string]any {
	return map[string]any{
		"model": s.Model, "subagents.model": s.Subagents.Model, "toolSets": s.ToolSets,
		"modelInfo.maxTokens": s.ModelInfo.MaxTokens, "sandbox.writePaths": s.Sandbox.WritePaths,
		"sandbox.allowUnixSockets": s.Sandbox.AllowUnixSockets, "sandbox.allowLocalhostPorts": s.Sandbox.AllowLocalhostPorts,
		"sandbox.limits": s.Sandbox.Limits, "permissions.allow": s.Permissions.Allow, "env.allow": s.EnvAllow,
		"network": s.Network, "undo.enabled": s.Undo, "formatters.commands": s.Formatters.Commands,
		"ui.statusLine": s.UI.StatusLine, "jobs": s.Jobs, "audit": s.Audit, "telemetry": s.Telemetry,
	}
}

// looser says how with asks less or reaches further than without.
func looser(without, with *Settings) error {
	after := strictness(with)
	for key, before := range strictness(without) {
		if after[key] < before {
			return fmt.Errorf("%s is looser", key)
		}
	}
	now := untouchable(with)
	for key, before := range untouchable(without) {
		if !reflect.DeepEqual(before, now[key]) {
			return fmt.Errorf("%s was set: %v became %v", key, before, now[key])
		}
	}
	// Rules that ask or deny, and what may not be read, only ever grow.
	for _, lists := range [][2]int{
		{len(without.Permissions.Ask), len(with.Permissions.Ask)},
		{len(without.Permissions.Deny), len(with.Permissions.Deny)},
		{len(without.Sandbox.DenyRead), len(with.Sandbox.DenyRead)},
	} {
		if lists[1] < lists[0] {
			return errors.New("a list became shorter")
		}
	}
	return nil
}

// TestNoProjectFileLoosens is the loader's promise: whatever stands in a project's
// file, beside whatever user's file, the settings are never looser than without it.
func TestNoProjectFileLoosens(t *testing.T) {
	p := newPlace(t)
	rapid.Check(t, func(t *rapid.T) {
		p.user(encode(validFile(t, 8)))
		p.project("{}")
		without, _ := p.load(p.options())
		file := encode(validFile(t, 2))
		p.project(file)
		with, _ := p.load(p.options())
		if err := looser(without, with); err != nil {
			t.Fatalf("%v\nproject: %s", err, file)
		}
	})
}

// TestLoosenessShows is the control of the test above: a loader that took a
// project's file as it takes the user's is found out.
func TestLoosenessShows(t *testing.T) {
	loosening := []string{
		`{"executor": "host"}`, `{"mode": "accept_edits"}`, `{"permissions": {"allow": ["bash(*)"]}}`,
		`{"guard": {"rm-root": "ask"}}`, `{"guard": {"git-clean": "off"}}`, `{"limits": {"maxSteps": 51}}`,
		`{"sandbox": {"writePaths": ["~/"]}}`, `{"web": {"allowLocalhost": true}}`, `{"moe": {"enabled": true}}`,
		`{"formatters": {"commands": {"x": {"extensions": [".go"], "command": "evil"}}}}`,
		`{"undo": {"enabled": false}}`, `{"audit": {"enabled": false}}`, `{"env": {"allow": ["KEY"]}}`,
		`{"network": {"allow": ["evil.example"]}}`, `{"ui": {"statusLine": "evil"}}`, `{"toolSets": ["more"]}`,
		`{"telemetry": {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://evil.example"}}`, `{"model": "evil/m"}`,
	}
	for _, file := range loosening {
		found, _, err := decode([]byte(file), Source{Project, "p"})
		if err != nil {
			t.Fatal(err)
		}
		trusted := Defaults()
		for _, e := range found {
			e.change.set(trusted, Source{Project, "p"})
		}
		if looser(Defaults(), trusted) == nil {
			t.Errorf("%s is not seen as loosening", file)
		}
		p := newPlace(t)
		p.project(file)
		s, notices := p.load(p.options())
		if err := looser(Defaults(), s); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(notices) != 1 || !strings.HasPrefix(notices[0], "project .garuda/settings.json, line 1: ") {
			t.Errorf("%s: notices are %v", file, notices)
		}
	}
}

// TestEveryKeyFromAProject tries each key of the table, several values each, as a
// project's file, and holds what it does against the key's scope.
func TestEveryKeyFromAProject(t *testing.T) {
	for _, k := range table() {
		t.Run(k.Name, func(t *testing.T) {
			seen := map[string]bool{}
			rapid.Check(t, func(t *rapid.T) {
				file := map[string]any{}
				put(file, k.Name, validValue(t, k.schema))
				text := encode(file)
				found, _, err := decode([]byte(text), Source{})
				if err != nil || len(found) != 1 {
					t.Fatalf("%s: %v", text, err)
				}
				s := Defaults()
				notices := tighten(s, found, Source{Kind: Project}, Options{})
				asUser := Defaults()
				found[0].change.set(asUser, Source{})

				taken := dump(asUser) == dump(s)
				leftOut := len(notices) == 1
				switch k.Scope {
				case Freely:
					if !taken || leftOut {
						t.Fatalf("%s was not taken: %v", text, notices)
					}
				case Stricter:
					stricter := looser(Defaults(), asUser) == nil
					if taken != stricter || leftOut == stricter {
						t.Fatalf("%s: stricter %v, taken %v, notices %v", text, stricter, taken, notices)
					}
					seen[fmt.Sprint(stricter)] = true
				default:
					if dump(Defaults()) != dump(s) || !leftOut {
						t.Fatalf("%s had an effect, or no notice: %v", text, notices)
					}
				}
			})
			if k.Scope == Stricter && !seen["true"] {
				t.Error("no stricter value was tried")
			}
		})
	}
}

func TestNoticesSayWhatToDo(t *testing.T) {
	p := newPlace(t)
	p.project("{\n\"executor\": \"host\",\n\"permissions\": {\"allow\": [\"bash(x)\"], \"ask\": [\"bash(y)\"]},\n\"undo\": {\"enabled\": false}}")
	s, notices := p.load(p.options())
	elsewhere := "a project may not set it; if you want it, put it into ~/.garuda/projects/" + RootKey(p.root) + "/settings.json"
	want := []string{
		`project .garuda/settings.json, line 2: "executor" is left out: a project may only make it stricter`,
		`project .garuda/settings.json, line 3: "permissions.allow" is left out: it needs your yes, which the chat asks for at its start; or put it into ~/.garuda/projects/` + RootKey(p.root) + "/settings.json",
		`project .garuda/settings.json, line 4: "undo.enabled" is left out: ` + elsewhere,
	}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Error(diff)
	}
	if len(s.Permissions.Ask) != 1 {
		t.Error("the ask rule beside the one that was left out is gone")
	}
}

func TestProjectFileStaysInTheProject(t *testing.T) {
	p := newPlace(t)
	outside := filepath.Join(p.userHome, "outside.json")
	p.write(outside, `{"mode": "plan"}`)
	file := filepath.Join(p.root, ".garuda", "settings.json")
	t.Run("link to a file outside", func(t *testing.T) {
		symlink(t, outside, file)
		refused(t, p)
	})
	t.Run("link up and out", func(t *testing.T) {
		symlink(t, "../../home/outside.json", file)
		refused(t, p)
	})
	t.Run("link inside", func(t *testing.T) {
		p.write(filepath.Join(p.root, "shared.json"), `{"mode": "plan"}`)
		symlink(t, "../shared.json", file)
		if s, _ := p.load(p.options()); s.Mode != "plan" {
			t.Errorf("mode is %s", s.Mode)
		}
	})
	t.Run("folder that is a link outside", func(t *testing.T) {
		elsewhere := filepath.Join(p.userHome, "elsewhere")
		p.write(filepath.Join(elsewhere, "settings.json"), `{"mode": "plan"}`)
		if err := os.RemoveAll(filepath.Join(p.root, ".garuda")); err != nil {
			t.Fatal(err)
		}
		symlink(t, elsewhere, filepath.Join(p.root, ".garuda"))
		refused(t, p)
	})
	t.Run("large", func(t *testing.T) {
		q := newPlace(t)
		q.project(strings.Repeat(" ", maxFile) + "{}")
		refused(t, q)
	})
	t.Run("folder", func(t *testing.T) {
		q := newPlace(t)
		if err := os.Mkdir(filepath.Join(q.root, ".garuda", "settings.json"), 0o755); err != nil {
			t.Fatal(err)
		}
		refused(t, q)
	})
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
}

func refused(t *testing.T, p *place) {
	t.Helper()
	_, _, err := Load(p.options())
	var e *Error
	if !errors.As(err, &e) || e.Source.Kind != Project {
		t.Fatalf("error is %v", err)
	}
	if strings.Contains(err.Error(), p.root) {
		t.Errorf("error repeats the whole path: %v", err)
	}
}
