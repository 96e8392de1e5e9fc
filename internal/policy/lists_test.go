package policy

import (
	"strings"
	"testing"

	"garuda/internal/tool"
)

// TestDeniedEverywhere puts each spelling of a denied command into each place
// where a command can stand.
func TestDeniedEverywhere(t *testing.T) {
	spellings := []string{
		"rm x", "rm -rf x y", "'rm' x", `r\m x`, `"r"m x`, `$'\x72m' x`, "/bin/rm x", "./a/../rm x", "rm${IFS}x", "r$@m x", "{rm,x}", "{,rm} x",
		"sudo rm x", "env -u A B=1 rm x", "timeout -k 1 5 rm x", "nice -n 3 nohup rm x", "command rm x", "xargs -n 1 rm", `find . -exec rm {} \;`,
		"A=1 rm x", ">/dev/null rm x", "rm<f", "bash -c 'rm x'", "eval rm x", "env -S 'rm x'", "$(echo rm) x", "busybox rm x", "exec rm x",
	}
	places := []string{
		"%", "ls; %", "ls\n%", "ls && %", "ls || %", "ls | %", "ls |& %", "ls & %", "% &", "! %", "time %", "(%)", "{ %\n}", "( ( { %\n} ) )",
		"if %\nthen ls; fi", "if ls; then %\nfi", "if ls; then ls; else %\nfi", "while %\ndo ls; done", "until ls; do %\ndone", "for i in a b; do %\ndone",
		"for ((;;)); do %\ndone", "case a in a) %\n;; esac", "f() { %\n}", "f() { %\n}; f", "coproc { %\n}", "select i in a; do %\ndone",
		"echo $(%\n)", "echo \"$(%\n)\"", "cat <(%\n)", "ls > >(%\n)", "cat <<E\n$(%\n)\nE", "cat <<< \"$(%\n)\"", "x=$(%\n)", "x=(a $(%\n))", "export x=$(%\n)",
		"echo ${x:-$(%\n)}", "echo $((1 + $(%\n)))", "[[ $(%\n) ]]", "[ \"$(%\n)\" ]", "trap 'ls' EXIT; %", "# a\n%", "ls # a\\\n%", "set -e\n%", "cd src && %",
		"{ ls; (ls; %\n) } 2>&1 | cat", "cat <<'E'\nx\nE\n%", "for i in $(%\n); do ls; done", "ls $(ls $(%\n))",
	}
	e := newEngine(t, func(c *Config) { c.Rules = []RuleSource{shellRules()} })
	for _, s := range spellings {
		for _, p := range places {
			text := strings.Replace(p, "%", s, 1)
			if d := e.Explain(command(text)); d.Outcome != tool.Deny {
				t.Errorf("%q: got %s by %s (%s)", text, d.Outcome, d.By, d.Reason)
			}
		}
	}
	// And nothing there is denied for its place alone.
	for _, p := range places {
		text := strings.Replace(p, "%", "touch x", 1)
		if d := e.Explain(command(text)); d.Outcome != tool.Ask {
			t.Errorf("%q: got %s by %s (%s)", text, d.Outcome, d.By, d.Reason)
		}
	}
}
