package fileedit

import (
	"errors"
	"fmt"
	"strings"
)

// The envelope is the one that Codex's models write: sections for files, and in
// an update hunks of lines that stay, go and come, without line numbers.
const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File: "
	patchUpdate = "*** Update File: "
	patchDelete = "*** Delete File: "
	patchMove   = "*** Move to: "
	patchEOF    = "*** End of File"
)

type sectionKind uint8

const (
	sectionAdd sectionKind = iota
	sectionUpdate
	sectionDelete
)

// section is what a patch says of one file.
type section struct {
	kind   sectionKind
	path   string
	moveTo string
	text   string // of an added file
	hunks  []hunk
}

// hunk is one place of an update.
type hunk struct {
	// heads are lines that stand above the place, one after the other.
	heads []string
	lines []hunkLine
	// atEnd: the last line is the file's last.
	atEnd bool
	line  int // in the patch, from 1
}

// hunkLine is a line that stays (' '), goes ('-') or comes ('+').
type hunkLine struct {
	op   byte
	text string
	bare bool // an empty line of the patch, without the blank of a line that stays
}

// patchError is a fault of the patch's form.
type patchError struct {
	line int
	what string
}

func (e *patchError) Error() string { return fmt.Sprintf("line %d of the patch: %s", e.line, e.what) }

var errPatchCut = errors.New(`the patch does not end with "*** End Patch"; it was cut, and nothing was changed`)

// parser reads a patch line by line.
type parser struct {
	lines []string
	at    int
}

func parsePatch(text string) ([]section, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	p := &parser{lines: strings.Split(strings.TrimRight(text, " \t\n"), "\n")}
	for p.at+1 < len(p.lines) && strings.TrimSpace(p.lines[p.at]) == "" {
		p.at++
	}
	if strings.TrimSpace(p.lines[p.at]) != patchBegin {
		return nil, &patchError{p.at + 1, fmt.Sprintf("a patch begins with %q and names each file in a line like %q; a unified diff is not read", patchBegin, patchUpdate+"path")}
	}
	if strings.TrimSpace(p.lines[len(p.lines)-1]) != patchEnd {
		return nil, errPatchCut
	}
	p.lines = p.lines[:len(p.lines)-1]
	p.at++
	var out []section
	for p.at < len(p.lines) {
		if strings.TrimSpace(p.lines[p.at]) == "" {
			p.at++
			continue
		}
		s, err := p.section()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New("the patch holds no file; put sections that begin with \"*** Add File: \", \"*** Update File: \" or \"*** Delete File: \" and a path into it")
	}
	return out, nil
}

func (p *parser) fail(what string, args ...any) error {
	return &patchError{p.at + 1, fmt.Sprintf(what, args...)}
}

func (p *parser) section() (section, error) {
	line := strings.TrimRight(p.lines[p.at], " \t")
	var s section
	for kind, head := range []string{sectionAdd: patchAdd, sectionUpdate: patchUpdate, sectionDelete: patchDelete} {
		if path, ok := strings.CutPrefix(line, head); ok {
			s.kind, s.path = sectionKind(kind), strings.TrimSpace(path)
			break
		}
	}
	if s.path == "" {
		return s, p.fail("%q begins no section; a section begins with %q, %q or %q and a path", line, patchAdd, patchUpdate, patchDelete)
	}
	p.at++
	var err error
	switch s.kind {
	case sectionAdd:
		err = p.added(&s)
	case sectionUpdate:
		if p.at < len(p.lines) {
			if to, ok := strings.CutPrefix(p.lines[p.at], patchMove); ok {
				s.moveTo = strings.TrimSpace(to)
				p.at++
			}
		}
		err = p.updated(&s)
	case sectionDelete:
	}
	return s, err
}

// sectionEnds reports whether the next section begins here. Only "***" at the
// very beginning of a line counts: a line that stays begins with a blank.
func (p *parser) sectionEnds() bool {
	return p.at == len(p.lines) || strings.HasPrefix(p.lines[p.at], "*** ") && strings.TrimSpace(p.lines[p.at]) != patchEOF
}

func (p *parser) added(s *section) error {
	var b strings.Builder
	for ; !p.sectionEnds(); p.at++ {
		line := p.lines[p.at]
		switch {
		case line == "": // an empty line whose mark was forgotten
		case line[0] == '+':
			b.WriteString(line[1:])
		default:
			return p.fail("every line of an added file begins with +; put a + before this one")
		}
		b.WriteByte('\n')
	}
	s.text = b.String()
	return nil
}

func (p *parser) updated(s *section) error {
	var h *hunk
	begin := func() {
		s.hunks = append(s.hunks, hunk{line: p.at + 1})
		h = &s.hunks[len(s.hunks)-1]
	}
	for ; !p.sectionEnds(); p.at++ {
		line := p.lines[p.at]
		switch {
		case strings.HasPrefix(line, "@@"):
			if h == nil || len(h.lines) > 0 {
				begin()
			}
			if head := hunkHead(line); head != "" {
				h.heads = append(h.heads, head)
			}
			continue
		case h == nil:
			begin()
		}
		switch {
		case strings.TrimSpace(line) == patchEOF:
			h.atEnd = true
		case line == "":
			h.lines = append(h.lines, hunkLine{op: ' ', bare: true})
		case strings.IndexByte(" +-", line[0]) >= 0:
			h.lines = append(h.lines, hunkLine{op: line[0], text: line[1:]})
		default:
			return p.fail("%q begins with none of blank, + and -; a line that stays has a blank before it", line)
		}
	}
	return s.check(p)
}

// hunkHead is the line that an @@ line names. The line numbers of a unified diff
// are left out: the text decides.
func hunkHead(line string) string {
	head := strings.TrimPrefix(line, "@@")
	if rest, ok := strings.CutPrefix(head, " -"); ok {
		if _, after, ok := strings.Cut(rest, "@@"); ok {
			head = after
		}
	}
	return strings.TrimSpace(head)
}

// check drops empty lines at the end of a hunk that only separate it from what
// follows, and refuses what says nothing.
func (s *section) check(p *parser) error {
	for i := range s.hunks {
		h := &s.hunks[i]
		changes := false
		for _, l := range h.lines {
			changes = changes || l.op != ' '
		}
		if !changes {
			return &patchError{h.line, "the hunk changes nothing: it has no line with + or -; add some, or leave the hunk out"}
		}
		for len(h.lines) > 0 && h.lines[len(h.lines)-1].bare && !h.atEnd && i == len(s.hunks)-1 && p.at < len(p.lines) {
			h.lines = h.lines[:len(h.lines)-1]
		}
	}
	if len(s.hunks) == 0 && s.moveTo == "" {
		return p.fail("the update of %s has no hunk; add an @@ line, and below it lines with -, + or a blank before them", s.path)
	}
	return nil
}
