//go:build unix

package shell

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"garuda/internal/proc"
	"garuda/internal/sandbox/host"
	"garuda/internal/tool"
)

// hostEnv runs commands for real.
func hostEnv(t testing.TB) *tool.Env {
	t.Helper()
	sup, err := proc.New(proc.Options{Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return testEnv(t, host.New(host.Options{Supervisor: sup}))
}

func TestOnTheHost(t *testing.T) {
	env := hostEnv(t)
	out, err := called(t.Context(), t, env, map[string]any{
		"command": "cd $PWD && printf '1%%\\r2%%\\r\\033[32m100%%\\033[0m\\n'; pwd; printf 'a\\0b\\377' >&2; exit 7",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Exit code: 7\n<stdout>\n100%%\n%s\n</stdout>\n<stderr>\na␀b\uFFFD\n</stderr>\n[Garuda: commands start in the project's root; the cd into it was left out]",
		env.Workspace.Root())
	if out.Text != want || !out.IsError || out.Executor != "host" || out.Isolation != "none" {
		t.Errorf("got %+v\nwant %s", out, want)
	}
}

func TestTheWholeOutputIsAtThePathThatIsNamed(t *testing.T) {
	env := hostEnv(t)
	out, err := called(t.Context(), t, env, map[string]any{"command": "seq 20000"})
	if err != nil {
		t.Fatal(err)
	}
	_, path, ok := strings.Cut(out.Text, "the whole output at ")
	path = strings.TrimSuffix(path, "]")
	if !ok {
		t.Fatalf("no path in %.200s … %s", out.Text, out.Text[len(out.Text)-200:])
	}
	got, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(got), "1\n2\n") || !strings.HasSuffix(string(got), "\n20000\n") {
		t.Errorf("it holds %.20q, %v", got, err)
	}
	if n := len(out.Text); n > 31_000 {
		t.Errorf("the model gets %d bytes", n)
	}
}

func TestATimeOutOnTheHost(t *testing.T) {
	out, err := called(t.Context(), t, hostEnv(t), map[string]any{"command": "yes", "timeout_ms": 1000})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.Text, "Error: bash failed: timed out after 1 s;") || !out.IsError || len(out.Text) > 31_000 {
		t.Errorf("got %.100s… (%d bytes)", out.Text, len(out.Text))
	}
}

// What the decision adds to a call's environment reaches its command, wins over
// the session's, and stays with that call.
func TestTheDecisionsEnvironmentOnTheHost(t *testing.T) {
	env := hostEnv(t)
	env.CommandEnv = append(env.CommandEnv, "GIT_PAGER=evil")
	before := slices.Clone(env.CommandEnv)
	shown := map[string]any{"command": "echo $GIT_PAGER $GIT_CONFIG_COUNT."}
	for _, tc := range []struct {
		grant *tool.Grant
		want  string
	}{
		{&tool.Grant{CommandEnv: []string{"GIT_PAGER=cat", "GIT_CONFIG_COUNT=3"}}, "cat 3."},
		{&tool.Grant{}, "evil ."},
	} {
		plan, err := planned(t, env, shown)
		if err != nil {
			t.Fatal(err)
		}
		out, err := New(Options{})[0].Run(t.Context(), &tool.Call{
			ID: "call_1", Env: env, Plan: plan, Grant: tc.grant,
			Progress: func(string) {}, Emit: func(bool, []byte) {},
		})
		if err != nil || !strings.Contains(out.Text, tc.want) {
			t.Errorf("with %v: %v, %v; want %q", tc.grant.CommandEnv, out, err, tc.want)
		}
	}
	if !slices.Equal(env.CommandEnv, before) {
		t.Error("the session's environment was changed")
	}
}

// BenchmarkHundredMegabytes is the whole tool at work on output that nobody reads.
func BenchmarkHundredMegabytes(b *testing.B) {
	for name, command := range map[string]string{
		"oneLine": `head -c 100000000 /dev/zero | tr '\0' a`,
		"lines":   `yes 'some line of a build log, neither short nor long' | head -c 100000000`,
	} {
		b.Run(name, func(b *testing.B) {
			env := hostEnv(b)
			b.SetBytes(100_000_000)
			b.ReportAllocs()
			for range b.N {
				if _, err := called(b.Context(), b, env, map[string]any{"command": command}); err != nil {
					b.Fatal(err)
				}
				_ = os.Remove(env.SpillPath("call_1"))
			}
		})
	}
}
