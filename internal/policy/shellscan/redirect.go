package shellscan

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (w *walker) redirects(c *Command, list []*syntax.Redirect) {
	for _, r := range list {
		red := Redirect{Op: r.Op.String()}
		if r.N != nil {
			red.Fd = r.N.Value
			if strings.HasPrefix(red.Fd, "{") {
				w.refuse("a redirection assigns a variable")
			}
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			red.Target = w.hereDoc(c, r)
		case syntax.WordHdoc:
			red.Target = w.word(r.Word)
			c.stdin, c.stdinSure = red.Target.likely(), red.Target.Known
		case syntax.AppClob, syntax.RdrAllClob, syntax.AppAllClob:
			w.script.give("it uses a redirection of other shells")
		default:
			words := w.words(r.Word)
			if len(words) == 1 {
				red.Target = words[0]
			} else {
				red.Target = Word{source: w.sourceOf(r.Word)}
			}
			red.Kind = w.redirectKind(r.Op, &red)
		}
		c.Redirects = append(c.Redirects, red)
	}
}

// likely is the value, or the best guess at it.
func (w Word) likely() string {
	if w.Known {
		return w.Text
	}
	return strings.Join(w.guess, " ")
}

// hereDoc reads the text given to a command's standard input.
func (w *walker) hereDoc(c *Command, r *syntax.Redirect) Word {
	delim := w.sourceOf(r.Word)
	if !plainDelimiter(delim) {
		w.script.give("the end mark of a here-document is unusual")
	}
	raw := strings.ContainsAny(delim, `\'"`)
	rd := wordReader{w: w}
	rd.word.Known = true
	rd.word.Quoted = true
	if r.Hdoc != nil {
		w.inDouble++
		defer func() { w.inDouble-- }()
		for _, part := range r.Hdoc.Parts {
			l, ok := part.(*syntax.Lit)
			switch {
			case !ok:
				rd.expansion(part, true)
			case raw:
				rd.lit(l.Value)
			default:
				rd.lit(unescapeDouble(l.Value))
			}
		}
	}
	body := rd.finish()
	c.stdin, c.stdinSure = body.likely(), body.Known
	word := knownWord(delim)
	word.Known = body.Known
	word.source = delim
	return word
}

// plainDelimiter accepts the end marks that bash and the parser surely agree on.
func plainDelimiter(s string) bool {
	s = strings.TrimPrefix(s, `\`)
	if n := len(s); n > 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		s = s[1 : n-1]
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isLetter(c) && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

func (w *walker) redirectKind(op syntax.RedirOperator, r *Redirect) RedirectKind {
	kind := RedirectWrite
	switch op {
	case syntax.RdrIn:
		kind = RedirectRead
	case syntax.DplIn:
		return RedirectNeutral
	case syntax.DplOut:
		if t := strings.TrimSuffix(r.Target.Text, "-"); r.Target.Known && (t == "" || isNumber(t)) {
			return RedirectNeutral
		}
	}
	if r.Target.Process != "" {
		return RedirectNeutral
	}
	text := r.Target.Text
	if !r.Target.Known {
		text = r.Target.Lead
	}
	abs := path.IsAbs(text)
	if !r.Target.Known && !abs {
		return kind
	}
	if clean := path.Clean(text); abs {
		return deviceKind(clean, kind, r.Target.Known)
	}
	for _, d := range w.dirs {
		if k := deviceKind(path.Join(d, text), kind, true); k == RedirectDevice || k == RedirectNetwork {
			return k
		}
	}
	return kind
}

// deviceKind classifies a target by its absolute path.
func deviceKind(p string, kind RedirectKind, known bool) RedirectKind {
	rest, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return kind
	}
	if strings.HasPrefix(rest, "tcp/") || strings.HasPrefix(rest, "udp/") || rest == "tcp" || rest == "udp" {
		return RedirectNetwork
	}
	if !known {
		return kind
	}
	switch rest {
	case "null", "stdout", "stderr", "tty":
		return RedirectNeutral
	case "zero", "random", "urandom", "full", "stdin":
		if kind == RedirectRead {
			return RedirectNeutral
		}
		return RedirectDevice
	}
	if fd, ok := strings.CutPrefix(rest, "fd/"); ok && isNumber(fd) {
		return RedirectNeutral
	}
	if strings.HasPrefix(rest, "shm/") {
		return kind
	}
	return RedirectDevice
}
