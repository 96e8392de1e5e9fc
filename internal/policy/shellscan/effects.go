package shellscan

import (
	"path"
	"strings"
)

// File is a file that a command reads or writes.
type File struct {
	// Paths are where it may lie, absolute and not cleaned; empty when not known.
	Paths []string
	// Text is how the command names it.
	Text string
	// Redirect is set for the target of a redirection.
	Redirect bool
}

// Reads are the files that a command is known to read: input redirections and
// the operands of tools that read them. A guess counts as known.
func (s *Script) Reads(c *Command) []File {
	var out []File
	for _, r := range c.Redirects {
		if r.Kind == RedirectRead {
			out = s.appendFiles(out, c, r.Target, true)
		}
	}
	words := c.Likely()
	if len(words) < 2 {
		return out
	}
	contents := showsContents(baseName(words[0]))
	for _, w := range readWords(words) {
		out = s.appendFiles(out, c, w, false)
		if contents && w.pattern != "" {
			for _, g := range s.globbed(c, w) {
				out = s.appendFiles(out, c, g, false)
			}
		}
	}
	return out
}

// showsContents tells the tools that read what is in the files they are given, and
// not only their names.
func showsContents(name string) bool {
	switch name {
	case "ls", "find", "stat", "du", "test", "[":
		return false
	}
	return true
}

// Writes are the files that a command is known to write: every output
// redirection, also to a target that is not known, and operands of tools that
// write them.
func (s *Script) Writes(c *Command) []File {
	var out []File
	for _, r := range c.Redirects {
		if r.Kind != RedirectWrite {
			continue
		}
		before := len(out)
		if out = s.appendFiles(out, c, r.Target, true); len(out) == before {
			out = append(out, File{Text: r.Target.String(), Redirect: true})
		}
	}
	words := c.Likely()
	if len(words) < 2 {
		return out
	}
	for _, w := range writtenWords(words) {
		out = s.appendFiles(out, c, w, false)
	}
	return out
}

// appendFiles adds the files that a word names, if they can be told.
func (s *Script) appendFiles(out []File, c *Command, w Word, redirect bool) []File {
	if w.Process != "" {
		return out
	}
	if w.Told() {
		if p, sure := s.likelyPaths(c, w); len(p) > 0 && !neutralDevice(path.Clean(p[0])) {
			out = append(out, File{Paths: p, Text: w.Text, Redirect: redirect})
			if redirect && !sure {
				out = append(out, File{Text: w.Text, Redirect: true})
			}
		}
		return out
	}
	for _, g := range w.guess {
		word := knownWord(g)
		word.Tilde = w.Tilde
		if p, _ := s.likelyPaths(c, word); len(p) > 0 && !neutralDevice(path.Clean(p[0])) {
			// A guessed target is not certain: nothing but a refusal rests on it.
			f := File{Text: w.String(), Redirect: redirect, Paths: p}
			out = append(out, f)
			if redirect {
				out = append(out, File{Text: w.String(), Redirect: true})
			}
		}
	}
	return out
}

// neutralDevice tells /dev/null and the command's own descriptors, whose real
// path says nothing.
func neutralDevice(p string) bool { return deviceKind(p, RedirectRead, true) == RedirectNeutral }

// readWords are the words of a command line that name files it reads.
func readWords(words []Word) []Word {
	name := baseName(words[0])
	switch name {
	case "git":
		return gitReads(words)
	case "find", "ls", "du", "stat", "tar":
		return plainOperands(words)
	}
	if onTable(name) {
		t := optionsOf(name)
		p := t.parse(words)
		ops := pick(words, p.operands)
		switch name {
		case "tr", "basename", "dirname", "which", "pwd", "date":
			ops = nil
		case "grep", "egrep", "fgrep", "rg":
			if !p.has("-e", "--regexp", "-f", "--file", "--files") && len(ops) > 0 {
				ops = ops[1:]
			}
		case "sed":
			if !p.has("-e", "--expression", "-f", "--file") && len(ops) > 0 {
				ops = ops[1:]
			}
		case "awk", "gawk", "mawk", "nawk":
			if len(ops) > 0 {
				ops = ops[1:]
			}
		}
		return append(ops, p.files...)
	}
	if readsOperands(name) {
		return plainOperands(words)
	}
	return nil
}

// readsOperands tells tools without a table whose operands are files they read.
func readsOperands(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "less", "more", "most", "nl", "tac", "rev", "od", "xxd", "hexdump", "hd", "strings", "base", "basenc",
		"md", "md5sum", "sha", "sha1sum", "sha256sum", "sha512sum", "shasum", "cksum", "sum", "b2sum", "diff",
		"sdiff", "colordiff", "delta", "cmp", "comm", "paste", "join", "fold", "fmt", "expand", "unexpand", "pr",
		"split", "csplit", "shuf", "column", "iconv", "tsort", "look", "cp", "mv", "ln", "rsync", "scp", "sftp",
		"install", "dd", "openssl", "gpg", "curl", "wget", "http", "jq", "yq", "xq", "bat", "batcat", "vi", "vim",
		"nvim", "view", "nano", "ex", "ed", "emacs", "zcat", "bzcat", "xzcat", "zstdcat", "gzip", "gunzip", "bzip",
		"xz", "zstd", "zip", "unzip", "python", "pypy", "node", "nodejs", "perl", "ruby", "php", "lua", "sh", "bash",
		"zsh", "dash", "ksh", "source", "", "mapfile", "readarray", "xargs", "pbcopy", "xclip", "tee", "nc", "age",
		"aws", "kubectl", "docker", "git-crypt", "sops", "envsubst", "dotenv", "pandoc", "hexyl", "ag", "ack", "ugrep",
		"zgrep", "zless", "pygmentize", "glow", "highlight", "read", "sponge", "ruplacer", "sd", "rgrep", "cpio", "ar":
		return true
	}
	return false
}

// plainOperands are the words that are no options, and the values in options:
// --file=x, if=x, @x.
func plainOperands(words []Word) []Word {
	var out []Word
	for _, w := range words[1:] {
		if !w.Told() {
			if w.guess != nil {
				out = append(out, w)
			}
			continue
		}
		if !strings.HasPrefix(w.Text, "-") {
			out = append(out, w)
		}
		if _, value, ok := strings.Cut(w.Text, "="); ok && value != "" {
			out = append(out, knownWord(strings.TrimPrefix(value, "@")))
		}
		if rest, ok := strings.CutPrefix(w.Text, "@"); ok && rest != "" {
			out = append(out, knownWord(rest))
		}
	}
	return out
}

// gitReads are the paths in what git shows: git show HEAD:.env, git diff -- .env.
func gitReads(words []Word) []Word {
	var out []Word
	for i := 1; i < len(words); i++ {
		switch words[i].Text {
		case "show", "diff", "log", "blame", "annotate", "cat-file", "grep", "archive", "checkout", "restore", "difftool", "stash":
			for _, w := range plainOperands(words[i:]) {
				out = append(out, gitPathspec(w)...)
			}
			for _, w := range words[i+1:] {
				if lines, ok := strings.CutPrefix(w.Text, "-L"); ok && lines != "" {
					out = append(out, gitPaths(knownWord(lines))...)
				}
			}
			return out
		}
	}
	return nil
}

// gitPathspec are the paths that an operand of git may name, which git itself takes
// for patterns.
func gitPathspec(w Word) []Word {
	out := gitPaths(w)
	for _, p := range out {
		if !strings.ContainsAny(p.Text, "*?[") {
			continue
		}
		texts := secretsOf(p.Text)
		if bare := strings.ReplaceAll(p.Text, "*", ""); bare != "" {
			texts = append(texts, bare)
		}
		for _, text := range texts {
			out = append(out, knownWord(text))
		}
	}
	return out
}

// writtenWords are the operands of well-known tools that name files they write.
func writtenWords(words []Word) []Word {
	name := baseName(words[0])
	ops := func() []Word {
		var out []Word
		for _, w := range words[1:] {
			if w.Told() && !strings.HasPrefix(w.Text, "-") {
				out = append(out, w)
			}
		}
		return out
	}
	switch name {
	case "tee", "touch", "truncate", "rm", "rmdir", "unlink", "shred", "mkdir", "mkfifo", "mknod", "chmod", "chown", "sponge":
		return ops()
	case "mv", "cp", "install", "ln", "rsync", "scp":
		list := ops()
		if name == "mv" || len(list) == 0 {
			return withNames(list)
		}
		return withNames(list)[len(list)-1:]
	case "dd":
		return valuesOf(words, "of=")
	case "sort":
		return optionValues(words, "-o", "--output")
	case "uniq":
		if list := ops(); len(list) > 1 {
			return list[1:]
		}
	case "sed":
		p := optionsOf("sed").parse(words)
		if p.has("-i", "-I", "--in-place") {
			return pick(words, p.operands)
		}
	case "git":
		return valuesOf(words, "--output=")
	case "curl":
		return append(valuesOf(words, "--output="), after(words, "-o", "--output")...)
	case "wget":
		return append(valuesOf(words, "--output-document="), after(words, "-O", "--output-document")...)
	}
	return nil
}

// withNames adds, for a copy into a folder, the files it makes there.
func withNames(list []Word) []Word {
	if len(list) < 2 {
		return list
	}
	dest := list[len(list)-1]
	out := append([]Word(nil), list...)
	for _, src := range list[:len(list)-1] {
		w := dest
		w.Text = strings.TrimSuffix(dest.Text, "/") + "/" + path.Base(src.Text)
		out = append(out, w)
	}
	return out
}

func valuesOf(words []Word, prefix string) []Word {
	var out []Word
	for _, w := range words[1:] {
		if v, ok := strings.CutPrefix(w.Text, prefix); ok && w.Told() && v != "" {
			out = append(out, knownWord(v))
		}
	}
	return out
}

func after(words []Word, flags ...string) []Word {
	for i := 1; i+1 < len(words); i++ {
		for _, f := range flags {
			if words[i].Text == f {
				return words[i+1 : i+2]
			}
		}
	}
	return nil
}

func optionValues(words []Word, names ...string) []Word {
	var out []Word
	for _, u := range optionsOf(baseName(words[0])).parse(words).uses {
		for _, n := range names {
			if u.name == n && u.value.Known {
				out = append(out, u.value)
			}
		}
	}
	return out
}
