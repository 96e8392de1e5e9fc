//go:build foreign

package foreign

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// garuda runs the program in print mode with aimock as its model.
func (f *format) garuda(t *testing.T, prompt string) string {
	t.Helper()
	base := t.TempDir()
	project, home := filepath.Join(base, "project"), filepath.Join(base, "home", ".garuda")
	for _, dir := range []string{project, home} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	models, err := json.Marshal(map[string]any{
		"default": "mock/" + f.model,
		// aimock counts the matches of each test by this header.
		"providers": map[string]any{"mock": map[string]any{"type": f.kind, "baseUrl": aimock + f.base, "headers": map[string]string{"X-Test-Id": t.Name()}}},
		"models":    map[string]any{"mock/" + f.model: map[string]any{"contextWindow": 200000, "maxTokens": 64000, "price": map[string]float64{"input": 1, "output": 2}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{filepath.Join(home, "models.json"): models, filepath.Join(project, "note.txt"): []byte("written by hand\n")} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "-p", prompt)
	cmd.Dir = project
	cmd.Env = []string{"HOME=" + filepath.Dir(home), "GARUDA_HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("garuda: %v\n%s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// TestTask has the program read a file for the model and say what it made of it.
func TestTask(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		if out := f.garuda(t, "read the note"); !strings.Contains(out, "It was written by hand.") {
			t.Errorf("%q", out)
		}
	})
}

// TestRetries has the first request refused and the second answer cut: the user
// sees the third.
func TestRetries(t *testing.T) {
	each(t, func(t *testing.T, f *format) {
		if out := f.garuda(t, "try again"); !strings.Contains(out, "Third time lucky.") {
			t.Errorf("%q", out)
		}
		if n := requests(t, t.Name()); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

// requests is how many requests of a test aimock has seen.
func requests(t *testing.T, test string) int {
	t.Helper()
	resp, err := http.Get(aimock + "/__aimock/journal?testId=" + test)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		var object struct {
			Entries []json.RawMessage `json:"entries"`
		}
		if err := json.Unmarshal(data, &object); err != nil {
			t.Fatalf("the journal: %v: %.200s", err, data)
		}
		list = object.Entries
	}
	return len(list)
}
