package secret

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "github_token": true, "DB_PASSWORD": true, "MYSQL_PASSWD": true,
		"AWS_SECRET_ACCESS_KEY": true, "GOOGLE_APPLICATION_CREDENTIALS": true,
		"PATH": false, "HOME": false, "GARUDA_MODEL": false, "SSH_AUTH_SOCK": false, "": false,
	} {
		if got := Named(name); got != want {
			t.Errorf("Named(%q) = %v, want %v", name, got, want)
		}
	}
	if taken("GIT_CONFIG_KEY_0") {
		t.Error("GIT_CONFIG_KEY_0 would leave the environment, and git would fail")
	}
}

func TestKeyOrder(t *testing.T) {
	s := NewStore(map[string]string{"A_KEY": " from-env\n", "BLANK_KEY": " "},
		map[string]string{"A_KEY": "from-file", "BLANK_KEY": "file-blank", "C_KEY": "file-c"})
	type key struct {
		Value, Source string
		OK            bool
	}
	want := map[string]key{
		"A_KEY":     {"from-env", "A_KEY", true},
		"BLANK_KEY": {"file-blank", SourceCredentials, true},
		"C_KEY":     {"file-c", SourceCredentials, true},
		"D_KEY":     {},
	}
	got := map[string]key{}
	for name := range want {
		var k key
		k.Value, k.Source, k.OK = s.Key(name)
		got[name] = k
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if v, ok := s.Variable("A_KEY"); !ok || v != " from-env\n" {
		t.Errorf("Variable = %q, %v: env.allow must get the value as it was", v, ok)
	}
}

func TestValues(t *testing.T) {
	s := NewStore(map[string]string{"A_KEY": "12345678", "B_KEY": "1234567", "C_KEY": "a-long-secret-value\n"},
		map[string]string{"X": "12345678", "Y": "12345678-and-more"})
	want := []string{"a-long-secret-value\n", "a-long-secret-value", "12345678-and-more", "12345678"}
	if d := cmp.Diff(want, s.Values()); d != "" {
		t.Errorf("longest first, each once, none under 8 bytes:\n%s", d)
	}
}

func TestStoreHidesItself(t *testing.T) {
	s := NewStore(map[string]string{"A_KEY": "top-secret-value"}, nil)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(verb, s); strings.Contains(out, "top-secret") {
			t.Errorf("%s prints the secret: %s", verb, out)
		}
	}
}
