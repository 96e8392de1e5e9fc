//go:build unix

package executortest

import (
	"context"
	"strings"
	"sync"
	"time"
)

// endings are the promises about how a command is brought to its end.
var endings = []promise{
	{"a time-out ends it", func(s *suite) {
		sleeper := s.sleeper()
		cmd := s.bash("echo begun; " + sleeper + "; echo never")
		cmd.Timeout = 300 * time.Millisecond
		res := s.run(cmd)
		s.want(res, -1, "SIGTERM", "begun\n")
		if !res.TimedOut || res.Interrupted || res.HeldPipes {
			s.Errorf("got %+v", res)
		}
		s.gone(sleeper)
	}},
	{"a time-out lets it clean up", func(s *suite) {
		cmd := s.bash(`trap 'echo cleaned; exit 5' TERM; while :; do sleep 0.05; done`)
		cmd.Timeout = 300 * time.Millisecond
		res := s.run(cmd)
		s.want(res, 5, "", "cleaned\n")
		if !res.TimedOut {
			s.Error("not reported as timed out")
		}
	}},
	{"ignoring TERM helps for two seconds", func(s *suite) {
		sleeper := s.sleeper()
		cmd := s.bash(`trap '' TERM; ` + sleeper + ` & while :; do sleep 0.05; done`)
		cmd.Timeout = 300 * time.Millisecond
		res := s.run(cmd)
		s.want(res, -1, "SIGKILL", "")
		if !res.TimedOut {
			s.Error("not reported as timed out")
		}
		s.gone(sleeper)
	}},
	{"endless output ends with the time", func(s *suite) {
		cmd := s.bash("yes")
		cmd.Timeout = 300 * time.Millisecond
		res := s.run(cmd)
		if !res.TimedOut || res.Stdout.Total < 1_000_000 {
			s.Errorf("timed out %v, %d bytes", res.TimedOut, res.Stdout.Total)
		}
	}},
	{"an interrupt keeps what was printed", func(s *suite) {
		sleeper := s.sleeper()
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		cmd := s.bash("echo begun; " + sleeper)
		cmd.Output = func(bool, []byte) { cancel() }
		res, err := s.exec.Run(ctx, cmd)
		if err != nil {
			s.Fatal(err)
		}
		s.want(res, -1, "SIGTERM", "begun\n")
		if !res.Interrupted || res.TimedOut {
			s.Errorf("got %+v", res)
		}
		s.gone(sleeper)
	}},
	{"an interrupt reaches every session", func(s *suite) {
		one, two := s.sleeper(), s.sleeper()
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		cmd := s.bash("setsid " + one + " >/dev/null 2>&1 & set -m; " + two + " & echo begun; wait")
		cmd.Output = func(bool, []byte) { cancel() }
		res, err := s.exec.Run(ctx, cmd)
		if err != nil {
			s.Fatal(err)
		}
		if !res.Interrupted {
			s.Errorf("got %+v", res)
		}
		s.gone(one)
		s.gone(two)
	}},
	{"an interrupt after its end does not wait for held pipes", func(s *suite) {
		sleeper := s.sleeper()
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		cmd := s.bash(sleeper + " & echo $$; kill -9 $$")
		cmd.Output = func(bool, []byte) { cancel() }
		if _, err := s.exec.Run(ctx, cmd); err != nil {
			s.Fatal(err)
		}
		s.gone(sleeper)
	}},
	{"an ended context starts nothing", func(s *suite) {
		ctx, cancel := context.WithCancel(s.Context())
		cancel()
		if _, err := s.exec.Run(ctx, s.bash("touch ran")); err == nil {
			s.Error("it ran")
		}
	}},
	{"one executor's end leaves others alone", func(s *suite) {
		other := s.executor()
		begun := make(chan struct{})
		var once sync.Once
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		sleeper := s.sleeper()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cmd := s.bash("(setsid " + sleeper + " >/dev/null 2>&1 </dev/null &); echo begun; sleep 100")
			cmd.Output = func(bool, []byte) { once.Do(func() { close(begun) }) }
			if res, err := s.exec.Run(ctx, cmd); err != nil || !res.Interrupted {
				s.Errorf("got %+v, %v", res, err)
			}
		}()
		<-begun
		for range 3 {
			if _, err := other.Run(s.Context(), s.bash("(setsid true &); true")); err != nil {
				s.Error(err)
			}
		}
		if err := other.Shutdown(s.Context()); err != nil {
			s.Error(err)
		}
		if n := Running(s, sleeper); n != 1 {
			s.Errorf("%d of the other executor's processes are left, want 1", n)
		}
		cancel()
		<-ended
		s.gone(sleeper)
	}},
	{"shutdown ends what runs and starts nothing more", func(s *suite) {
		sleeper := s.sleeper()
		begun := make(chan struct{})
		var once sync.Once
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cmd := s.bash("echo begun; " + sleeper)
			cmd.Output = func(bool, []byte) { once.Do(func() { close(begun) }) }
			if res, err := s.exec.Run(s.Context(), cmd); err != nil || !res.Interrupted {
				s.Errorf("got %+v, %v", res, err)
			}
		}()
		p, err := s.exec.Start(s.Context(), s.bash(sleeper))
		if err != nil {
			s.Fatal(err)
		}
		<-begun
		if err := s.exec.Shutdown(s.Context()); err != nil {
			s.Error(err)
		}
		s.gone(sleeper)
		<-ended
		if res, err := p.Wait(); err != nil || !res.Interrupted {
			s.Errorf("got %+v, %v", res, err)
		}
		if _, err := s.exec.Run(s.Context(), s.bash("true")); err == nil || !strings.Contains(err.Error(), "shut down") {
			s.Errorf("it still starts commands: %v", err)
		}
	}},
	{"a shutdown without time kills at once", func(s *suite) {
		sleeper := s.sleeper()
		p, err := s.exec.Start(s.Context(), s.bash("trap '' TERM; echo begun; "+sleeper))
		if err != nil {
			s.Fatal(err)
		}
		if _, err := p.Stdout().Read(make([]byte, 10)); err != nil {
			s.Fatal(err)
		}
		ctx, cancel := context.WithCancel(s.Context())
		cancel()
		if err := s.exec.Shutdown(ctx); err == nil {
			s.Error("nothing was said of a process that had to be killed")
		}
		res, err := p.Wait()
		if err != nil {
			s.Fatal(err)
		}
		s.want(res, -1, "SIGKILL", "")
		s.gone(sleeper)
	}},
}
