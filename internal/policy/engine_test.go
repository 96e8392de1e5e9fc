package policy

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func answer(t *testing.T, e *Engine, req *tool.DecisionRequest, choice tool.Choice) *tool.Decision {
	t.Helper()
	d := e.Decide(req)
	if d.Outcome != tool.Ask {
		t.Fatalf("%s was not asked: %s by %s (%s)", req.Plan.Target, d.Outcome, d.By, d.Reason)
	}
	return e.Resolve(req, d, tool.Answer{Choice: choice})
}

func TestSessionAnswers(t *testing.T) {
	for _, c := range []struct {
		name       string
		first      func(*Engine) *tool.DecisionRequest
		rule       string
		now, still []func(*Engine) *tool.DecisionRequest
	}{
		{"a command, exactly", run("make test && cat x > out"), "bash(make test && cat x > out)",
			[]func(*Engine) *tool.DecisionRequest{run("make test && cat x > out")},
			[]func(*Engine) *tool.DecisionRequest{run("make test"), run("make test && cat x > out2"), run("make test && cat x > out; ls")}},
		{"a command with a star covers no other", run("echo * > x"), "bash(echo * > x)",
			[]func(*Engine) *tool.DecisionRequest{run("echo * > x")}, []func(*Engine) *tool.DecisionRequest{run("echo a > x")}},
		{"a path: its folder, that tool", file("edit_file", "src/a.go"), "edit_file(src/**)",
			[]func(*Engine) *tool.DecisionRequest{file("edit_file", "src/b.go"), file("edit_file", "src/deep/c.go")},
			[]func(*Engine) *tool.DecisionRequest{file("write_file", "src/b.go"), file("edit_file", "pkg/b.go"), file("edit_file", "src/AGENTS.md")}},
		{"a path at the top", file("write_file", "a"), "write_file(/**)",
			[]func(*Engine) *tool.DecisionRequest{file("write_file", "src/b")}, []func(*Engine) *tool.DecisionRequest{file("write_file", "/tmp/x")}},
		{"a host", func(*Engine) *tool.DecisionRequest { return urlCall("a.com") }, "web_fetch(a.com)",
			[]func(*Engine) *tool.DecisionRequest{func(*Engine) *tool.DecisionRequest { return urlCall("A.com.") }},
			[]func(*Engine) *tool.DecisionRequest{func(*Engine) *tool.DecisionRequest { return urlCall("b.a.com") }}},
		{"an input tool", input("remember", `{"x":1}`), "remember",
			[]func(*Engine) *tool.DecisionRequest{input("remember", `{"x":2}`)}, []func(*Engine) *tool.DecisionRequest{input("web_search", `{}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, nil)
			req := c.first(e)
			asked := e.Decide(req)
			if asked.Question == nil || asked.Question.SessionRule != c.rule {
				t.Fatalf("the question offers %+v, want %s", asked.Question, c.rule)
			}
			d := e.Resolve(req, asked, tool.Answer{Choice: tool.AnswerSession})
			if d.Outcome != tool.Allow || d.Grant.Use("c1") != nil {
				t.Fatalf("got %s, grant %v", d.Outcome, d.Grant)
			}
			for _, call := range c.now {
				if d := e.Decide(call(e)); d.Outcome != tool.Allow || d.Row != 10 || d.By != "session" {
					t.Errorf("%s: got %s, row %d by %s (%s)", call(e).Plan.Target, d.Outcome, d.Row, d.By, d.Reason)
				}
			}
			for _, call := range c.still {
				if d := e.Decide(call(e)); d.Outcome != tool.Ask {
					t.Errorf("%s: got %s by %s (%s)", call(e).Plan.Target, d.Outcome, d.By, d.Reason)
				}
			}
		})
	}
}

// TestScriptThatChangesWhileItIsAsked: an answer is to the script as it was when the
// question was put, whatever it would have kept.
func TestScriptThatChangesWhileItIsAsked(t *testing.T) {
	e := newEngine(t, nil)
	script := filepath.Join(e.root.given, "test.sh")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, choice := range []tool.Choice{tool.AnswerOnce, tool.AnswerSession} {
		for _, removed := range []bool{false, true} {
			put("echo seen\n")
			req := command("sh test.sh")
			asked := e.Decide(req)
			put("echo swapped\n")
			if removed {
				if err := os.Remove(script); err != nil {
					t.Fatal(err)
				}
			}
			d := e.Resolve(req, asked, tool.Answer{Choice: choice})
			if d.Outcome != tool.Deny || !strings.Contains(d.Reason, "test.sh changed while the question stood") {
				t.Errorf("%s: %s: %s", choice, d.Outcome, d.Reason)
			}
			put("echo swapped\n")
			if d := e.Decide(req); d.Outcome != tool.Ask {
				t.Errorf("%s, then: %s by %s", choice, d.Outcome, d.By)
			}
		}
	}
	put("echo seen\n")
	req := command("sh test.sh")
	if d := e.Resolve(req, e.Decide(req), tool.Answer{Choice: tool.AnswerOnce}); d.Outcome != tool.Allow {
		t.Errorf("unchanged: %s: %s", d.Outcome, d.Reason)
	}
}

// TestApprovedScript: an answer about a command that names a script holds while
// the script is as it was.
func TestApprovedScript(t *testing.T) {
	var saved Rule
	e := newEngine(t, func(c *Config) { c.SaveProjectRule = func(r Rule) error { saved = r; return nil } })
	script := filepath.Join(e.root.given, "test.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"sh test.sh", "./test.sh", "cd src && bash ../test.sh -v", "env A=1 sh test.sh"} {
		write("echo one\n")
		if q := e.Decide(command(text)).Question; q == nil || q.ProjectRule != "" && !strings.HasSuffix(q.ProjectRule, ", while test.sh stays as it is") {
			t.Errorf("%s: a rule that outlives the script was offered: %+v", text, q)
		} else if q.SessionRule != "" && !strings.HasSuffix(q.SessionRule, ", while test.sh stays as it is") {
			t.Errorf("%s: the answer for the session does not say what it is bound to: %s", text, q.SessionRule)
		}
		saved = Rule{}
		answer(t, e, command(text), tool.AnswerProject)
		if saved.Text != "" { // what was saved allows it by itself, for this script
			next := newEngine(t, func(c *Config) {
				c.Root = e.root.given
				c.Rules = []RuleSource{{Source: "saved", Allow: []Rule{saved}}}
			})
			if d := next.Decide(command(text)); d.Outcome != tool.Allow || d.By != "rule" {
				t.Errorf("%s with its rule %+v: %s by %s", text, saved, d.Outcome, d.By)
			}
			elsewhere := filepath.Join(e.root.given, "src", "test.sh")
			if err := os.WriteFile(elsewhere, []byte("echo evil\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, "cd") {
				if d := next.Decide(command("cd src && " + text)); d.Outcome != tool.Ask {
					t.Errorf("%s for another script of that name: %s by %s", text, d.Outcome, d.By)
				}
			}
			write("echo other\n")
			if d := next.Decide(command(text)); d.Outcome != tool.Ask {
				t.Errorf("%s with its rule and another script: %s by %s", text, d.Outcome, d.By)
			}
			write("echo one\n")
		} else if !strings.HasPrefix(text, "env") {
			t.Errorf("%s: nothing was saved", text)
		}
		if d := e.Decide(command(text)); d.By != "session" {
			t.Errorf("%s: got %s by %s", text, d.Outcome, d.By)
		}
		write("echo two\n")
		if d := e.Decide(command(text)); d.Outcome != tool.Ask {
			t.Errorf("%s after a change: got %s by %s", text, d.Outcome, d.By)
		}
	}
}

func TestProjectAnswers(t *testing.T) {
	var saved []string
	save := func(c *Config) { c.SaveProjectRule = func(r Rule) error { saved = append(saved, r.Text); return nil } }
	for text, want := range map[string]string{
		"make test":                  "bash(make test)",
		"cd src && npm test | head":  "bash(npm test)",
		"echo 'a*' && foo '*' \"b c": "",
		"foo '*' 'b c'":              "bash(foo '*' 'b c')",
		"make a && make b":           "",
		"x=1 make":                   "",
		"make > out":                 "",
		"foo $x":                     "",
		"sort -o x f":                "bash(sort -o x f)",
		"timeout 5 make":             "bash(timeout 5 make)",
	} {
		e := newEngine(t, save)
		d := e.Decide(command(text))
		if d.Question == nil || d.Question.ProjectRule != want {
			t.Errorf("%s: offers %+v, want %q", text, d.Question, want)
			continue
		}
		if want == "" {
			continue
		}
		saved = nil
		if got := e.Resolve(command(text), d, tool.Answer{Choice: tool.AnswerProject}); got.Outcome != tool.Allow {
			t.Errorf("%s: got %s", text, got.Outcome)
		}
		if diff := cmp.Diff([]string{want}, saved); diff != "" {
			t.Errorf("%s: saved (-want +got):\n%s", text, diff)
		}
		// What was saved is enough the next time, and covers nothing else.
		next := newEngine(t, allowing(want))
		if d := next.Decide(command(text)); d.Outcome != tool.Allow {
			t.Errorf("%s with its rule: got %s by %s (%s)", text, d.Outcome, d.By, d.Reason)
		}
		if d := next.Decide(command(text + " more")); d.Outcome == tool.Allow && !strings.HasSuffix(text, "head") {
			t.Errorf("%s more: covered by %s", text, want)
		}
	}
	e := newEngine(t, func(c *Config) { c.SaveProjectRule = func(Rule) error { return errors.New("disk full") } })
	if d := answer(t, e, command("make"), tool.AnswerProject); d.Outcome != tool.Allow || !strings.Contains(d.Reason, "disk full") {
		t.Errorf("got %s: %s", d.Outcome, d.Reason)
	}
	if q := newEngine(t, nil).Decide(command("make")).Question; q.ProjectRule != "" {
		t.Errorf("offered %q without a place to keep it", q.ProjectRule)
	}
}

func TestProtectedQuestionOffersNoAlways(t *testing.T) {
	e := newEngine(t, func(c *Config) { c.SaveProjectRule = func(Rule) error { return nil } })
	for _, call := range []*tool.DecisionRequest{fileCall(e, "write_file", "CLAUDE.md"), fileCall(e, "edit_file", ".github/workflows/x.yml"), command("rm -rf src"), command("ls \u202e")} {
		q := e.Decide(call).Question
		if q == nil || q.SessionRule != "" || q.ProjectRule != "" {
			t.Errorf("%s: %+v", call.Plan.Target, q)
		}
		if d := e.Resolve(call, e.Decide(call), tool.Answer{Choice: tool.AnswerSession}); d.Outcome != tool.Allow {
			t.Errorf("%s: a yes became %s", call.Plan.Target, d.Outcome)
		}
		if d := e.Decide(call); d.Outcome != tool.Ask {
			t.Errorf("%s: the answer was kept: %s by %s", call.Plan.Target, d.Outcome, d.By)
		}
	}
}

func TestQuestion(t *testing.T) {
	e := newEngine(t, nil)
	req := command("make \u202etest\r")
	req.Agent = "worker"
	got := e.Decide(req).Question
	want := &tool.Question{CallID: "c1", Tool: "bash", Agent: "worker", Title: "Run a command", Target: "make <U+202E>test<U+000D>",
		Preview: "make <U+202E>test<U+000D>", Where: "on this machine, without a sandbox",
		Warning: "It holds characters that do not show, or that change how others show. They stand here as <U+…>."}
	got.Why = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text, crlf := "x", "-a\r\n+b\r\n"
	edit := fileCall(e, "edit_file", "src/a.go")
	edit.Plan.Preview = crlf
	edit.Plan.Effects.Changes = []tool.Change{{Path: edit.Plan.Effects.Writes[0], New: &text}}
	if q := e.Decide(edit).Question; q.Title != "Create src/a.go" || q.Preview != crlf || q.Warning != "" {
		t.Errorf("%+v", q)
	}
	edit.Plan.Preview = "-a\n+\u200bb\r\x1b[2K"
	if q := e.Decide(edit).Question; q.Preview != "-a\n+<U+200B>b<U+000D><U+001B>[2K" || q.Warning == "" {
		t.Errorf("%+v", q)
	}
	isolated := newEngine(t, sandboxedSession)
	if q := e.Decide(inBackground(command("make"))).Question; q.Title != "Run a command in the background" {
		t.Errorf("in the background: %+v", q)
	}
	if q := isolated.Decide(outside(command("make"))).Question; q.Title != "Run a command outside the sandbox" || q.SessionRule != "unsandboxed(make)" {
		t.Errorf("%+v", q)
	}
}

// TestNeutralGit: git that is allowed because it only reads gets its environment;
// git that a rule of the user covers runs as it is.
func TestNeutralGit(t *testing.T) {
	e := newEngine(t, allowing("bash(make *)", "bash(git commit *)"))
	for text, want := range map[string]bool{
		"git status":                  true,
		"cd src && git diff | head":   true,
		"timeout 5 git log":           true,
		"git status && make test":     true,
		"ls":                          false,
		"make test":                   false,
		"git commit -m x":             false,
		"ls && git commit -m x && ls": false,
	} {
		d := e.Decide(command(text))
		if d.Outcome != tool.Allow {
			t.Errorf("%s: %s (%s)", text, d.Outcome, d.Reason)
			continue
		}
		if got := len(d.Grant.CommandEnv) > 0; got != want {
			t.Errorf("%s: neutral %v, want %v", text, got, want)
		}
	}
	evil := newEngine(t, func(c *Config) {
		if err := os.WriteFile(filepath.Join(c.Root, ".git", "config"), []byte("[core]\n\tfsmonitor = touch pwn\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	if d := evil.Decide(command("git status")); d.Outcome != tool.Ask {
		t.Errorf("with a monitor configured: %s by %s", d.Outcome, d.By)
	}
}

func TestDenialsLastForTheTurn(t *testing.T) {
	e := newEngine(t, sandboxedSession)
	refuse(t, e, fileCall(e, "write_file", "src/new.go"))
	call := command("tee src/new.go < f")
	if d := e.Decide(call); d.By != "denied_before" || !strings.Contains(d.Reason, "src/new.go") {
		t.Errorf("in the turn: %s by %s: %s", d.Outcome, d.By, d.Reason)
	}
	e.BeginTurn()
	if d := e.Decide(call); d.By != "sandbox" {
		t.Errorf("in the next: %s by %s", d.Outcome, d.By)
	}
	// A yes after a no takes the no back.
	refuse(t, e, fileCall(e, "write_file", "src/new.go"))
	if d := e.Resolve(call, e.Decide(call), tool.Answer{Choice: tool.AnswerOnce}); d.Outcome != tool.Allow {
		t.Fatal(d.Reason)
	}
	if d := e.Decide(call); d.By != "sandbox" {
		t.Errorf("after a yes: %s by %s", d.Outcome, d.By)
	}
	// Nobody there: a denied write is not tried through the shell.
	alone := newEngine(t, configure(unattendedSession, sandboxedSession))
	if d := alone.Decide(fileCall(alone, "write_file", "x.go")); d.By != "unattended" || !strings.Contains(d.Reason, "--yolo") {
		t.Fatalf("%s by %s: %s", d.Outcome, d.By, d.Reason)
	}
	if d := alone.Decide(command("echo > x.go")); d.Outcome != tool.Deny {
		t.Errorf("through the shell: %s by %s", d.Outcome, d.By)
	}
}

func TestUnattendedSaysHow(t *testing.T) {
	e := newEngine(t, unattendedSession)
	for text, want := range map[string]string{
		"make test":     "--allow 'bash(make test)'",
		"sh test.sh":    "--allow 'bash(sh test.sh)'",
		"make; ls; tar": "--allow 'bash(make)' --allow 'bash(tar)', or everything",
		"a; b; c; d":    "can allow everything",
		"x=1 make":      "--yolo",
		"rm -rf src":    "Only a person",
		"echo \u202e x": "Only a person",
	} {
		if d := e.Decide(command(text)); d.Outcome != tool.Deny || d.By != "unattended" || !strings.Contains(d.Reason, want) {
			t.Errorf("%s: %s by %s: %s", text, d.Outcome, d.By, d.Reason)
		}
	}
	// The rules that are named are enough.
	for text, rules := range map[string][]string{
		"make test": {"bash(make test)"}, "sh test.sh": {"bash(sh test.sh)"}, "make; ls; tar": {"bash(make)", "bash(tar)"},
	} {
		if d := newEngine(t, configure(unattendedSession, allowing(rules...))).Decide(command(text)); d.Outcome != tool.Allow {
			t.Errorf("%s with the rules: %s", text, d.Reason)
		}
	}
}

func TestResolveKeepsTheTable(t *testing.T) {
	e := newEngine(t, nil)
	req := fileCall(e, "write_file", "a")
	asked := e.Decide(req)
	if err := e.SetMode(Plan); err != nil {
		t.Fatal(err)
	}
	if d := e.Resolve(req, asked, tool.Answer{Choice: tool.AnswerOnce}); d.Outcome != tool.Deny || d.By != "plan" {
		t.Errorf("a yes from before plan mode became %s by %s", d.Outcome, d.By)
	}
	// An answer to what was not asked allows nothing.
	denied := e.Decide(fileCall(e, "read_file", ".env"))
	if d := e.Resolve(fileCall(e, "read_file", ".env"), denied, tool.Answer{Choice: tool.AnswerOnce}); d.Outcome != tool.Deny {
		t.Errorf("got %s", d.Outcome)
	}
	if d := e.Resolve(req, asked, tool.Answer{Choice: "perhaps"}); d.Outcome != tool.Deny {
		t.Errorf("an unknown answer became %s", d.Outcome)
	}
	if err := e.SetMode("bild"); err == nil {
		t.Error("an unknown mode was accepted")
	}
}

func TestExplain(t *testing.T) {
	e := newEngine(t, configure(unattendedSession, denying("bash(rm *)")))
	d := e.Explain(command("A=1 ls >x; sudo rm \"$y\""))
	got, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"decision":"deny","row":4,"by":"rule","rule":"bash(rm *)","source":"user","reason":"the rule bash(rm *) (user) forbids ` +
		"`rm ''`" + `. Do not try it by other means; go on without it, or ask the user","commands":[` +
		`{"argv":["ls"],"assignments":["A=1"],"redirects":["\u003ex"],"known":true},` +
		`{"argv":["sudo","rm","\"$y\""],"assignments":[],"redirects":[],"known":false},` +
		`{"argv":["rm",""],"assignments":[],"redirects":[],"known":false},` +
		`{"argv":["rm","\"$y\""],"assignments":[],"redirects":[],"known":false}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d := e.Explain(command("make")); d.Outcome != tool.Ask || d.Grant != nil || d.Question != nil {
		t.Errorf("explain decides as an attended session does: %+v", d)
	}
	if d := e.Explain(command("ls")); d.Outcome != tool.Allow || d.Grant != nil {
		t.Errorf("explain grants nothing: %+v", d)
	}
	e.Explain(fileCall(e, "read_file", ".env"))
	if len(e.denied) != 0 {
		t.Error("explain remembered a denial")
	}
}

func TestMayRead(t *testing.T) {
	e := newEngine(t, configure(denying("read_file(secret/**)", "grep(*.sql)", "write_file(ok/**)"), allowing("read_file(.env.test)")))
	if err := os.Symlink(".env", filepath.Join(e.root.given, "innocent")); err != nil {
		t.Skip("cannot make links: ", err)
	}
	if err := os.Symlink("secret", filepath.Join(e.root.given, "folder")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"README.md": true, "src/a.go": true, ".env": false, "src/.env": false, ".env.example": true, ".env.test": true,
		"secret/x": false, "db/x.sql": false, "ok/x": true, "innocent": false, "folder/x": false, "a/id_rsa": false, ".ssh/config": false,
	} {
		if got := e.MayRead(filepath.Join(e.root.given, path)); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// TestModeChangesAtOnce runs decisions beside changes of mode and turn.
func TestModeChangesAtOnce(t *testing.T) {
	e := newEngine(t, nil)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				switch i {
				case 0:
					_ = e.SetMode(Plan) // known modes
					_ = e.SetMode(Build)
				case 1:
					e.BeginTurn()
					e.MayRead(filepath.Join(e.root.given, "f"))
				default:
					req := fileCall(e, "write_file", "a")
					d := e.Decide(req)
					if d.By != "plan" && d.By != "user" && d.By != "session" && d.By != "denied_before" {
						t.Errorf("got %s by %s", d.Outcome, d.By)
					}
					if d.Outcome == tool.Ask {
						e.Resolve(req, d, tool.Answer{Choice: tool.AnswerSession})
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestOnlyPolicyGrants reads the repository's sources for other callers of
// tool.NewGrant, and for grants made without it.
func TestOnlyPolicyGrants(t *testing.T) {
	top := filepath.Join("..", "..")
	found := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil //nolint:nilerr // a file that does not parse does not compile either
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if ok && id.Name == "NewGrant" && !strings.HasSuffix(dir, "internal/tool") {
				found++
				if !strings.HasSuffix(dir, "internal/policy") {
					t.Errorf("%s calls tool.NewGrant; only package policy may", path)
				}
			}
			if lit, ok := n.(*ast.CompositeLit); ok {
				if sel, ok := lit.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Grant" && !strings.HasSuffix(dir, "internal/policy") {
					if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "tool" {
						t.Errorf("%s makes a tool.Grant by itself", path)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no caller found: the test looks in the wrong place")
	}
}
