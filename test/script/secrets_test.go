//go:build linux

package script_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"garuda/internal/testkit/secretservice"
)

// control is written everywhere on purpose: what looks for keys must find it.
const control = "control-value-that-may-be-seen"

// plants is a home and a project with a key in every place where one can be, each
// another one.
type plants struct {
	t             *testing.T
	home, project string
	env           map[string]string
	// keys are all that were planted, by where.
	keys map[string]string
	// said is all that the runs printed, by run.
	said map[string]string
}

// plant makes a key that has the shape of no known service's, so that nothing but
// knowing it keeps it out of sight.
func (p *plants) plant(where string) string {
	key := fmt.Sprintf("plant-%02d.%s.0a1b2c3d4e5f", len(p.keys), strings.ToLower(strings.NewReplacer("_", "", " ", "").Replace(where)))
	p.keys[where] = key
	return key
}

func newPlants(t *testing.T, server, bus string) *plants {
	t.Helper()
	dir := t.TempDir()
	p := &plants{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), keys: map[string]string{}, said: map[string]string{}}
	p.env = map[string]string{
		"HOME": p.home, "GARUDA_HOME": filepath.Join(p.home, ".garuda"), "PATH": os.Getenv("PATH"),
		"DBUS_SESSION_BUS_ADDRESS": bus, "PLAIN": control,
	}
	for _, name := range strings.Fields(`ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY OPENROUTER_API_KEY DEEPSEEK_API_KEY
		XAI_API_KEY GROQ_API_KEY MISTRAL_API_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK
		CHAT_KEY ODDLY_NAMED GITHUB_TOKEN DB_PASSWORD`) {
		p.env[name] = p.plant(name)
	}
	p.env["HTTPS_PROXY"] = "http://user:" + p.plant("proxy password") + "@127.0.0.1:1"
	models := map[string]any{"default": "chat/m", "providers": map[string]any{
		"chat":      map[string]any{"type": "openai-compatible", "baseUrl": server + "/v1", "apiKeyEnv": "CHAT_KEY", "headers": map[string]string{"X-Team-Token": p.plant("token header"), "Cookie": "a=" + p.plant("cookie header")}},
		"messages":  map[string]any{"type": "anthropic", "baseUrl": server, "apiKeyEnv": "MESSAGES_KEY", "headers": map[string]string{"Proxy-Authorization": "Bearer " + p.plant("bearer header")}},
		"responses": map[string]any{"type": "openai-responses", "baseUrl": server + "/v1", "apiKeyEnv": "RESPONSES_KEY"},
		"gemini":    map[string]any{"baseUrl": server},
		"odd":       map[string]any{"type": "openai-compatible", "baseUrl": server + "/v1", "apiKeyEnv": "ODDLY_NAMED"},
		"far":       map[string]any{"type": "openai-compatible", "baseUrl": "https://no-such-host.invalid/v1", "apiKeyEnv": "CHAT_KEY"},
	}}
	p.write("home/.garuda/models.json", models)
	// The policy refuses a command that names /proc/*/environ; a script may still try.
	p.writeText("project/probe.sh", "{ env; cat /proc/*/environ /proc/$PPID/cmdline; } 2>/dev/null | tee environments.txt; echo "+control+"\n")
	p.write("home/.garuda/credentials", map[string]any{
		"MESSAGES_KEY": p.plant("credentials file"), "UNUSED_KEY": p.plant("credentials file, unused"),
		"RESPONSES_KEY": map[string]any{"keychain": true}, "OTHER_KEY": map[string]any{"keychain": true},
	})
	return p
}

func (p *plants) write(name string, content any) {
	p.t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		p.t.Fatal(err)
	}
	p.writeText(name, string(data))
}

func (p *plants) writeText(name, text string) {
	p.t.Helper()
	path := filepath.Join(filepath.Dir(p.home), name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// run starts garuda, wants the exit code, and keeps what it printed.
func (p *plants) run(code int, args ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = p.project
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		cmd.Env = append(cmd.Env, name+"="+p.env[name])
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("garuda %s ended with %d, want %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	p.said[fmt.Sprintf("run %d: garuda %s", len(p.said), strings.Join(args, " "))] = string(out)
}

// find looks for a text, as it is and as base64, in all that was printed and
// written, and says where it is. Where keys belong is left out.
func (p *plants) find(text string) (where []string) {
	p.t.Helper()
	forms := []string{text, base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text))}
	for run, out := range p.said {
		if slices.ContainsFunc(forms, func(f string) bool { return strings.Contains(out, f) }) {
			where = append(where, run)
		}
	}
	err := filepath.WalkDir(filepath.Dir(p.home), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "credentials" || d.Name() == "models.json" || d.Name() == "probe.sh" {
			return err
		}
		data, err := os.ReadFile(path)
		if slices.ContainsFunc(forms, func(f string) bool { return bytes.Contains(data, []byte(f)) }) {
			where = append(where, path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return where
}

// echo is a model server that tells everybody what it was sent. The prompt says
// how: with an error status, a redirect, no stream at all, or an answer that first
// has every environment printed that can be read.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var sent strings.Builder
	_ = r.Header.Write(&sent)
	told := r.URL.String() + " " + sent.String()
	quoted, _ := json.Marshal("you sent " + told)
	text := string(body)
	says := func(word string) bool { return strings.Contains(text, word) }
	switch {
	case says("please redirect"):
		w.Header().Set("Location", "http://127.0.0.1:9/?with="+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key"))
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = io.WriteString(w, told)
	case says("please refuse"):
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"type": "error", "error": {"type": "authentication_error", "code": "invalid_api_key", "message": %s}}`, quoted)
	case says("please complain"):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "<html>bad request: "+told+"</html>")
	case says("please babble"):
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"error\": {\"message\": %s, \"type\": \"invalid_request_error\"}}\n\n", quoted)
	case says(`"role":"tool"`):
		stream(w, `{"delta": {"content": "seen"}, "finish_reason": null}`, `{"delta": {}, "finish_reason": "stop"}`)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, told)
	default:
		args, _ := json.Marshal(`{"command": "sh probe.sh"}`)
		stream(w, `{"delta": {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "bash", "arguments": `+string(args)+`}}]}, "finish_reason": null}`,
			`{"delta": {}, "finish_reason": "tool_calls"}`)
	}
}

func stream(w io.Writer, choices ...string) {
	for _, c := range choices {
		fmt.Fprintf(w, "data: {\"id\": \"x\", \"object\": \"chat.completion.chunk\", \"choices\": [{\"index\": 0, %s]}\n\n", strings.TrimPrefix(c, "{"))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// TestNoKeyIsEverSeen plants a key in every place where one can be, lets Garuda
// run into servers that tell all they are sent, and looks for each key in all that
// was printed and written, and in every environment that its commands could read.
func TestNoKeyIsEverSeen(t *testing.T) {
	bus, err := secretservice.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	p := newPlants(t, server.URL, bus.Address)
	bus.Put("RESPONSES_KEY", p.plant("keychain"))
	bus.Put("OTHER_KEY", p.plant("keychain, unused"))

	const failed, done = 1, 0
	p.run(done, "-p", "--yolo", "--output-format", "stream-json", "--verbose", "look around, "+control)
	p.run(done, "-p", "--yolo", "look around again")
	for _, model := range []string{"chat/m", "messages/m", "responses/m", "gemini/m", "odd/m"} {
		for _, how := range []string{"refuse", "complain", "redirect"} {
			p.run(failed, "-p", "--verbose", "-m", model, "please "+how)
		}
	}
	p.run(failed, "-p", "--output-format", "json", "-m", "chat/m", "please babble")
	p.run(failed, "-p", "--verbose", "-m", "far/m", "say hello")
	p.run(done, "setup", "--show")
	p.run(done, "models")
	p.run(failed, "doctor", "-m", "responses/m")
	p.run(done, "tools", "call", "--yolo", "bash", `{"command": "env"}`)

	for where, key := range p.keys {
		// Its beginning is enough: a text that was cut may hold half a key. It is
		// longer than what setup --show may show.
		for _, place := range p.find(key[:len("plant-00.")]) {
			t.Errorf("the key of %s is in %s", where, place)
		}
	}
	journals := 0
	for _, place := range p.find(control) {
		if strings.HasSuffix(place, ".jsonl") {
			journals++
		}
	}
	if seen := p.find(control); journals == 0 || len(seen) < 3 {
		t.Errorf("the value that may be seen was found only in %v: the search finds nothing", seen)
	}
	environments, err := os.ReadFile(filepath.Join(p.project, "environments.txt"))
	if err != nil || !bytes.Contains(environments, []byte("PATH=")) {
		t.Errorf("no environment was looked at: %v, %q", err, environments)
	}
	told := 0
	for _, out := range p.said {
		if strings.Contains(out, "you sent") || strings.Contains(out, "bad request") {
			told++
		}
	}
	if told < 5 {
		t.Errorf("only %d of the errors showed what the server said: nothing could leak", told)
	}
}
