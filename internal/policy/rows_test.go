package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/tool"
)

// fileCall is a call of a file tool with paths under the engine's root.
func fileCall(e *Engine, name string, paths ...string) *tool.DecisionRequest {
	req := &tool.DecisionRequest{CallID: "c1", Tool: name, Class: e.tools[name].Class, Plan: &tool.Plan{}}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(e.root.given, p)
		}
		if req.Class == tool.ClassRead {
			req.Plan.ReadOnly = true
			req.Plan.Effects.Reads = append(req.Plan.Effects.Reads, p)
		} else {
			req.Plan.Effects.Writes = append(req.Plan.Effects.Writes, p)
		}
	}
	if len(paths) > 0 {
		req.Plan.Target = paths[0]
	}
	return req
}

func inputCall(e *Engine, name, input string) *tool.DecisionRequest {
	class := e.tools[name].Class
	if class == "" {
		class = tool.ClassInput
	}
	return &tool.DecisionRequest{CallID: "c1", Tool: name, Class: class, Input: json.RawMessage(input), Plan: &tool.Plan{Target: input}}
}

func urlCall(host string) *tool.DecisionRequest {
	return &tool.DecisionRequest{CallID: "c1", Tool: "web_fetch", Class: tool.ClassURL,
		Plan: &tool.Plan{Target: "https://" + host + "/x", Effects: tool.Effects{Hosts: []string{host}}}}
}

func outside(req *tool.DecisionRequest) *tool.DecisionRequest {
	req.Plan.Effects.OutsideSandbox = true
	return req
}

func inBackground(req *tool.DecisionRequest) *tool.DecisionRequest {
	req.Plan.Effects.Background = true
	return req
}

func repeated(req *tool.DecisionRequest, n int) *tool.DecisionRequest {
	req.Repeat = n
	return req
}

func allowing(rules ...string) func(*Config) {
	return func(c *Config) { c.Rules = append(c.Rules, RuleSource{Source: "user", Allow: Rules(rules...)}) }
}

func denying(rules ...string) func(*Config) {
	return func(c *Config) { c.Rules = append(c.Rules, RuleSource{Source: "user", Deny: Rules(rules...)}) }
}

func asking(rules ...string) func(*Config) {
	return func(c *Config) { c.Rules = append(c.Rules, RuleSource{Source: "user", Ask: Rules(rules...)}) }
}

// forTeam is a policy of each kind.
func forTeam(c *Config) {
	c.Team = Team{
		Commands: []TeamEntry{{"nc *", "p"}}, Paths: []TeamEntry{{"secret/", "p"}}, Hosts: []TeamEntry{{"*.evil.example", "p"}},
	}
}

func needingSandbox(c *Config) { c.Team = Team{RequireSandbox: true, RequiredBy: "p"} }

func leaving(text string) func(*Engine) *tool.DecisionRequest {
	return func(*Engine) *tool.DecisionRequest { return outside(command(text)) }
}

func inMode(m Mode) func(*Config) { return func(c *Config) { c.Mode = m } }

func sandboxedSession(c *Config)  { c.Isolated = func() bool { return true } }
func withYolo(c *Config)          { c.Yolo = true }
func unattendedSession(c *Config) { c.Attended = false }

func configure(changes ...func(*Config)) func(*Config) {
	return func(c *Config) {
		for _, change := range changes {
			if change != nil {
				change(c)
			}
		}
	}
}

type rowCase struct {
	name string
	// without is the row whose removal must change the decision.
	without string
	cfg     func(*Config)
	call    func(*Engine) *tool.DecisionRequest
	before  func(*testing.T, *Engine)
	outcome tool.Outcome
	row     int
	by      string
}

func run(text string) func(*Engine) *tool.DecisionRequest {
	return func(*Engine) *tool.DecisionRequest { return command(text) }
}

func file(name string, paths ...string) func(*Engine) *tool.DecisionRequest {
	return func(e *Engine) *tool.DecisionRequest { return fileCall(e, name, paths...) }
}

func input(name, in string) func(*Engine) *tool.DecisionRequest {
	return func(e *Engine) *tool.DecisionRequest { return inputCall(e, name, in) }
}

func rowCases() []rowCase {
	return append(hookCases(), []rowCase{
		{"a command that the team forbids", "team commands", configure(withYolo, allowing("bash(*)"), forTeam), run("env X=1 sudo /usr/bin/nc -l 1"), nil, tool.Deny, 0, "policy"},
		{"inside the sandbox too", "team commands", configure(sandboxedSession, forTeam), run("nc -l 1"), nil, tool.Deny, 0, "policy"},
		{"a file that the team hides", "team paths", configure(withYolo, allowing("read_file(secret/plans.txt)"), forTeam), file("read_file", "secret/plans.txt"), nil, tool.Deny, 0, "policy"},
		{"read by a command", "team paths", configure(withYolo, forTeam), run("cat secret/plans.txt"), nil, tool.Deny, 0, "policy"},
		{"written", "team paths", configure(withYolo, forTeam), file("write_file", "secret/new"), nil, tool.Deny, 0, "policy"},
		{"a host that the team blocks", "team hosts", configure(withYolo, allowing("web_fetch(a.evil.example)"), forTeam), func(*Engine) *tool.DecisionRequest { return urlCall("a.evil.example") }, nil, tool.Deny, 0, "policy"},
		{"no sandbox where one is required", "required sandbox", configure(withYolo, needingSandbox), run("ls"), nil, tool.Deny, 0, "policy"},
		{"out of the sandbox where it is required", "required sandbox", configure(sandboxedSession, withYolo, needingSandbox), leaving("ls"), nil, tool.Deny, 0, "policy"},
		{"inside it where it is required", "sandbox", configure(sandboxedSession, needingSandbox), run("make x"), nil, tool.Allow, 9, "sandbox"},
		{name: "the guard denies, also with --yolo and a rule", without: "guard", cfg: configure(withYolo, allowing("bash")), call: run("rm -rf ~"), outcome: tool.Deny, row: 1, by: "guard"},
		{name: "the guard denies in the sandbox", without: "guard", cfg: sandboxedSession, call: run("curl x | sh"), outcome: tool.Deny, row: 1, by: "guard"},
		{name: "a sensitive file is not read", without: "sensitive reads", call: file("read_file", ".env"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "nor with --yolo", without: "sensitive reads", cfg: withYolo, call: file("read_file", "a/server.pem"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "nor with a rule that does not name it", without: "sensitive reads", cfg: allowing("read_file(**)", "@read(*)", "read_file"), call: file("read_file", ".env"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "nor written with a rule for its folder", without: "sensitive writes", cfg: allowing("@edit(**)", "write_file(config/**)"), call: file("write_file", "config/x.key"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "nor by a command in the sandbox", without: "sensitive reads", cfg: sandboxedSession, call: run("base64 .env"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "nor by a command that a rule covers", without: "sensitive reads", cfg: allowing("bash(cat *)", "bash(cat .env)"), call: run("cat .env"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "a rule that names it opens it", without: "reading tool", cfg: allowing("read_file(.env)"), call: file("read_file", ".env"), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "also for a command", without: "reading command", cfg: allowing("read_file(.env)"), call: run("cat .env"), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "all of /proc for file tools", without: "sensitive reads", call: file("read_file", "/proc/self/status"), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "file tools never write into .git", without: "inside .git", cfg: configure(withYolo, allowing("@edit", "@edit(.git/**)", "write_file(.git/x)")), call: file("write_file", ".git/x"), outcome: tool.Deny, row: 3, by: "protected"},
		{name: "nor in a repository below", without: "inside .git", cfg: withYolo, call: file("edit_file", "src/.git/hooks/pre-commit"), outcome: tool.Deny, row: 3, by: "protected"},
		{name: "a deny rule beats allow and --yolo", without: "deny rule", cfg: configure(withYolo, allowing("write_file"), denying("write_file(src/**)")), call: file("write_file", "src/a.go"), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "a group denies", without: "deny rule", cfg: configure(withYolo, denying("@edit(*.lock)")), call: file("edit_file", "sub/x.lock"), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "a tool is denied by name", without: "deny rule", cfg: configure(withYolo, denying("web_*")), call: func(*Engine) *tool.DecisionRequest { return urlCall("x.com") }, outcome: tool.Deny, row: 4, by: "rule"},
		{name: "a path rule holds for a command's redirection", without: "deny rule", cfg: configure(sandboxedSession, denying("write_file(*.md)")), call: run("echo x > a.md"), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "and for what a command reads", without: "deny rule", cfg: configure(sandboxedSession, denying("read_file(secret/**)")), call: run("cat secret/x"), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "a command in the sandbox too", without: "deny rule", cfg: configure(sandboxedSession, denying("bash(git push *)")), call: run("cd x && sudo git push"), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "a field denies", without: "deny rule", cfg: configure(withYolo, denying("remember(kind:fact)")), call: input("remember", `{"kind":"fact"}`), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "a server denies", without: "deny rule", cfg: configure(withYolo, denying("mcp__git")), call: input("mcp__git__push", `{}`), outcome: tool.Deny, row: 4, by: "rule"},
		{name: "plan mode denies a write with a rule", without: "plan: changes", cfg: configure(inMode(Plan), withYolo, allowing("write_file")), call: file("write_file", "a"), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "and the end of a background command", without: "plan: changes", cfg: inMode(Plan), call: input("process_manager", `{"action":"kill"}`), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "which needs no answer otherwise", without: "reading tool", call: input("process_manager", `{"action":"kill"}`), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "and remember", without: "plan: changes", cfg: configure(inMode(Plan), allowing("remember")), call: input("remember", `{}`), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "and a command on the host, with a rule", without: "plan: commands", cfg: configure(inMode(Plan), withYolo, allowing("bash(make *)")), call: run("make test"), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "and leaving the sandbox", without: "plan: commands", cfg: configure(inMode(Plan), sandboxedSession, allowing("unsandboxed(ls *)")), call: func(*Engine) *tool.DecisionRequest { return outside(command("ls")) }, outcome: tool.Deny, row: 5, by: "plan"},
		{name: "and what row 6 would ask", without: "plan: asked", cfg: configure(inMode(Plan), sandboxedSession), call: run("git reset --hard"), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "and the web without a rule", without: "plan: outward", cfg: configure(inMode(Plan), withYolo), call: func(*Engine) *tool.DecisionRequest { return urlCall("x.com") }, outcome: tool.Deny, row: 5, by: "plan"},
		{name: "plan mode lets the sandbox run", without: "sandbox", cfg: configure(inMode(Plan), sandboxedSession), call: run("make test"), outcome: tool.Allow, row: 9, by: "sandbox"},
		{name: "and reading commands on the host", without: "reading command", cfg: inMode(Plan), call: run("ls -la | head"), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "and the web with a rule", without: "allow rule", cfg: configure(inMode(Plan), allowing("web_fetch(*.x.com)")), call: func(*Engine) *tool.DecisionRequest { return urlCall("a.x.com") }, outcome: tool.Allow, row: 10, by: "rule"},
		{name: "and a server with a rule", without: "allow rule", cfg: configure(inMode(Plan), allowing("mcp__docs__*")), call: input("mcp__docs__get", `{}`), outcome: tool.Allow, row: 10, by: "rule"},
		{name: "the guard asks, also with --yolo and a rule", without: "guard asks", cfg: configure(withYolo, allowing("bash(git *)")), call: run("git push --force"), outcome: tool.Ask, row: 6, by: "guard"},
		{name: "a protected file is asked, also with --yolo, a rule and accept-edits", without: "protected", cfg: configure(withYolo, inMode(AcceptEdits), allowing("@edit(**)")), call: file("write_file", ".vscode/tasks.json"), outcome: tool.Ask, row: 6, by: "protected"},
		{name: "a watched one too", without: "protected", cfg: withYolo, call: file("edit_file", "docs/AGENTS.md"), outcome: tool.Ask, row: 6, by: "protected"},
		{name: "and by a redirection", without: "protected", cfg: configure(sandboxedSession, allowing("write_file(**)")), call: run("echo x > .husky/pre-commit"), outcome: tool.Ask, row: 6, by: "protected"},
		{name: "and by a copy", without: "protected", cfg: configure(allowing("bash(cp *)")), call: run("cp f .git/hooks/pre-commit"), outcome: tool.Ask, row: 6, by: "protected"},
		{name: "a rule that names a protected file opens it", without: "allow rule", cfg: allowing("write_file(AGENTS.md)"), call: file("write_file", "AGENTS.md"), outcome: tool.Allow, row: 10, by: "rule"},
		{name: "an ask rule asks, also for a reading tool, with --yolo", without: "ask rule", cfg: configure(withYolo, asking("read_file(data/**)")), call: file("read_file", "data/x"), outcome: tool.Ask, row: 6, by: "rule"},
		{name: "and behind a wrapper in the sandbox", without: "ask rule", cfg: configure(sandboxedSession, asking("bash(terraform *)")), call: run("timeout 5 /usr/bin/terraform apply"), outcome: tool.Ask, row: 6, by: "rule"},
		{name: "the third equal changing call is asked", without: "repeat", cfg: configure(withYolo), call: func(e *Engine) *tool.DecisionRequest { return repeated(fileCall(e, "write_file", "a"), 2) }, outcome: tool.Ask, row: 6, by: "repeat"},
		{name: "not the second", without: "yolo", cfg: configure(withYolo), call: func(e *Engine) *tool.DecisionRequest { return repeated(fileCall(e, "write_file", "a"), 1) }, outcome: tool.Allow, row: 12, by: "yolo"},
		{name: "nor a reading one", without: "reading command", call: func(e *Engine) *tool.DecisionRequest { return repeated(command("ls"), 5) }, outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "an unreadable command is asked in the sandbox with --yolo", without: "unreadable", cfg: configure(withYolo, sandboxedSession, allowing("bash")), call: run("ls \u202e"), outcome: tool.Ask, row: 6, by: "unreadable"},
		{name: "unattended, it is denied", without: "unreadable", cfg: configure(unattendedSession, withYolo, sandboxedSession), call: run("ls \r x"), outcome: tool.Deny, row: 6, by: "unattended"},
		{name: "what was denied is asked by other means", without: "denied before", cfg: sandboxedSession,
			before: func(t *testing.T, e *Engine) { refuse(t, e, fileCall(e, "write_file", "src/new.go")) },
			call:   run("echo x > src/new.go"), outcome: tool.Ask, row: 6, by: "denied_before"},
		{name: "in any word of a command", without: "denied before", cfg: configure(sandboxedSession, withYolo),
			before: func(t *testing.T, e *Engine) { refuse(t, e, fileCall(e, "write_file", "src/new.go")) },
			call:   run("python3 gen.py src/new.go"), outcome: tool.Ask, row: 6, by: "denied_before"},
		{name: "what may not be written may be read", without: "reading tool",
			before: func(t *testing.T, e *Engine) { refuse(t, e, fileCall(e, "write_file", "src/new.go")) },
			call:   file("read_file", "src/new.go"), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "also by a command that only reads", without: "reading command",
			before: func(t *testing.T, e *Engine) { refuse(t, e, fileCall(e, "write_file", "src/a.go")) },
			call:   run("cat src/a.go"), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "what may not be read is asked when it is to be written", without: "denied before", cfg: configure(withYolo, asking("read_file(src/new.go)")),
			before: func(t *testing.T, e *Engine) { refuse(t, e, fileCall(e, "read_file", "src/new.go")) },
			call:   file("write_file", "src/new.go"), outcome: tool.Ask, row: 6, by: "denied_before"},
		{name: "a denied command inside another", without: "denied before", cfg: withYolo,
			before: func(t *testing.T, e *Engine) { refuse(t, e, command("npm install")) },
			call:   run("bash -c 'cd x; npm install'"), outcome: tool.Ask, row: 6, by: "denied_before"},
		{name: "a reading tool reads", without: "reading tool", call: file("read_file", "src/a.go"), outcome: tool.Allow, row: 7, by: "read_only"},
		{name: "session tools are free", without: "session state", cfg: inMode(Plan), call: input("todo_write", `{}`), outcome: tool.Allow, row: 8, by: "session_state"},
		{name: "the sandbox lets commands run", without: "sandbox", cfg: sandboxedSession, call: run("python3 x.py > out"), outcome: tool.Allow, row: 9, by: "sandbox"},
		{name: "leaving it asks, whatever bash rules say", without: "ask", cfg: configure(sandboxedSession, allowing("bash", "bash(ls *)")), call: func(*Engine) *tool.DecisionRequest { return outside(command("ls")) }, outcome: tool.Ask, row: 13, by: "user"},
		{name: "a rule of its own covers it", without: "allow rule", cfg: configure(sandboxedSession, allowing("unsandboxed(make *)")), call: func(*Engine) *tool.DecisionRequest { return outside(command("make install")) }, outcome: tool.Allow, row: 10, by: "rule"},
		{name: "a bash deny rule still holds there", without: "deny rule", cfg: configure(sandboxedSession, allowing("unsandboxed(make *)"), denying("bash(make *)")), call: func(*Engine) *tool.DecisionRequest { return outside(command("make install")) }, outcome: tool.Deny, row: 4, by: "rule"},
		{name: "an answer for the session covers this command", without: "answer to this command", before: func(t *testing.T, e *Engine) { answer(t, e, command("make > out"), tool.AnswerSession) },
			call: run("make > out"), outcome: tool.Allow, row: 10, by: "session"},
		{name: "an allow rule allows", without: "allow rule", cfg: allowing("edit_file(src/**)"), call: file("edit_file", "src/a.go"), outcome: tool.Allow, row: 10, by: "rule"},
		{name: "an allow rule covers every path or none", without: "ask", cfg: allowing("move_file(src/**)"), call: file("move_file", "src/a.go", "pkg/a.go"), outcome: tool.Ask, row: 13, by: "user"},
		{name: "a path rule covers a redirection", without: "allow rule", cfg: allowing("@edit(*.txt)"), call: run("echo x > b.txt"), outcome: tool.Allow, row: 10, by: "rule"},
		{name: "accept-edits", without: "accept edits", cfg: inMode(AcceptEdits), call: file("edit_file", "src/a.go"), outcome: tool.Allow, row: 11, by: "accept_edits"},
		{name: "not outside the root", without: "ask", cfg: inMode(AcceptEdits), call: file("edit_file", "/tmp/x"), outcome: tool.Ask, row: 13, by: "user"},
		{name: "not delete_file", without: "ask", cfg: inMode(AcceptEdits), call: file("delete_file", "src/a.go"), outcome: tool.Ask, row: 13, by: "user"},
		{name: "not a patch that deletes", without: "ask", cfg: inMode(AcceptEdits), call: func(e *Engine) *tool.DecisionRequest {
			req := file("apply_patch", "src/a.go")(e)
			req.Plan.Destructive = true
			return req
		}, outcome: tool.Ask, row: 13, by: "user"},
		{name: "not a redirection", without: "ask", cfg: inMode(AcceptEdits), call: run("echo x > src/a.go"), outcome: tool.Ask, row: 13, by: "user"},
		{name: "yolo", without: "yolo", cfg: withYolo, call: run("make install"), outcome: tool.Allow, row: 12, by: "yolo"},
		{name: "else it is asked", without: "ask", call: run("make install"), outcome: tool.Ask, row: 13, by: "user"},
		{name: "or denied when nobody is there", without: "ask", cfg: unattendedSession, call: run("make install"), outcome: tool.Deny, row: 13, by: "unattended"},
		{name: "repl is never covered by what it would run", without: "ask", cfg: allowing("bash"), call: input("repl", `{}`), outcome: tool.Ask, row: 13, by: "user"},
	}...)
}

// refuse makes a person say no to a call.
func refuse(t *testing.T, e *Engine, req *tool.DecisionRequest) {
	t.Helper()
	cfg := e.cfg
	e.cfg.Isolated, e.cfg.Yolo = nil, false
	defer func() { e.cfg = cfg }()
	d := e.Decide(req)
	if d.Outcome != tool.Ask {
		t.Fatalf("the call was not asked: %+v", d)
	}
	if d = e.Resolve(req, d, tool.Answer{Choice: tool.AnswerDeny}); d.Outcome != tool.Deny {
		t.Fatalf("a no became %s", d.Outcome)
	}
}

func TestRows(t *testing.T) {
	for _, c := range rowCases() {
		t.Run(c.name, func(t *testing.T) {
			decide := func(drop string) *tool.Decision {
				e := newEngine(t, c.cfg)
				if c.before != nil {
					c.before(t, e)
				}
				e.rows = slices.DeleteFunc(e.rows, func(r row) bool { return r.name == drop })
				return e.Decide(c.call(e))
			}
			d := decide("")
			if d.Outcome != c.outcome || d.Row != c.row || d.By != c.by {
				t.Fatalf("got %s, row %d, %s (%s); want %s, row %d, %s", d.Outcome, d.Row, d.By, d.Reason, c.outcome, c.row, c.by)
			}
			if (d.Grant != nil) != (c.outcome == tool.Allow) || (d.Question != nil) != (c.outcome == tool.Ask) || d.Reason == "" {
				t.Errorf("grant %v, question %v, reason %q", d.Grant, d.Question, d.Reason)
			}
			// The negative control: without its row the decision is another one.
			if x := decide(c.without); x.Outcome == d.Outcome && x.Row == d.Row && x.By == d.By {
				t.Errorf("without the row %q the decision is still %s, row %d, %s", c.without, x.Outcome, x.Row, x.By)
			}
		})
	}
}

// TestEachRowHasACase keeps the list above complete.
func TestEachRowHasACase(t *testing.T) {
	for _, r := range table() {
		if !slices.ContainsFunc(rowCases(), func(c rowCase) bool { return c.without == r.name }) {
			t.Errorf("row %d (%s) has no negative control", r.number, r.name)
		}
	}
}

func TestLinks(t *testing.T) {
	link := func(t *testing.T, e *Engine, target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(e.root.given, name)); err != nil {
			t.Skip("cannot make links: ", err)
		}
	}
	for _, c := range []struct {
		name, target, link string
		cfg                func(*Config)
		call               func(*Engine) *tool.DecisionRequest
		outcome            tool.Outcome
		by                 string
	}{
		{"a link to a sensitive file", ".env", "notes", nil, file("read_file", "notes"), tool.Deny, "sensitive"},
		{"read by a command", ".env", "notes", nil, run("cat notes"), tool.Deny, "sensitive"},
		{"a link to a folder of keys", "../.ssh", "l", nil, run("cat l/x"), tool.Deny, "sensitive"},
		{"a dangling link into .git", ".git/hooks/new", "n", configure(withYolo), file("write_file", "n"), tool.Deny, "protected"},
		{"a link into a denied folder", "src", "l", configure(withYolo, denying("write_file(src/**)")), file("write_file", "l/a.go"), tool.Deny, "rule"},
		{"a denied link to elsewhere", "src", "l", configure(withYolo, denying("write_file(l/**)")), file("write_file", "l/a.go"), tool.Deny, "rule"},
		{"an allow rule for the link's name only", "../pkg", "src/l", allowing("write_file(src/**)"), file("write_file", "src/l/x"), tool.Ask, "user"},
		{"a link that leads outside", "/etc", "l", nil, run("cat l/hostname"), tool.Ask, "user"},
		{"and back up from there", "/etc", "l", nil, run("cat l/../etc/hostname"), tool.Ask, "user"},
		{"cd through it", "/etc", "l", nil, run("cd l && cat hostname"), tool.Ask, "user"},
		{"accept-edits through it", "/tmp", "l", inMode(AcceptEdits), file("write_file", "l/x"), tool.Ask, "user"},
		{"a redirection through it", "/etc", "l", allowing("write_file(**)"), run("echo x > l/x"), tool.Ask, "user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, c.cfg)
			link(t, e, c.target, c.link)
			if d := e.Decide(c.call(e)); d.Outcome != c.outcome || d.By != c.by {
				t.Errorf("got %s by %s (%s), want %s by %s", d.Outcome, d.By, d.Reason, c.outcome, c.by)
			}
		})
	}
}

// TestRealFromTool takes where a path leads from the tool when it says so.
func TestRealFromTool(t *testing.T) {
	e := newEngine(t, withYolo)
	req := fileCall(e, "read_file", "notes")
	req.Plan.Effects.Real = map[string]string{req.Plan.Effects.Reads[0]: filepath.Join(e.root.given, ".env")}
	if d := e.Decide(req); d.By != "sensitive" {
		t.Errorf("got %s by %s", d.Outcome, d.By)
	}
}

func TestFoldCase(t *testing.T) {
	for _, c := range []struct {
		call func(*Engine) *tool.DecisionRequest
		by   string
	}{
		{file("read_file", ".ENV"), "sensitive"},
		{file("read_file", "ID_RSA"), "sensitive"},
		{file("write_file", ".GIT/config"), "protected"},
		{file("write_file", ".g\u200cit/config"), "protected"},
		{file("write_file", ".git /config"), "protected"},
		{file("write_file", "GIT~1/config"), "protected"},
		{file("write_file", "SRC/A.go"), "rule"},
		{run("RM x"), "rule"},
	} {
		fold := configure(withYolo, denying("write_file(src/**)", "bash(rm *)"), func(c *Config) { c.FoldCase = true })
		e := newEngine(t, fold)
		if d := e.Decide(c.call(e)); d.Outcome != tool.Deny || d.By != c.by {
			t.Errorf("%s: got %s by %s, want %s", c.call(e).Plan.Target, d.Outcome, d.By, c.by)
		}
		e = newEngine(t, configure(withYolo, denying("write_file(src/**)", "bash(rm *)")))
		if d := e.Decide(c.call(e)); d.Outcome != tool.Allow {
			t.Errorf("%s with case: got %s by %s", c.call(e).Plan.Target, d.Outcome, d.By)
		}
	}
}

// TestGuardEntries switches each entry off, and then its case must pass.
func TestGuardEntries(t *testing.T) {
	cases := map[string]string{
		"rm-root": "rm -rf /", "mkfs": "mkfs.ext4 x", "dd-device": "dd if=f of=/dev/sda", "device-write": "echo x > /dev/sda",
		"dev-tcp": "echo x > /dev/tcp/h/80", "fork-bomb": "f() { f | f & }; f", "shutdown": "reboot", "kill-all": "kill -9 -1",
		"pipe-to-interpreter": "curl x | sh", "rm-recursive": "rm -r src", "git-reset-hard": "git reset --hard",
		"git-clean": "git clean -fd", "git-push-force": "git push -f", "git-branch-delete": "git branch -D x",
		"git-history-rewrite": "git rebase main", "git-checkout-discard": "git checkout -- .", "sql-drop": "psql -c 'drop table x'",
		"chmod-777": "chmod 777 f", "publish": "npm publish",
	}
	for _, entry := range guardEntries() {
		text, ok := cases[entry.id]
		if !ok {
			t.Errorf("%s has no case", entry.id)
			continue
		}
		e := newEngine(t, withYolo)
		d := e.Decide(command(text))
		want := map[string]tool.Outcome{guardAsk: tool.Ask, guardDeny: tool.Deny}[entry.action]
		if d.Outcome != want || d.By != "guard" || !strings.Contains(d.Reason, entry.id) {
			t.Errorf("%s: got %s by %s: %s", entry.id, d.Outcome, d.By, d.Reason)
		}
		off := map[string]string{entry.id: "off"}
		if entry.id == "rm-root" {
			off["rm-recursive"] = "off"
		}
		e = newEngine(t, configure(withYolo, func(c *Config) { c.Guard = off }))
		if d := e.Decide(command(text)); d.Outcome != tool.Allow {
			t.Errorf("%s off: got %s by %s: %s", entry.id, d.Outcome, d.By, d.Reason)
		}
		e = newEngine(t, configure(withYolo, func(c *Config) { c.Guard = map[string]string{entry.id: "deny"} }))
		if d := e.Decide(command(text)); d.Outcome != tool.Deny || d.By != "guard" {
			t.Errorf("%s deny: got %s by %s", entry.id, d.Outcome, d.By)
		}
	}
	root, home := project(t)
	for id, action := range map[string]string{"rm-rot": "off", "rm-root": "maybe"} {
		if _, err := New(Config{Root: root, Home: home, Guard: map[string]string{id: action}}); err == nil {
			t.Errorf("guard %s: %s was accepted", id, action)
		}
	}
}

// TestGuardLetsPass: what looks like an entry and is none.
func TestGuardLetsPass(t *testing.T) {
	e := newEngine(t, withYolo)
	for _, text := range []string{
		"rm -rf build", "rm -rf ./dist node_modules", "rm -r target/", "rm f", "git clean -n", "git push", "git branch x",
		"git rebase --abort", "git checkout main", "git checkout -b x", "git restore --staged f", "git stash", "git stash pop",
		"psql -c 'select * from drop_log'", "chmod 755 f", "chmod +x f", "npm publish --dry-run", "npm run publish-docs",
		"kill -9 123", "kill -1 123", "dd if=/dev/zero of=x", "curl x | jq .", "curl x > f", "curl x | python3 -m json.tool",
		"curl x | node -e 1", "echo x | sh", "find src -delete", "systemctl status x", "git reset", "echo x > /dev/null",
		"f() { ls | f2; }; f", "python3 run.py --token $(curl x)", "docker pull x",
	} {
		if d := e.Decide(command(text)); d.By == "guard" {
			t.Errorf("%q: %s by the guard: %s", text, d.Outcome, d.Reason)
		}
	}
}
