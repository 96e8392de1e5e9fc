package session

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/state"
)

// maxTarget is how many characters of a call's arguments an export shows.
const maxTarget = 120

// Transcript is a session as it was, for a reader: what a compaction left out or cut
// short stands whole. It is not to go on with.
func (s *Store) Transcript(id string) (*History, error) {
	l, file, err := s.read(id, wholeJournal)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	l.records = slices.DeleteFunc(l.records, func(r loadedRecord) bool {
		_, smaller := r.rec.(*Compaction)
		return smaller
	})
	return rebuild(id, file, l), nil
}

// Export writes a session as Markdown: what was asked and answered in full, a
// line for each call and each attachment; file contents and thinking are left out.
func Export(w io.Writer, h *History) error {
	var b strings.Builder
	title := h.Title
	if title == "" {
		title = h.Prompt
	}
	if title == "" {
		title = h.ID
	}
	fmt.Fprintf(&b, "# %s\n\nSession %s", escapeLine(title), h.ID)
	if h.Model != "" {
		fmt.Fprintf(&b, " · %s", escapeLine(h.Model))
	}
	fmt.Fprintf(&b, " · %d turns\n", h.Turns)
	for i, m := range h.Messages {
		exportMessage(&b, m, h.Messages[i+1:])
	}
	if h.LastEnd != "" && h.LastEnd != core.EndDone {
		fmt.Fprintf(&b, "\n*Stopped: %s.*\n", h.LastEnd)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func exportMessage(b *strings.Builder, m *core.Message, rest []*core.Message) {
	said := false
	for _, block := range m.Blocks {
		switch block.Type {
		case core.BlockText:
			if block.Note != "" {
				fmt.Fprintf(b, "\n*Attached: %s.*\n", escapeLine(block.Note))
				continue
			}
			if !said {
				heading := "Garuda"
				if m.Role == core.RoleUser {
					heading = "You"
				}
				fmt.Fprintf(b, "\n## %s\n", heading)
				said = true
			}
			fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(block.Text))
		case core.BlockImage, core.BlockDocument:
			fmt.Fprintf(b, "\n*Attached: %s %s.*\n", escapeLine(block.MediaType), escapeLine(block.Name))
		case core.BlockToolUse:
			failed := ""
			if resultFailed(block.ID, rest) {
				failed = " (failed)"
			}
			fmt.Fprintf(b, "\n- `%s` %s%s\n", strings.ReplaceAll(oneLine(block.Name, maxTarget), "`", "'"),
				escapeLine(callTarget(block.Input)), failed)
		case core.BlockToolResult, core.BlockThinking, core.BlockOpaque:
		}
	}
}

func resultFailed(id string, rest []*core.Message) bool {
	if len(rest) == 0 {
		return false
	}
	for _, r := range rest[0].Blocks {
		if r.Type == core.BlockToolResult && r.ID == id {
			return r.IsError
		}
	}
	return false
}

// callTarget is the argument that says most about a call, or all of them.
func callTarget(input string) string {
	var args map[string]any
	if err := json.Unmarshal([]byte(input), &args); err == nil {
		for _, name := range []string{"path", "file_path", "command", "pattern", "url", "query"} {
			if v, ok := args[name].(string); ok {
				return v
			}
		}
	}
	return input
}

// escapeLine makes a text one line that Markdown shows as it is.
func escapeLine(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "#", `\#`).Replace(oneLine(s, maxTarget))
}

// ExportFile writes Export into a new file below the project's root. One that
// exists is never overwritten: the error is then fs.ErrExist.
func ExportFile(dir *state.Dir, name string, h *History) (err error) {
	f, err := dir.CreateExport(name)
	if err != nil {
		return err
	}
	if err := Export(f, h); err != nil {
		_ = f.Close()
		return state.Explain("write", name, err)
	}
	return state.Explain("write", name, f.Close())
}
