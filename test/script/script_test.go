// Package script_test runs the scripts in testdata: the real binary, as a user
// starts it, against scripted model servers, with expected output and requests.
package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	_ "garuda/internal/cli" // a change of the program makes the go command run the scripts again
	"garuda/internal/testkit/modelserver"
)

var update = flag.Bool("update", false, "write what the scripts print into their golden files")

// binary is the path of the built garuda, made once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "garuda-script-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "garuda")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=0.0.0-test", "-o", binary, "garuda/cmd/garuda")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build garuda: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup:         setup,
		Condition: func(cond string) (bool, error) {
			if cond == "sandbox" {
				return sandboxWorks(), nil
			}
			return false, fmt.Errorf("there is no condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"modelserver": cmdModelServer,
			"requests":    cmdRequests,
			"release":     cmdRelease,
			"awaitstall":  cmdAwaitStall,
			"prefixkept":  cmdPrefixKept,
			"exitcode":    cmdExitCode,
			"jsonlines":   cmdJSONLines,
		},
	})
}

// sandboxWorks tells whether this machine lets commands run in a sandbox.
var sandboxWorks = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "garuda-script-sandbox-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return false
	}
	cmd := exec.Command(binary, "sandbox", "run", "--cwd", project, "--", "true")
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "GARUDA_HOME="+filepath.Join(dir, "home", ".garuda"))
	return cmd.Run() == nil
})

// onTheHost are the settings of scripts and documents that say nothing else: their
// subject is what is asked and decided, which a sandbox would make needless.
const onTheHost = `{"executor": "host"}`

// setup gives each script a home beside its project, in which commands run on the
// host: a folder that holds a home may not be worked in.
func setup(env *testscript.Env) error {
	home := env.WorkDir + "-home"
	if err := os.MkdirAll(filepath.Join(home, ".garuda"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, ".garuda", "settings.json"), []byte(onTheHost), 0o600); err != nil {
		return err
	}
	env.Defer(func() { // it lies beside what is removed by itself
		if err := os.RemoveAll(home); err != nil {
			env.T().Log(err)
		}
	})
	env.Setenv("HOME", home)
	env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("GARUDA_HOME", filepath.Join(home, ".garuda"))
	env.Values["servers"] = map[string]*modelserver.Server{}
	replayAfter(env)
	return nil
}

func server(ts *testscript.TestScript, name string) *modelserver.Server {
	servers, _ := ts.Value("servers").(map[string]*modelserver.Server)
	if servers[name] == nil {
		ts.Fatalf("no model server %q was started", name)
	}
	return servers[name]
}

// cmdModelServer: modelserver NAME SCENARIO [FORMAT] starts a server and defines
// the provider NAME in models.json, of the format chat (default), responses,
// anthropic or gemini, with the model NAME/scripted as default.
func cmdModelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: modelserver NAME SCENARIO [FORMAT]")
	}
	scenario, err := modelserver.Parse([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	s, err := modelserver.New(scenario, modelserver.Options{Strict: true})
	ts.Check(err)
	ts.Check(s.Listen(context.Background(), "127.0.0.1:0"))
	ts.Defer(s.Close)
	servers, _ := ts.Value("servers").(map[string]*modelserver.Server)
	servers[args[0]] = s
	typ, base := "openai-compatible", s.URL()+"/v1"
	if len(args) == 3 {
		switch args[2] {
		case "anthropic":
			typ, base = "anthropic", s.URL()
		case "gemini":
			typ, base = "gemini", s.URL()
		case "responses":
			typ = "openai-responses"
		}
	}
	models := map[string]any{
		"default":   args[0] + "/scripted",
		"providers": map[string]any{args[0]: map[string]any{"type": typ, "baseUrl": base}},
		"models": map[string]any{args[0] + "/scripted": map[string]any{
			"contextWindow": 200000, "maxTokens": 64000, "price": map[string]float64{"input": 1, "output": 2}}},
	}
	b, err := json.MarshalIndent(models, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("GARUDA_HOME"), "models.json"), b, 0o600))
	ts.Setenv("MODEL_URL", s.URL())
}

// cmdRequests: requests NAME FILE writes the request bodies, one a line.
func cmdRequests(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: requests NAME FILE")
	}
	var out strings.Builder
	for _, r := range server(ts, args[0]).Requests() {
		out.Write(r.Body)
		out.WriteByte('\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o600))
}

// cmdRelease: release NAME lets stalled answers go on.
func cmdRelease(ts *testscript.TestScript, _ bool, args []string) { server(ts, args[0]).Release() }

// cmdAwaitStall: awaitstall NAME waits until an answer has stalled.
func cmdAwaitStall(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ts.Check(server(ts, args[0]).WaitStalled(ctx))
}

// cmdPrefixKept: prefixkept NAME [LOADS] fails when a request was not the one
// before it with new messages at its end, but for as many requests with tools
// that tool_search has loaded: none without LOADS.
func cmdPrefixKept(ts *testscript.TestScript, _ bool, args []string) {
	s := server(ts, args[0])
	loads := 0
	if len(args) > 1 {
		var err error
		loads, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	if n := s.Loads(); n != loads {
		ts.Fatalf("%d requests have loaded tools, want %d", n, loads)
	}
	for _, b := range s.Breaks() {
		ts.Fatalf("the prefix was not kept: %s", b)
	}
	if len(s.Requests()) < 2 {
		ts.Fatalf("only %d requests: nothing to compare", len(s.Requests()))
	}
}

// cmdExitCode: exitcode N COMMAND ... runs a command and wants this exit code.
func cmdExitCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		code = -1
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
	}
	if got := fmt.Sprint(code); got != args[0] {
		ts.Fatalf("exit code %s, want %s (%v)", got, args[0], err)
	}
}

// cmdJSONLines: jsonlines FILE checks that each line is one JSON object that has
// a type, a session_id and a uuid.
func cmdJSONLines(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var o struct {
			Type    string `json:"type"`
			Session string `json:"session_id"`
			UUID    string `json:"uuid"`
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			ts.Fatalf("line %d is no JSON object: %v: %s", i+1, err, line)
		}
		if o.Type == "" || o.Session == "" || o.UUID == "" {
			ts.Fatalf("line %d lacks type, session_id or uuid: %s", i+1, line)
		}
	}
}
