//go:build unix

package executortest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// captured are the promises about what a command gets and what it prints.
var captured = []promise{
	{"exit code and both streams", func(s *suite) {
		res := s.run(s.bash("echo hi; echo oops >&2; exit 3"))
		s.want(res, 3, "", "hi\n")
		if string(res.Stderr.Head) != "oops\n" || res.Duration <= 0 {
			s.Errorf("got %q on stderr in %v", res.Stderr.Head, res.Duration)
		}
		if res.HeldPipes || res.TimedOut || res.Interrupted || res.Left != 0 || res.Spill != "" || res.SpillErr != nil {
			s.Errorf("an ordinary end reports more than that: %+v", res)
		}
	}},
	{"a signal has a name", func(s *suite) {
		s.want(s.run(s.bash("kill -9 $$")), -1, "SIGKILL", "")
		s.want(s.run(s.bash("kill -SEGV $$")), -1, "SIGSEGV", "")
	}},
	{"stdin is empty", func(s *suite) {
		s.want(s.run(s.bash("cat; read x || echo nothing")), 0, "", "nothing\n")
	}},
	{"runs in its folder", func(s *suite) {
		s.want(s.run(s.bash(`test -e here || echo mine > here; cat here`)), 0, "", "mine\n")
		if _, err := os.Stat(filepath.Join(s.dir, "here")); err != nil {
			s.Error(err)
		}
	}},
	{"environment is the given one", func(s *suite) {
		s.Setenv("GARUDA_TEST_KEY", "SECRET")
		cmd := s.bash(`env`)
		cmd.Env = append(cmd.Env, "MARK=a b")
		res := s.run(cmd)
		names := map[string]bool{}
		for line := range strings.Lines(string(res.Stdout.Head)) {
			name, _, _ := strings.Cut(line, "=")
			names[name] = true
		}
		// What bash and Garuda's process rules add.
		for _, own := range []string{"PWD", "OLDPWD", "SHLVL", "_", "GARUDA_COMMAND_ID"} {
			delete(names, own)
		}
		if len(names) != 3 || !names["MARK"] || !names["PATH"] || !names["LC_ALL"] {
			s.Errorf("it got %s", res.Stdout.Head)
		}
		if bytes.Contains(res.Stdout.Head, []byte("SECRET")) {
			s.Errorf("it sees Garuda's own environment: %s", res.Stdout.Head)
		}
	}},
	{"no descriptor of Garuda", func(s *suite) {
		// Open without close-on-exec, as one from a careless parent is.
		fd, err := unix.FcntlInt(os.Stdin.Fd(), unix.F_DUPFD, 60)
		if err != nil {
			s.Fatal(err)
		}
		defer func() { _ = unix.Close(fd) }()
		s.want(s.run(s.bash(`for n in $(seq 50 255); do if { : <&$n; } 2>/dev/null; then echo $n; fi; done`)), 0, "", "")
	}},
	{"no terminal", func(s *suite) {
		s.want(s.run(s.bash(`(exec 3<>/dev/tty) 2>/dev/null || echo none`)), 0, "", "none\n")
	}},
	{"programs come from the command's own PATH", func(s *suite) {
		bin := s.dir
		for _, name := range []string{"garuda-test-tool", "bash"} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho found\n"), 0o700); err != nil {
				s.Fatal(err)
			}
		}
		cmd := s.bash("")
		cmd.Argv = []string{"garuda-test-tool"}
		if _, err := s.exec.Run(s.Context(), cmd); err == nil || !strings.Contains(err.Error(), "garuda-test-tool") {
			s.Errorf("found what is not in its PATH: %v", err)
		}
		cmd.Env = []string{"PATH=/nowhere:" + bin}
		s.want(s.run(cmd), 0, "", "found\n")
		cmd.Env = []string{"PATH=.:"}
		if _, err := s.exec.Run(s.Context(), cmd); err == nil {
			s.Error("a relative entry of PATH ran a program of the project")
		}
		// bash is the machine's, whatever the PATH of the command holds.
		cmd = s.bash("builtin echo real")
		cmd.Env = []string{"PATH=" + bin}
		s.want(s.run(cmd), 0, "", "real\n")
	}},
	{"what cannot start is an error that names it", func(s *suite) {
		cmd := s.bash("true")
		cmd.Argv = []string{"/no/such/program"}
		if _, err := s.exec.Run(s.Context(), cmd); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
			s.Errorf("got %v", err)
		}
		cmd = s.bash("true")
		cmd.Dir = filepath.Join(s.dir, "missing")
		if _, err := s.exec.Run(s.Context(), cmd); err == nil || !strings.Contains(err.Error(), "missing") {
			s.Errorf("got %v", err)
		}
		cmd = s.bash("true")
		cmd.Argv = nil
		if _, err := s.exec.Run(s.Context(), cmd); err == nil {
			s.Error("a command without a program ran")
		}
	}},
	{"head and tail are kept", func(s *suite) {
		cmd := s.bash("seq 100000")
		cmd.Limit = 100
		res := s.run(cmd)
		if want := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n2"; string(res.Stdout.Head) != want+"0" && len(res.Stdout.Head) != 50 {
			s.Errorf("head: %q", res.Stdout.Head)
		}
		if !strings.HasSuffix(string(res.Stdout.Tail), "\n99999\n100000\n") || len(res.Stdout.Tail) != 50 {
			s.Errorf("tail: %q", res.Stdout.Tail)
		}
		if res.Stdout.Total != 588895 {
			s.Errorf("total: %d", res.Stdout.Total)
		}
	}},
	{"bytes stay as they are", func(s *suite) {
		s.want(s.run(s.bash(`printf 'a\000b\377\xc3('`)), 0, "", "a\x00b\xff\xc3(")
	}},
	{"the whole output spills to a file", func(s *suite) {
		cmd := s.bash("seq 5; sleep 0.1; echo err >&2; sleep 0.1; seq 6 30000")
		cmd.SpillPath = filepath.Join(s.TempDir(), "call.txt")
		res := s.run(cmd)
		if res.Spill != cmd.SpillPath || res.SpillCut || res.SpillErr != nil {
			s.Fatalf("spill: %q %v %v", res.Spill, res.SpillCut, res.SpillErr)
		}
		got, err := os.ReadFile(res.Spill)
		if err != nil {
			s.Fatal(err)
		}
		if !bytes.HasPrefix(got, []byte("1\n2\n3\n4\n5\nerr\n6\n7\n")) || !bytes.HasSuffix(got, []byte("\n29999\n30000\n")) {
			s.Errorf("it holds %.40q … %q", got, got[len(got)-20:])
		}
		if info, err := os.Stat(res.Spill); err != nil || info.Mode() != 0o600 {
			s.Errorf("its mode: %v %v", info.Mode(), err)
		}
	}},
	{"no file for what is kept whole", func(s *suite) {
		cmd := s.bash("echo short")
		cmd.SpillPath = filepath.Join(s.TempDir(), "call.txt")
		if res := s.run(cmd); res.Spill != "" {
			s.Errorf("spilled to %s", res.Spill)
		}
		if _, err := os.Lstat(cmd.SpillPath); err == nil {
			s.Error("the file was made")
		}
	}},
	{"a spill never replaces or follows", func(s *suite) {
		dir := s.TempDir()
		victim := filepath.Join(dir, "victim")
		if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
			s.Fatal(err)
		}
		for _, target := range []string{victim, filepath.Join(dir, "new")} {
			link := filepath.Join(dir, filepath.Base(target)+"-link")
			if err := os.Symlink(target, link); err != nil {
				s.Fatal(err)
			}
			for _, path := range []string{victim, link} {
				cmd := s.bash("seq 30000")
				cmd.SpillPath = path
				res := s.run(cmd)
				if res.SpillErr == nil || res.Spill != "" {
					s.Errorf("%s: spilled to %q, error %v", path, res.Spill, res.SpillErr)
				}
			}
		}
		if b, err := os.ReadFile(victim); err != nil || string(b) != "mine" {
			s.Errorf("the file that stood there: %q %v", b, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
			s.Error("a link was followed")
		}
	}},
	{"output comes as it arrives, one piece at a time", func(s *suite) {
		var out, errOut bytes.Buffer
		var inside atomic.Bool
		first := make(chan struct{})
		var once sync.Once
		cmd := s.bash(`echo first; until test -e go; do sleep 0.02; done; seq 1000; seq 1000 >&2`)
		cmd.Output = func(stderr bool, chunk []byte) {
			if inside.Swap(true) {
				s.Error("two pieces at once")
			}
			if stderr {
				errOut.Write(chunk)
			} else {
				out.Write(chunk)
			}
			once.Do(func() { close(first) })
			inside.Store(false)
		}
		go func() {
			<-first // or the command would wait until its time is up
			if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
				s.Error(err)
			}
		}()
		res := s.run(cmd)
		s.want(res, 0, "", out.String())
		if !slices.Equal(res.Stderr.Head, errOut.Bytes()) {
			s.Error("stderr came in other pieces than it was kept")
		}
	}},
	{"a gigabyte in one line", func(s *suite) {
		cmd := s.bash(`head -c 1000000000 /dev/zero`)
		res := s.run(cmd)
		if res.Stdout.Total != 1_000_000_000 || len(res.Stdout.Head)+len(res.Stdout.Tail) != cmd.Limit {
			s.Errorf("%d bytes, %d and %d kept", res.Stdout.Total, len(res.Stdout.Head), len(res.Stdout.Tail))
		}
	}},
	{"fifty at once", func(s *suite) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				res, err := s.exec.Run(s.Context(), s.bash(`printf '%s' {1..2000}; exit `+string(rune('0'+i%8))))
				if err != nil {
					s.Error(err)
					return
				}
				if res.ExitCode != i%8 || res.Stdout.Total != 6893 || res.Left != 0 {
					s.Errorf("command %d: %d, %d bytes, %d left", i, res.ExitCode, res.Stdout.Total, res.Left)
				}
			})
		}
		wg.Wait()
	}},
}
