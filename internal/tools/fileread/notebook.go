package fileread

import (
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/notebook"
	"garuda/internal/picture"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	// maxOutputChars is how much of one output of a cell is shown.
	maxOutputChars = 4000
	// maxPictures is how many pictures of a notebook come with one read.
	maxPictures = 4
)

// notebook shows cells with what they printed; offset and limit count cells.
func (call *readCall) notebook(env *tool.Env, p workspace.Path, c *workspace.Contents, n *notebook.Notebook, total int) (*tool.Output, error) {
	cells := n.Cells()
	if len(cells) > 0 && call.lines.From > len(cells) {
		return nil, fmt.Errorf("%s has %d cells; offset %d is past its end", p.Rel, len(cells), call.lines.From)
	}
	s := &sheet{}
	shown := 0
	for i := call.lines.From - 1; i < min(call.lines.To, len(cells)); i++ {
		before := s.text.Len()
		s.cell(i+1, &cells[i])
		if s.text.Len() > maxChars && shown > 0 {
			text := s.text.String()[:before]
			s.text.Reset()
			s.text.WriteString(text)
			break
		}
		shown++
	}
	last := call.lines.From - 1 + shown
	switch {
	case len(cells) == 0:
		s.text.WriteString(p.Rel + " is a notebook without cells.\n")
	case shown < len(cells):
		fmt.Fprintf(&s.text, "\n[cells %d-%d of %d; to go on use offset=%d, which counts cells here]\n", call.lines.From, last, len(cells), last+1)
	}
	read := workspace.Read{Snapshot: c.Snapshot, Asked: call.lines, Total: total}
	if shown == len(cells) && !s.cut { // the lines of the text that a few cells are is not known
		read.Got = []workspace.Lines{{From: 1, To: total}}
	}
	env.Tracker.Record(p.Real, read)
	return &tool.Output{Text: strings.TrimSuffix(s.text.String(), "\n"), Blocks: s.pictures, Summary: counted(shown, "cell", "cells")}, nil
}

// sheet is a notebook as the model sees it.
type sheet struct {
	text     strings.Builder
	pictures []core.Block
	// cut: something of a cell's source is not shown whole.
	cut bool
}

func (s *sheet) cell(number int, c *notebook.Cell) {
	if s.text.Len() > 0 {
		s.text.WriteByte('\n')
	}
	fmt.Fprintf(&s.text, "[cell %d, id %s, %s]\n", number, c.ID, c.Type)
	width := digits(max(workspace.CountLines(c.Source), 1))
	var out []byte
	for i, line := range strings.Split(strings.TrimSuffix(c.Source, "\n"), "\n") {
		var whole bool
		out, whole = AppendLine(out, i+1, width, line)
		s.cut = s.cut || !whole
	}
	s.text.Write(out)
	for _, o := range c.Outputs {
		s.output(&o)
	}
}

func (s *sheet) output(o *notebook.Output) {
	if len(o.Image) == 0 {
		text := strings.TrimRight(stripANSI(o.Text), "\n")
		if r := []rune(text); len(r) > maxOutputChars {
			text = string(r[:maxOutputChars]) + fmt.Sprintf(" [… %d more characters]", len(r)-maxOutputChars)
		}
		fmt.Fprintf(&s.text, "[%s]\n%s\n", o.Kind, text)
		return
	}
	fit, err := picture.Fit(o.Image)
	switch {
	case err != nil:
		fmt.Fprintf(&s.text, "[%s: %s that cannot be shown: %v]\n", o.Kind, o.MediaType, err)
	case len(s.pictures) == maxPictures:
		fmt.Fprintf(&s.text, "[%s: %s, left out; read this cell alone to see it]\n", o.Kind, inWords(o.Image, fit))
	default:
		s.pictures = append(s.pictures, imageBlock(fit))
		fmt.Fprintf(&s.text, "[%s: picture %d, %s]\n", o.Kind, len(s.pictures), inWords(o.Image, fit))
	}
}

// stripANSI takes the colours out that Python's tracebacks come in.
func stripANSI(s string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, "\x1b[")
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		s = strings.TrimLeft(s[at+2:], "0123456789;:?")
		if s != "" {
			s = s[1:]
		}
	}
}
