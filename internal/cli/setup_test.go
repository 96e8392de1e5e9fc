//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// childVariable makes this test program `garuda` with the arguments that the
// variable holds as JSON.
const childVariable = "GARUDA_TEST_CLI_ARGS"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(childVariable); ok {
		var args []string
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			panic(err)
		}
		os.Exit(Main("0.0.0-test", args))
	}
	os.Exit(m.Run())
}

const (
	goodKey  = "sk-good-0123456789-wxyz"
	badKey   = "sk-bad-0123456789-abcd"
	ctrlC    = "\x03"
	pressEnd = "\x04"
)

// keyServer is a model server that takes only goodKey.
func keyServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+goodKey {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data": [{"id": "small"}, {"id": "large"}]}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// setupRun is a `garuda setup` in a pseudo terminal.
type setupRun struct {
	t      *testing.T
	home   string
	file   *os.File
	cmd    *exec.Cmd
	copied chan struct{}

	mu     sync.Mutex
	screen strings.Builder
	// more is told of each piece that the screen gets.
	more chan struct{}
	seen int // up to where wait has read
}

// newHome makes a GARUDA_HOME with a provider mock, whose key is MOCK_KEY.
func newHome(t *testing.T, server string) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "garuda")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "{\n  // mine\n  \"providers\": {\"mock\": {\"type\": \"openai-compatible\", \"baseUrl\": \"" + server + "/v1\", \"apiKeyEnv\": \"MOCK_KEY\"}},\n}\n"
	if err := os.WriteFile(filepath.Join(home, "models.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func (x *setupRun) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case x.more <- struct{}{}:
	default: // wait has not taken the last one, and will look at the whole screen
	}
	return x.screen.Write(p)
}

func (x *setupRun) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.ReplaceAll(x.screen.String(), "\r\n", "\n")
}

// command is the child, with an environment of its own.
func command(t *testing.T, home string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "GARUDA_HOME=" + home, childVariable + "=" + string(text)}, env...)
	return cmd
}

func startSetup(t *testing.T, home string, env []string, args ...string) *setupRun {
	t.Helper()
	x := &setupRun{t: t, home: home, cmd: command(t, home, env, append([]string{"setup"}, args...)...), copied: make(chan struct{})}
	x.start()
	return x
}

func (x *setupRun) start() {
	x.t.Helper()
	file, err := pty.Start(x.cmd)
	if err != nil {
		x.t.Skipf("this machine gives no pseudo terminal: %v", err)
	}
	x.file, x.more = file, make(chan struct{}, 1)
	go func() {
		defer close(x.copied)
		_, _ = io.Copy(x, file) // ends with EIO when the program does
	}()
}

// dialog waits for a question and types the answer, in turn.
func (x *setupRun) dialog(steps ...string) {
	x.t.Helper()
	for i, s := range steps {
		if i%2 == 0 {
			x.wait(s)
		} else if _, err := x.file.WriteString(s); err != nil {
			x.t.Fatal(err)
		}
	}
}

func (x *setupRun) wait(text string) {
	x.t.Helper()
	late := time.After(20 * time.Second)
	for {
		all := x.text()
		if i := strings.Index(all[x.seen:], text); i >= 0 {
			x.seen += i + len(text)
			return
		}
		select {
		case <-x.more:
		case <-late:
			x.t.Fatalf("waited in vain for %q; the screen is\n%s", text, all)
		}
	}
}

// ends wants this exit code, and that no key was ever shown.
func (x *setupRun) ends(want int) {
	x.t.Helper()
	err := x.cmd.Wait()
	<-x.copied
	x.file.Close()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	if got := x.cmd.ProcessState.ExitCode(); got != want {
		x.t.Errorf("exit code %d, want %d; the screen is\n%s", got, want, x.text())
	}
	for _, key := range []string{goodKey, badKey} {
		if strings.Contains(x.text(), key[:len(key)-4]) {
			x.t.Errorf("the screen shows a key:\n%s", x.text())
		}
	}
}

func (x *setupRun) stored(want map[string]string) {
	x.t.Helper()
	path := filepath.Join(x.home, "credentials")
	text, err := os.ReadFile(path)
	if want == nil {
		if !errors.Is(err, os.ErrNotExist) {
			x.t.Errorf("keys were stored: %v", err)
		}
		return
	}
	var got map[string]string
	if err != nil || json.Unmarshal(text, &got) != nil {
		x.t.Fatalf("the credentials file is %q, %v", text, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		x.t.Error(d)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		x.t.Errorf("the credentials file has mode %v (%v)", info.Mode(), err)
	}
}

func (x *setupRun) models(parts ...string) {
	x.t.Helper()
	text, err := os.ReadFile(filepath.Join(x.home, "models.json"))
	if err != nil {
		x.t.Fatal(err)
	}
	for _, part := range append(parts, "// mine") {
		if !strings.Contains(string(text), part) {
			x.t.Errorf("models.json does not contain %q:\n%s", part, text)
		}
	}
	if len(parts) == 0 && strings.Contains(string(text), "default") {
		x.t.Errorf("models.json was changed:\n%s", text)
	}
}

func TestSetup(t *testing.T) {
	server := keyServer(t)
	stored := map[string]string{"MOCK_KEY": goodKey}
	for _, tc := range []struct {
		name   string
		env    []string
		before string // the credentials file; empty for none
		dialog []string
		code   int
		stored map[string]string
		models []string
	}{
		{name: "a new key", dialog: []string{
			"no key yet (MOCK_KEY)", "", "Which one?", "mock\r", "Key of mock", goodKey + "\r", "does not refuse the key", "",
			"1  small", "", "by default?", "2\r", "Stored MOCK_KEY", "", "default model is mock/large", "", "Ready", "",
		}, stored: stored, models: []string{`"default": "mock/large"`}},
		{name: "other keys stay", before: `{"OTHER": "other-key"}`, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "by default?", "\r", "Ready", "",
		}, stored: map[string]string{"OTHER": "other-key", "MOCK_KEY": goodKey}, models: []string{`"default": "mock/small"`}},
		{name: "a wrong key, then the right one", dialog: []string{
			"Which one?", "mock\r", "Key of mock", badKey + "\r", "does not accept the key", "", "type it again", "\r",
			"Key of mock", goodKey + "\r", "by default?", "small\r", "Ready", "",
		}, stored: stored, models: []string{`"default": "mock/small"`}},
		{name: "a wrong key, and left", code: 1, dialog: []string{
			"Which one?", "mock\r", "Key of mock", badKey + "\r", "does not accept the key", "", "q to leave", "q\r", "nothing was changed", "",
		}},
		{name: "a wrong key, stored all the same", dialog: []string{
			"Which one?", "mock\r", "Key of mock", badKey + "\r", "does not accept the key", "", "q to leave", "s\r",
			"by default?", "own\r", "Take it all the same?", "y\r", "Ready", "",
		}, stored: map[string]string{"MOCK_KEY": badKey}, models: []string{`"default": "mock/own"`}},
		{name: "a typing mistake", code: 1, dialog: []string{
			"Which one?", "mokc\r", `did you mean "mock"?`, "", "Which one?", "\r", "nothing was changed", "",
		}},
		{name: "back from the key", code: 1, dialog: []string{
			"Which one?", "mock\r", "Key of mock", "\r", "Providers:", "", "Which one?", pressEnd,
		}},
		{name: "the environment's key", env: []string{"MOCK_KEY=" + goodKey}, dialog: []string{
			"key from the environment (MOCK_KEY)", "", "Which one?", "mock\r", "(…wxyz)", "", "without the variable?", "\r", "by default?", "\r", "Ready", "",
		}, models: []string{`"default": "mock/small"`}},
		{name: "the environment's key, stored", env: []string{"MOCK_KEY=" + goodKey}, dialog: []string{
			"Which one?", "mock\r", "without the variable?", "y\r", "by default?", "\r", "Ready", "",
		}, stored: stored, models: []string{`"default": "mock/small"`}},
		{name: "the stored key is kept", before: `{"MOCK_KEY": "` + goodKey + `"}`, dialog: []string{
			"key stored (MOCK_KEY)", "", "Which one?", "mock\r", "keep the stored one (…wxyz)", "\r", "by default?", "\r", "Ready", "",
		}, stored: stored, models: []string{`"default": "mock/small"`}},
		{name: "Ctrl-C at the list", code: exitSignal, dialog: []string{"Which one?", ctrlC, "nothing was changed", ""}},
		{name: "Ctrl-C at the key", code: exitSignal, dialog: []string{
			"Which one?", "mock\r", "Key of mock", "sk-half" + ctrlC, "nothing was changed", "",
		}},
		{name: "Ctrl-C at the model", code: exitSignal, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "by default?", ctrlC, "nothing was changed", "",
		}},
		{name: "Ctrl-D at the model", code: exitError, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "by default?", pressEnd, "nothing was changed", "",
		}},
		{name: "an unusable file, left", before: "{", code: 1, dialog: []string{
			"cannot be used: it is not valid JSON", "", "begin a new one?", "\r", "nothing was changed", "",
		}},
		{name: "an unusable file, renamed", before: "{", dialog: []string{
			"begin a new one?", "y\r", "credentials.unusable-1", "", "Which one?", "mock\r", "Key of mock", goodKey + "\r", "by default?", "\r", "Ready", "",
		}, stored: stored, models: []string{`"default": "mock/small"`}},
		{name: "GARUDA_MODEL counts first", env: []string{"GARUDA_MODEL=mock/large"}, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "by default?", "small\r", "GARUDA_MODEL is set to mock/large", "",
		}, stored: stored, models: []string{`"default": "mock/small"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := newHome(t, server.URL)
			if tc.before != "" {
				if err := os.WriteFile(filepath.Join(home, "credentials"), []byte(tc.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			x := startSetup(t, home, tc.env)
			x.dialog(tc.dialog...)
			x.ends(tc.code)
			if tc.stored == nil && tc.before != "" {
				return // the file is as it was
			}
			x.stored(tc.stored)
			x.models(tc.models...)
		})
	}
}

// TestSetupShowsInputAgain: after Ctrl-C at the hidden question the terminal shows
// again what is typed.
func TestSetupShowsInputAgain(t *testing.T) {
	child := command(t, newHome(t, keyServer(t).URL), nil, "setup")
	x := &setupRun{t: t, copied: make(chan struct{})}
	x.cmd = exec.CommandContext(t.Context(), "sh", "-c", `trap : INT; "$0"; echo "ended with $?"; read line`, child.Path)
	x.cmd.Env, x.cmd.Dir = child.Env, child.Dir
	x.start()
	x.dialog("Which one?", "mock\r", "Key of mock", ctrlC, "ended with 130", "can be seen\r", "can be seen", "")
	x.ends(0)
}

func TestForgetAsks(t *testing.T) {
	home := newHome(t, "http://127.0.0.1:9")
	if err := os.WriteFile(filepath.Join(home, "credentials"), []byte(`{"A": "key-a", "B": "key-b"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x := startSetup(t, home, nil, "--forget")
	x.dialog("1  A", "", "2  B", "", "Which one shall be removed?", "\r", "nothing was changed", "")
	x.ends(1)
	x = startSetup(t, home, nil, "--forget")
	x.dialog("Which one shall be removed?", "2\r", "B is no longer stored", "")
	x.ends(0)
	x.stored(map[string]string{"A": "key-a"})
}
