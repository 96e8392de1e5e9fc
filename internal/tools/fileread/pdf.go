package fileread

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"garuda/internal/pdf"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	// maxPDF is how many bytes a PDF may have; it is read as a whole.
	maxPDF = 64 << 20
	// pdfTime is how long one may take. The reader bounds its work itself, which on a
	// machine that is busy may take long all the same.
	pdfTime = 30 * time.Second
)

// largePDF reads a file beyond workspace.MaxWhole that is a PDF; nil when it is none.
func (call *readCall) largePDF(ctx context.Context, env *tool.Env, w *workspace.Workspace, p workspace.Path) (*tool.Output, error) {
	f, err := w.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, pdf.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", p.Rel, err)
	}
	if !pdf.Is(head[:n]) {
		return nil, nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxPDF))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", p.Rel, err)
	case n+len(rest) > maxPDF:
		return nil, fmt.Errorf("%s is a PDF document of %s, and only those of at most %s can be read; have a program take the pages out that you need",
			p.Rel, Size(f.Info.Size), Size(maxPDF))
	}
	return call.pdf(ctx, env, p, append(head[:n], rest...), f.Snapshot)
}

// pdf shows the text of pages.
func (call *readCall) pdf(ctx context.Context, env *tool.Env, p workspace.Path, raw []byte, snap workspace.Snapshot) (*tool.Output, error) {
	if call.explicit && call.pages == nil {
		return nil, fmt.Errorf(`%s is a PDF document, which has pages and no lines: give pages, like "1-5", in place of offset and limit`, p.Rel)
	}
	asked := call.askedPages()
	if len(call.pages) < 2 && env.Tracker.Shown(p.Real, asked, snap) {
		return unchanged(p, "pages"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	d, err := pdf.Open(ctx, raw)
	if errors.Is(err, pdf.ErrEncrypted) {
		return nil, fmt.Errorf("%s is a PDF document, but %w; ask the user for a copy without one", p.Rel, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is a PDF document that cannot be read: %w", p.Rel, err)
	}
	ranges := call.pages
	if ranges == nil {
		ranges = []pageRange{{1, firstPages}}
	}
	pages := within(ranges, d.Pages())
	if len(pages) == 0 {
		return nil, fmt.Errorf("%s has %s; page %d is past its end", p.Rel, counted(d.Pages(), "page", "pages"), ranges[0].from)
	}
	s := &pdfSheet{d: d, path: p.Rel}
	if err := s.show(pages); err != nil {
		return nil, fmt.Errorf("read %s: %w", p.Rel, err)
	}
	env.Tracker.Record(p.Real, workspace.Read{Snapshot: snap, Asked: asked})
	return &tool.Output{Text: s.output(pages), Summary: counted(s.shown, "page", "pages")}, nil
}

// askedPages is the call's pages as the tracker remembers requests: below zero, so
// that they are never taken for lines. Several ranges are no request that it could
// know again, and are always shown.
func (call *readCall) askedPages() workspace.Lines {
	switch len(call.pages) {
	case 0:
		return workspace.Lines{From: -1, To: 0}
	case 1:
		return workspace.Lines{From: -call.pages[0].from, To: -call.pages[0].to}
	}
	return workspace.Lines{}
}

// pdfSheet is pages as the model sees them.
type pdfSheet struct {
	d     *pdf.Document
	path  string
	text  strings.Builder
	chars int
	shown int
	// cut: the only page that is shown is longer than a result may be.
	cut bool
}

// show adds pages until a result is full. Only when none of them can be read is
// that an error.
func (s *pdfSheet) show(pages []int) error {
	var failed error
	readable := 0
	for _, number := range pages {
		var text string
		page, err := s.d.Page(number)
		if err != nil {
			failed = err
			text = "[unreadable: " + err.Error() + "]"
		} else {
			readable++
			text = pageText(page)
		}
		chars := utf8.RuneCountInString(text)
		if s.chars+chars > maxChars {
			if s.shown > 0 {
				break
			}
			text, s.cut = string([]rune(text)[:maxChars]), true
		}
		if s.shown > 0 {
			s.text.WriteString("\n\n")
		}
		fmt.Fprintf(&s.text, "===== page %d of %d =====\n%s", number, s.d.Pages(), text)
		s.shown++
		s.chars += chars
	}
	if readable == 0 {
		return failed
	}
	return nil
}

// pageText is a page's text with what must be known about it.
func pageText(p *pdf.Page) string {
	var notes []string
	switch {
	case p.Text == "" && p.Pictures:
		return "[no text: the page is a picture, perhaps a scan; text in pictures is not recognised]"
	case p.Text == "":
		return "[no text on this page]"
	case p.Unknown > 0:
		notes = append(notes, "["+counted(p.Unknown, "character", "characters")+" that the file gives no meaning of, shown as U+FFFD]")
	}
	if p.Cut {
		notes = append(notes, "[the page holds more than is read of one]")
	}
	return strings.Join(append([]string{p.Text}, notes...), "\n")
}

func (s *pdfSheet) output(pages []int) string {
	last, all := pages[s.shown-1], s.d.Pages()
	if s.cut {
		fmt.Fprintf(&s.text, "\n\n[page %d is cut after %d characters]", last, maxChars)
	}
	switch {
	case s.shown < len(pages):
		fmt.Fprintf(&s.text, "\n\n[%d of the %d pages that were asked for; to go on use pages=%q]", s.shown, len(pages), span(pages[s.shown], pages[len(pages)-1]))
	case last < all:
		fmt.Fprintf(&s.text, "\n\n[%s has %d pages; to go on use pages=%q]", s.path, all, span(last+1, min(last+firstPages, all)))
	}
	return s.text.String()
}

func span(from, to int) string {
	if to <= from {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, min(to, from+maxPages-1))
}
