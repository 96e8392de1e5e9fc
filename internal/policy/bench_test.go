package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkDecide(b *testing.B) {
	for name, text := range map[string]string{
		"typical":   "cd src && go test -run TestX ./... 2>&1 | tail -20",
		"read-only": "ls -la src",
		"git":       "git diff --stat HEAD~1",
		"wrapped":   "sudo env A=1 timeout 5 bash -c 'rm \"$1\"' _ x",
		"64KiB":     "cat <<'EOF'\n" + strings.Repeat("some text of a file that is being written\n", 1500) + "EOF\n",
		"50":        strings.TrimSuffix(strings.Repeat("ls -la 'a b' \"$x\" src | grep -v foo\n", 25), "\n"),
	} {
		b.Run(name, func(b *testing.B) {
			e := newEngine(b, func(c *Config) { c.Rules = []RuleSource{shellRules()} })
			req := command(text)
			b.ReportAllocs()
			for b.Loop() {
				e.Explain(req)
			}
		})
	}
}

// BenchmarkDecide1000Rules decides under a policy with a thousand rules, none of
// which matches.
func BenchmarkDecide1000Rules(b *testing.B) {
	var src RuleSource
	for i := range 500 {
		src.Allow = append(src.Allow, Rule{Text: fmt.Sprintf("bash(tool%d run *)", i)})
		src.Deny = append(src.Deny, Rule{Text: fmt.Sprintf("read_file(secret%d/**)", i)})
	}
	e := newEngine(b, func(c *Config) { c.Rules = []RuleSource{src} })
	for name, req := range map[string]func() any{
		"command": func() any { return e.Explain(command("make test && cat src/a.go")) },
		"file":    func() any { return e.Explain(fileCall(e, "read_file", "src/a.go")) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				req()
			}
		})
	}
}

func BenchmarkMayRead(b *testing.B) {
	e := newEngine(b, denying("read_file(secret/**)", "read_file(*.sql)"))
	path := filepath.Join(e.root.given, "src/a.go")
	b.ReportAllocs()
	for b.Loop() {
		e.MayRead(path)
	}
}
