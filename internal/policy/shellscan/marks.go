package shellscan

import "strings"

// coverage is what a star of an allow rule may do with one word.
type coverage struct {
	// spell is how many of its first bytes must stand in the rule.
	spell int
	// free: a star covers it although its value is not known.
	free bool
}

// whole asks that a word stands in the rule in full.
const whole = 1 << 30

// coverable says for each word of a command what a star may do with it.
func coverable(words []Word) []coverage {
	out := make([]coverage, len(words))
	marks, nothing, loose := marksOf(words)
	ended := false
	for i, w := range words {
		literal := w.Lead != "" && w.Lead[0] != '-' && !w.Splits
		out[i].free = nothing || ended && !loose || literal
		if w.Known && w.Text == "--" && i > 0 {
			ended = true
		}
	}
	for _, m := range marks {
		out[m.index].spell = max(out[m.index].spell, m.spell)
	}
	return out
}

// marksOf finds the words that execute, write or load configuration. nothing is
// set for tools that have no such words at all; loose for those that read options
// after -- too.
func marksOf(words []Word) (marks []mark, nothing, loose bool) {
	name := baseName(words[0])
	switch name {
	case "echo", "true", "false", ":", "pwd", "basename", "dirname":
		return nil, true, false
	case "find", "gfind":
		return findMarks(words), false, true
	case "git":
		return gitMarks(words), false, false
	case "npm", "pnpm", "yarn":
		return npmMarks(words), false, false
	case "printf":
		// What assigns was refused before; the rest only prints.
		return nil, len(words) > 1 && words[1].Known && words[1].Text != "--", false
	}
	if trimmed := strings.TrimRight(name, "0123456789."); trimmed == "python" || trimmed == "pypy" {
		return clusterMarks(words, "cmiWX"), false, false
	}
	if _, ok := codeFlags(name); ok && name != "node" && name != "nodejs" {
		return clusterMarks(words, "ceEipsrlO"), false, false
	}
	if spec, ok := wrapperOf(name); ok {
		return spec.marks(name, words), false, true
	}
	t := optionsOf(name)
	if t == nil {
		return nil, false, false
	}
	p := t.parse(words)
	marks = append(marks, p.marks...)
	marks = append(marks, operandMarks(name, words, p)...)
	return marks, false, name == "go" || t.ordered
}

// operandMarks finds operands that do more than name a file to read.
func operandMarks(name string, words []Word, p *parsed) []mark {
	var marks []mark
	all := func(i int) { marks = append(marks, mark{index: i, spell: whole}) }
	switch name {
	case "uniq":
		for _, i := range p.operands[min(1, len(p.operands)):] {
			all(i)
		}
	case "tee":
		for _, i := range p.operands {
			all(i)
		}
	case "tar":
		if len(p.operands) > 0 && p.operands[0] == 1 && strings.Trim(words[1].Text, "tvzjJf") != "" {
			all(1) // the old form without a dash
		}
	case "sed":
		marks = append(marks, sedMarks(words, p)...)
	case "awk", "gawk", "mawk", "nawk":
		if len(p.operands) > 0 && !(words[p.operands[0]].Known && harmlessAwk(words[p.operands[0]].Text)) {
			all(p.operands[0])
		}
	case "make", "gmake":
		for _, i := range p.operands {
			if strings.Contains(words[i].Text, "=") || !words[i].Known {
				all(i)
			}
		}
	case "cargo":
		for _, i := range p.operands {
			if strings.HasPrefix(words[i].Text, "+") {
				all(i)
			}
		}
	}
	return marks
}

func sedMarks(words []Word, p *parsed) []mark {
	var marks []mark
	given := false
	for _, u := range p.uses {
		if u.name != "-e" && u.name != "--expression" {
			continue
		}
		given = true
		if !u.value.Known || !harmlessSed(u.value.Text) {
			marks = append(marks, mark{index: u.index, spell: whole})
			if u.index+1 < len(words) {
				marks = append(marks, mark{index: u.index + 1, spell: whole})
			}
		}
	}
	if !given && len(p.operands) > 0 {
		if w := words[p.operands[0]]; !w.Known || !harmlessSed(w.Text) {
			marks = append(marks, mark{index: p.operands[0], spell: whole})
		}
	}
	return marks
}

// findMarks: everything find does but test and print, and the command it starts.
func findMarks(words []Word) []mark {
	var marks []mark
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		switch {
		case t == "-exec" || t == "-execdir" || t == "-ok" || t == "-okdir":
			marks = append(marks, mark{index: i, spell: whole})
			if i+1 < len(words) {
				marks = append(marks, mark{index: i + 1, spell: whole})
				inner, _, _ := marksOf(words[i+1:])
				for _, m := range inner {
					marks = append(marks, mark{index: i + 1 + m.index, spell: m.spell})
				}
			}
		case t == "-delete", strings.HasPrefix(t, "-fprint"), t == "-fls", strings.HasPrefix(t, "-files0"):
			marks = append(marks, mark{index: i, spell: whole})
		}
	}
	return marks
}

// marks of a wrapper: what it loads, and the command it starts by name.
func (spec wrapper) marks(name string, words []Word) []mark {
	var marks []mark
	if t := optionsOf(name); t != nil {
		marks = append(marks, t.parse(words).marks...)
	}
	rest := words
	if len(spec.run) > 0 {
		at := afterSubcommand(words, spec.run)
		if at < 0 {
			return marks
		}
		rest = words[at:]
	}
	var in innerCommand
	if all := spec.inner(rest); len(all) > 0 {
		in = all[0]
	}
	from := len(words) - len(in.words)
	for i := 1; i < from; i++ {
		if spec.assigns && isAssignment(words[i].Text) {
			marks = append(marks, mark{index: i, spell: whole})
		}
	}
	if len(in.words) == 0 {
		return marks
	}
	marks = append(marks, mark{index: from, spell: whole})
	inner, _, _ := marksOf(in.words)
	for _, m := range inner {
		marks = append(marks, mark{index: from + m.index, spell: m.spell})
	}
	return marks
}

// clusterMarks: letters of an interpreter that take or load code, up to the
// script that it runs.
func clusterMarks(words []Word, letters string) []mark {
	var marks []mark
	end := firstOperand(words[1:])
	for i := 1; i < len(words) && (end < 0 || i <= end); i++ {
		t := words[i].Text
		switch {
		case !words[i].Known && words[i].Lead == "":
			marks = append(marks, mark{index: i, spell: whole})
		case strings.HasPrefix(t, "--") && len(t) > 2:
			marks = append(marks, mark{index: i, spell: len(t)})
		case len(t) > 1 && (t[0] == '-' || t[0] == '+'):
			if strings.ContainsAny(t[1:], letters) {
				marks = append(marks, mark{index: i, spell: len(t)})
			}
		}
	}
	return marks
}

// npmMarks: npm takes any of its settings as an option, so all but harmless ones
// count, up to -- ; and the subcommands that run what they are given.
func npmMarks(words []Word) []mark {
	var marks []mark
	first := true
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		if t == "--" {
			break
		}
		name, _, _ := strings.Cut(t, "=")
		switch {
		case strings.HasPrefix(t, "-"):
			if !harmlessNpmOption(name) {
				marks = append(marks, mark{index: i, spell: len(name)})
			}
		case first:
			first = false
			switch t {
			case "exec", "x", "dlx", "explore", "config", "c", "set", "init", "create", "innit", "edit", "node":
				marks = append(marks, mark{index: i, spell: whole})
			}
		}
	}
	return marks
}

func harmlessNpmOption(name string) bool {
	switch name {
	case "-s", "--silent", "-w", "--workspace", "--workspaces", "-ws", "--if-present", "--ignore-scripts",
		"--no-audit", "--no-fund", "--prefer-offline", "--offline", "-d", "--loglevel", "--json", "--omit",
		"--include", "--include-workspace-root", "--color", "--no-color", "-q", "--quiet", "--verbose",
		"--progress", "--no-progress", "--foreground-scripts", "--dry-run", "--parseable", "--long", "--all",
		"--depth", "--help", "-h", "-r", "--recursive", "--filter", "-F":
		return true
	}
	return false
}

// gitMarks: what makes git load other configuration, execute or write elsewhere.
func gitMarks(words []Word) []mark {
	var marks []mark
	i := 1
	for ; i < len(words) && strings.HasPrefix(words[i].Text, "-"); i++ {
		t := words[i].Text
		switch name, _, _ := strings.Cut(t, "="); name {
		case "--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--no-lazy-fetch",
			"--version", "--help", "-P":
		default:
			marks = append(marks, mark{index: i, spell: len(name)})
			if name == "-c" || name == "-C" {
				i++
			}
		}
	}
	if i >= len(words) {
		return marks
	}
	sub := words[i].Text
	if gitRunsCode(sub) {
		marks = append(marks, mark{index: i, spell: whole})
	}
	for k := i + 1; k < len(words); k++ {
		t := words[k].Text
		if t == "--" {
			break
		}
		if n := gitMarked(sub, t, k == i+1); n > 0 {
			marks = append(marks, mark{index: k, spell: n})
		}
	}
	return marks
}

func gitRunsCode(sub string) bool {
	switch sub {
	case "config", "filter-branch", "difftool", "mergetool", "daemon", "instaweb", "gui", "send-email", "web--browse",
		"credential", "hook", "maintenance", "http-backend", "shell", "fsmonitor--daemon", "upload-pack",
		"receive-pack", "upload-archive", "var", "help", "bisect--helper", "remote-ext", "remote-fd", "p4", "svn":
		return true
	}
	return strings.HasPrefix(sub, "credential-") || strings.HasPrefix(sub, "remote-")
}

// gitMarked gives how much of an argument must be spelled; 0 when it is harmless.
func gitMarked(sub, t string, first bool) int {
	name, _, _ := strings.Cut(t, "=")
	switch {
	case strings.HasPrefix(t, "--"):
		if name == "--text" || name == "--exclude-standard" {
			return 0
		}
		if (abbreviates(t, "--format") || abbreviates(t, "--pretty")) && strings.Contains(t, "%G") {
			return whole // it checks signatures, with a program that is configured
		}
		for _, long := range []string{"--output", "--output-directory", "--ext-diff", "--textconv", "--exec", "--upload-pack",
			"--receive-pack", "--config", "--config-env", "--template", "--open-files-in-pager", "--extcmd", "--tool",
			"--separate-git-dir", "--show-signature", "--strategy", "--server-option", "--git-dir", "--work-tree",
			"--exec-path", "--recurse-submodules", "--edit"} {
			if len(name) > 2 && strings.HasPrefix(long, name) {
				return len(name)
			}
		}
	case len(t) > 1 && t[0] == '-':
		letters := map[string]string{"grep": "O", "clone": "cu", "rebase": "xs", "difftool": "xt", "archive": "o",
			"format-patch": "o", "merge": "s", "pull": "s", "ls-remote": "u", "fetch": "u", "init": "", "bundle": ""}[sub]
		if strings.ContainsAny(t[1:], letters) {
			return len(t)
		}
	case strings.Contains(t, "::"): // a transport that may be a command
		return whole
	case first && (sub == "bisect" && t == "run" || sub == "submodule" && t == "foreach"):
		return whole
	}
	return 0
}
