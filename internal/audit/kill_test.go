package audit

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilled: a process that is killed while it writes, at whatever point, leaves a
// log that is whole but for its last line, and takes no line of another's.
func TestKilled(t *testing.T) {
	if home := os.Getenv("AUDIT_TEST_KILLED"); home != "" {
		o := options(t)
		o.Home = home
		l := New(o)
		one := line("x")
		one.Target = strings.Repeat("a long target ", 250)
		for {
			if err := l.Append(one); err != nil {
				t.Fatal(err)
			}
			os.Stdout.WriteString("written\n")
		}
	}
	o := options(t)
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	acknowledged, temp := 0, t.TempDir()
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "AUDIT_TEST_KILLED="+o.Home, "TMPDIR="+temp) // it removes nothing of its own
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for range 1 + round%5 {
			if in.Scan() {
				acknowledged++
			}
		}
		spin(time.Duration(round*37%1000) * time.Microsecond) // anywhere within a line
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for in.Scan() {
			acknowledged++
		}
		_ = cmd.Wait() // it was killed
	}
	got := verify(t, o)
	if !got.OK() {
		t.Error(strings.Join(got.Broken, "\n"))
	}
	if got.Files != rounds || got.Lines < acknowledged || got.Lines > acknowledged+rounds {
		t.Errorf("%d lines in %d logs; %d were acknowledged in %d", got.Lines, got.Files, acknowledged, rounds)
	}
	// A line appended to a whole log is not swallowed by what another left half.
	filled(t, o, 3)
	if after := verify(t, o); !after.OK() || after.Lines != got.Lines+3 {
		t.Errorf("%+v", after)
	}
	if temps, _ := filepath.Glob(filepath.Join(Folder(o.Home, o.Root), "*.tmp-*")); len(temps) > 0 {
		t.Error(temps)
	}
}

// spin passes a time too short to sleep for.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}
