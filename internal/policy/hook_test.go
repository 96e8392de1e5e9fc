package policy

import (
	"strings"
	"testing"

	"garuda/internal/tool"
)

// hooked adds what a hook said to a call.
func hooked(call func(*Engine) *tool.DecisionRequest, outcome tool.Outcome, ofUser bool) func(*Engine) *tool.DecisionRequest {
	return func(e *Engine) *tool.DecisionRequest {
		req := call(e)
		req.Hook = &tool.HookVerdict{Outcome: outcome, Name: "check.sh", Reason: "as it says", OfUser: ofUser}
		return req
	}
}

func address(url string) func(*Engine) *tool.DecisionRequest {
	return func(*Engine) *tool.DecisionRequest {
		req := urlCall("a.x.com")
		req.Plan.Effects.URLs = []string{"https://a.x.com/", url}
		return req
	}
}

// mcpCall is a call of a server's tool that would ask for an address.
func mcpCall(url string) func(*Engine) *tool.DecisionRequest {
	return func(e *Engine) *tool.DecisionRequest {
		req := inputCall(e, "mcp__docs__get", `{}`)
		req.Plan.Effects.URLs = []string{url}
		return req
	}
}

// long is an address that may carry data out.
const long = "https://a.x.com/?q=0123456789012345678901234567890123456789012345678901234567890123"

// hookCases are the rows of hooks and of addresses that are asked about every time.
func hookCases() []rowCase {
	url := func(*Engine) *tool.DecisionRequest { return urlCall("a.x.com") }
	rule, server := allowing("web_fetch(*.x.com)"), allowing("mcp__docs__*")
	return []rowCase{
		{name: "a hook's no", without: "hook denies", cfg: configure(withYolo, sandboxedSession), call: hooked(run("ls"), tool.Deny, true), outcome: tool.Deny, row: 4, by: "hook"},
		{name: "one of the project's, too", without: "hook denies", cfg: withYolo, call: hooked(file("write_file", "f"), tool.Deny, false), outcome: tool.Deny, row: 4, by: "hook"},
		{name: "a hook asks", without: "hook asks", cfg: configure(withYolo, sandboxedSession), call: hooked(run("make"), tool.Ask, false), outcome: tool.Ask, row: 6, by: "hook"},
		{name: "in plan mode that is a no", without: "plan: asked", cfg: configure(inMode(Plan), sandboxedSession), call: hooked(run("ls"), tool.Ask, true), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "and with nobody to ask", without: "hook asks", cfg: configure(withYolo, unattendedSession), call: hooked(run("ls"), tool.Ask, true), outcome: tool.Deny, row: 6, by: "unattended"},
		{name: "a hook of the user's allows", without: "hook allows", call: hooked(run("make"), tool.Allow, true), outcome: tool.Allow, row: 10, by: "hook"},
		{name: "a file", without: "hook allows", call: hooked(file("write_file", "f"), tool.Allow, true), outcome: tool.Allow, row: 10, by: "hook"},
		{name: "the web", without: "hook allows", call: hooked(url, tool.Allow, true), outcome: tool.Allow, row: 10, by: "hook"},
		{name: "one of the project's allows nothing", without: "ask", call: hooked(run("make"), tool.Allow, false), outcome: tool.Ask, row: 13, by: "user"},
		{name: "a hook opens no secrets", without: "sensitive reads", call: hooked(file("read_file", ".env"), tool.Allow, true), outcome: tool.Deny, row: 2, by: "sensitive"},
		{name: "nor what is asked about", without: "guard asks", call: hooked(run("git reset --hard"), tool.Allow, true), outcome: tool.Ask, row: 6, by: "guard"},
		{name: "nor plan mode", without: "plan: changes", cfg: inMode(Plan), call: hooked(file("write_file", "f"), tool.Allow, true), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "nor the web in it", without: "plan: outward", cfg: inMode(Plan), call: hooked(url, tool.Allow, true), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "nor an address that may carry data out", without: "ask", call: hooked(address(long), tool.Allow, true), outcome: tool.Ask, row: 13, by: "user"},
		{name: "no rule covers such an address", without: "ask", cfg: rule, call: address(long), outcome: tool.Ask, row: 13, by: "user"},
		{name: "but one like others", without: "allow rule", cfg: rule, call: address("https://a.x.com/docs"), outcome: tool.Allow, row: 10, by: "rule"},
		{name: "of a server's tool, too", without: "ask", cfg: server, call: mcpCall(long), outcome: tool.Ask, row: 13, by: "user"},
		{name: "which a rule covers else", without: "allow rule", cfg: server, call: mcpCall("https://a.x.com/docs"), outcome: tool.Allow, row: 10, by: "rule"},
		{name: "in plan mode that is a no", without: "plan: outward", cfg: configure(inMode(Plan), rule), call: address(long), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "of a server's tool, too", without: "plan: outward", cfg: configure(inMode(Plan), server), call: mcpCall(long), outcome: tool.Deny, row: 5, by: "plan"},
		{name: "yolo allows it", without: "yolo", cfg: withYolo, call: address(long), outcome: tool.Allow, row: 12, by: "yolo"},
	}
}

func TestAddressesThatCarryDataOut(t *testing.T) {
	for url, want := range map[string]bool{
		"https://x.com/": false,
		"https://x.com/" + strings.Repeat("ab/", 90):           false,
		"https://x.com/" + strings.Repeat("ab/", 100):          true,
		"https://x.com/" + strings.Repeat("a", 63):             false,
		"https://x.com/" + strings.Repeat("a", 64):             true,
		"https://x.com/?a=" + strings.Repeat("b", 63) + "&c=1": false,
		"https://x.com/?a=" + strings.Repeat("b", 64) + "&c=1": true,
		"https://x.com/?" + strings.Repeat("%41", 22):          true,
		"https://x.com/#" + strings.Repeat("b", 64):            true,
		"https://" + strings.Repeat("a", 31) + ".x.com/":       false,
		"https://" + strings.Repeat("a", 32) + ".x.com/":       true,
		"https://" + strings.Repeat("abcdefgh.", 10) + "com/":  false,
		"https://" + strings.Repeat("abcdefgh.", 11) + "com/":  true,
		"https://x.com/%zz":                                    true,
	} {
		if why := carries(url); (why != "") != want {
			t.Errorf("%s: %q", url, why)
		}
	}
	e := newEngine(t, nil)
	req := urlCall(strings.Repeat("a", 40) + ".x.com") // a host of its own, with no address
	if d := e.Decide(req); d.Question == nil || d.Question.SessionRule != "" || d.Question.ProjectRule != "" || !strings.Contains(d.Reason, "carried data out") {
		t.Errorf("%+v, %+v", d, d.Question)
	}
	e = newEngine(t, unattendedSession)
	if d := e.Decide(address(long)(e)); strings.Contains(d.Reason, "--allow ") {
		t.Errorf("a flag is named that would not help: %s", d.Reason)
	}
}
