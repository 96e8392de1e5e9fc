package shellscan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

// bare is a context without a file system: everything below /p is inside.
func bare() *Context {
	return &Context{
		Root: "/p", Home: "/h",
		InEnvironment: func(n string) bool { return n == "PATH" || n == "HOME" },
		Inside:        func(p string) bool { return (p == "/p" || strings.HasPrefix(p, "/p/")) && !strings.Contains(p, "..") },
	}
}

// found is a command as the tables below write it: its words, "?" before those
// that are not known, and > for the ones inside another.
func found(s *Script) []string {
	var out []string
	for _, c := range s.Commands {
		var b strings.Builder
		if c.Via != nil {
			b.WriteString("> ")
		}
		for i, w := range c.Words {
			if i > 0 {
				b.WriteByte(' ')
			}
			if !w.Known {
				b.WriteByte('?')
			}
			b.WriteString(w.String())
		}
		for _, r := range c.Redirects {
			b.WriteString(" " + r.String())
		}
		for _, a := range c.Assigns {
			b.WriteString(" [" + a + "]")
		}
		if c.Open {
			b.WriteString(" ...")
		}
		out = append(out, b.String())
	}
	return out
}

func TestScan(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                  nil,
		"ls # a\\\ntouch b":                 {"ls", "touch b"},
		"ls #\\\n#\\\ntouch b # x\\\\\nfoo": {"ls", "touch b", "foo"},
		"echo a#\\\nb":                      {"echo a#b"},
		"echo 'a # b\\\nc' \"# d\\\ne\"":    {"echo a # b\\\nc # de"},
		"echo $\\\n{x:-$(touch b)}":         {"touch b", "echo ?${x:-$(touch b)}"},
		"A\\\n=1 ls":                        {"ls [A=1]"},
		"if ls; th\\\nen touch b; fi":       {"ls", "touch b"},
		"cat <<'E'\na \\\nb\nE\nls":         {"cat <<'E'", "ls"},
		"cat <<E\na\\\nE\ntouch b\nE":       {"cat <<E"},
		"# only":                            nil,
		"ls -la 'a b'":                      {"ls -la a b"},
		"a; b && c || d | e & f\ng":         {"a", "b", "c", "d", "e", "f", "g"},
		"(a; { b; }) >x":                    {" >x", "a", "b"},
		"echo \"$(a $(b))\" `c`":            {"b", "?a ?$(b)"[:0] + "a ?$(b)", "c", "echo ?\"$(a $(b))\" ?`c`"},
		"cat <(a) > >(b) 2>&1":              {"a", "b", "cat ?<(a) >>(b) 2>&1"},
		"cat <<E\n$(a)\nE":                  {"a", "cat <<E"},
		"cat <<'E'\n$(a)\nE":                {"cat <<'E'"},
		"A=1 B=$(a) c":                      {"a", "c [A=1] [B=$(a)]"},
		"{a,b} c{1..3} {d}":                 {"a b c1 c2 c3 {d}"},
		"$'\\x61\\'b' \"a\\$b\" \\a":        {"a'b a$b a"},
		"for f in x y; do a $f; done":       {"a x", "a y"},
		"for f in x y; do a; b $f; done":    {"a", "b x", "b y"},
		"for f in x; do for g in 1 2; do a $f$g; done; done":   {"a x1", "a x2"},
		"for f in a; do for f in b; do c $f; done; d $f; done": {"c b", "d ?$f"},
		"for f in 'x y'; do a $f \"$f\"; done":                 {"a ?$f x y"},
		"for F in x; do a $F; done":                            {" [F=x]", "a ?$F"},
		"sudo -u x timeout 5 a b":                              {"sudo -u x timeout 5 a b", "> timeout 5 a b", "> a b"},
		"find . -exec a {} \\; -o -exec b +":                   {"find . -exec a {} ; -o -exec b +", "> a ?{}", "> b +"},
		"ls | xargs -n1 -I% a % b":                             {"ls", "xargs -n1 -I% a % b", "> a ?% b ..."},
		"bash -c 'a \"$1\"; b' _ c":                            {"bash -c a \"$1\"; b _ c", "> a ?\"$1\"", "> b"},
		"env -S 'A=1 a' b":                                     {"env -S A=1 a b", "> env A=1 a b", "> a b [A=1]"},
		"f() { a; }; f":                                        {"f ()", "a", "f"},
		"[[ -f a && b == c ]]":                                 {"[[ -f a && b == c ]]"},
		"case $x in a) b;; *) c;; esac":                        {"b", "c"},
		"coproc a b":                                           {"coproc", "a b"},
		"x=a; $x":                                              {" [x=a]", "?$x"},
		"a $x \"$@\" ~/b *.c":                                  {"a ?$x ?\"$@\" ~/b ?*.c"},
	} {
		s := Scan(text, bare())
		if s.Unreadable != "" {
			t.Errorf("%q: %s", text, s.Unreadable)
		}
		if diff := cmp.Diff(want, found(s)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestNever holds each construct with the reason for which it is never allowed
// silently: without its rule the reason would be another, or none.
func TestNever(t *testing.T) {
	for text, want := range map[string]string{
		"A=1 ls":                            "assigns A",
		"A=1":                               "assigns A",
		"A+=1":                              "assigns A",
		"a[0]=1":                            "assigns a",
		"export A=1":                        "export changes",
		"declare -i x":                      "declare changes",
		"local x":                           "local changes",
		"readonly x":                        "readonly changes",
		"typeset x":                         "typeset changes",
		"f() { ls; }":                       "defines the function f",
		"f() { ls; }; f":                    "calls a function",
		"echo $((x))":                       "arithmetic",
		"echo $((1+x))":                     "arithmetic",
		"echo $[x]":                         "arithmetic",
		"((x))":                             "arithmetic",
		"let x":                             "arithmetic",
		"for ((;x;)); do ls; done":          "arithmetic",
		"echo ${a[x]}":                      "arithmetic",
		"echo ${x:y}":                       "arithmetic",
		"echo ${x:1:y}":                     "arithmetic",
		"echo ${!x}":                        "indirect",
		"echo ${x@P}":                       "@P",
		"echo ${x=1}":                       "assigns a variable",
		"echo ${x:=1}":                      "assigns a variable",
		"[[ -v x ]]":                        "-v",
		"[[ -R x ]]":                        "-v",
		"[[ x -eq 1 ]]":                     "-eq",
		"[[ 1 -lt x ]]":                     "-lt",
		"test -v x":                         "test -v",
		"[ -v x ]":                          "test -v",
		"printf -v x y":                     "printf",
		"printf -- -v":                      "",
		"printf '%d %n' 1 x":                "printf",
		"printf '%-5n' x":                   "printf",
		"printf '%%n' x":                    "",
		"printf $x":                         "printf",
		"printf \"a$x\"":                    "format of printf",
		"for PATH in a; do ls; done":        "a loop assigns PATH",
		"for x in $y; do ls; done":          "a loop assigns x",
		"for x; do ls; done":                "a loop assigns x",
		"for http_proxy in a; do ls; done":  "a loop assigns http_proxy",
		"for x in a b; do ls; done":         "",
		"select x in a; do ls; done":        "a loop assigns x",
		"coproc ls":                         "coprocess",
		"coproc n { ls; }":                  "coprocess",
		"ls {fd}>x":                         "redirection assigns",
		"eval ls":                           "eval can",
		". f":                               ". can",
		"source f":                          "source can",
		"trap ls EXIT":                      "trap can",
		"alias a=b":                         "alias can",
		"hash -p a b":                       "hash can",
		"enable -f a b":                     "enable can",
		"exec ls":                           "exec can",
		"read x":                            "read can",
		"mapfile -C a x":                    "mapfile can",
		"readarray x":                       "readarray can",
		"getopts a b":                       "getopts can",
		"unset x":                           "unset can",
		"shopt -s x":                        "shopt can",
		"bind -x a":                         "bind can",
		"compgen -C a":                      "compgen can",
		"complete -C a":                     "complete can",
		"builtin ls":                        "builtin can",
		"history -r":                        "history can",
		"fc -s":                             "fc can",
		"jobs -x a":                         "jobs -x",
		"jobs -l":                           "",
		"wait -p x":                         "wait -p",
		"wait 1":                            "",
		"sh -c ls":                          "sh is given code",
		"bash -xc ls":                       "bash is given code",
		"bash -o pipefail -c ls":            "bash is given code",
		"bash x.sh -c y":                    "",
		"python3.12 -c x":                   "is given code",
		"python -W ignore -c x":             "is given code",
		"perl -ne x":                        "is given code",
		"ruby -e x":                         "is given code",
		"php -r x":                          "is given code",
		"node --eval=x":                     "is given code",
		"node -p x":                         "is given code",
		"node x.js -p y":                    "",
		"deno eval x":                       "is given code",
		"echo ${x@Q} ${x:-y} ${#x} ${x[1]}": "",
	} {
		s := Scan(text, bare())
		if s.Unreadable != "" {
			t.Errorf("%q: %s", text, s.Unreadable)
			continue
		}
		got := ""
		for _, c := range s.Commands {
			if c.Via == nil && c.Never != "" {
				got = c.Never
			}
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	for text, want := range map[string]string{
		"ls\x01":                    "control character <U+0001>",
		"ls\x7f":                    "control character <U+007F>",
		"ls\r":                      "control character <U+000D>",
		"ls\xff":                    "not valid UTF-8 (byte 0xFF)",
		"ls \xc3(":                  "not valid UTF-8",
		"ls\u0085":                  "hidden character <U+0085>",
		"ls\u00a0":                  "hidden character <U+00A0>",
		"ls \u200b":                 "hidden character <U+200B>",
		"ls \u202e":                 "hidden character <U+202E>",
		"ls \U000e0041":             "hidden character <U+E0041>",
		"ls \ufe0f":                 "hidden character <U+FE0F>",
		"ls \u200d":                 "hidden character <U+200D>",
		strings.Repeat("x", 1<<17):  "longer than 64 KiB",
		strings.Repeat("a;", 51):    "more than 50",
		"ls (":                      "cannot be parsed",
		"@(a)":                      "extended pattern",
		"!(a)":                      "extended pattern",
		"[[ a == @($(b)) ]]":        "extended pattern",
		"bash -c 'a ('":             "given to bash cannot be parsed",
		"bash -c $'a\\x01'":         "given to bash cannot be read",
		"eval \"ls\u00a0\"":         "hidden character",
		strings.Repeat("eval ", 60): "too deeply",
	} {
		if got := Scan(text, bare()).Unreadable; !strings.Contains(got, want) {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"echo é 日本 ✓ ❤️ 👩‍💻 👍🏽", strings.Repeat("a;", 50), "ls\t-a\n"} {
		if got := Scan(text, bare()).Unreadable; got != "" {
			t.Errorf("%.40q: %s", text, got)
		}
	}
}

// TestBounded: no text makes the analysis slow or large.
func TestBounded(t *testing.T) {
	long := strings.Repeat("v", 30000)
	for _, text := range []string{
		"x=" + long + "; echo " + strings.Repeat("$x ", 10000),
		"bash -c '" + strings.Repeat("\"$@\" ", 5000) + "' _ " + long,
		"x='eval \"$x$x$x$x\"'; eval \"$x\"",
		strings.Repeat("{a,b}", 12000), strings.Repeat("{", 60000), strings.Repeat("(", 30000), strings.Repeat("((", 200), strings.Repeat("((\n", 200), strings.Repeat("$((", 200), strings.Repeat("$(", 20000),
		strings.Repeat("'' \\\n", 12000), strings.Repeat("# \\\n", 15000), strings.Repeat("sudo ", 12000), strings.Repeat("eval ", 12000),
		strings.Repeat("f() { ", 10000), strings.Repeat("for a in x y; do ", 3000), strings.Repeat("a | ", 15000) + "a",
		"sh <<< \"$x" + strings.Repeat("\n(", 15000) + "\"", "ls " + strings.Repeat("* ", 30000), strings.Repeat("if ", 20000),
		"find . " + strings.Repeat("-exec a ", 8000), "env -S '" + strings.Repeat("env -S ", 8000) + "'",
	} {
		began := time.Now()
		s := Scan(text, bare())
		size := 0
		for _, c := range s.Commands {
			for _, w := range c.Likely() {
				size += len(w.Text)
			}
		}
		if len(s.Commands) > maxFound || size > 1<<21 {
			t.Errorf("%.30q: %d commands, %d bytes", text, len(s.Commands), size)
		}
		t.Logf("%v %.30q %s", time.Since(began), text, s.Unreadable)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext": "", "a\u202eb": "a<U+202E>b", "a\xffb": "a<0xFF>b", "\x1b[2Jx": "<U+001B>[2Jx", "a\rb": "a<U+000D>b",
		"é ✓ ❤️": "", "\ufffd": "",
	} {
		got, hidden := Visible(in, false)
		if hidden != (want != "") || hidden && got != want || !hidden && got != in {
			t.Errorf("%q: got %q, %v", in, got, hidden)
		}
	}
	if got, hidden := Visible("a\r\nb", true); hidden || got != "a\r\nb" {
		t.Errorf("line ends of a file: %q, %v", got, hidden)
	}
}

func TestDecodeANSI(t *testing.T) {
	for in, want := range map[string]string{
		`a`: "a", `\n\t\e\\\'\"\?`: "\n\t\x1b\\'\"?", `\x41\x4a2`: "AJ2", `\101\60`: "A0", `\u0041`: "A", `\U00000041`: "A",
		`a\0b`: "a", `a\x00b`: "a", `a\`: `a\`,
	} {
		if got, sure := decodeANSI(in); got != want || !sure {
			t.Errorf("%s: got %q, %v", in, got, sure)
		}
	}
	for _, in := range []string{`\cA`, `\q`, `\x`, `\x{41}`, `\u00e9`} {
		if _, sure := decodeANSI(in); sure {
			t.Errorf("%s: sure", in)
		}
	}
}

func TestHarmlessSed(t *testing.T) {
	for program, want := range map[string]bool{
		"p": true, "s/a/b/": true, "s/a/b/g;s|c|d|I": true, "1,5p": true, "/x/,$d": true, "$!N;P;D": true, "y/ab/cd/": true,
		"/a/{s/b/c/;p}": true, ":a;N;$!ba;s/\\n/ /g": true, "# w x\np": true, "5q": true, "0~3d": true, "a hello": true, "s/\\//x/": true, "s/[abc]/x/": true, "": true,
		"w x": false, "1w x": false, "/a/w x": false, "s/a/b/w x": false, "s/a/b/gw x": false, "s/a/b/e": false, "s/a/b/ge": false,
		"e": false, "e id": false, "1e id": false, "r f": false, "R f": false, "W f": false, "p;w x": false, "p\nw x": false, "{w x": false,
		"a\\\nfoo\nw x": false, "s/[/]/w x/": false, "\\,a,w x": false, "s,a,b,w x": false, "b x w y": false, "s/a/b/m": false, "v": false, "!w x": false,
		"s/a\\/b/c/w x": false, "y/a/b/w x": false, "s/a/b/;;;w x": false, "p}w x": false, "s\na\nb\nw x": false, "s/a/\nb/": false,
	} {
		if got := harmlessSed(program); got != want {
			t.Errorf("%q: got %v", program, got)
		}
	}
}

// classify is what the analysis says of a text, in a form that can be compared.
func classify(s *Script) string {
	if s.Unreadable != "" {
		return "unreadable"
	}
	var b strings.Builder
	word := func(w Word) {
		if !w.Known {
			b.WriteByte('?')
		}
		fmt.Fprintf(&b, "%q ", w.Text)
	}
	for _, c := range s.Commands {
		for _, w := range c.Words {
			word(w)
		}
		for _, r := range c.Redirects {
			fmt.Fprintf(&b, "%s%s %d ", r.Fd, r.Op, r.Kind)
			if !strings.HasPrefix(r.Op, "<<") {
				word(r.Target)
			}
		}
		for _, a := range c.Assigns {
			b.WriteString(nameOf(a) + "= ")
		}
		fmt.Fprintf(&b, "| %v %v %s | %v\n", c.Via != nil, c.Open, c.Never, s.ReadOnly(c) == "")
	}
	return b.String()
}

// FuzzScan looks for panics, and for texts that are judged differently once they
// have been parsed and printed.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		"ls -la", "a && b || c; d | e &", "echo \"$(a `b`)\" ${x:-$(c)} $((1+2)) <(d)", "for f in a {b,c}; do ls $f; done",
		"cat <<E\n$(a)\nE\ncat <<-'E'\n\tb\n\tE", "case $x in a|b) c;; esac", "f() { a; }; f", "[[ -f a && $b == c* ]]", "A=1 b=(1 2) c",
		"sudo -u x env -S 'a b' timeout 5 find . -exec rm {} +", "bash -c 'a \"$@\"' _ b", "trap 'a' EXIT; eval b", "coproc a b",
		"sed -ne 's/a/b/w x' f", "git -c a=b diff --output=x", "awk '{print > \"x\"}' f", "sort -uo x f", "!(a)", "$'\\x41' {a,b}{1..3}",
		"if a; then b; elif c; then d; else e; fi; while f; do g; done; until h; do i; done", "select x in a; do b; done", "time -p a", "! a", "a 2>&1 >x &>y <z 3<>w",
	} {
		f.Add(text)
	}
	ctx := bare()
	f.Fuzz(func(t *testing.T, text string) {
		s := scan(text, ctx)
		first := classify(s)
		for _, c := range s.Commands {
			s.Reads(c)
			s.Writes(c)
			coverable(append([]Word{knownWord("x")}, c.Words...))
			if len(c.Words) > 0 {
				coverable(c.Words)
			}
			_ = c.String()
		}
		if p, never, err := CompilePattern(text); err == nil && never == "" {
			for _, c := range s.Commands {
				p.Covers(c)
				p.Hits(c, true)
			}
			p.Broad()
		}
		if first == "unreadable" {
			return
		}
		if strings.Contains(text, "coproc") {
			return // what the parser reads wrongly it also prints wrongly
		}
		file, err := parse(text, parsers)
		if err != nil {
			t.Fatalf("%q was scanned but does not parse: %v", text, err)
		}
		var printed bytes.Buffer
		if err := syntax.NewPrinter().Print(&printed, file); err != nil {
			return // the printer refuses some trees
		}
		again := scan(printed.String(), ctx)
		if second := classify(again); second != first && again.Unreadable == "" {
			t.Errorf("%q is judged\n%s\nprinted as %q it is judged\n%s", text, first, printed.String(), second)
		}
	})
}

func FuzzHarmlessPrograms(f *testing.F) {
	f.Add("s/a/b/;p")
	f.Add("{print $1}")
	f.Fuzz(func(_ *testing.T, program string) {
		harmlessSed(program)
		harmlessAwk(program)
		loadedKey([]byte(program))
		decodeANSI(program)
	})
}
