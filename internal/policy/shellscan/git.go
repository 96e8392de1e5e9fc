package shellscan

import (
	"slices"
	"strings"
)

// NeutralGitEnv is what a git command of the read-only table gets in its
// environment, so that the configuration of the repository and of the user
// starts nothing: no fsmonitor, hook, pager, external diff, signature check, look
// into submodules, lazy fetch, nor a rewritten index.
func NeutralGitEnv() []string {
	pairs := [][2]string{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", "/dev/null"},
		{"core.pager", "cat"},
		{"log.showSignature", "false"},
		{"diff.ignoreSubmodules", "all"},
		{"credential.helper", ""},
	}
	env := []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_PAGER=cat", "PAGER=cat", "GIT_ATTR_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=" + string(rune('0'+len(pairs))),
	}
	for i, p := range pairs {
		n := string(rune('0' + i))
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+p[0], "GIT_CONFIG_VALUE_"+n+"="+p[1])
	}
	return env
}

// UsesGit tells a git command, which on the read-only table needs NeutralGitEnv.
func (c *Command) UsesGit() bool {
	words := allowInner(c.Words)
	return len(words) > 0 && words[0].Text == "git"
}

const (
	gitShared = `-psSuabcmMCtzEiFPRwWqIgGLnNUOX -1234567890 --patch --no-patch --unified= --raw --stat=? --numstat --shortstat
		--dirstat=? --summary --name-only --name-status --oneline --graph --no-graph --decorate=? --no-decorate
		--decorate-refs= --all --branches=? --tags=? --remotes=? --glob= --exclude= --max-count= --skip= --since=
		--after= --until= --before= --author= --committer= --grep= --regexp-ignore-case --extended-regexp
		--fixed-strings --perl-regexp --invert-grep --all-match --merges --no-merges --min-parents= --max-parents=
		--first-parent --reverse --follow --abbrev-commit --no-abbrev-commit --abbrev=? --no-abbrev --date=
		--relative-date --parents --children --left-right --cherry --cherry-pick --cherry-mark --left-only
		--right-only --boundary --simplify-by-decoration --simplify-merges --full-history --dense --sparse
		--ancestry-path=? --topo-order --date-order --author-date-order --walk-reflogs --merge-base --cached
		--staged --color=? --no-color --color-words=? --word-diff=? --word-diff-regex= --color-moved=?
		--no-color-moved --minimal --patience --histogram --anchored= --diff-algorithm= --indent-heuristic
		--no-indent-heuristic --find-renames=? --find-copies=? --find-copies-harder --no-renames --break-rewrites=?
		--irreversible-delete --diff-filter= --pickaxe-all --pickaxe-regex --exit-code --quiet --relative=?
		--no-relative --text --full-index --binary --check --ws-error-highlight= --ignore-space-change
		--ignore-all-space --ignore-blank-lines --ignore-space-at-eol --ignore-cr-at-eol --ignore-matching-lines=
		--inter-hunk-context= --function-context --no-ext-diff --no-textconv --ignore-submodules=? --no-prefix
		--default-prefix --src-prefix= --dst-prefix= --line-prefix= --patch-with-stat --patch-with-raw --cc
		--combined-all-paths --diff-merges= --no-diff-merges --remove-empty --source --use-mailmap --no-mailmap
		--mailmap --clear-decorations --encoding= --expand-tabs=? --no-expand-tabs --notes=? --no-notes
		--no-show-signature --compact-summary --log-size --no-walk=? --root --itat --ita-invisible-in-index
		--format= --pretty=? --oneline --no-merge-base --output-indicator-new= --output-indicator-old=
		--output-indicator-context= --not --count --rotate-to= --skip-to= --max-depth=`
	gitStatus = `-sbvzu? --short --branch --show-stash --porcelain=? --long --verbose --untracked-files=?
		--ignore-submodules=? --ignored=? --ahead-behind --no-ahead-behind --renames --no-renames
		--find-renames=? --column=? --no-column --null`
	gitBranch = `-arvq -i --list --all --remotes --verbose --show-current --color=? --no-color --column=? --no-column
		--abbrev=? --no-abbrev --sort= --format= --points-at= --contains= --no-contains= --merged=? --no-merged=?
		--ignore-case --omit-empty --quiet`
	gitRevParse = `-q --verify --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name --show-toplevel
		--show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree
		--is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all
		--branches=? --tags=? --remotes=? --revs-only --no-revs --flags --no-flags --sq --not --show-object-format=?
		--git-path= --path-format= --default= --since= --until= --after= --before= --show-ref-format --local-env-vars`
	gitLsFiles = `-cdmoisukztvf -x: --cached --deleted --modified --others --ignored --stage --unmerged --killed
		--directory --no-empty-directory --exclude= --exclude-standard --full-name --error-unmatch --abbrev=?
		--eol --deduplicate --debug --format= --resolve-undo`
)

// Single letters of git log and diff that take a value stand apart: -n 5, -S x.
var gitTables = map[string]func() *optionTable{
	"status":    table(exact, gitStatus),
	"log":       table(optionStyle{digits: true}, gitShared),
	"diff":      table(optionStyle{digits: true}, gitShared),
	"show":      table(optionStyle{digits: true}, gitShared),
	"branch":    table(exact, gitBranch),
	"rev-parse": table(exact, gitRevParse),
	"ls-files":  table(exact, gitLsFiles),
}

// gitSub finds the subcommand after options that change nothing.
func gitSub(words []Word) (at int, ok bool) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.Known:
			return 0, false
		case w.Text == "--no-pager", w.Text == "--no-optional-locks", w.Text == "--literal-pathspecs",
			w.Text == "--no-replace-objects", w.Text == "--no-lazy-fetch":
		case strings.HasPrefix(w.Text, "-"):
			return 0, false
		default:
			return i, true
		}
	}
	return 0, false
}

func (s *Script) readOnlyGit(c *Command, words []Word) string {
	at, ok := gitSub(words)
	if !ok {
		return "git is used with options that are not on the read-only table"
	}
	sub := words[at].Text
	if sub == "diff" || sub == "log" || sub == "show" {
		words = slices.Clone(words)
		spreadGitValues(words[at:])
	}
	makeTable, ok := gitTables[sub]
	if !ok {
		return "git " + sub + " is not on the read-only table"
	}
	p := makeTable().parse(words[at:])
	if p.off != "" {
		return p.off
	}
	for _, u := range p.uses {
		if (u.name == "--format" || u.name == "--pretty") && strings.Contains(u.value.Text, "%G") {
			return "the format checks signatures, which starts a program"
		}
	}
	ops := pick(words[at:], p.operands)
	if sub == "branch" && len(ops) > 0 && !p.has("--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") {
		return "git branch with a name makes a branch"
	}
	for _, w := range ops {
		if !w.Known {
			return w.String() + " is not known before it runs"
		}
		if why := s.allInside(c, gitPaths(w)); why != "" {
			return why
		}
	}
	if c.Dirs == nil {
		return "the folder that git runs in is not known"
	}
	for _, d := range c.Dirs {
		if s.ctx.Inside == nil || !s.ctx.Inside(d) {
			return "git runs outside the project"
		}
		if why := repositoryConfig(d); why != "" {
			return why
		}
	}
	return ""
}

// spreadGitValues turns the letters that take a value into words the table
// reads as flags, so that "-S -x" is not taken for two options.
func spreadGitValues(words []Word) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		if !w.Known || w.Text == "--" {
			return
		}
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-' {
			continue
		}
		letter, attached := w.Text[1], len(w.Text) > 2
		switch letter {
		case 'n', 'S', 'G', 'L', 'I': // value attached or in the next word
			words[i] = knownWord("-" + string(letter))
			if !attached && i+1 < len(words) {
				words[i+1] = neutralValue(words[i+1])
				i++
			}
		case 'U', 'M', 'C', 'B', 'X', 'l': // value only attached
			if isNumber(strings.TrimSuffix(w.Text[2:], "%")) {
				words[i] = knownWord("-" + string(letter))
			}
		case 'O': // a file with an order, or a pager
			words[i] = knownWord("--orderfile")
		}
	}
}

func neutralValue(w Word) Word {
	if w.Known {
		return knownWord("-n")
	}
	return w
}

// gitPaths are the files that an operand of git may name: a path, or the part
// after a colon of rev:path, :path and :2:path.
func gitPaths(w Word) []Word {
	text := w.Text
	out := []Word{w}
	if strings.HasPrefix(text, ":(") || strings.HasPrefix(text, ":/") || strings.HasPrefix(text, ":!") || strings.HasPrefix(text, ":^") {
		out = nil
		if i := strings.IndexByte(text, ')'); i > 0 {
			text = ":" + text[i+1:]
		} else {
			text = ":" + text[2:]
		}
	}
	for {
		i := strings.IndexByte(text, ':')
		if i < 0 {
			return out
		}
		text = text[i+1:]
		out = append(out, knownWord(text))
	}
}
