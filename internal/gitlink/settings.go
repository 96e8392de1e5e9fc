package gitlink

import (
	"fmt"
	"strings"
)

// harmless are the settings that name no program, in lower case, without the part
// between quotation marks. Only what stands here may stand in a repository that a
// command made: git has too many settings that run something to list those.
func harmless() map[string]bool {
	set := map[string]bool{}
	for section, keys := range map[string]string{
		"core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf " +
			"worktree compression abbrev quotepath protecthfs protectntfs sharedrepository",
		"remote": "url fetch pushurl tagopt prune", "branch": "remote merge rebase", "user": "name email",
		"submodule": "url active update", "extensions": "objectformat refstorage", "init": "defaultbranch",
		"advice": "addembeddedrepo detachedhead", "pull": "rebase ff", "commit": "gpgsign", "tag": "gpgsign", "gc": "auto",
		"push": "default", "merge": "ff", "fetch": "prune", "color": "ui", "rerere": "enabled",
	} {
		for key := range strings.FieldsSeq(keys) {
			set[section+"."+key] = true
		}
	}
	return set
}

// offending is the first thing in a settings file that may run a program, or that is
// not understood; "" where there is none. It takes less than git does: one setting on
// a line, each as it is usually written, so that it can take none for another.
func offending(text string) string {
	allowed := harmless()
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.Trim(line, " \t")
		switch {
		case strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' }):
			return fmt.Sprintf("%q", line)
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case strings.HasSuffix(bare, `\`):
			return bare
		case bare[0] == '[':
			name, ok := sectionOf(bare)
			if !ok {
				return bare
			}
			section = name
		default:
			key, value, ok := strings.Cut(bare, "=")
			key = strings.ToLower(strings.TrimRight(key, " \t"))
			switch {
			case !ok || !allowed[section+"."+key]:
				return strings.TrimSpace(section + "." + bare)
			case section+"."+key == "submodule.update" && strings.Contains(value, "!"):
				return bare
			}
		}
	}
	return ""
}

// sectionOf is the section of [name] or [name "more"].
func sectionOf(line string) (name string, ok bool) {
	inner, ok := strings.CutPrefix(line, "[")
	if !ok {
		return "", false
	}
	if inner, ok = strings.CutSuffix(inner, "]"); !ok {
		return "", false
	}
	name, quoted, two := strings.Cut(inner, " ")
	if two {
		quoted = strings.TrimLeft(quoted, " \t")
		if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' || strings.ContainsAny(quoted[1:len(quoted)-1], `"\`) {
			return "", false
		}
	}
	name = strings.ToLower(name)
	return name, name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
}

// usesSHA256 tells which ids a repository has whose settings are harmless.
func usesSHA256(text string) bool {
	for line := range strings.Lines(strings.ToLower(text)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == "objectformat" && strings.Trim(value, " \t\r\n\"") == "sha256" {
			return true
		}
	}
	return false
}
