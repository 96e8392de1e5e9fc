package shell

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
	"garuda/internal/tool"
)

// splitPlayed is played with a host beside it.
type splitPlayed struct {
	*played
	host *played
}

func (s splitPlayed) Outside() sandbox.Executor { return hostPlayed{s.host} }

type hostPlayed struct{ *played }

func (hostPlayed) Name() string                 { return "host" }
func (hostPlayed) Isolation() sandbox.Isolation { return sandbox.IsolationNone }

// leavable is a sandbox that commands may ask to leave.
func leavable(root string) Sandbox {
	return Sandbox{
		MayLeave: func() bool { return true },
		Locked:   func(abs string) bool { return strings.HasPrefix(abs, root+"/.git/hooks") || abs == root+"/.git/config" },
	}
}

func TestOutsideIsOfferedOnlyWhereItMayBe(t *testing.T) {
	with, without := New(Options{Sandbox: leavable("/r")})[0].Spec(), New(Options{})[0].Spec()
	if !strings.Contains(string(with.Schema), "outside_sandbox") || !strings.Contains(with.Description, "outside_sandbox") {
		t.Errorf("%s\n%s", with.Schema, with.Description)
	}
	if strings.Contains(string(without.Schema), "outside") || strings.Contains(without.Description, "sandbox") {
		t.Errorf("%s\n%s", without.Schema, without.Description)
	}
	if n := len(with.Schema) + len(with.Description) - len(without.Schema) - len(without.Description); n > 220 {
		t.Errorf("it costs %d bytes of every request", n)
	}
	if !json.Valid(with.Schema) {
		t.Errorf("%s", with.Schema)
	}
	env := testEnv(t, &played{})
	for _, offered := range []bool{true, false} {
		opt := Options{}
		if offered {
			opt.Sandbox = leavable("/r")
		}
		plan, err := New(opt)[0].Plan(t.Context(), env, json.RawMessage(`{"command":"make","outside_sandbox":true}`))
		if err != nil || plan.Effects.OutsideSandbox != offered {
			t.Errorf("offered %v: %+v, %v", offered, plan, err)
		}
	}
}

// Where a command runs is the grant's to say, not the input's.
func TestTheGrantSaysWhereACommandRuns(t *testing.T) {
	for _, c := range []struct {
		name     string
		grant    *tool.Grant
		where    string
		readOnly bool
	}{
		{"no grant", nil, "played os", false},
		{"inside", &tool.Grant{}, "played os", false},
		{"plan mode", &tool.Grant{ReadOnlyRoot: true}, "played os", true},
		{"outside", &tool.Grant{Outside: true}, "host none", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			exec := splitPlayed{&played{}, &played{}}
			env := testEnv(t, exec)
			bash := New(Options{Sandbox: leavable(env.Workspace.Root())})[0]
			plan, err := bash.Plan(t.Context(), env, json.RawMessage(`{"command":"make","outside_sandbox":true}`))
			if err != nil {
				t.Fatal(err)
			}
			out, err := bash.Run(t.Context(), &tool.Call{ID: "c", Env: env, Plan: plan, Grant: c.grant, Emit: func(bool, []byte) {}})
			if err != nil {
				t.Fatal(err)
			}
			got := exec.got
			if got == nil {
				t.Fatal("nothing was run")
			}
			if got.Outside != (c.where == "host none") || got.ReadOnlyRoot != c.readOnly || got.Call != "c" {
				t.Errorf("%+v", got)
			}
			if where := out.Executor + " " + out.Isolation; where != c.where {
				t.Errorf("it says that it ran in %s", where)
			}
		})
	}
}

func TestConfinement(t *testing.T) {
	const leave = "; what cannot work there can be asked for with outside_sandbox"
	for _, c := range []struct {
		name, command, said string
		refused             []string
		failed, readOnly    bool
		stays               bool // it may not leave
		want                []string
	}{
		{name: "nothing in the way", command: "make", said: "make: *** [all] Error 1", failed: true},
		{
			name: "a locked path, by what was said", command: "git config a.b c", failed: true,
			said: "error: could not write config file .git/config: Device or resource busy",
			want: []string{"the sandbox keeps commands from changing .git/config" + leave},
		},
		{
			name: "a locked path, by the text, though it ended well", command: "echo x > .git/hooks/pre-commit || true",
			want: []string{"the sandbox keeps commands from changing .git/hooks/pre-commit" + leave},
		},
		{name: "a locked path that is only read", command: "cp .git/config /tmp/x; cat .git/hooks/pre-commit"},
		{
			name: "a copy onto it", command: "cp evil .git/config 2>/dev/null; true",
			want: []string{"the sandbox keeps commands from changing .git/config" + leave},
		},
		{
			name: "outside the project", command: "touch /opt/x", said: "touch: cannot touch '/opt/x': Read-only file system", failed: true,
			want: []string{"commands in the sandbox can write only in the project, /tmp and their own home folder" + leave},
		},
		{
			name: "plan mode", command: "touch x", said: "touch: cannot touch 'x': Read-only file system", failed: true, readOnly: true,
			want: []string{"plan mode: commands cannot write in the project now, only in /tmp"},
		},
		{
			name: "what is not there", command: "cat /srv/data", said: "cat: /srv/data: No such file or directory", failed: true,
			want: []string{"in the sandbox there may be nothing at /srv/data, also where this machine has it" + leave},
		},
		{name: "what is nowhere", command: "cat data", said: "cat: data: No such file or directory", failed: true},
		{
			name: "no network", command: "curl https://a.example", said: "curl: (6) Could not resolve host: a.example", failed: true,
			want: []string{"commands in the sandbox can reach no host" + leave},
		},
		{
			name: "a refused host", command: "go mod download", said: "lookup a.example: no such host", failed: true, refused: []string{"a.example:443"},
			want: []string{"the sandbox did not let it reach a.example:443" + leave},
		},
		{
			name: "where nothing may leave it", command: "curl https://a.example", said: "curl: (6) Could not resolve host: a.example", failed: true, stays: true,
			want: []string{"commands in the sandbox can reach no host"},
		},
		{name: "words that only sound so", command: "grep -r x", said: "the docs say: Read-only file system"},
	} {
		t.Run(c.name, func(t *testing.T) {
			box := leavable("/r")
			if c.stays {
				box.MayLeave = nil
			}
			got := confinement(&box, &bashCall{text: c.command, readOnly: c.readOnly}, &sandbox.Result{Refused: c.refused}, c.failed, strings.Split(c.said, "\n"), "/r")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A hint of the sandbox stands in the result, and not in that of a run on the host.
func TestConfinementIsSaid(t *testing.T) {
	failing := func() *played {
		return &played{stderr: "touch: cannot touch '/opt/x': Read-only file system\n", res: sandbox.Result{ExitCode: 1}}
	}
	for _, outside := range []bool{false, true} {
		exec := failing()
		env := testEnv(t, splitPlayed{exec, failing()})
		bash := New(Options{Sandbox: leavable(env.Workspace.Root())})[0]
		plan, err := bash.Plan(t.Context(), env, json.RawMessage(`{"command":"touch /opt/x"}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := bash.Run(t.Context(), &tool.Call{ID: "c", Env: env, Plan: plan, Grant: &tool.Grant{Outside: outside}, Emit: func(bool, []byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.Text, "[Garuda: commands in the sandbox can write only"); got == outside {
			t.Errorf("outside %v: %s", outside, out.Text)
		}
	}
}

func TestWritten(t *testing.T) {
	for command, want := range map[string][]string{
		"echo x > a 2>> b &> c":       {"a", "b", "c"},
		"cat < a; cp a b; mv c d":     {"b", "c", "d"},
		"rm -rf x && (touch y; ls z)": {"-rf", "x", "y"},
		"echo 'unfinished":            nil,
		"cp":                          nil,
		"tee a <<< x":                 {"a"},
	} {
		if got := written(command); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
