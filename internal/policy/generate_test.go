package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// scriptGenerator writes random texts for bash out of every construct that the
// analysis knows. Commands are stubs, so that running them is harmless; every
// loop ends, and files are written in the working folder only.
type scriptGenerator struct {
	r    *rand.Rand
	left int // constructs still to spend
	// tame scripts are mostly made of what is allowed, so that a single part that
	// is not has to be found among them.
	tame bool
}

// stubs are the commands that the texts run.
var stubs = []string{"ls", "cat", "rm", "curl", "touch", "git", "foo", "bar"}

// wrappers are real programs that run stubs.
var realWrappers = []string{"env", "timeout", "nice", "nohup", "xargs", "find", "setsid", "stdbuf", "flock", "bash", "sh"}

func (g *scriptGenerator) pick(list ...string) string { return list[g.r.IntN(len(list))] }
func (g *scriptGenerator) chance(n int) bool          { return g.r.IntN(n) == 0 }

func (g *scriptGenerator) script() string {
	g.left = 4 + g.r.IntN(14)
	g.tame = g.chance(2)
	text := g.list(3)
	if g.chance(2) && !strings.Contains(text, "/dev/") {
		text = g.mutate(text)
	}
	return text
}

// mutate puts characters that mean something to the shell where they may not be
// expected. What bash and the parser read differently shows there.
func (g *scriptGenerator) mutate(text string) string {
	for range 1 + g.r.IntN(3) {
		at := g.r.IntN(len(text) + 1)
		text = text[:at] + g.pick("\\\n", "\\\n", "\\\n", "\\", "'", "\"", "$", "`", "(", ")", "{", "}", "&", "|", ";", "<", ">", "#", "!",
			"=", "*", "[", "]", "\n", " ", "\t", "~", ",", "..", "<<", "((", "))", "$(", "${", "'' ", "in ", "do ", "esac", "coproc ", "time ") + text[at:]
	}
	return text
}

func (g *scriptGenerator) list(depth int) string {
	var b strings.Builder
	n := 1 + g.r.IntN(3)
	for i := range n {
		if i > 0 {
			b.WriteString(g.pick("; ", "\n", " && ", " || ", " | ", " |& ", " & "))
		}
		b.WriteString(g.stmt(depth))
	}
	return b.String()
}

func (g *scriptGenerator) stmt(depth int) string {
	g.left--
	if depth <= 0 || g.left <= 0 || g.chance(2) {
		return g.simple(depth)
	}
	in := func() string { return g.list(depth - 1) }
	if g.tame && !g.chance(25) {
		return g.tameStmt(depth, in)
	}
	switch g.r.IntN(26) {
	case 20, 21:
		return g.builtin()
	case 22:
		return g.evaluating()
	case 23:
		return "coproc C" + g.pick("", "1") + " { " + in() + "\n}\nwait"
	case 24:
		return "until " + g.pick("true", in()+"\ntrue") + "; do " + g.simple(0) + "\ndone"
	case 0:
		return "(" + g.pad() + in() + ")"
	case 1:
		return "{ " + in() + "\n}"
	case 2:
		return "if " + in() + "\nthen " + in() + "\nelse " + in() + "\nfi"
	case 3:
		return "while " + g.pick("false", "! true", "[ a = b ]") + "; do " + in() + "\ndone"
	case 4:
		return "for v in " + g.pick("a b", "ls rm", "$(foo)", "{1..2}", "'x y' z", "*") + "; do " + in() + "\n" + g.pick("$v x", "foo $v", "foo \"$v\"", ":") + "\ndone"
	case 5:
		return "case " + g.word(0) + " in " + g.pick("a", "*", "$(foo)", "\"x\"") + ") " + in() + "\n;; *) " + in() + "\n;; esac" + g.pick("", "", "; case a in a) foo\n;& b) bar\n;;& *) foo c\n;; esac")
	case 6:
		name := g.pick("f", "h", "ls2")
		return name + "() " + g.pick("{ "+in()+"\n}", "("+in()+"\n)") + g.pick("; "+name, "\n"+name+" a", "")
	case 7:
		return "! " + g.simple(depth)
	case 8:
		return "time " + g.pick("", "-p ") + g.simple(depth)
	case 9:
		return "eval " + g.quote(g.list(1))
	case 10:
		return "bash -c " + g.quote(g.list(1)) + g.pick("", " _ rm x", " a")
	case 11:
		return "trap " + g.quote(g.list(0)) + " EXIT"
	case 12:
		return "cat <<" + g.heredoc(depth)
	case 13:
		return "bash <<'E'\n" + g.list(0) + "\nE\n"
	case 14:
		return "for ((i=0;i<" + g.pick("1", "2", "$(foo; echo 1)") + ";i++)); do " + in() + "\ndone"
	case 15:
		return "[[ " + g.word(1) + " " + g.pick("==", "!=", "<", "=~") + " " + g.word(1) + " ]]"
	case 16:
		return "(( " + g.pick("1+1", "x", "x=2", "$(foo; echo 1)") + " ))"
	case 17:
		return g.pick("export", "declare", "readonly", "local") + " y" + fmt.Sprint(g.r.IntN(1000)) + "=" + g.word(1)
	case 18:
		return "coproc " + g.simple(0) + "\nwait"
	case 19:
		return "select s in a; do " + in() + "\ndone"
	}
	return "x=" + g.word(1) + "\n" + g.simple(depth)
}

// builtin is a builtin that starts something, or changes what later commands mean.
func (g *scriptGenerator) builtin() string {
	n := func() string { return stubs[g.r.IntN(len(stubs))] }
	switch g.r.IntN(20) {
	case 0:
		return "read c <<< " + n() + "\n$c x"
	case 1:
		return "mapfile -C '" + n() + " a' -c 1 m <<< b"
	case 2:
		return "set -- " + n() + " x\n\"$@\""
	case 3:
		return "a=(" + n() + " b)\n" + g.pick("\"${a[@]}\"", "${a[*]}", "${a[0]} c", "$a c")
	case 4:
		return "alias " + g.pick("foo", "ls") + "=" + n() + "\nfoo x"
	case 5:
		return "hash -p \"$STUBS\"/" + n() + " ls\nls a"
	case 6:
		return "enable -n echo\necho a"
	case 7:
		return "compgen -C " + n() + " a"
	case 8:
		return g.pick("source", ".") + " /dev/stdin <<< " + g.quote(g.list(0))
	case 9:
		return g.pick("source", ".", "bash") + " <(echo " + n() + " a)"
	case 10:
		return g.pick("exec 3>o1", "exec {fd}>o2", "exec 2>/dev/null", "exec 3< <("+n()+")")
	case 11:
		return g.pick("echo ", "printf '%s\\n' ") + g.quote(g.list(0)) + " | " + g.pick("bash", "sh", "bash -s", "env bash")
	case 12:
		return "getopts ab o -a\n" + n() + " \"$o\""
	case 13:
		return "printf -v v %s " + n() + "\n$v x"
	case 14:
		return "shopt -s " + g.pick("expand_aliases", "dotglob", "nullglob", "lastpipe") + "\n" + n() + " *"
	case 15:
		return "unset " + g.pick("x", "-f f", "PATH") + "\n" + n()
	case 16:
		return "command_not_found_handle() { " + n() + " \"$@\"; }\nnosuch a"
	case 17:
		return g.pick("command -p ", "command -v ", "builtin eval ", "exec -a y ", "command command ") + n() + " x"
	case 18:
		return g.pick("flock f ", "flock -n f ", "xargs -I {} ", "find f -execdir ") + n() + " {} " + g.pick("", "\\;")
	}
	return "x=" + n() + " y=${x}\n" + g.pick("\"$y\"", "${y:-foo}", "${x:0:9}", "${x@P}", "${!x}") + " z"
}

// evaluating is an expression that evaluates what it is given, and so may run it.
func (g *scriptGenerator) evaluating() string {
	n := stubs[g.r.IntN(len(stubs))]
	sub := g.pick("'a[$("+n+" x)]'", "\"a[\\$("+n+" x)]\"", "'a[`"+n+" y`]'")
	return g.pick("[[ "+sub+" -eq 0 ]]", "x="+sub+"\n(( x ))", "x="+sub+"\necho $((x))", "test -v "+sub, "printf -v "+sub+" b", "let "+sub,
		"declare -i x="+sub, "unset "+sub, "x="+sub+"\necho ${y:x}", "x="+sub+"\n[[ $x -gt 1 ]]", "read "+sub+" <<< a", "x='$("+n+" p)'\necho ${x@P}",
		"echo \"${x:-'$("+n+" q)'}\"", "x="+sub+"\necho ${a[x]}", "PS4='$("+n+" s)'\nset -x\n:")
}

// tameStmt is a construct that is allowed when what it holds is.
func (g *scriptGenerator) tameStmt(depth int, in func() string) string {
	switch g.r.IntN(9) {
	case 0:
		return "(" + g.pad() + in() + ")"
	case 1:
		return "{ " + in() + "\n}"
	case 2:
		return "if " + in() + "\nthen " + in() + "\nelse " + in() + "\nfi"
	case 3:
		return "for v in " + g.pick("a b", "f a.txt", "{1..2}") + "; do " + in() + "\nfoo \"$v\"\ncat $v\ndone"
	case 4:
		return "case a in a) " + in() + "\n;; *) " + in() + "\n;; esac"
	case 5:
		return "! " + g.simple(depth)
	case 6:
		return "cd src && " + in()
	case 7:
		return "while false; do " + in() + "\ndone"
	}
	return "[[ " + g.word(1) + " == " + g.word(0) + " ]]"
}

func (g *scriptGenerator) pad() string { return g.pick("", " ", "\n", "\t") }

func (g *scriptGenerator) heredoc(depth int) string {
	mark := g.pick("E", "'E'", "\"E\"", "\\E")
	body := g.pick("plain", "$(rm a)", "`touch b`", "$x", "\\$(rm c)", "${x:-$(foo)}", "'quoted' \"two\"")
	return mark + g.pick("", " | foo", " >o1", " && "+g.simple(0)) + "\n" + body + "\nE\n"
}

// simple is a simple command, perhaps behind a wrapper.
func (g *scriptGenerator) simple(depth int) string {
	var parts []string
	if g.tame && !g.chance(30) {
		return g.tameSimple(depth)
	}
	if g.chance(8) {
		parts = append(parts, g.pick("A=1", "A="+g.word(0), "A=$(foo)", "IFS=_"))
	}
	if g.chance(6) {
		parts = append(parts, g.pick("env", "env A=1", "env -i PATH=\"$PATH\"", "timeout 5", "timeout -s KILL 5", "nice", "nice -n 1",
			"nohup", "command", "exec", "builtin command", "stdbuf -o0", "setsid", "xargs", "xargs -n 1", "find f -exec",
			"env -S", "sh -c", "env -u A", "command --", "env --"))
	}
	wrapper := ""
	if len(parts) > 0 {
		wrapper = parts[len(parts)-1]
	}
	parts = append(parts, g.name())
	for range g.r.IntN(4) {
		parts = append(parts, g.word(depth))
	}
	if wrapper == "find f -exec" {
		parts = append(parts, g.pick("{}", "-v"), "\\;")
	}
	for g.chance(5) {
		red := g.pick(">o2", "2>/dev/null", ">>o3", "2>&1", "<f", ">/dev/null", "&>o4", "<<<"+g.word(0), "< <("+g.simple(0)+")",
			"> >("+g.simple(0)+")", ">\"o5\"", "3<f", "<>o6", ">|o7", "&>>o4", ">&o1", "2>&-", "{fd}>o2", "3>/dev/tcp/127.0.0.1/1")
		at := g.r.IntN(len(parts) + 1)
		if wrapper == "env -S" || wrapper == "sh -c" {
			at = len(parts)
		}
		parts = append(parts[:at], append([]string{red}, parts[at:]...)...)
	}
	return strings.Join(parts, g.pick(" ", "  ", "\t", " \\\n"))
}

func (g *scriptGenerator) tameSimple(depth int) string {
	parts := []string{g.pick("", "", "", "timeout 5", "nice", "nice -n 1", "nohup", "stdbuf -o0", "time -p"),
		g.pick("ls", "cat", "foo", "echo", "'ls'", "c\\at", "f\"o\"o", "$'\\x6cs'", "{ls,f}", "true")}
	for range g.r.IntN(4) {
		if g.chance(4) {
			parts = append(parts, g.word(depth))
		} else {
			parts = append(parts, g.pick("a", "f", "a.txt", "-a", "--", "-l", "src", "'a b'", "src/*", "./$x", "\"q\"", "{a,b}"))
		}
	}
	if g.chance(4) {
		parts = append(parts, g.pick("2>&1", ">/dev/null", "2>/dev/null", "<f", "<<<a", "&>/dev/null", "< <(ls)"))
	}
	return strings.TrimLeft(strings.Join(parts, " "), " ")
}

// name is a command's name in one of its many spellings.
func (g *scriptGenerator) name() string {
	n := stubs[g.r.IntN(len(stubs))]
	switch g.r.IntN(22) {
	case 0:
		return "'" + n + "'"
	case 1:
		return n[:1] + "''" + n[1:]
	case 2:
		return "\\" + n
	case 3:
		return n[:1] + "\\" + n[1:]
	case 4:
		return "\"" + n[:1] + "\"" + n[1:]
	case 5:
		return fmt.Sprintf("$'\\x%02x%s'", n[0], n[1:])
	case 6:
		return n[:1] + "\\\n" + n[1:]
	case 7:
		return n[:1] + "${u}" + n[1:]
	case 8:
		return n[:1] + "$@" + n[1:]
	case 9:
		return n + "${IFS}z"
	case 10:
		return "{" + n + ",y}"
	case 11:
		return "$(echo " + n + ")"
	case 12:
		return "\"$STUBS\"/" + n
	case 13:
		return g.pick("echo", "true", ":", "printf '%s\\n'", "test -n", "type", "false", "hash", "cd src", "cd ..", "cd", "pushd src", "exit", "wait")
	case 14:
		return "{," + n + "}"
	case 15:
		return fmt.Sprintf("$'\\%03o%s'", n[0], n[1:])
	}
	return n
}

// word is an argument.
func (g *scriptGenerator) word(depth int) string {
	sub := func() string {
		if depth <= 0 {
			return g.pick("foo", "echo a")
		}
		return g.list(depth - 2)
	}
	switch g.r.IntN(26) {
	case 0:
		return "$(" + g.pad() + sub() + "\n)"
	case 1:
		return "\"a$(" + sub() + "\n)b\""
	case 2:
		return "`foo " + g.pick("a", "\\`bar\\`", "'b'") + "`"
	case 3:
		return "<(" + sub() + "\n)"
	case 4:
		return "${x:-" + g.pick("d", "$(foo)", "'q'", "\"$(bar)\"") + "}"
	case 5:
		return g.pick("$x", "\"$x\"", "${x}", "$1", "$@", "\"$@\"", "$*", "$#", "$?", "$$", "${x[0]}", "${#x}", "${x%a}", "${x/a/b}", "${x:0:1}", "$HOME")
	case 6:
		return g.pick("{a,b}", "x{1..3}y", "{a,b}{c,d}", "{a,{b,c}}", "{a}", "{}", "{,a}", "a{b", "{a..c}", "{3..1}", "'{a,b}'", "{\"a b\",c}", "a{,}b", "{01..3}", "{a,b", "{1..x}", "{a,b}}", "{{a,b}", "{$x,b}", "{a,$(foo)}", "\\{a,b}", "{a\\,b}")
	case 7:
		return g.pick("$'a\\nb'", "$'\\x41'", "$'\\101'", "$'\\u0041'", "$'a\\0b'", "$'\\''", "$'\\q'", "$'\\cB'", "$\"a\"", "$'\\e'", "$'\\x'", "\"${x:-'a'}\"", "\"${x:-'}'}\"", "\"${x%'a'}\"", "$_", "\"${x:-\"b\"}\"")
	case 8:
		return g.pick("*", "src/*", "?", "[fa]*", "nomatch*", "a.[t]xt", "[", "[]", "a[", "\\*", "'*'")
	case 9:
		return g.pick("\\;", "\\&", "\\|", "\\$x", "\\`", "\\\"", "\\\\", "a\\ b", "\\#", "a#b", "\\~")
	case 10:
		return g.pick("'a b'", "\"a b\"", "'a;rm b'", "\"a;rm b\"", "'$(rm x)'", "\"\\$(rm x)\"", "\"a\\\"b\"", "''", "\"\"", "'a'\"b\"c", "\"a\\b\"", "'\\'")
	case 11:
		return g.pick("$((1+1))", "$((x))", "$[1+1]", "$(( $(foo; echo 1) ))")
	case 12:
		return g.pick("~", "~/a", "a~", "~root", "x=~")
	case 13:
		return g.pick("-a", "--", "-", "--x=y", "a=b", "-n", "-rf", "-c", "!", "{", "}", "then", "done", "time", "[[")
	}
	return g.pick("a", "b", "f", "src", "a.txt", "x", "foo", "rm")
}

func (g *scriptGenerator) quote(s string) string {
	if g.chance(3) {
		return "\"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + "\""
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
