package policy

import (
	"math/rand/v2"
	"strings"
)

// toolGenerator writes scripts out of the real tools of the read-only table, with
// options from the tools' own manuals, also those that write and execute.
type toolGenerator struct{ r *rand.Rand }

func (g *toolGenerator) pick(list ...string) string { return list[g.r.IntN(len(list))] }
func (g *toolGenerator) chance(n int) bool          { return g.r.IntN(n) == 0 }

// manual is what a tool's manual offers: options, and what its operands may be.
type manual struct{ options, operands []string }

func words(line string) []string { return strings.Fields(line) }

// manuals lists options with their values after a comma: "-n,1" is two words.
func manuals() map[string]manual {
	files := words("f a.txt x.txt src src/x prog - . ./f nope x.tar README.md")
	return map[string]manual{
		"ls":   {words("-l -a -la -R -t -1 --color=always --sort=size --time-style=+%s -d -i --group-directories-first --rec -I,x --hide=x -Z --zero"), files},
		"cat":  {words("-n -A -b -s -v --number --show-e -E"), files},
		"head": {words("-n,1 -1 -c,3 -q -v -n1 --lines=2 --by=1 -z"), files},
		"tail": {words("-n,1 -1 -c,3 -n,+2 -q --lines=1 --byt=2 -r"), files},
		"wc":   {words("-l -w -c -m -L --lines --files0-from=f --files0-from=- --tot=never"), files},
		"stat": {words("-c,%s -f -L -t --printf=%n --format=%n --cached=never"), files},
		"file": {words("-b -i -m,prog -C -z -f,f -L --mime -k --magic-file=prog --compile -P,bytes=1 -F,x"), files},
		"du":   {words("-s -h -a -c -d,1 -X,f --files0-from=f --time --exclude=x --max-d=1"), files},
		"cut":  {words("-c,1 -d,: -f1 -f,1 -s --complement --output-delimiter=x -b1"), files},
		"tr":   {words("-d -s -c"), words("a b a-z A-Z [:alpha:]")},
		"date": {words("-u -d,yesterday -s,1 -f,f -r,f -R -Iseconds --set=1 --date=now --re=f"), words("+%s +%F 01010101")},
		"uniq": {words("-c -d -u -i -f,1 -w,2 --count -z -D --group"), files},
		"sort": {words("-n -r -u -k,1 -t,: -o,pwn -opwn -T,. -S,1M --output=pwn --o=pwn --compress-program=touch --files0-from=f -c -m -R --random-source=f -V -k1,1 -b -no,pwn -uopwn --parallel=2 --batch-size=2"), files},
		"grep": {words("-n -r -i -c -l -v -o -E -F -w -e,b -f,f -A,1 --include=*.go -R -z -q --color=always -m1 -P -D,read -d,skip --exclude-from=f"), append([]string{"b", "a|b", "pwn"}, files...)},
		"sed": {words("-n -E -s -z -i -i.bak -f,prog -e,p -e,w\x00pwn -l,5 -li --posix --in-place --quiet -ni -e,s/a/b/ --expression=p --file=prog --debug -u"),
			append([]string{"p", "1p", "s/a/b/", "s/a/b/w\x00pwn", "w\x00pwn", "1e\x00touch\x00pwn", "$!{p;w\x00pwn\n}", "y/a/b/;w\x00pwn", "s/[a/]/w\x00pwn", "i\\\nw\x00pwn", "a\x00x\nw\x00pwn",
				"/a/,/b/p", ":a;w\x00pwn", "b;w\x00pwn", "s,a,b,e", "s/a/touch\x00pwn/e", "#n\nw\x00pwn", "1!G;h;$!d", "s/a\\/w\x00pwn/b/", "R\x00prog", "r\x00f", "W\x00pwn", "l;q5", "1~2p"}, files...)},
		"awk": {words("-F: -F,: -v,n=1 -f,prog -i,inplace -o,pwn -l,x --sandbox -e,1 --file=prog --dump-variables=pwn -dpwn --profile=pwn -E,prog"),
			append([]string{"1", "{print}", "{print\x00$1}", "NR>1", "NR>1\x00{print\x00$2}", "{print\x00>\x00\"pwn\"}", "BEGIN{system(\"touch\x00pwn\")}", "{print|\"cat>pwn\"}", "/a|b/",
				"{print|&\"cat\"}", "BEGIN{while((getline\x00l<\"f\")>0)print\x00l}", "/a|b/{print|\"cat\"}", "$1>$2{printf\x00\"%s\",$1}", "BEGIN{\"date\"|getline\x00x}", "{s+=$1}END{print\x00s}",
				"function\x00p(x){print\x00x>\"pwn\"}{p(1)}", "$1>5||$2>3", "{printf(\"x\")>>\"pwn\"}", "{print(1>2)}", "n=1"}, files...)},
		"find": {nil, words(". src f -name *.go -type f -delete -exec touch pwn ; -fprint pwn -fls -print -ls -o ! ( ) -newer -maxdepth 1 -printf %p\\n -fprintf -execdir -ok -empty -size +1 -quit -prune -path ./src -files0-from - -print0 -regex .* -mtime -1 -D exec -L")},
		"tar": {words("-t -f,x.tar -tf,x.tar -tvf,x.tar -x -c -O --to-command=touch -I,touch --use-compress-program=touch --checkpoint=1 --checkpoint-action=exec=touch -C,. --index-file=pwn -F,touch --list --file=x.tar -v -T,f -X,f"),
			words("tf tvf xf cf x.tar a.txt src tzf f --wildcards")},
		"rg":       {words("-n -i -l -c -z --pre=touch --pre,touch --hostname-bin=touch -g,*.go --files -e,b -f,f -A,1 -u -uu --hidden --type-list --json -r,x --sort=path --no-config -o -nz --search-zip"), append([]string{"b", "a|b"}, files...)},
		"basename": {words("-a -s,.go"), files}, "dirname": {nil, files}, "which": {words("-a"), words("ls sh nope")}, "pwd": {words("-P -L"), nil},
		"echo": {words("-n -e"), files}, "printf": {nil, words("%s\\n %d x -v y %n %b a")}, "test": {words("-f -d -n -z -e -v"), append([]string{"=", "!=", "-eq", "1"}, files...)},
		"git": {nil, words("status log diff show branch rev-parse ls-files --no-pager -C src -p -c core.pager=touch --output=pwn --ext-diff --textconv --no-index HEAD HEAD:f HEAD~0 -- f src --stat --oneline -1 -n 1 " +
			"--name-only --format=%H --format=%G? --show-signature -S b -G b -O touch new --list --contains -v -a --cached -s --short --porcelain --others --exclude-standard --show-toplevel --graph --all grep -L 1,1:f -D -m --column " +
			"--patch --word-diff --raw -M -U1 --submodule=log --ignored --abbrev-ref --is-inside-work-tree")},
	}
}

// tools are the names in manuals, in a fixed order.
func tools() []string {
	return words("ls cat head tail wc stat file du cut tr date uniq sort grep sed awk find tar rg basename dirname which pwd echo printf test git")
}

func (g *toolGenerator) script() string {
	text := g.statement(2)
	for g.chance(3) {
		text += g.pick("; ", "\n", " && ", " || ", " | ", " |& ") + g.statement(1)
	}
	return text
}

func (g *toolGenerator) statement(depth int) string {
	if depth == 0 || g.chance(2) {
		return g.line(depth)
	}
	in := func() string { return g.statement(depth - 1) }
	switch g.r.IntN(12) {
	case 0:
		return "( " + in() + " )"
	case 1:
		return "{ " + in() + "\n}"
	case 2:
		return "if " + in() + "\nthen " + in() + "\nfi"
	case 3:
		return "for v in " + g.pick("f a.txt", "src .", "{f,x.txt}", "-n p", "'a b'") + "; do " + g.pick("cat $v", "head -1 \"$v\"", "sort $v", "sed -n p \"$v\"", "ls $v", "(cd $v && ls)") + "\n" + in() + "\ndone"
	case 4:
		return "case f in f) " + in() + "\n;; *) " + in() + "\n;; esac"
	case 5:
		return "cd " + g.pick("src", ".", "./src", "..", "nope") + " && " + in()
	case 6:
		return "! " + in()
	case 7:
		return "[[ " + g.pick("-f f", "a == b", "$? -eq 0", "-d src && -n x", "a =~ b") + " ]] && " + in()
	case 8:
		return "cat <<" + g.pick("E", "'E'") + g.pick("", " | "+g.line(0)) + "\n" + g.pick("a", "$HOME", "$(ls)", "${x:-'a'}", "${x:-'$(touch pwn)'}") + "\nE\n"
	case 9:
		return g.line(0) + " < <(" + in() + "\n)"
	case 10:
		return "while false; do " + in() + "\ndone"
	}
	return "echo \"" + g.pick("$(", "x$(") + in() + "\n)\""
}

// line is one tool with some of its options and operands, quoted in one of the ways
// that mean the same.
func (g *toolGenerator) line(depth int) string {
	names := tools()
	name := names[g.r.IntN(len(names))]
	m := manuals()[name]
	argv := []string{}
	for range g.r.IntN(3) {
		if len(m.options) > 0 {
			argv = append(argv, strings.SplitN(m.options[g.r.IntN(len(m.options))], ",", 2)...)
		}
	}
	for range 1 + g.r.IntN(3) {
		if len(m.operands) > 0 {
			argv = append(argv, m.operands[g.r.IntN(len(m.operands))])
		}
	}
	if g.chance(12) && len(argv) > 1 {
		i := g.r.IntN(len(argv))
		argv = append(argv[:i], append([]string{"--"}, argv[i:]...)...)
	}
	for i, w := range argv {
		argv[i] = g.quote(strings.ReplaceAll(w, "\x00", " "))
	}
	out := g.pick("", "", "", "", "nice ", "timeout 5 ", "stdbuf -oL ", "nohup ", "time ") + name + " " + strings.Join(argv, " ")
	if depth > 0 && g.chance(6) {
		out += " <(" + g.line(0) + ")"
	}
	if g.chance(5) {
		out += g.pick(" 2>&1", " >/dev/null", " 2>/dev/null", " <f", " <<<b", " &>/dev/null", " >pwn", " >&2", " 2>>pwn", " >/dev/stderr")
	}
	return out
}

func (g *toolGenerator) quote(w string) string {
	if strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=+,@%") == "" && !g.chance(6) {
		return w
	}
	switch {
	case !strings.ContainsAny(w, "$`\\\"!\n") && g.chance(3):
		return `"` + w + `"`
	case !strings.ContainsAny(w, "'\\") && g.chance(4):
		return "$'" + w + "'"
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
