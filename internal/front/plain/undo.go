package plain

import (
	"context"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/snapshot"
)

// Undoer takes turns back and up again, and shows what changed. Its errors say why it
// cannot be done.
type Undoer interface {
	// PlanUndo finds out what taking back the newest turn would do, or with redo what
	// taking the last undo back would. It changes nothing.
	PlanUndo(ctx context.Context, redo bool) (*Undo, error)
	// Undo does it: the files, the conversation, or both. A redo takes back what its
	// undo did. The result is nil where the files stay.
	Undo(ctx context.Context, u *Undo, files, conversation bool) (*snapshot.Result, error)
	// Diff says how files changed since the session's first turn, or with last since
	// the newest; with a path only that file or what is in that folder.
	Diff(ctx context.Context, last bool, path string) ([]snapshot.FileDiff, error)
}

// Undo is a turn that is to be taken back, or up again.
type Undo struct {
	Redo bool
	Turn engine.BackTurn
	// Files is what would happen to the files; nil where they stay as they are, and
	// WithoutFiles then says why.
	Files        *snapshot.Plan
	WithoutFiles string
}

// maxListed is how many changed files are listed, maxPatch how many lines of a diff.
const maxListed, maxPatch = 30, 300

func runUndo(ctx context.Context, c *chat, _ string) error { return c.planUndo(ctx, false) }
func runRedo(ctx context.Context, c *chat, _ string) error { return c.planUndo(ctx, true) }

func (c *chat) planUndo(ctx context.Context, redo bool) error {
	what := "take the turn back"
	if redo {
		what = "take the undo back"
	}
	var u *Undo
	if err := c.call(ctx, func(ctx context.Context) (err error) {
		u, err = c.o.Host.PlanUndo(ctx, redo)
		return err
	}); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if u.Files == nil && !u.Turn.Conversation {
		return fmt.Errorf("%s: %s, and its conversation was compacted", what, u.WithoutFiles)
	}
	c.showUndo(u, what)
	c.askUndo(u, what)
	return nil
}

// showUndo lists what would happen.
func (c *chat) showUndo(u *Undo, what string) {
	asked := ""
	if u.Turn.Message != nil {
		asked = ": " + inShort(ownWords(u.Turn.Message))
	}
	c.screen.Line(lines.Warn, "? "+what+asked)
	if u.Files == nil {
		c.screen.Line(lines.Dim, "  the files stay as they are: "+u.WithoutFiles)
		return
	}
	if u.Files.Resumed {
		c.screen.Line(lines.Warn, "  it was broken off half way; this goes on with it")
	}
	if u.Files.NoChange() {
		c.screen.Line(lines.Normal, "  no file differs")
	}
	for i, change := range u.Files.Changes {
		if i == maxListed {
			c.screen.Line(lines.Normal, "  … and "+restLine(u.Files.Changes[maxListed:]))
			break
		}
		c.screen.Line(lines.Normal, "  "+changeLine(change))
	}
	if !u.Files.NoChange() {
		c.screen.Line(lines.Dim, "  this also goes for what you or others changed since")
	}
	for _, path := range u.Files.Kept {
		c.screen.Line(lines.Dim, "  stays, as it was not covered then: "+core.Visible(path))
	}
	for _, line := range notCovered(u.Files) {
		c.screen.Line(lines.Dim, "  "+line)
	}
}

// ownWords is what the user wrote of a message, without the notes that went with it.
func ownWords(m *core.Message) string {
	var out []string
	for _, b := range m.Blocks {
		if b.Type == core.BlockText && b.Note == "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}

// restLine counts the changes that are not listed. What goes comes first: nobody should
// say yes without knowing that.
func restLine(rest []snapshot.Change) string {
	counts := map[snapshot.What]int{}
	for _, c := range rest {
		counts[c.What]++
	}
	var said []string
	for _, w := range []struct {
		what snapshot.What
		name string
	}{{snapshot.Removed, "go"}, {snapshot.Added, "are made"}, {snapshot.Modified, "get other contents"}, {snapshot.ModeOnly, "another mode"}} {
		if n := counts[w.what]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, w.name))
		}
	}
	return fmt.Sprintf("%d more: %s", len(rest), strings.Join(said, ", "))
}

// changeLine is what happens to an entry: + it is made, - it goes, ~ its contents
// change, m only its mode.
func changeLine(c snapshot.Change) string {
	if c.What == snapshot.ModeOnly {
		return "m " + core.Visible(c.Path) + " (mode)"
	}
	return string(rune(c.What)) + " " + core.Visible(c.Path)
}

// notCovered says what no undo touches.
func notCovered(p *snapshot.Plan) []string {
	out := []string{"not covered: what is ignored (.gitignore, .garudaignore), .git, and folders added with --add-dir"}
	why := map[snapshot.Reason]string{
		snapshot.Large: "files larger than 10 MB", snapshot.Secret: "files that may hold secrets", snapshot.Special: "what is no regular file", snapshot.Unreadable: "what cannot be read",
	}
	for _, reason := range []snapshot.Reason{snapshot.Large, snapshot.Secret, snapshot.Special, snapshot.Unreadable} {
		var names []string
		for _, l := range p.LeftOut {
			if l.Reason == reason {
				names = append(names, core.Visible(l.Path))
			}
		}
		const shown = 5
		if more := len(names) - shown; more > 0 {
			names = append(names[:shown:shown], fmt.Sprintf("and %d more", more))
		}
		if len(names) > 0 {
			out = append(out, "not covered, "+why[reason]+": "+strings.Join(names, ", "))
		}
	}
	return out
}

// askUndo waits for the answer.
func (c *chat) askUndo(u *Undo, what string) {
	both := u.Files != nil && u.Turn.Conversation
	do := func(files, conversation bool) func(context.Context) error {
		return func(ctx context.Context) error { return c.undo(ctx, u, what, files, conversation) }
	}
	c.confirm = &confirm{undone: "nothing was changed", do: do(u.Files != nil, u.Turn.Conversation)}
	hint := "y or n"
	switch {
	case u.Redo:
	case both:
		hint = "y: files and conversation · f: only the files · c: only the conversation · n: nothing"
		c.confirm.keys = "y/f/c/n"
		c.confirm.other = map[string]func(context.Context) error{"f": do(true, false), "c": do(false, true)}
	case u.Files != nil:
		hint = "y: the files · n: nothing (the conversation was compacted and stays)"
	default:
		hint = "y: the conversation · n: nothing"
	}
	c.confirm.hint = hint
	c.screen.Line(lines.Warn, "  "+hint)
}

func (c *chat) undo(ctx context.Context, u *Undo, what string, files, conversation bool) error {
	var result *snapshot.Result
	if err := c.call(ctx, func(ctx context.Context) (err error) {
		result, err = c.o.Host.Undo(ctx, u, files, conversation)
		return err
	}); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for _, f := range failures(result) {
		c.screen.Line(lines.Warn, "! "+f)
	}
	var said []string
	if result != nil {
		back := fmt.Sprintf("%d files and folders put back", result.Done)
		switch {
		case result.Done == 1:
			back = "1 file or folder put back"
		case u.Files.NoChange():
			back = "no file differed"
		}
		said = append(said, back)
	}
	if conversation {
		said = append(said, "the conversation is as it was")
	}
	other := "/redo takes that back"
	if u.Redo {
		other = "/undo takes it back again"
	}
	c.say(strings.Join(said, ", ") + "; " + other)
	return nil
}

func failures(r *snapshot.Result) []string {
	if r == nil {
		return nil
	}
	var out []string
	for _, f := range r.Failed {
		out = append(out, core.Visible(f.Path)+": "+core.Visible(f.Err.Error()))
	}
	return out
}

// runDiff shows what changed: a line a file, then the patch.
func runDiff(ctx context.Context, c *chat, args string) error {
	path := args
	word, rest := cutWord(args)
	last := word == "last"
	if last {
		path = rest
	}
	var diffs []snapshot.FileDiff
	if err := c.call(ctx, func(ctx context.Context) (err error) {
		diffs, err = c.o.Host.Diff(ctx, last, path)
		return err
	}); err != nil {
		return fmt.Errorf("show what changed: %w", err)
	}
	if len(diffs) == 0 {
		c.say("nothing changed in the files that undo covers")
		return nil
	}
	var patch []string
	for i := range diffs {
		d := &diffs[i]
		c.screen.Line(lines.Normal, "  "+diffLine(d))
		patch = append(patch, strings.Split(strings.TrimSuffix(d.Patch, "\n"), "\n")...)
	}
	for i, line := range patch {
		if i == maxPatch {
			c.screen.Line(lines.Dim, fmt.Sprintf("… %d more lines; /diff PATH shows one file", len(patch)-maxPatch))
			break
		}
		if line != "" {
			c.screen.Line(lines.Normal, core.Visible(line))
		}
	}
	return nil
}

// diffLine is the sign of the change, as in the lists of /undo, the path, and how many
// lines came and went.
func diffLine(d *snapshot.FileDiff) string {
	line := string(rune(d.What)) + " " + core.Visible(d.Path)
	if d.Patch != "" {
		line += fmt.Sprintf("  +%d -%d", d.Plus, d.Minus)
	}
	return line
}
