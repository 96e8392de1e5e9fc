package secret

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leak is in every bad file of these tests and must be in no error.
const leak = "sk-never-show-this"

func TestReadCredentials(t *testing.T) {
	tests := []struct {
		name, content string
		mode          os.FileMode
		want          map[string]string
		problem       string // a part of the error; empty for none
	}{
		{"good", `{"ANTHROPIC_API_KEY": "k1", "X": "k2"}`, 0o600, map[string]string{"ANTHROPIC_API_KEY": "k1", "X": "k2"}, ""},
		{"read-only", `{"X": "k"}`, 0o400, map[string]string{"X": "k"}, ""},
		{"empty object", `{}`, 0o600, map[string]string{}, ""},
		{"group may read", `{"X": "` + leak + `"}`, 0o640, nil, "mode is 0640"},
		{"others may write", `{"X": "` + leak + `"}`, 0o602, nil, "mode is 0602"},
		{"no JSON", "{\n" + leak, 0o600, nil, "not valid JSON (line 2)"},
		{"empty", "", 0o600, nil, "not valid JSON (line 1)"},
		{"array", `["` + leak + `"]`, 0o600, nil, "not a JSON object"},
		{"null", `null`, 0o600, nil, "not a JSON object"},
		{"number", `{"X": 1}`, 0o600, nil, `the value of "X" is not a string`},
		{"null key", `{"X": null}`, 0o600, nil, `the value of "X" is not a string`},
		{"keychain, not so", `{"X": {"keychain": false}}`, 0o600, nil, `the value of "X" is not a string`},
		{"of a newer version", `{"X": {"keychain": true, "note": "` + leak + `"}}`, 0o600, nil, "a newer version of Garuda"},
		{"largest", `{"X": "` + strings.Repeat("k", MaxCredentials-9) + `"}`, 0o600, map[string]string{"X": strings.Repeat("k", MaxCredentials-9)}, ""},
		{"too large", `{"X": "` + strings.Repeat("k", MaxCredentials-8) + `"}`, 0o600, nil, "larger than 65536 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(tt.problem, "mode") {
				t.Skip("mode bits mean nothing on Windows")
			}
			path := filepath.Join(t.TempDir(), "credentials")
			write(t, path, tt.content, tt.mode)
			got, err := readCredentials(path)
			if tt.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(inFile(tt.want), got); d != "" {
					t.Error(d)
				}
				return
			}
			checkRefused(t, got, err, tt.problem)
		})
	}
}

func TestNoCredentials(t *testing.T) {
	got, err := readCredentials(filepath.Join(t.TempDir(), "none", "credentials"))
	if err != nil || got != nil {
		t.Errorf("a missing file gave %v, %v", got, err)
	}
}

func TestCredentialsThroughLink(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "real"), `{"X": "`+leak+`"}`, 0o600)
	path := filepath.Join(dir, "credentials")
	if err := os.Symlink("real", path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	got, err := readCredentials(path)
	checkRefused(t, got, err, "symbolic link")
}

func TestCredentialsIsFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot open a folder as a file")
	}
	got, err := readCredentials(t.TempDir())
	checkRefused(t, got, err, "not a regular file")
}

func checkRefused(t *testing.T, got map[string]Stored, err error, problem string) {
	t.Helper()
	var ce *CredentialsError
	if !errors.As(err, &ce) || !errors.Is(err, ErrCredentials) || got != nil {
		t.Fatalf("got %v, %v; want a *CredentialsError and no keys", got, err)
	}
	if !strings.Contains(err.Error(), problem) || ce.Fix == "" {
		t.Errorf("error %q (fix %q) does not say %q", err, ce.Fix, problem)
	}
	if strings.Contains(err.Error(), leak) {
		t.Errorf("the error shows the file's content: %v", err)
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseCredentials(f *testing.F) {
	for _, s := range []string{`{"A":"b"}`, `{`, `null`, `{"A":null}`, `{"A":["` + leak + `"]}`, `{"A":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, problem := parseCredentials(data)
		if (keys == nil) == (problem == "") {
			t.Errorf("keys %v and problem %q", keys, problem)
		}
	})
}
