package shellscan

import "strings"

// Walk is a folder of which a command shows what its words do not name.
type Walk struct {
	// Paths are where the folder may lie, absolute and not cleaned.
	Paths []string
	// Deep is set when it goes into the folders below, too.
	Deep bool
	// Commits is set for git, which shows files that may not even be there any more.
	Commits bool
}

// Walks are the folders that a command of the read-only table lists or searches.
// Of any other command nothing is known.
func (s *Script) Walks(c *Command) []Walk {
	words := allowInner(c.Words)
	if len(words) == 0 {
		return nil
	}
	deep := true
	var folders []Word
	switch name := words[0].Text; name {
	case "git":
		if at, ok := gitSub(words); ok && (words[at].Text == "rev-parse" || words[at].Text == "branch") {
			return nil
		}
		return []Walk{{Paths: c.Dirs, Deep: true, Commits: true}}
	case "ls", "du":
		p := optionsOf(name).parse(words)
		deep = name == "du" || p.has("-R", "--recursive")
		folders = pick(words, p.operands)
	case "grep", "egrep", "fgrep", "rg":
		p := optionsOf(name).parse(words)
		folders = pick(words, p.operands)
		if !p.has("-e", "--regexp", "-f", "--file", "--files", "--type-list") && len(folders) > 0 {
			folders = folders[1:]
		}
		if name != "rg" && len(folders) == 0 && !p.has("-r", "-R", "--recursive", "--dereference-recursive", "-d", "--directories") {
			return nil // it reads what is fed to it
		}
	case "find":
		folders = findFolders(words)
	default:
		return nil
	}
	if len(folders) == 0 {
		folders = []Word{knownWord(".")}
	}
	var out []Walk
	for _, w := range folders {
		if paths, ok := s.paths(c, w); ok {
			out = append(out, Walk{Paths: paths, Deep: deep})
		}
	}
	return out
}

// findFolders are the words of find before its tests.
func findFolders(words []Word) []Word {
	var out []Word
	for _, w := range words[1:] {
		switch {
		case w.Text == "-H" || w.Text == "-L" || w.Text == "-P":
		case strings.HasPrefix(w.Text, "-") || w.Text == "(" || w.Text == "!":
			return out
		default:
			out = append(out, w)
		}
	}
	return out
}
