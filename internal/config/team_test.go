package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// teamFiles writes a managed policy and the user's; "" leaves one out.
func teamFiles(t *testing.T, managed, user string) TeamOptions {
	t.Helper()
	dir := t.TempDir()
	o := TeamOptions{Home: filepath.Join(dir, "home"), UserHome: dir, Managed: filepath.Join(dir, "managed.json"), Owned: func(*os.File) error { return nil }}
	if err := os.Mkdir(o.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{o.Managed: managed, filepath.Join(o.Home, "policy.json"): user} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestTeamIsStricterOfTwo(t *testing.T) {
	o := teamFiles(t,
		`{"disallowedCommands": ["nc *"], "denyPaths": ["a/"], "network": {"blockedHosts": ["x.example"]}, "limits": {"maxSteps": 20, "spendUsd": 2},
		  "allowedModels": ["anthropic/*"], "audit": {"enabled": true}, "allow": ["bash(go test *)"]}`,
		`{"disallowedCommands": ["curl *"], "requireSandbox": true, "profile": "strict", "limits": {"maxSteps": 30, "tokenBudget": 500, "spendUsd": 1},
		  "allowedModels": ["*"], "audit": {"level": "denials"}, "disableYolo": true, "network": {"strictAllowlist": true}, "deny": ["bash(rm *)"]}`)
	got, notices, err := LoadTeam(o)
	if err != nil || len(notices) > 0 {
		t.Fatal(err, notices)
	}
	m, u := o.Managed, "~/home/policy.json"
	want := &Team{
		Files: []string{m, u}, Commands: []TeamEntry{{"nc *", m}, {"curl *", u}}, RequireSandbox: true, Strict: true,
		Paths: []TeamEntry{{"a/", m}}, Models: []string{"anthropic/*"}, BlockedHosts: []TeamEntry{{"x.example", m}}, StrictAllowlist: true,
		MaxSteps: 20, TokenBudget: 500, SpendUSD: 1, Audit: &TeamAudit{Enabled: true}, NoYolo: true,
		Permissions: Permissions{
			Allow: []Rule{{Text: "bash(go test *)", Source: Source{Policy, m}, Line: 2}},
			Deny:  []Rule{{Text: "bash(rm *)", Source: Source{Policy, u}, Line: 2}},
		},
	}
	want.Permissions.Allow[0].Line, want.Permissions.Deny[0].Line = got.Permissions.Allow[0].Line, got.Permissions.Deny[0].Line
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for spec, ok := range map[string]bool{"anthropic/claude": true, "Anthropic/x": true, "openai/x": false, "xanthropic/y": false} {
		if got.AllowsModel(spec) != ok {
			t.Errorf("%s: %v", spec, !ok)
		}
	}
}

func TestTeamBounds(t *testing.T) {
	o := teamFiles(t, "", `{"limits": {"maxSteps": 10, "tokenBudget": 1000, "spendUsd": 0.5}, "profile": "strict",
		"audit": {"enabled": true, "level": "mutations", "checkpoint": true}}`)
	team, _, err := LoadTeam(o)
	if err != nil {
		t.Fatal(err)
	}
	s := Defaults()
	s.Audit = Audit{Level: "denials"}
	s.Subagents.MaxSteps = 5
	team.Bound(s)
	if s.Limits.MaxSteps != 10 || s.Limits.TokenBudget != 1000 || s.Limits.SpendUSD != 0.5 || !s.Strict ||
		s.Subagents.MaxSteps != 5 || s.Subagents.TokenBudget != 1000 || s.MoE.MaxSteps != 10 {
		t.Errorf("%+v %+v %+v", s.Limits, s.Subagents, s.MoE)
	}
	if want := (Audit{Enabled: true, Checkpoint: true, Level: "mutations", Mandatory: true}); s.Audit != want {
		t.Errorf("%+v", s.Audit)
	}
	if got := s.Sources("limits.maxSteps"); len(got) != 1 || got[0].Kind != Policy {
		t.Error(got)
	}

	// It never loosens: what is stricter stays, and an empty policy changes nothing.
	s = Defaults()
	s.Limits.MaxSteps, s.Limits.SpendUSD, s.Audit.Level = 3, 0.1, "all"
	team.Bound(s)
	if s.Limits.MaxSteps != 3 || s.Limits.SpendUSD != 0.1 || s.Audit.Level != "all" {
		t.Errorf("%+v %+v", s.Limits, s.Audit)
	}
	plain := Defaults()
	(&Team{}).Bound(plain)
	if diff := cmp.Diff(Defaults(), plain, cmp.AllowUnexported(Settings{})); diff != "" {
		t.Error(diff)
	}
	if !(&Team{}).AllowsModel("x/y") || (&Team{Models: []string{}}).AllowsModel("x/y") {
		t.Error("no list allows all models, an empty one none")
	}
}

// TestABrokenPolicyStops: nothing starts beside a policy that cannot be read whole.
func TestABrokenPolicyStops(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                  "line 1",
		`{"denyPath": []}`:                   `a policy has no "denyPath"; did you mean "denyPaths"?`,
		`{"requireSandbox": "yes"}`:          "a string here, where true or false belongs",
		`{"limits": {"maxStep": 1}}`:         `limits has no "maxStep"; did you mean "maxSteps"?`,
		`{"limits": {"maxSteps": 0}}`:        "0 is below 1",
		`{"limits": {"spendUsd": 0}}`:        "is below",
		`{"audit": {"level": "some"}}`:       "one of all, mutations, denials",
		`{"profile": "lax"}`:                 "strict",
		`{"network": []}`:                    "a list here, where an object belongs",
		`{"allow": [{"match": ["x"]}]}`:      `a rule without "rule"`,
		`{"denyPaths": [], "denyPaths": []}`: "stands here a second time",
	} {
		for _, o := range []TeamOptions{teamFiles(t, text, ""), teamFiles(t, "", text)} {
			_, _, err := LoadTeam(o)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
	}
}

func TestAManagedPolicyThatOthersMayWrite(t *testing.T) {
	o := teamFiles(t, `{}`, "")
	o.Owned = nil
	err := os.Chmod(o.Managed, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadTeam(o); err == nil || !strings.Contains(err.Error(), "administrator") {
		t.Error(err)
	}
	if os.Geteuid() == 0 { // else no file of ours belongs to root
		if err := os.Chmod(o.Managed, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := LoadTeam(o); err != nil {
			t.Error(err)
		}
		if err := os.Chown(o.Managed, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, _, err := LoadTeam(o); err == nil || !strings.Contains(err.Error(), "does not belong to root") {
			t.Error(err)
		}
	}
}

func TestAProjectsPolicyIsIgnored(t *testing.T) {
	o := teamFiles(t, "", "")
	o.Root = t.TempDir()
	if err := os.Mkdir(filepath.Join(o.Root, ".garuda"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Root, ".garuda", "policy.json"), []byte(`{"allow": ["bash"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, notices, err := LoadTeam(o)
	if err != nil || len(got.Permissions.Allow) > 0 || len(notices) != 1 || !strings.Contains(notices[0].String(), "ignored") {
		t.Error(got, notices, err)
	}
}

func TestWildcard(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/bc", false}, {"*", "", true}, {"*", "a/b", true}, {"a/*", "a/", true}, {"a*c", "abc", true},
		{"a*c", "ac", true}, {"a*c", "abd", false}, {"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false}, {"*x", "x", true}, {"ab*b", "ab", false},
		{"A/B", "a/b", true}, {"a?", "ab", false},
	} {
		if got := wildcard(c.pattern, c.text); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.text, got)
		}
	}
}

func FuzzDecodeTeam(f *testing.F) {
	f.Add([]byte(`{"disallowedCommands":["x"],"limits":{"maxSteps":1},"audit":{"level":"all"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		team, err := decodeTeam(text, Source{Kind: Policy, Name: "p"})
		if err != nil {
			return
		}
		s := Defaults()
		team.Bound(s)
		if s.Limits.MaxSteps > Defaults().Limits.MaxSteps || s.Limits.TokenBudget > Defaults().Limits.TokenBudget {
			t.Fatal("a policy loosened a limit")
		}
	})
}

// TestALinkThatLeadsNowhere: a file behind one is not a missing one, which would
// hold nobody to anything.
func TestALinkThatLeadsNowhere(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "not mounted")
	for name, at := range map[string]func(TeamOptions) string{
		"the managed policy": func(o TeamOptions) string { return o.Managed },
		"the user's policy":  func(o TeamOptions) string { return filepath.Join(o.Home, "policy.json") },
		"its folder":         func(o TeamOptions) string { return o.Home },
	} {
		o := teamFiles(t, "", "")
		path := at(o)
		if path == o.Home {
			if err := os.Remove(o.Home); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(nowhere, path); err != nil {
			t.Skip(err)
		}
		var broken *Error
		if _, _, err := LoadTeam(o); !errors.As(err, &broken) || !strings.Contains(err.Error(), "leads nowhere") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := LoadTeam(teamFiles(t, "", "")); err != nil {
		t.Errorf("no policy at all: %v", err)
	}
	p := newPlace(t)
	for _, path := range []string{
		filepath.Join(p.options().Home, "settings.json"), UserProjectFile(p.options().Home, p.root), filepath.Join(p.root, ".garuda", "settings.json"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink("nowhere", path)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(p.options()); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
			t.Errorf("%s: %v", path, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Load(p.options()); err != nil {
		t.Errorf("without any settings: %v", err)
	}
}

// TestFilesThatOthersMayWrite: settings, pins and the policy in the user's home count
// only while nobody else could have written them.
func TestFilesThatOthersMayWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	for name, text := range map[string]string{"settings.json": `{"mode": "plan"}`, "trust.json": `{"v": 1}`, "policy.json": `{"disableYolo": true}`} {
		p := newPlace(t)
		path := filepath.Join(p.home, name)
		load := func() error {
			_, _, settings := Load(p.options())
			_, trust := ReadTrust(p.home)
			_, _, team := LoadTeam(TeamOptions{Home: p.home, Managed: filepath.Join(p.home, "none")})
			return errors.Join(settings, trust, team)
		}
		p.write(path, text)
		for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o664: false, 0o666: true, 0o602: true} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if err := load(); (err != nil) != refused || refused && !strings.Contains(err.Error(), "everybody may write it") {
				t.Errorf("%s with mode %o: %v", name, mode, err)
			}
		}
		if os.Geteuid() != 0 {
			continue
		}
		if err := errors.Join(os.Chmod(path, 0o600), os.Chown(path, 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		if err := load(); err != nil { // root takes files from anybody's home
			t.Errorf("%s of another user: %v", name, err)
		}
	}
}
