package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"garuda/internal/workspace"
)

// mode is what a search reports.
type mode uint8

const (
	modeFiles mode = iota
	modeContent
	modeCount
)

// line is one line of a result.
type line struct {
	number int
	text   string
	match  bool
}

// fileMatches is what was found in one file.
type fileMatches struct {
	path  string
	count int    // matching lines; at most 1 in modeFiles
	lines []line // with context, in order
}

var (
	errBinary   = errors.New("binary")
	errTooLarge = errors.New("too large to be searched across lines")
	errTimeout  = errors.New("the pattern takes too long")
)

const (
	// firstBuffer holds most source files in one read.
	firstBuffer = 256 << 10
	// maxLine is how much of a line is matched as one; a longer one is matched
	// piece by piece. The second engine needs four times as much besides.
	maxLine = 2 << 20
	// cutAt is how many characters of a line are shown.
	cutAt = 500
	// maxMultiline is how many matches across lines are counted in one file.
	maxMultiline = 100_000
)

// scanner searches files, one after another. Each worker has its own.
type scanner struct {
	expr          *expression
	mode          mode
	before, after int
	keep          int // matching lines to keep of a file

	finder *finder
	buf    []byte

	// Of the file being searched:
	out       *fileMatches // nil until something matches
	number    int          // the number of the line at `counted`
	counted   int          // an offset into buf
	shown     int          // the number of the last line in out
	afterLeft int
	afterAt   int // where the next line of context begins
	// inHit: the search stands within a line of which an earlier piece matched.
	inHit bool
	spent time.Duration
}

func newScanner(e *expression, m mode, before, after, keep int) *scanner {
	return &scanner{expr: e, mode: m, before: before, after: after, keep: keep, finder: newFinder(e.needles), buf: make([]byte, firstBuffer)}
}

// file searches one open file. A file without a match gives nil. Errors: errBinary,
// errTooLarge, errTimeout, the end of ctx, and failures to read.
func (s *scanner) file(ctx context.Context, f *workspace.File) (*fileMatches, error) {
	s.out = nil
	s.number, s.counted, s.shown, s.afterLeft, s.spent, s.inHit = 1, 0, 0, 0, 0, false
	var err error
	if s.expr.multiline {
		err = s.across(f)
	} else {
		err = s.lines(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	return s.out, nil
}

func (s *scanner) count() int {
	if s.out == nil {
		return 0
	}
	return s.out.count
}

// hit counts a matching line, and says whether it is to be kept.
func (s *scanner) hit() (keep bool) {
	if s.out == nil {
		s.out = &fileMatches{}
	}
	s.out.count++
	return s.mode == modeContent && s.out.count <= s.keep
}

// lines searches line by line, holding only a part of a large file.
func (s *scanner) lines(ctx context.Context, f *workspace.File) error {
	in := io.Reader(&sized{f, f.Info.Size})
	n, err := fillBuffer(in, s.buf)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	from := 0
	switch encoding, mark := workspace.CharsetOf(s.buf[:n]); {
	case workspace.IsBinary(s.buf[:n]):
		return errBinary
	case encoding != workspace.UTF8:
		text, _, _, _, terr := workspace.TextReader(io.MultiReader(bytes.NewReader(bytes.Clone(s.buf[:n])), in))
		if terr != nil {
			return terr
		}
		in = text
		n, err = fillBuffer(in, s.buf)
	default:
		from = mark
	}
	s.counted = from
	for {
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		stop, piece := n, false
		if !end {
			if stop = bytes.LastIndexByte(s.buf[:n], '\n') + 1; stop <= from {
				if len(s.buf) < maxLine {
					s.buf = append(s.buf, make([]byte, len(s.buf))...)
					var more int
					more, err = fillBuffer(in, s.buf[n:])
					n += more
					continue
				}
				stop, piece = n, true
			}
		}
		before := s.count()
		done, err2 := s.block(from, stop)
		if err2 != nil || done || end {
			return err2
		}
		s.inHit = piece && (s.inHit || s.count() > before)
		from, n = s.shift(stop, n)
		var more int
		more, err = fillBuffer(in, s.buf[n:])
		n += more
	}
}

// sized ends a file where its size says, which spares the read that only finds
// the end. A file that says it has no size is read to its end.
type sized struct {
	r    io.Reader
	left int64
}

func (s *sized) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.left -= int64(n); err == nil && n > 0 && s.left == 0 {
		err = io.EOF
	}
	return n, err
}

// fillBuffer reads until the buffer is full or the file ends.
func fillBuffer(r io.Reader, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		m, err := r.Read(buf[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// shift drops what was searched from the buffer, except the lines that may
// become context, and returns where the unsearched part begins and all ends.
func (s *scanner) shift(searched, n int) (from, end int) {
	keep := searched
	for range s.before {
		if keep == 0 {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	if searched-keep > len(s.buf)/2 {
		keep = searched // a line of megabytes is no context, and would leave no room
	}
	if s.counted < keep {
		s.number += bytes.Count(s.buf[s.counted:keep], newline)
		s.counted = keep
	}
	copy(s.buf, s.buf[keep:n])
	s.counted -= keep
	s.afterAt -= keep
	return searched - keep, n - keep
}

var newline = []byte{'\n'}

// block searches the whole lines in buf[from:end]; done means that no more of
// the file is needed.
func (s *scanner) block(from, end int) (done bool, err error) {
	buf := s.buf[:end]
	s.finder.reset()
	s.afterAt = max(s.afterAt, from)
	for n, at := 0, from; at < end; n++ {
		hit := at
		if len(s.finder.needles) > 0 {
			if hit = s.finder.first(buf, at); hit < 0 {
				break
			}
		}
		start := at + bytes.LastIndexByte(buf[at:hit], '\n') + 1
		stop, next := end, end
		if i := bytes.IndexByte(buf[hit:], '\n'); i >= 0 {
			stop, next = hit+i, hit+i+1
		}
		text := trimCR(buf[start:stop])
		// A literal was found already, unless it reaches into the CR.
		ok := s.expr.literal != nil && hit+len(s.expr.literal) <= start+len(text)
		if !ok {
			if ok, err = s.matches(text); err != nil {
				return true, err
			}
		}
		if ok && (start != from || !s.inHit) {
			keep := s.hit()
			if s.mode == modeFiles {
				return true, nil
			}
			if keep {
				s.emit(start, stop, next)
			}
		}
		at = next
	}
	s.context(end, end)
	return false, nil
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}

func (s *scanner) matches(text []byte) (bool, error) {
	switch {
	case s.expr.literal != nil:
		return bytes.Contains(text, s.expr.literal), nil
	case s.expr.re != nil:
		return s.expr.re.Match(text), nil
	}
	begin := time.Now()
	ok, err := s.expr.back.MatchString(string(text))
	if s.spent += time.Since(begin); err != nil || s.spent > fileTime {
		return false, errTimeout
	}
	return ok, nil
}

// emit keeps a matching line with the context before it.
func (s *scanner) emit(start, stop, next int) {
	s.context(start, start)
	first := start
	for range s.before {
		if first == 0 {
			break
		}
		first = bytes.LastIndexByte(s.buf[:first-1], '\n') + 1
	}
	for first < start {
		end := first + bytes.IndexByte(s.buf[first:start], '\n')
		s.keepLine(first, end, false)
		first = end + 1
	}
	s.keepLine(start, stop, true)
	s.afterLeft, s.afterAt = s.after, next
}

// context keeps lines after a match, up to limit.
func (s *scanner) context(limit, end int) {
	for s.afterLeft > 0 && s.afterAt < limit {
		stop, next := end, end
		if i := bytes.IndexByte(s.buf[s.afterAt:end], '\n'); i >= 0 {
			stop, next = s.afterAt+i, s.afterAt+i+1
		}
		s.keepLine(s.afterAt, stop, false)
		s.afterAt = next
		s.afterLeft--
	}
}

// keepLine adds one line to the result unless it is there already.
func (s *scanner) keepLine(start, stop int, match bool) {
	if start >= s.counted {
		s.number += bytes.Count(s.buf[s.counted:start], newline)
	} else {
		s.number -= bytes.Count(s.buf[start:s.counted], newline)
	}
	s.counted = start
	if s.number <= s.shown {
		return
	}
	s.shown = s.number
	text := trimCR(s.buf[start:stop])
	from := 0
	if match && len(text) > cutAt {
		from = s.expr.find(text)
	}
	s.out.lines = append(s.out.lines, line{s.number, cutAround(text, from), match})
}

// cutAround shows a line's text, cut around the place where a match begins.
func cutAround(text []byte, from int) string {
	if len(text) <= cutAt {
		return strings.ToValidUTF8(string(text), "\ufffd")
	}
	const lead = 100 // characters before the match
	start := from
	for n := 0; start > 0 && n < lead; n++ {
		_, size := utf8.DecodeLastRune(text[:start])
		start -= size
	}
	end := start
	for n := 0; end < len(text) && n < cutAt; n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	if end == len(text) && start > 0 { // room is left: show more before
		n := utf8.RuneCount(text[start:])
		for ; start > 0 && n < cutAt; n++ {
			_, size := utf8.DecodeLastRune(text[:start])
			start -= size
		}
	}
	out := strings.ToValidUTF8(string(text[start:end]), "\ufffd")
	if start > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}

// across searches a whole text, for matches that span lines.
func (s *scanner) across(f *workspace.File) error {
	if f.Info.Size > workspace.MaxWhole {
		return errTooLarge
	}
	raw, err := io.ReadAll(io.LimitReader(f, workspace.MaxWhole+1))
	switch {
	case err != nil:
		return err
	case len(raw) > workspace.MaxWhole:
		return errTooLarge
	case workspace.IsBinary(raw):
		return errBinary
	}
	text := workspace.Decode(raw).LF
	s.buf = append(s.buf[:0], text...)
	defer func() { s.buf = s.buf[:cap(s.buf)] }()
	if s.finder.reset(); len(s.finder.needles) > 0 && s.finder.first(s.buf, 0) < 0 {
		return nil
	}
	most := maxMultiline
	if s.mode == modeFiles {
		most = 1
	}
	locs, err := s.expr.findAll(text, most)
	if err != nil {
		return errTimeout
	}
	from := 0 // the first line that no match has been on yet
	for _, loc := range locs {
		from = s.spanned(max(loc[0], from), loc[0], loc[1], from)
	}
	s.context(len(text), len(text))
	return nil
}

// spanned takes the lines of one match at [from, to), beginning at at, that come
// after done, and returns where the line after them begins.
func (s *scanner) spanned(at, from, to, done int) int {
	size := len(s.buf)
	for at < to || at == from {
		start := bytes.LastIndexByte(s.buf[:at], '\n') + 1
		stop, next := size, size
		if i := bytes.IndexByte(s.buf[at:], '\n'); i >= 0 {
			stop, next = at+i, at+i+1
		}
		if start == size && size > 0 || start < done {
			return done // after the last line break, or on a line that counted already
		}
		if s.hit() {
			s.emit(start, stop, next)
		}
		if done = next; next == size {
			return done
		}
		at = next
	}
	return done
}
