package fileread

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"garuda/internal/notebook"
	"garuda/internal/pdf"
	"garuda/internal/picture"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	maxLines = 2000
	// maxChars is how many characters one read gives, less the notes around them.
	maxChars = 50_000
)

//go:embed read_file.md
var readFileDescription string

type readFile struct{}

type readInput struct {
	Path   string `json:"path" jsonschema:"relative to the root, or absolute"`
	Offset *int   `json:"offset,omitempty" jsonschema:"first line, from 1"`
	Limit  *int   `json:"limit,omitempty" jsonschema:"lines, at most 2000"`
	Pages  string `json:"pages,omitempty" jsonschema:"of a PDF: 3 or 1-5, at most 20"`
}

const readSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"relative to the root, or absolute"},` +
	`"offset":{"type":"integer","minimum":1,"description":"first line, from 1"},` +
	`"limit":{"type":"integer","minimum":1,"description":"lines, at most 2000"},` +
	`"pages":{"type":"string","description":"of a PDF: 3 or 1-5, at most 20"}},` +
	`"required":["path"],"additionalProperties":false}`

func (readFile) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "read_file", Description: strings.TrimSpace(readFileDescription),
		Class: tool.ClassRead, Set: "core", Schema: json.RawMessage(readSchema),
	}
}

// readCall is a planned read.
type readCall struct {
	path workspace.Path
	// lines is the range asked for; explicit says that the call named one.
	lines    workspace.Lines
	explicit bool
	// pages are those of a PDF that were asked for; nil when none were.
	pages []pageRange
	// spilled is a path in a folder that commands write for the session: that of
	// their spilled output, or what they have as /tmp in the sandbox. folder is that
	// folder, within which it is read.
	spilled, folder string
	limits          tool.Limits
}

func (readFile) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[readInput](input)
	if err != nil {
		return nil, err
	}
	call := &readCall{lines: workspace.Lines{From: 1, To: maxLines}, explicit: in.Offset != nil || in.Limit != nil}
	if in.Offset != nil {
		call.lines.From = max(1, *in.Offset)
	}
	limit := maxLines
	if in.Limit != nil {
		limit = call.limits.Cap("limit", max(1, *in.Limit), maxLines)
	}
	call.lines.To = call.lines.From + limit - 1
	if in.Pages != "" {
		if call.pages, err = parsePages(in.Pages); err != nil {
			return nil, err
		}
	}
	plan := &tool.Plan{ReadOnly: true, Parallel: true, Input: call}
	path, err := env.Workspace.Resolve(in.Path)
	var outside *workspace.OutsideError
	if errors.As(err, &outside) && call.ofCommands(env, in.Path) {
		plan.Target, plan.Effects = filepath.Clean(in.Path), tool.Effects{Reads: []string{call.spilled}}
		return plan, nil
	}
	if err != nil {
		return nil, err
	}
	call.path = path
	plan.Target = path.Rel
	plan.Effects = tool.Effects{Reads: []string{path.Abs}, Real: path.Through()}
	return plan, nil
}

// ofCommands finds the folder of the session that a path outside the project lies in.
func (call *readCall) ofCommands(env *tool.Env, path string) bool {
	if inFolder(env.OutputDir, path) {
		call.spilled, call.folder = filepath.Clean(path), env.OutputDir
		return true
	}
	if env.HostPath == nil || !filepath.IsAbs(path) {
		return false
	}
	call.folder, call.spilled = env.HostPath(filepath.Clean(path))
	return call.spilled != ""
}

func inFolder(dir, path string) bool {
	if dir == "" || !filepath.IsAbs(path) {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}

func (readFile) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*readCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	return call.run(ctx, c.Env)
}

// run reads what was planned; read_many_files reads each of its files so.
func (call *readCall) run(ctx context.Context, env *tool.Env) (*tool.Output, error) {
	out, err := call.contents(ctx, env)
	if err != nil {
		return nil, err
	}
	call.limits.Tell(out)
	return out, nil
}

func (call *readCall) contents(ctx context.Context, env *tool.Env) (*tool.Output, error) {
	if call.spilled == "" {
		return call.read(ctx, env, env.Workspace, call.path)
	}
	w, err := workspace.Open(call.folder, nil, workspace.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	path, err := w.Resolve(call.spilled)
	if err != nil {
		return nil, err
	}
	return call.read(ctx, env, w, path)
}

func (call *readCall) read(ctx context.Context, env *tool.Env, w *workspace.Workspace, p workspace.Path) (*tool.Output, error) {
	if !p.Exists {
		return nil, w.NotFound(p, env.MayRead)
	}
	if out, err := call.plain(ctx, env, w, p); out != nil || err != nil {
		return out, err
	}
	c, err := w.ReadFile(p)
	var large *workspace.TooLargeError
	if errors.As(err, &large) {
		if out, err := call.largePDF(ctx, env, w, p); out != nil || err != nil {
			return out, err
		}
		return call.window(ctx, env, w, p)
	}
	if err != nil {
		return nil, err
	}
	if pdf.Is(c.Raw) {
		return call.pdf(ctx, env, p, c.Raw, c.Snapshot)
	}
	if call.pages != nil {
		return nil, noPages(p)
	}
	isPicture := picture.MediaType(c.Raw) != ""
	if workspace.IsBinary(c.Raw) && !isPicture {
		return nil, binaryError(p, c.Raw, int64(len(c.Raw)))
	}
	if env.Tracker.Shown(p.Real, call.lines, c.Snapshot) {
		return unchanged(p, "lines"), nil
	}
	if isPicture {
		return call.image(env, p, c)
	}
	text := c.Text()
	total := workspace.CountLines(text.LF)
	if strings.EqualFold(filepath.Ext(p.Rel), ".ipynb") {
		if n, err := notebook.Parse(text.LF); err == nil { // else it is read as the text that it is
			return call.notebook(env, p, c, n, total)
		}
	}
	if total > 0 && call.lines.From > total {
		return nil, fmt.Errorf("%s has %d lines; offset %d is past its end", p.Rel, total, call.lines.From)
	}
	page := newPage(call.lines, min(call.lines.To, total))
	page.add(text.LF)
	env.Tracker.Record(p.Real, workspace.Read{Snapshot: c.Snapshot, Asked: call.lines, Got: page.whole, Total: total})
	return page.output(p.Rel, text.Style, text.Broken, total), nil
}

// noPages refuses pages of what is no PDF.
func noPages(p workspace.Path) error {
	return fmt.Errorf("%s is no PDF document, and only those have pages: use offset and limit", p.Rel)
}

func binaryError(p workspace.Path, head []byte, size int64) error {
	return fmt.Errorf("%s is not text: it is %s of %s; bash has programs that look into such files", p.Rel, workspace.FileType(head), Size(size))
}

// Size is a number of bytes as people write it: 512 B, 3.4 KB, 12 MB.
func Size(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if i == 0 || f >= 10 {
		return fmt.Sprintf("%.0f %s", f, units[i])
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// page is the lines that one read shows.
type page struct {
	lines workspace.Lines // asked for
	width int
	next  int // the line that add sees first
	chars int
	out   []byte
	shown int               // the last line that is in out; 0 for none
	whole []workspace.Lines // shown without a cut
	full  bool              // the limit of characters was reached
}

func newPage(lines workspace.Lines, last int) *page {
	return &page{lines: lines, width: digits(max(last, 1)), next: 1}
}

// add shows those lines of an LF text that were asked for.
func (pg *page) add(lf string) {
	pg.out = make([]byte, 0, min(len(lf)+(pg.width+1)*min(strings.Count(lf, "\n")+1, maxLines), maxChars)+200)
	for lf != "" && pg.next <= pg.lines.To && !pg.full {
		line, rest, _ := strings.Cut(lf, "\n")
		lf = rest
		pg.line(line, 0)
	}
}

// line takes the next line of the file, of which dropped bytes are missing at its end.
func (pg *page) line(text string, dropped int) {
	number := pg.next
	pg.next++
	if number < pg.lines.From || number > pg.lines.To || pg.full {
		return
	}
	start := len(pg.out)
	var whole bool
	pg.out, whole = appendLine(pg.out, number, pg.width, text, dropped)
	chars := len(pg.out) - start
	if pg.chars+chars > maxChars {
		chars = utf8.RuneCount(pg.out[start:])
	}
	if pg.chars += chars; pg.chars > maxChars && pg.shown > 0 {
		pg.out = pg.out[:start]
		pg.full = true
		return
	}
	pg.shown = number
	if !whole {
		return
	}
	if n := len(pg.whole); n > 0 && pg.whole[n-1].To == number-1 {
		pg.whole[n-1].To = number
		return
	}
	pg.whole = append(pg.whole, workspace.Lines{From: number, To: number})
}

// output puts the page together; total is 0 when the number of lines is unknown.
func (pg *page) output(path string, style workspace.Style, broken bool, total int) *tool.Output {
	var notes []string
	if !style.Plain() {
		notes = append(notes, fmt.Sprintf("[%s; shown with LF and written back as it is]", style))
	}
	if broken {
		notes = append(notes, "[some bytes are not valid in this charset; they are shown as U+FFFD and cannot be edited]")
	}
	switch {
	case total == 0 && pg.shown == 0:
		return &tool.Output{Text: fmt.Sprintf("%s is empty (0 lines).", path), Summary: "empty"}
	case total == 0:
		notes = append(notes, fmt.Sprintf("[lines %d-%d; to go on use offset=%d]", pg.lines.From, pg.shown, pg.shown+1))
	case pg.shown < total:
		notes = append(notes, fmt.Sprintf("[lines %d-%d of %d; to go on use offset=%d]", pg.lines.From, pg.shown, total, pg.shown+1))
	}
	out := pg.out
	for i, note := range notes {
		if i == 0 {
			out = append(out, '\n')
		}
		out = append(out, note...)
		out = append(out, '\n')
	}
	return &tool.Output{
		Text:    strings.TrimSuffix(string(out), "\n"),
		Summary: counted(pg.shown-pg.lines.From+1, "line", "lines"),
	}
}
