package search

import (
	"fmt"
	"strings"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// output writes the result of a search.
func (g *grepper) output(report *workspace.WalkReport) *tool.Output {
	c, call := g.found, g.call
	if c.files == 0 {
		return &tool.Output{Text: "No matches: " + strings.Join(g.coverage(report), "; ") + ".", Summary: "no matches"}
	}
	var b strings.Builder
	total, unit := c.files, "files"
	shown := 0
	switch call.mode {
	case modeContent:
		total, unit = c.matches, "matching lines"
		shown = g.content(&b)
	default:
		for _, f := range c.kept[min(call.offset, len(c.kept)):] {
			if shown == call.limit {
				break
			}
			shown++
			b.WriteString(f.path)
			if call.mode == modeCount {
				fmt.Fprintf(&b, ":%d", f.count)
			}
			b.WriteByte('\n')
		}
	}
	switch {
	case shown == 0:
		fmt.Fprintf(&b, "[offset %d is past the end; there are %d %s]\n", call.offset, total, unit)
	case shown < total:
		fmt.Fprintf(&b, "[%d-%d of %d %s", call.offset+1, call.offset+shown, total, unit)
		if call.mode == modeContent {
			b.WriteString(" in " + counted(c.files, "file", "files"))
		}
		if call.offset+shown < total {
			fmt.Fprintf(&b, "; offset=%d shows more", call.offset+shown)
		}
		b.WriteString("]\n")
	}
	if call.mode == modeCount {
		fmt.Fprintf(&b, "[%s in %s]\n", counted(c.matches, "matching line", "matching lines"), counted(c.files, "file", "files"))
	}
	for _, note := range g.incomplete() {
		b.WriteString("[" + note + "]\n")
	}
	summary := counted(c.files, "file", "files")
	if call.mode != modeFiles {
		summary = counted(c.matches, "matching line", "matching lines") + " in " + summary
	}
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: summary, IsError: len(c.slow) > 0}
}

// content writes lines with their context and returns how many matching lines
// it wrote.
func (g *grepper) content(b *strings.Builder) (shown int) {
	call := g.call
	skip, first := call.offset, true
	around := call.before > 0 || call.after > 0
	for _, f := range g.found.kept {
		if f.count <= skip {
			skip -= f.count
			continue
		}
		last := -1
		for _, l := range page(f.lines, skip, call.limit-shown, call.before, call.after) {
			if around && l.number != last+1 && !first {
				b.WriteString("--\n")
			}
			first, last = false, l.number
			sep := "-"
			if l.match {
				sep = ":"
				shown++
			}
			fmt.Fprintf(b, "%s%s%d%s%s\n", f.path, sep, l.number, sep, l.text)
		}
		if skip = 0; shown == call.limit {
			break
		}
	}
	return shown
}

// page returns the lines of a file that belong to its matching lines
// skip … skip+limit-1, with their context. Matching lines outside that range
// that lie in the context come as context.
func page(lines []line, skip, limit, before, after int) []line {
	var out []line
	n := 0
	lowest, highest := -1, -1
	for _, l := range lines {
		if !l.match {
			continue
		}
		if n >= skip && n < skip+limit {
			if lowest < 0 {
				lowest = l.number
			}
			highest = l.number
		}
		n++
	}
	if lowest < 0 {
		return nil
	}
	for _, l := range lines {
		if l.number < lowest-before || l.number > highest+after {
			continue
		}
		if l.number < lowest || l.number > highest {
			l.match = false
		}
		out = append(out, l)
	}
	return out
}

// coverage says what an empty result covers.
func (g *grepper) coverage(report *workspace.WalkReport) []string {
	c := g.found
	parts := []string{counted(c.searched, "file", "files") + " searched"}
	parts = append(parts, unseen(report, g.call.opt.IncludeIgnored)...)
	if c.binary > 0 {
		parts = append(parts, counted(c.binary, "binary file", "binary files")+" skipped")
	}
	if c.refused > 0 {
		parts = append(parts, counted(c.refused, "protected file or folder", "protected files or folders")+" skipped")
	}
	return append(parts, g.incomplete()...)
}

// incomplete names the files that were not searched to their end.
func (g *grepper) incomplete() []string {
	var out []string
	name := func(why string, files []string) {
		if len(files) > 0 {
			out = append(out, why+": "+strings.Join(files, ", "))
		}
	}
	name(fmt.Sprintf("the pattern takes longer than %v in", fileTime), g.found.slow)
	name("too large to be searched across lines", g.found.large)
	name("could not be read", g.found.unreadable)
	return out
}
