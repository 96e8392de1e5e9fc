package compact

import (
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
)

// How many characters of one block go to whoever sums the conversation up.
const (
	maxWords, maxAnswer    = 20_000, 8_000
	maxCall, maxResultText = 1_500, 2_000
	maxNote                = 16_000
)

// Transcript is a conversation as a text, a piece for each message that says
// something. Thinking and what a provider keeps for itself are left out, long blocks
// lose their middle, and mark must leave no mark of Garuda's in a text from outside.
func Transcript(msgs []*core.Message, mark func(string) string) []string {
	t := transcript{mark: mark, names: map[string]string{}}
	var out []string
	for _, m := range msgs {
		t.b.Reset()
		for i := range m.Blocks {
			t.block(m.Role, &m.Blocks[i])
		}
		if t.b.Len() > 0 {
			out = append(out, t.b.String())
		}
	}
	return out
}

type transcript struct {
	b     strings.Builder
	mark  func(string) string
	names map[string]string // of the tools that calls were made of
}

func (t *transcript) block(role core.Role, b *core.Block) {
	switch b.Type {
	case core.BlockText:
		switch {
		case role == core.RoleAssistant:
			t.put("answer", "", b.Text, maxAnswer)
		case b.Note != "":
			t.put("noted", b.Note, b.Text, maxNote)
		default:
			t.put("user", "", b.Text, maxWords)
		}
	case core.BlockToolUse:
		t.names[b.ID] = b.Name
		t.put("call", b.Name, b.Input, maxCall)
	case core.BlockToolResult:
		kind := "result"
		if b.IsError {
			kind = "failure"
		}
		t.put(kind, t.names[b.ID], b.ResultText(), maxResultText)
	case core.BlockImage, core.BlockDocument:
		t.put("attached", string(b.Type), b.Name, maxCall)
	case core.BlockThinking, core.BlockOpaque:
	}
}

// put writes one block between marks that no text can hold.
func (t *transcript) put(kind, of, text string, limit int) {
	t.b.WriteString("<garuda_" + kind)
	if of != "" {
		t.b.WriteString(" of=" + t.mark(core.Cut(of, maxName)))
	}
	t.b.WriteString(">\n" + t.mark(Middle(text, limit)) + "\n</garuda_" + kind + ">\n")
}

// maxName is how many characters are shown of a tool's name.
const maxName = 64

// Part takes as many pieces as fit into so many bytes, at least the beginning of one,
// and gives the rest.
func Part(pieces []string, bytes int) (part string, rest []string) {
	var b strings.Builder
	for len(pieces) > 0 && b.Len()+len(pieces[0]) <= bytes {
		b.WriteString(pieces[0])
		pieces = pieces[1:]
	}
	if b.Len() > 0 || len(pieces) == 0 {
		return b.String(), pieces
	}
	at := max(bytes, utf8.UTFMax)
	for at > 0 && at < len(pieces[0]) && !utf8.RuneStart(pieces[0][at]) {
		at--
	}
	if at >= len(pieces[0]) {
		return pieces[0], pieces[1:]
	}
	return pieces[0][:at], append([]string{pieces[0][at:]}, pieces[1:]...)
}
