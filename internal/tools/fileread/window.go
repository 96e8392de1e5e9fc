package fileread

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// window reads some lines of a file that is too large to be held in memory.
func (call *readCall) window(ctx context.Context, env *tool.Env, w *workspace.Workspace, p workspace.Path) (*tool.Output, error) {
	if call.pages != nil {
		return nil, noPages(p)
	}
	f, err := w.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, style, head, binary, err := workspace.TextReader(f)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", p.Rel, err)
	case binary:
		return nil, binaryError(p, head, f.Info.Size)
	case !call.explicit:
		return nil, fmt.Errorf("%s has %s, and files of more than %s are read in parts: give offset and limit, or find the place with grep",
			p.Rel, Size(f.Info.Size), Size(workspace.MaxWhole))
	case env.Tracker.Shown(p.Real, call.lines, f.Snapshot):
		return unchanged(p, "lines"), nil
	}
	pg := newPage(call.lines, call.lines.To)
	total, broken, err := pg.stream(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.Rel, err)
	}
	if total > 0 && pg.shown == 0 {
		return nil, fmt.Errorf("%s has %d lines; offset %d is past its end", p.Rel, total, call.lines.From)
	}
	env.Tracker.Record(p.Real, workspace.Read{Snapshot: f.Snapshot, Asked: call.lines, Got: pg.whole, Total: total})
	return pg.output(p.Rel, style, broken, total), nil
}

// stream takes lines from r until the page is complete. total is the number of
// lines when the end was reached, else 0. A long line is never held as a whole.
func (pg *page) stream(ctx context.Context, r io.Reader) (total int, broken bool, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 0; pg.next <= pg.lines.To && !pg.full; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return 0, broken, ctx.Err()
		}
		line, dropped, err := readLine(ctx, in, pg.next >= pg.lines.From)
		if errors.Is(err, io.EOF) {
			return pg.next - 1, broken, nil
		}
		if err != nil {
			return 0, broken, err
		}
		kept := cutLine(string(line))
		broken = broken || !utf8.ValidString(kept)
		pg.line(strings.ToValidUTF8(kept, "\ufffd"), len(line)-len(kept)+dropped)
	}
	return 0, broken, nil
}

// readLine reads one line without its newline. Of a long line it keeps a little
// more than is shown, and counts the bytes that it dropped.
func readLine(ctx context.Context, in *bufio.Reader, keep bool) (line []byte, dropped int, err error) {
	const most = (MaxLineChars + 1) * utf8.UTFMax
	some := false
	for chunks := 0; ; chunks++ {
		if chunks%1024 == 1023 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		part, err := in.ReadSlice('\n')
		some = some || len(part) > 0
		end := err == nil
		if end {
			part = part[:len(part)-1]
			if n := len(part); n > 0 && part[n-1] == '\r' {
				part = part[:n-1]
			} else if m := len(line); n == 0 && dropped == 0 && m > 0 && line[m-1] == '\r' {
				line = line[:m-1]
			}
		}
		if room := most - len(line); keep && room > 0 {
			n := min(room, len(part))
			line = append(line, part[:n]...)
			dropped += len(part) - n
		} else {
			dropped += len(part)
		}
		switch {
		case end:
			return line, dropped, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && some:
			return line, dropped, nil
		default:
			return nil, 0, err
		}
	}
}
