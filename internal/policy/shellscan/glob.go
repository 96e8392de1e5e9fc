package shellscan

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// globPattern is the pattern that bash compares file names with, in the form of
// package path; "" when another part than its pattern characters is not known. A
// bracket stands for any character: what it names matters for refusing only.
func globPattern(parts []syntax.WordPart) string {
	var b strings.Builder
	quoted := func(s string) {
		for i := range len(s) {
			if strings.IndexByte(`\*?[`, s[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		}
	}
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			unquotedPattern(&b, p.Value)
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text, _ = decodeANSI(text)
			}
			quoted(text)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				l, ok := in.(*syntax.Lit)
				if !ok {
					return ""
				}
				quoted(unescapeDouble(l.Value))
			}
		default:
			return ""
		}
	}
	return b.String()
}

func unquotedPattern(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			b.WriteByte('\\')
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '[':
			end := bracketEnd(s[i:])
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			b.WriteByte('?')
			i += end
		default:
			b.WriteByte(s[i])
		}
	}
}

// bracketEnd is where the bracket expression ends with which a text begins.
func bracketEnd(s string) int {
	from := 1
	if len(s) > from && (s[from] == '!' || s[from] == '^') {
		from++
	}
	if len(s) > from+1 && s[from] == ']' {
		from++
	}
	end := strings.IndexByte(s[min(from, len(s)):], ']')
	if end < 0 {
		return -1
	}
	return from + end
}

// dotSecrets are names of files with secrets that a pattern could be made for. Only
// those that begin with a dot: a star does not meet them by chance.
func dotSecrets() []string {
	return []string{".env", ".env.local", ".envrc", ".netrc", ".npmrc", ".pypirc", ".git-credentials"}
}

// secretsOf are the paths of files with secrets that a pattern would meet, were they there.
func secretsOf(pattern string) []string {
	dir, last := path.Split(pattern)
	if !strings.HasPrefix(strings.TrimPrefix(last, `\`), ".") {
		return nil
	}
	var out []string
	for _, name := range dotSecrets() {
		if ok, err := path.Match(last, name); err == nil && ok {
			out = append(out, dir+name)
		}
	}
	return out
}

// globbed are words for the files that a pattern may stand for: those there are,
// those with secrets that there might be, and the one that it is when its stars
// stand for nothing.
func (s *Script) globbed(c *Command, w Word) []Word {
	texts := secretsOf(w.pattern)
	if bare := strings.ReplaceAll(w.Text, "*", ""); bare != w.Text && bare != "" {
		texts = append(texts, bare)
	}
	out := make([]Word, 0, len(texts))
	for _, text := range texts {
		word := knownWord(text)
		word.Tilde = w.Tilde
		out = append(out, word)
	}
	if s.ctx.Glob == nil {
		return out
	}
	as := w
	as.Text = w.pattern
	paths, _ := s.likelyPaths(c, as)
	for _, p := range paths {
		for _, match := range s.ctx.Glob(p) {
			out = append(out, knownWord(match))
		}
	}
	return out
}
