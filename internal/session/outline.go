package session

import (
	"slices"
	"strings"

	"garuda/internal/core"
)

const (
	// maxGoal and maxAnswer are how many characters an Outline keeps of a message,
	// maxAnswers and maxFiles of how many turns and files.
	maxGoal, maxAnswer   = 600, 200
	maxAnswers, maxFiles = 20, 500
	// maxDenials is how many of the newest denials an Outline keeps.
	maxDenials = 50
)

// Outline is what the records of a session say of its work, without the
// conversation: it outlasts every compaction. The zero value is of no records.
type Outline struct {
	// First and Newest are messages of the user, in short.
	First  string `json:"first,omitempty"`
	Newest string `json:"newest,omitempty"`
	// Todos is the list of steps as it stands; nil where there never was one. It is
	// never changed, only replaced.
	Todos []core.Todo `json:"todos,omitzero"`
	// Answers are the first words of the last answer of each finished turn.
	Answers []string `json:"answers,omitempty"`
	// Unfinished is true from a message of the user to the good end of its turn.
	Unfinished bool `json:"unfinished,omitempty"`
	// Files are what calls changed, in the order of the last change.
	Files []FileChanges `json:"files,omitempty"`

	// Denials are the newest calls that were refused, the newest last.
	Denials []DenialRecord `json:"denials,omitempty"`

	// Answer is the same of the turn that is not finished.
	Answer string `json:"answer,omitempty"`
}

// FileChanges counts the calls that changed a file.
type FileChanges struct {
	Path  string `json:"path"`
	Calls int    `json:"calls"`
}

// Add takes up the next record.
func (o *Outline) Add(rec Record) {
	switch r := rec.(type) {
	case *User:
		if said := inShort(ownWords(r.Message), maxGoal); said != "" {
			o.Newest = said
			if o.First == "" {
				o.First = said
			}
		}
		o.Answer, o.Unfinished = "", true
	case *Assistant:
		if r.Message != nil && len(r.Message.ToolUses()) == 0 {
			o.Answer = inShort(r.Message.PlainText(), maxAnswer)
		}
	case *ToolResults:
		for i := range r.Calls {
			o.call(&r.Calls[i])
		}
	case *DenialRecord:
		o.Denials = append(slices.Clip(o.Denials), *r)
		o.Denials = o.Denials[max(len(o.Denials)-maxDenials, 0):]
	case *End:
		if r.StopReason != core.EndDone {
			return
		}
		o.Unfinished = false
		if o.Answer != "" {
			o.Answers = append(slices.Clip(o.Answers), o.Answer)
			o.Answers = o.Answers[max(len(o.Answers)-maxAnswers, 0):]
		}
		o.Answer = ""
	}
}

func (o *Outline) call(c *CallInfo) {
	if c.Todos != nil {
		o.Todos = c.Todos
	}
	if len(c.Files) == 0 {
		return
	}
	files := slices.Clone(o.Files) // a copy may have been given out
	for _, path := range c.Files {
		f := FileChanges{Path: path}
		if i := slices.IndexFunc(files, func(f FileChanges) bool { return f.Path == path }); i >= 0 {
			f = files[i]
			files = slices.Delete(files, i, i+1)
		}
		f.Calls++
		files = append(files, f)
	}
	o.Files = files[max(len(files)-maxFiles, 0):]
}

// ownWords is what the user wrote, without notes and attachments.
func ownWords(m *core.Message) string {
	if m == nil {
		return ""
	}
	var out []string
	for _, b := range m.Blocks {
		if b.Type == core.BlockText && b.Note == "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}

// inShort is a text on one line, with an ellipsis where it is cut.
func inShort(text string, limit int) string {
	whole := oneLine(text, limit+1)
	cut := oneLine(text, limit)
	if whole != cut {
		cut += "…"
	}
	return cut
}
