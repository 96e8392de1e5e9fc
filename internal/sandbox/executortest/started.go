//go:build unix

package executortest

import (
	"context"
	"io"
	"time"
)

// started are the promises about programs whose pipes the caller talks to.
var started = []promise{
	{"talks through its pipes", func(s *suite) {
		p, err := s.exec.Start(s.Context(), s.bash("echo err >&2; cat; exit 6"))
		if err != nil {
			s.Fatal(err)
		}
		if p.Pid() <= 1 {
			s.Errorf("pid %d", p.Pid())
		}
		if _, err := io.WriteString(p.Stdin(), "hello"); err != nil {
			s.Error(err)
		}
		if err := p.Stdin().Close(); err != nil {
			s.Error(err)
		}
		out, err := io.ReadAll(p.Stdout())
		if err != nil || string(out) != "hello" {
			s.Errorf("stdout: %q %v", out, err)
		}
		errOut, err := io.ReadAll(p.Stderr())
		if err != nil || string(errOut) != "err\n" {
			s.Errorf("stderr: %q %v", errOut, err)
		}
		res, err := p.Wait()
		if err != nil {
			s.Fatal(err)
		}
		s.want(res, 6, "", "")
		if again, err := p.Wait(); err != nil || again.ExitCode != 6 {
			s.Errorf("a second Wait: %+v %v", again, err)
		}
	}},
	{"what it wrote last can be read after its end", func(s *suite) {
		p, err := s.exec.Start(s.Context(), s.bash("seq 1000"))
		if err != nil {
			s.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			s.Fatal(err)
		}
		if out, err := io.ReadAll(p.Stdout()); err != nil || len(out) != 3893 {
			s.Errorf("%d bytes, %v", len(out), err)
		}
	}},
	{"is killed with what it started", func(s *suite) {
		sleeper := s.sleeper()
		p, err := s.exec.Start(s.Context(), s.bash("setsid "+sleeper+" & echo begun; "+sleeper))
		if err != nil {
			s.Fatal(err)
		}
		if _, err := p.Stdout().Read(make([]byte, 10)); err != nil {
			s.Fatal(err)
		}
		p.Kill()
		p.Kill()
		res, err := p.Wait()
		if err != nil {
			s.Fatal(err)
		}
		s.want(res, -1, "SIGTERM", "")
		if !res.Interrupted {
			s.Errorf("got %+v", res)
		}
		s.gone(sleeper)
	}},
	{"ends with its context and its time", func(s *suite) {
		for _, byTime := range []bool{true, false} {
			ctx, cancel := context.WithCancel(s.Context())
			cmd := s.bash(s.sleeper())
			if byTime {
				cmd.Timeout = 100 * time.Millisecond
			}
			p, err := s.exec.Start(ctx, cmd)
			if err != nil {
				s.Fatal(err)
			}
			if !byTime {
				cancel()
			}
			res, err := p.Wait()
			if err != nil {
				s.Fatal(err)
			}
			if res.TimedOut != byTime || res.Interrupted == byTime {
				s.Errorf("by time %v: %+v", byTime, res)
			}
			cancel()
		}
	}},
	{"what cannot start is an error", func(s *suite) {
		cmd := s.bash("")
		cmd.Argv = []string{"/no/such/program"}
		if p, err := s.exec.Start(s.Context(), cmd); err == nil || p != nil {
			s.Errorf("got %v %v", p, err)
		}
	}},
}
