package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSetUser(t *testing.T) {
	for _, tc := range []struct{ name, before, key, value, want string }{
		{"no file", "", "ui.vim", "true", newSettings[:len(newSettings)-2] + "  \"ui\": {\n    \"vim\": true,\n  },\n}\n"},
		{"comments stay", "{\n  // why\n  \"thinking\": {\"effort\": \"low\", /* here */ },\n  \"mode\": \"plan\" // last\n}\n", "thinking.effort", `"high"`,
			"{\n  // why\n  \"thinking\": {\"effort\": \"high\", /* here */ },\n  \"mode\": \"plan\" // last\n}\n"},
		{"a list", `{"toolSets": ["code"]}`, "toolSets", `["tasks", "-web"]`, `{"toolSets": ["tasks", "-web"]}`},
		{"the same", `{"ui": {"vim": true}}`, "ui.vim", "true", `{"ui": {"vim": true}}`},
	} {
		home := filepath.Join(t.TempDir(), "home")
		if tc.before != "" {
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(UserFile(home), []byte(tc.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := SetUser(home, tc.key, []byte(tc.value)); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		got, err := os.ReadFile(UserFile(home))
		if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(tc.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", tc.name, err, got, tc.want)
		}
		if _, _, err := Load(Options{Home: home}); err != nil {
			t.Errorf("%s: it does not load: %v", tc.name, err)
		}
	}
}

func TestSetUserRefuses(t *testing.T) {
	home := t.TempDir()
	broken := `{"mode": 3}`
	if err := os.WriteFile(UserFile(home), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ home, key, value, want string }{
		{home, "ui.vim", "true", "a number here, where one of build, plan, accept_edits belongs"},
		{home, "ui.vim", `"yes"`, "a string here, where true or false belongs"},
		{home, "thinking.effort", `"hgh"`, `did you mean "high"?`},
		{home, "gone", "1", `there is no setting "gone"`},
		{home, "ui.vim", "{", "unexpected EOF"},
		{"", "ui.vim", "true", "no home folder"},
	} {
		err := SetUser(tc.home, tc.key, []byte(tc.value))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s = %s: %v, want %q", tc.key, tc.value, err, tc.want)
		}
	}
	if got, err := os.ReadFile(UserFile(home)); err != nil || string(got) != broken {
		t.Errorf("a file that does not load was changed: %s, %v", got, err)
	}
}
