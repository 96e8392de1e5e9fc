package snapshot

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// FileDiff is how one entry changed since a point.
type FileDiff struct {
	Change
	// Plus and Minus count lines. Patch is a unified diff; empty for what is no text,
	// for large files and for folders.
	Plus, Minus int
	Patch       string
}

// maxDiff is the size in bytes up to which a file's lines are compared.
const maxDiff = 1 << 20

// Diff says how entries changed from a point to now; with a path only that file, or
// those below that folder.
func (s *Store) Diff(ctx context.Context, point, path string) ([]FileDiff, error) {
	changes, err := s.Compare(ctx, point)
	if err != nil {
		return nil, err
	}
	var out []FileDiff
	folder := strings.TrimSuffix(path, "/") + "/"
	for _, c := range changes {
		if path != "" && path != "." && c.Path != path && !strings.HasPrefix(c.Path, folder) {
			continue
		}
		d := FileDiff{Change: c}
		from, to, err := s.Versions(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.What != ModeOnly && isText(from) && isText(to) {
			d.compare(from, to)
		}
		out = append(out, d)
	}
	return out, nil
}

func isText(data []byte) bool {
	return len(data) <= maxDiff && bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}

func (d *FileDiff) compare(from, to []byte) {
	a, b := "a/"+d.Path, "b/"+d.Path
	if from == nil {
		a = "/dev/null"
	}
	if to == nil {
		b = "/dev/null"
	}
	d.Patch = udiff.Unified(a, b, string(from), string(to))
	const names = 2 // lines that name the files
	for n, line := range strings.Split(d.Patch, "\n") {
		switch {
		case n < names:
		case strings.HasPrefix(line, "+"):
			d.Plus++
		case strings.HasPrefix(line, "-"):
			d.Minus++
		}
	}
}
