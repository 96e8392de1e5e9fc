package policy

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// constructs are what the generated scripts must hold, each by its name in the
// language and a pattern for its text.
func constructs() map[string]string {
	return map[string]string{
		"list": `; `, "and": ` && `, "or": ` \|\| `, "pipe": ` \| `, "pipe with errors": ` \|& `, "background": ` & `, "negation": `(^|\s)! `,
		"subshell": `(^|[\s;&|(])\(\s*\w`, "group": `(^|\s)\{ `, "if": `\bif `, "else": `\nelse `, "while": `\bwhile `, "until": `\buntil `,
		"for": `\bfor v in `, "for over a substitution": `for v in \$\(`, "for over a pattern": `for v in \*`, "arithmetic for": `for \(\(`,
		"select": `\bselect `, "case": `\bcase `, "case with a substitution in a pattern": ` in \$\(`, "case that falls through": `;&`, "case that goes on": `;;&`,
		"function": `\w\(\) [{(]`, "function that shadows a command": `ls2\(\)`, "not found handler": `command_not_found_handle\(\)`,
		"coprocess": `coproc \w`, "named coprocess": `coproc C1? \{`, "time": `\btime `, "time -p": `time -p`, "conditional": `\[\[ `, "conditional with =~": ` =~ `,
		"conditional with arithmetic": `\[\[ .* -eq `, "arithmetic command": `\(\( `, "let": `\blet `, "arithmetic": `\$\(\(`, "old arithmetic": `\$\[`,
		"default value": `\$\{x:-`, "substitution in a default value": `:-\$\(`, "quotes in one inside quotes": `"\$\{x:-'`, "slice": `\$\{x:0:1\}`, "replacement": `\$\{x/`,
		"suffix": `\$\{x%`, "length": `\$\{#x\}`, "indirection": `\$\{!x\}`, "prompt expansion": `@P\}`, "subscript": `\$\{a\[x\]`,
		"array": `a=\(`, "all of an array": `\$\{a\[@\]\}`, "positional": `\$1`, "all parameters": `"\$@"`, "last word": `\$_`,
		"substitution": `\$\(\w`, "substitution in quotes": `"a\$\(`, "backquotes": "`foo", "backquotes in backquotes": "\\\\`bar", "process substitution": `<\(`, "output process substitution": `> >\(`,
		"ANSI quotes": `\$'\\x`, "octal": `\$'\\[0-7]{3}`, "locale quotes": `\$"a"`, "single quotes in a word": `\w''\w`, "backslash in a word": `\w\\\w`, "quoted part of a word": `"\w"\w`,
		"braces": `\{a,b\}`, "nested braces": `\{a,\{b,c\}\}`, "sequence": `\{1\.\.3\}`, "odd braces": `\{a,b(\s|$)`, "braces with a substitution": `\{a,\$\(`, "tilde": `~/a`,
		"pattern": `src/\*`, "bracket pattern": `\[fa\]\*`, "IFS in a word": `\$\{IFS\}`, "unset variable in a name": `\w\$\{u\}`, "$@ in a name": `\w\$@`,
		"continued line": "\\\\\n", "continued line in a name": `\w\\` + "\n" + `\w`, "here-document": `<<E`, "quoted here-document": `<<'E'`, "here-document of code": `bash <<'E'`, "here-string": `<<<`,
		"assignment before": `(^|\s)A=1 `, "assignment": `(^|\n)x=`, "assignment of a substitution": `A=\$\(`, "export": `export y`, "declare": `declare y`, "declare -i": `declare -i`, "readonly": `readonly y`, "local": `local y`,
		"read": `\bread c`, "mapfile -C": `mapfile -C`, "getopts": `getopts`, "printf -v": `printf -v`, "test -v": `test -v`, "unset": `\bunset `, "set --": `set -- `, "set -x with PS4": `PS4=`,
		"eval": `\beval `, "source": `source /dev/stdin`, "dot": `\. /dev/stdin`, "source of a process": `(source|\.) <\(`, "trap": `\btrap `, "alias": `\balias `, "hash -p": `hash -p`, "enable": `enable -n`,
		"compgen -C": `compgen -C`, "shopt": `shopt -s`, "builtin": `\bbuiltin `, "command -p": `command -p`, "exec": `\bexec `, "exec -a": `exec -a`, "cd": `\bcd `, "pushd": `\bpushd `,
		"env": `\benv `, "env -S": `env -S`, "timeout": `\btimeout `, "nice": `\bnice `, "nohup": `\bnohup `, "stdbuf": `\bstdbuf `, "setsid": `\bsetsid `, "xargs": `\bxargs `, "find -exec": `find f -exec `,
		"find -execdir": `find f -execdir`, "flock": `\bflock `, "bash -c": `bash -c `, "bash -c with parameters": `' _ rm x`, "sh -c": `\bsh -c`, "code through a pipe": `\| (bash|sh)`,
		"path of a command": `"\$STUBS"/`, "output": `>o2`, "appending": `>>o3`, "clobbering": `>\|o7`, "both outputs": `&>o4`, "both outputs appended": `&>>o4`, "old form of both": `>&o1`,
		"reading and writing": `<>o6`, "descriptor copy": `2>&1`, "descriptor closed": `2>&-`, "named descriptor": `\{fd\}>`, "input": `<f`, "null device": `>/dev/null`, "network device": `/dev/tcp/`,
		"comment": `#`, "empty word": `""`,
	}
}

// TestGeneratorCovers holds the generator of the differential test to its word: it
// writes every construct of the list.
func TestGeneratorCovers(t *testing.T) {
	missing := map[string]*regexp.Regexp{}
	for name, pattern := range constructs() {
		missing[name] = regexp.MustCompile(pattern)
	}
	const scripts = 20000
	for i := 0; i < scripts && len(missing) > 0; i++ {
		g := &scriptGenerator{r: rand.New(rand.NewPCG(1, uint64(i)))}
		text := g.script()
		for name, r := range missing {
			if r.MatchString(text) {
				delete(missing, name)
			}
		}
	}
	for name, r := range missing {
		t.Errorf("%d scripts hold no %s (%s)", scripts, name, r)
	}
}
