package modelserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	scenario, addrFile, logFile := filepath.Join(dir, "s.json"), filepath.Join(dir, "addr"), filepath.Join(dir, "log")
	if err := os.WriteFile(scenario, []byte(`{"version": 1, "steps": [{"text": "hello"}, {"fault": {"kind": "overloaded"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- Run(ctx, []string{"-scenario", scenario, "-addr-file", addrFile, "-log", logFile}, in, &stderr)
		_ = in.Close()
	}()
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	written, err := os.ReadFile(addrFile)
	if err != nil || string(written) != string(line[:n]) {
		t.Errorf("%q and %q, %v", written, line[:n], err)
	}
	url := strings.TrimSpace(string(written))
	for range 2 {
		resp, err := send(t.Context(), url+paths["chat"], streamed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	cancel()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d: %s", c, stderr.String())
	}
	data, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	type logged struct {
		N, Status int
		Fault     string
		Body      struct{ Model string }
	}
	var lines []logged
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.More() {
		var l logged
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 2 || lines[0].Status != 200 || lines[1].Status != 503 || lines[1].Fault != "overloaded" || lines[0].Body.Model != "m" {
		t.Errorf("%+v", lines)
	}
}

func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"version": `{"version": 2}`, "key": `{"version": 1, "stps": []}`, "fault": `{"version": 1, "steps": [{"fault": {"kind": "fire"}}]}`,
		"unit": `{"version": 1, "wire": {"unit": "bit"}}`, "rest": `{"version": 1} {}`, "call": `{"version": 1, "steps": [{"calls": [{}]}]}`,
		"negative": `{"version": 1, "steps": [{"wire": {"chunk": -1}}]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		if code := Run(t.Context(), []string{"-scenario", path}, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), path) {
			t.Errorf("%s: %d, %s", name, code, stderr.String())
		}
	}
	var stderr bytes.Buffer
	if code := Run(t.Context(), []string{"-scenario", filepath.Join(dir, "none")}, io.Discard, &stderr); code != 1 || stderr.Len() == 0 {
		t.Errorf("%d, %s", code, stderr.String())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version": 1, "steps": [{"text": "a", "calls": [{"name": "b", "raw": "{"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		for i := range s.Steps {
			for format := range paths {
				a := &answer{step: &s.Steps[i], wire: s.Wire, usage: true}
				if _, _, err := a.render(format); err != nil {
					t.Errorf("%s: %v", format, err)
				}
			}
		}
	})
}
