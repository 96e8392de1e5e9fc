package proc_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// group makes a Supervisor with one group; its Report fails the test.
func group(t testing.TB) *proc.Group {
	t.Helper()
	sup, err := proc.New(proc.Options{Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return sup.NewGroup()
}

func bash(t testing.TB, text string) *sandbox.Command {
	return &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, Limit: 30_000, Timeout: time.Minute,
	}
}

func run(t testing.TB, g *proc.Group, cmd *sandbox.Command) *sandbox.Result {
	t.Helper()
	res, err := g.Run(context.Background(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRunReports(t *testing.T) {
	g := group(t)
	for _, c := range []struct {
		text, out, errOut, signal string
		code                      int
	}{
		{text: "echo hi; echo oops >&2; exit 3", out: "hi\n", errOut: "oops\n", code: 3},
		{text: "kill -9 $$", code: -1, signal: "SIGKILL"},
		{text: "cat; echo end", out: "end\n"},
		{text: "exec >&-; exec 2>&-; sleep 0.1; exit 4", code: 4},
	} {
		res := run(t, g, bash(t, c.text))
		if res.ExitCode != c.code || res.Signal != c.signal || string(res.Stdout.Head) != c.out || string(res.Stderr.Head) != c.errOut {
			t.Errorf("%s: got %d %q %q %q", c.text, res.ExitCode, res.Signal, res.Stdout.Head, res.Stderr.Head)
		}
		if res.HeldPipes || res.TimedOut || res.Interrupted || res.Left != 0 {
			t.Errorf("%s: got %+v", c.text, res)
		}
	}
}

func TestQuick(t *testing.T) {
	g := group(t)
	for _, text := range []string{"sleep 1000 & disown", "setsid sleep 1000 >/dev/null 2>&1 & disown",
		"(setsid env -i /bin/sleep 1000 >/dev/null 2>&1 </dev/null &) ; sleep 0.1", "trap '' TERM; sleep 1000 & sleep 0.1"} {
		t0 := time.Now()
		res := run(t, g, bash(t, text))
		t.Log(text, time.Since(t0), res.ExitCode, res.HeldPipes, res.Left, strings.TrimSpace(string(res.Stdout.Head)))
	}
}
