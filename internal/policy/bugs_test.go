package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/protect"
	"garuda/internal/tool"
)

// without is an engine that lacks rows of the table: the negative control of a case.
func without(t *testing.T, cfg func(*Config), rows ...string) *Engine {
	t.Helper()
	e := newEngine(t, cfg)
	have := len(e.rows)
	e.rows = slices.DeleteFunc(e.rows, func(r row) bool { return slices.Contains(rows, r.name) })
	if len(e.rows) != have-len(rows) {
		t.Fatalf("no such rows: %v", rows)
	}
	return e
}

// mustDeny holds that a call is denied by this, and that it is the named row that
// does so.
func mustDeny(t *testing.T, cfg func(*Config), call func(*Engine) *tool.DecisionRequest, by, row string) {
	t.Helper()
	e := newEngine(t, cfg)
	if d := e.Decide(call(e)); d.Outcome != tool.Deny || d.By != by {
		t.Errorf("%s: %s by %s: %s", call(e).Plan.Target, d.Outcome, d.By, d.Reason)
	}
	e = without(t, cfg, row)
	if d := e.Decide(call(e)); d.Outcome == tool.Deny && d.By == by {
		t.Errorf("%s: denied by %s without its row", call(e).Plan.Target, by)
	}
}

// TestBug19AllowRuleBehindPrefixes: a rule that allows a command does not allow it
// behind sudo or an assignment; one that denies it looks behind both.
func TestBug19AllowRuleBehindPrefixes(t *testing.T) {
	for _, prefix := range []string{"sudo ", "X=1 ", "env X=1 ", "exec ", "command ", "doas -u root ", "busybox ", "LD_PRELOAD=./x.so "} {
		e := newEngine(t, allowing("bash(deploy *)"))
		if d := e.Decide(command("deploy x")); d.Outcome != tool.Allow {
			t.Fatalf("the rule itself: %s", d.Reason)
		}
		if d := e.Decide(command(prefix + "deploy x")); d.Outcome == tool.Allow {
			t.Errorf("%q is allowed by the rule for what stands behind it", prefix)
		}
		mustDeny(t, configure(withYolo, denying("bash(deploy *)")), run(prefix+"deploy x"), "rule", "deny rule")
	}
}

// TestBug20LinkWithAnInnocentName: every denial also holds where a link leads.
func TestBug20LinkWithAnInnocentName(t *testing.T) {
	linked := func(cfg func(*Config)) func(*Config) {
		return configure(cfg, func(c *Config) {
			for link, target := range map[string]string{"notes": ".env", "plans": "secret", "guide": "AGENTS.md", "g": ".git"} {
				if err := os.Symlink(target, filepath.Join(c.Root, link)); err != nil {
					t.Skip("cannot make links: ", err)
				}
			}
		})
	}
	mustDeny(t, linked(withYolo), file("read_file", "notes"), "sensitive", "sensitive reads")
	mustDeny(t, linked(withYolo), run("base64 notes"), "sensitive", "sensitive reads")
	mustDeny(t, linked(withYolo), file("write_file", "notes"), "sensitive", "sensitive writes")
	mustDeny(t, linked(configure(withYolo, denying("read_file(secret/**)"))), file("read_file", "plans/x"), "rule", "deny rule")
	mustDeny(t, linked(configure(withYolo, forTeam)), file("read_file", "plans/x"), "policy", "team paths")
	mustDeny(t, linked(withYolo), file("write_file", "g/hooks/x"), "protected", "inside .git")
	e := newEngine(t, linked(withYolo))
	if d := e.Decide(fileCall(e, "write_file", "guide")); d.Outcome != tool.Ask || d.By != "protected" {
		t.Errorf("%s by %s", d.Outcome, d.By)
	}
}

// TestSpellingsOfASecret: no way to write a path leads past its name.
func TestSpellingsOfASecret(t *testing.T) {
	root, _ := project(t)
	here := func(c *Config) { c.Root = root }
	for _, spelled := range []string{
		".env", "./.env", ".//.env", "src/../.env", "src/./../.env", ".env/", "./src/..//.env", root + "/.env", root + "/src/../.env", "//" + root + "/.env",
		"/proc/self/root" + root + "/.env", "/proc/self/cwd/.env", "/proc/thread-self/cwd/.env", "/proc/1/root" + root + "/.env",
	} {
		for _, tool := range []string{"read_file", "grep"} {
			mustDeny(t, configure(here, withYolo), file(tool, spelled), "sensitive", "sensitive reads")
		}
		mustDeny(t, configure(here, withYolo), run("cat '"+spelled+"'"), "sensitive", "sensitive reads")
	}
	// A link of a process's own is not followed in another one's name.
	e := newEngine(t, here)
	if d := e.Decide(command("cat /proc/self/cwd/README.md")); d.Outcome != tool.Ask {
		t.Errorf("%s by %s", d.Outcome, d.By)
	}
}

// TestBug21CaseOfNames: where a file system ignores case, so does every list.
func TestBug21CaseOfNames(t *testing.T) {
	fold := func(c *Config) { c.FoldCase = true }
	mustDeny(t, configure(fold, withYolo), file("read_file", ".ENV"), "sensitive", "sensitive reads")
	mustDeny(t, configure(fold, withYolo, forTeam), file("read_file", "SECRET/x"), "policy", "team paths")
	mustDeny(t, configure(fold, withYolo, denying("read_file(src/*.go)")), file("read_file", "Src/A.GO"), "rule", "deny rule")
	mustDeny(t, configure(fold, withYolo), file("write_file", ".Git/hooks/x"), "protected", "inside .git")
	mustDeny(t, configure(fold, withYolo, forTeam), run("NC -l 1"), "policy", "team commands")
	// The control: with case, they are other files.
	e := newEngine(t, withYolo)
	if d := e.Decide(fileCall(e, "read_file", ".ENV")); d.Outcome != tool.Allow {
		t.Errorf("%s by %s", d.Outcome, d.By)
	}
}

// TestBug22DeniedPathsLeak: what the team hides is hidden from every way to it.
func TestBug22DeniedPathsLeak(t *testing.T) {
	for _, call := range []func(*Engine) *tool.DecisionRequest{
		file("read_file", "secret/x"), file("list_dir", "secret"), file("write_file", "secret/x"), file("move_file", "secret/x", "x"),
		run("cat secret/x"), run("cat < secret/x"), run("echo x > secret/x"), run("git show HEAD:secret/x"),
	} {
		mustDeny(t, configure(withYolo, allowing("bash", "read_file(secret/x)"), forTeam), call, "policy", "team paths")
	}
	e, open := newEngine(t, forTeam), newEngine(t, nil)
	for _, may := range []func(*Engine, string) bool{(*Engine).MayRead, (*Engine).MayReadReal} {
		if may(e, filepath.Join(e.root.given, "secret", "x")) {
			t.Error("a search may read what the team hides")
		}
		if !may(open, filepath.Join(open.root.given, "secret", "x")) {
			t.Error("the control: it is hidden without the policy")
		}
	}
}

// TestBug23RequiredSandbox: no isolation counts as outside.
func TestBug23RequiredSandbox(t *testing.T) {
	mustDeny(t, configure(withYolo, allowing("bash"), needingSandbox), run("ls"), "policy", "required sandbox")
	mustDeny(t, configure(withYolo, sandboxedSession, allowing("unsandboxed"), needingSandbox), leaving("ls"), "policy", "required sandbox")
	mustDeny(t, configure(withYolo, needingSandbox), input("repl", `{}`), "policy", "required sandbox")
}

// TestBug24BlockedHosts: a host that the team blocks stays blocked, whoever allows it.
func TestBug24BlockedHosts(t *testing.T) {
	for _, host := range []string{"a.evil.example", "A.EVIL.example", "x.a.evil.example.", "b.evil.example"} {
		mustDeny(t, configure(withYolo, allowing("web_fetch", "web_fetch(*)", "network("+strings.ToLower(strings.TrimSuffix(host, "."))+")"), forTeam),
			func(*Engine) *tool.DecisionRequest { return urlCall(host) }, "policy", "team hosts")
	}
}

// TestBug28KillIsNoRead: ending a background command changes something.
func TestBug28KillIsNoRead(t *testing.T) {
	mustDeny(t, inMode(Plan), input("process_manager", `{"action":"kill"}`), "plan", "plan: changes")
}

// TestBug29RejectedHunks: an answer lets only the hunks be written that it names.
func TestBug29RejectedHunks(t *testing.T) {
	e := newEngine(t, nil)
	req := fileCall(e, "edit_file", "src/a.go")
	req.Plan.Hunks = 3
	asked := e.Decide(req)
	if d := e.Resolve(req, asked, tool.Answer{Choice: tool.AnswerOnce, Hunks: []int{2}}); d.Outcome != tool.Allow || !slices.Equal(d.Grant.ApprovedHunks(), []int{2}) {
		t.Errorf("%+v", d)
	}
	for _, a := range []tool.Answer{
		{Choice: tool.AnswerOnce, Hunks: []int{}}, {Choice: tool.AnswerOnce, Hunks: []int{4}}, {Choice: tool.AnswerOnce, Hunks: []int{0}},
		{Choice: tool.AnswerSession, Hunks: []int{1}},
	} {
		if d := e.Resolve(req, asked, a); d.Outcome != tool.Deny {
			t.Errorf("%+v: %s", a, d.Outcome)
		}
	}
}

// TestBug30KindOfDenial: a rule about .github is a rule's denial, not git's.
func TestBug30KindOfDenial(t *testing.T) {
	mustDeny(t, configure(withYolo, denying("write_file(.github/**)")), file("write_file", ".github/workflows/ci.yml"), "rule", "deny rule")
	mustDeny(t, withYolo, file("write_file", ".git/x"), "protected", "inside .git")
}

// TestOrderDecidesNothing: deny wins over ask over allow, in whatever order and
// source they stand.
func TestOrderDecidesNothing(t *testing.T) {
	sources := []RuleSource{{Source: "a", Allow: Rules("bash(x *)")}, {Source: "b", Ask: Rules("bash(x y)")}, {Source: "c", Deny: Rules("bash(* z)")}}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		e := newEngine(t, func(c *Config) {
			for _, i := range order {
				c.Rules = append(c.Rules, sources[i])
			}
		})
		for text, want := range map[string]tool.Outcome{"x a": tool.Allow, "x y": tool.Ask, "x z": tool.Deny, "x a; x z": tool.Deny, "x y && x a": tool.Ask} {
			if d := e.Explain(command(text)); d.Outcome != want {
				t.Errorf("%v: %s: %s by %s %s", order, text, d.Outcome, d.By, d.Rule)
			}
		}
	}
}

// TestChainsNeedEachPart: an allow rule for one command of a chain covers no other.
func TestChainsNeedEachPart(t *testing.T) {
	e := newEngine(t, allowing("bash(git *)"))
	for _, text := range []string{
		"git add f && rm x", "git add f; rm x", "git add f | rm x", "git add f & rm x", "git add f\nrm x", "git add $(rm x)", "git add `rm x`",
		"git add f > x", "git add f || rm x", "git add <(rm x)", "(git add f; rm x)", "if git add f; then rm x; fi",
	} {
		if d := e.Explain(command(text)); d.Outcome == tool.Allow {
			t.Errorf("%q is allowed by %s", text, d.Rule)
		}
	}
}

// TestDenialHoldsAcrossTools: what a person refused is not done by other means.
func TestDenialHoldsAcrossTools(t *testing.T) {
	for _, other := range []func(*Engine) *tool.DecisionRequest{
		run("echo x > src/new.go"), run("tee src/new.go"), run("cp f src/new.go"), run("cd src && touch new.go"), run("python3 -c 1 src/new.go"),
		run("bash -c 'echo > src/new.go'"), file("edit_file", "src/new.go"), file("move_file", "f", "src/../src/new.go"),
	} {
		cfg := configure(sandboxedSession, withYolo)
		decide := func(e *Engine) *tool.Decision {
			refuse(t, e, fileCall(e, "write_file", "src/new.go"))
			req := other(e)
			req.Agent = "worker"
			return e.Decide(req)
		}
		d := decide(newEngine(t, cfg))
		if d.Outcome != tool.Ask || d.By != "denied_before" || !strings.Contains(d.Question.Why, "denied earlier in this turn") {
			t.Errorf("%s: %s by %s", other(newEngine(t, cfg)).Plan.Target, d.Outcome, d.By)
		}
		if d := decide(without(t, cfg, "denied before")); d.By == "denied_before" {
			t.Error("the row is gone and still decides")
		}
	}
}

// TestEachSecretHasItsCheck takes one name after the other from the lists of an
// engine: then its file may be read, or is not asked about.
func TestEachSecretHasItsCheck(t *testing.T) {
	for _, pattern := range protect.Sensitive() {
		if strings.HasPrefix(pattern, "!") || pattern == ".env.*" {
			continue // exceptions; and one whose example is another's
		}
		name := strings.NewReplacer("/**", "/f", "*", "x").Replace(pattern)
		e := newEngine(t, withYolo)
		if d := e.Decide(fileCall(e, "read_file", "a/"+name)); d.By != "sensitive" {
			t.Errorf("%s: %s by %s", name, d.Outcome, d.By)
		}
		e.secrets = protect.Compile(slices.DeleteFunc(protect.Sensitive(), func(p string) bool { return p == pattern }), false)
		if d := e.Decide(fileCall(e, "read_file", "b/"+name)); d.Outcome != tool.Allow {
			t.Errorf("%s without its name: %s by %s", name, d.Outcome, d.By)
		}
	}
	steering := slices.Concat(protect.Locked(), protect.Watched())
	for _, pattern := range steering {
		name := strings.NewReplacer("/**", "/f", "*", "x").Replace(pattern)
		if protect.InGit("/"+name, false) {
			continue // row 3 comes before
		}
		e := newEngine(t, withYolo)
		if d := e.Decide(fileCall(e, "write_file", "a/"+name)); d.By != "protected" {
			t.Errorf("%s: %s by %s", name, d.Outcome, d.By)
		}
		e.steering = protect.Compile(slices.DeleteFunc(slices.Clone(steering), func(p string) bool { return p == pattern }), false)
		if d := e.Decide(fileCall(e, "write_file", "b/"+name)); d.Outcome != tool.Allow {
			t.Errorf("%s without its name: %s by %s", name, d.Outcome, d.By)
		}
	}
}

// TestDenialTexts: whatever the model is denied, it is told what was refused, by
// what, and what it may do instead.
func TestDenialTexts(t *testing.T) {
	instead := []string{"Go on without it", "go on without it", "narrower way", "Ask the user", "ask the user", "Use git commands", "put this change into your plan",
		"The user can allow it", "The user can allow everything", "Only a person can allow", "ask what to do instead"}
	seen := map[string]bool{}
	check := func(name string, d *tool.Decision) {
		t.Helper()
		seen[d.By] = true
		if !slices.ContainsFunc(instead, func(s string) bool { return strings.Contains(d.Reason, s) }) {
			t.Errorf("%s: it does not say what to do instead: %s", name, d.Reason)
		}
		if len(d.Reason) < 40 {
			t.Errorf("%s: it says too little: %s", name, d.Reason)
		}
		if d.By == "rule" && (!strings.Contains(d.Reason, d.Rule) || !strings.Contains(d.Reason, d.Source)) {
			t.Errorf("%s: it does not say which rule: %s", name, d.Reason)
		}
	}
	for _, c := range rowCases() {
		e := newEngine(t, c.cfg)
		if c.before != nil {
			c.before(t, e)
		}
		req := c.call(e)
		d := e.Decide(req)
		switch d.Outcome {
		case tool.Deny:
			check(c.name, d)
		case tool.Ask:
			check(c.name+", refused", e.Resolve(req, d, tool.Answer{Choice: tool.AnswerDeny}))
			alone := newEngine(t, configure(c.cfg, unattendedSession))
			if c.before == nil {
				check(c.name+", with nobody there", alone.Decide(c.call(alone)))
			}
		}
	}
	for _, by := range []string{"policy", "guard", "sensitive", "protected", "rule", "plan", "unattended", "user"} {
		if !seen[by] {
			t.Errorf("no denial by %s was looked at", by)
		}
	}
}
