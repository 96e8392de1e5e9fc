package fileread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/pdf"
	"garuda/internal/picture"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	// plainFrom is the size in bytes from which it pays not to hold a file.
	plainFrom = 1 << 20
	plainPart = 128 << 10
)

// plain reads some lines of a file that is large but might be held, and holds
// only those. It gives what the usual way gives, in a fraction of the time, for
// what most large files are: UTF-8 without a mark, with LF. Nil: the file is
// something else, and is to be read in the usual way.
func (call *readCall) plain(ctx context.Context, env *tool.Env, w *workspace.Workspace, p workspace.Path) (*tool.Output, error) {
	if !call.explicit || call.pages != nil || p.Info.Size < plainFrom || p.Info.Size > workspace.MaxWhole ||
		strings.EqualFold(filepath.Ext(p.Rel), ".ipynb") || p.LegacyCharset() {
		return nil, nil
	}
	f, err := w.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := plainScan{lines: call.lines}
	switch ok, err := s.read(ctx, f); {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", p.Rel, err)
	case !ok:
		return nil, nil
	}
	if env.Tracker.Shown(p.Real, call.lines, f.Snapshot) {
		return unchanged(p, "lines"), nil
	}
	if s.total > 0 && call.lines.From > s.total {
		return nil, fmt.Errorf("%s has %d lines; offset %d is past its end", p.Rel, s.total, call.lines.From)
	}
	page := newPage(call.lines, min(call.lines.To, s.total))
	page.next = call.lines.From
	page.add(string(s.kept))
	env.Tracker.Record(p.Real, workspace.Read{Snapshot: f.Snapshot, Asked: call.lines, Got: page.whole, Total: s.total})
	return page.output(p.Rel, workspace.Style{Newline: workspace.LF, Mostly: workspace.LF}, false, s.total), nil
}

// unchanged stands for lines or pages that the conversation has already.
func unchanged(p workspace.Path, what string) *tool.Output {
	return &tool.Output{
		Text:    fmt.Sprintf("[%s is unchanged, and these %s of it are above in the conversation, from an earlier read_file.]", p.Rel, what),
		Summary: "unchanged",
	}
}

// plainScan goes through a file once, and keeps the lines that were asked for.
type plainScan struct {
	lines workspace.Lines
	kept  []byte
	total int // lines
}

// read says whether all of the file is plain text.
func (s *plainScan) read(ctx context.Context, f io.Reader) (bool, error) {
	buf := make([]byte, plainPart)
	have := 0 // bytes of a character that goes on in the next part
	number, size := 1, 0
	ended := true // the last byte was a newline
	for {
		n, err := f.Read(buf[have:])
		part := buf[:have+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if size == 0 && n > 0 {
			if _, mark := workspace.MarkOf(part); mark > 0 || workspace.IsBinary(part) || pdf.Is(part) || picture.MediaType(part) != "" {
				return false, nil
			}
		}
		if size += n; size > workspace.MaxWhole {
			return false, nil
		}
		text := part
		if n > 0 {
			text = core.WholeAtEnd(part)
		}
		if !plainText(text) {
			return false, nil
		}
		if len(text) > 0 {
			number = s.keep(text, number)
			ended = text[len(text)-1] == '\n'
		}
		have = copy(buf, part[len(text):])
		if n == 0 {
			s.total = number - 1
			if !ended {
				s.total = number
			}
			return true, nil
		}
	}
}

// keep takes what lies in the range out of a part whose first byte is on a line,
// and returns the line after its last newline.
func (s *plainScan) keep(part []byte, line int) (next int) {
	next = line + bytes.Count(part, []byte{'\n'})
	if next < s.lines.From || line > s.lines.To {
		return next
	}
	for ; line < s.lines.From; line++ {
		part = part[bytes.IndexByte(part, '\n')+1:]
	}
	end := 0
	for ; line <= s.lines.To; line++ {
		i := bytes.IndexByte(part[end:], '\n')
		if i < 0 {
			end = len(part)
			break
		}
		end += i + 1
	}
	s.kept = append(s.kept, part[:end]...)
	return next
}

// plainText: UTF-8 without CR.
func plainText(part []byte) bool {
	return bytes.IndexByte(part, '\r') < 0 && utf8.Valid(part)
}
