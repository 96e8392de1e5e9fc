//go:build unix

package executortest

import (
	"runtime"
	"strings"
)

// leftovers are the promises about what a command leaves running.
var leftovers = []promise{
	{"what holds the pipes is ended and reported", func(s *suite) {
		sleeper := s.sleeper()
		res := s.run(s.bash("echo out; " + sleeper + " & disown"))
		s.want(res, 0, "", "out\n")
		if !res.HeldPipes || res.Left != 1 {
			s.Errorf("got %+v", res)
		}
		s.gone(sleeper)
	}},
	{"output of the last two seconds is kept", func(s *suite) {
		res := s.run(s.bash("(sleep 0.3; echo late) & echo early"))
		s.want(res, 0, "", "early\nlate\n")
		if res.HeldPipes || res.Left != 0 {
			s.Errorf("got %+v", res)
		}
	}},
	{"a killed leader takes its group along", func(s *suite) {
		sleeper := s.sleeper()
		res := s.run(s.bash(sleeper + " >/dev/null 2>&1 & kill -9 $$"))
		s.want(res, -1, "SIGKILL", "")
		s.gone(sleeper)
	}},
	{"a leftover that ignores TERM is killed", func(s *suite) {
		sleeper := s.sleeper()
		res := s.run(s.bash("trap '' TERM; " + sleeper + " >/dev/null 2>&1 & true"))
		s.want(res, 0, "", "")
		if res.Left != 1 {
			s.Errorf("%d left", res.Left)
		}
		s.gone(sleeper)
	}},
	{"daemons in sessions of their own", func(s *suite) {
		for _, text := range []string{
			"setsid SLEEPER >/dev/null 2>&1 </dev/null & disown",
			"(setsid SLEEPER >/dev/null 2>&1 </dev/null &)",
			"(setsid bash -c '(setsid SLEEPER & SLEEPER & wait) & disown' >/dev/null 2>&1 </dev/null &)",
			"(setsid nohup bash -c 'trap \"\" TERM HUP; SLEEPER' >/dev/null 2>&1 </dev/null &)",
			"set -m; SLEEPER >/dev/null 2>&1 & disown",
			"(GARUDA_COMMAND_ID=somebody-else setsid SLEEPER >/dev/null 2>&1 </dev/null &)",
		} {
			sleeper := s.sleeper()
			// The pause lets the daemons finish what they do to hide.
			res := s.run(s.bash(strings.ReplaceAll(text, "SLEEPER", sleeper) + "\nsleep 0.2; echo ok"))
			s.want(res, 0, "", "ok\n")
			s.gone(sleeper)
		}
	}},
	{"a daemon that shed its environment", func(s *suite) {
		if runtime.GOOS == "darwin" {
			s.Skip("macOS has no subreaper; without its mark a daemon is not found")
		}
		sleeper := s.sleeper()
		s.run(s.bash("(setsid env -i " + sleeper + " >/dev/null 2>&1 </dev/null &); sleep 0.2"))
		s.gone(sleeper)
	}},
	{"hundreds of them", func(s *suite) {
		sleeper := s.sleeper()
		res := s.run(s.bash("for i in {1..100}; do setsid " + sleeper + " >/dev/null 2>&1 & " + sleeper + " & done"))
		s.want(res, 0, "", "")
		if res.Left < 200 || !res.HeldPipes {
			s.Errorf("%d left, pipes held %v", res.Left, res.HeldPipes)
		}
		s.gone(sleeper)
	}},
	{"one that forks away without end", func(s *suite) {
		s.needs("perl")
		program := strings.ReplaceAll(s.sleeper(), "sleep ", "f")
		// Each generation makes a new session and group, and the one before it ends.
		s.write(program, `
use POSIX;
$0 = "`+program+`";
$SIG{TERM} = 'IGNORE';
for (1..30000) { exit if fork; POSIX::setsid(); }
`)
		res := s.run(s.bash("perl " + program + " >/dev/null 2>&1 </dev/null & sleep 0.2"))
		s.want(res, 0, "", "")
		s.gone(program)
	}},
	{"one that fills the machine", func(s *suite) {
		name := strings.ReplaceAll(s.sleeper(), "sleep ", "f")
		// Every process starts two more, up to a depth that keeps it bounded.
		s.write(name, `
[ "$1" -gt 0 ] || exec sleep 1000
bash `+name+` $(($1-1)) & bash `+name+` $(($1-1)) & wait
`)
		res := s.run(s.bash("bash " + name + " 7 >/dev/null 2>&1 & sleep 0.3"))
		s.want(res, 0, "", "")
		for depth := range 8 {
			s.gone("bash " + name + " " + string(rune('0'+depth)))
		}
	}},
}
