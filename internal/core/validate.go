package core

import (
	"fmt"
	"unicode"
)

// Interrupted is the text of a result that Garuda makes for a call of which
// nobody knows whether it ran: the program ended, or the turn was stopped.
const Interrupted = "interrupted, effects unknown"

// emptyResult stands in for a tool result that holds nothing, which providers refuse.
const emptyResult = "(no output)"

// lostStart opens a conversation whose first message is not the user's.
const lostStart = "(The start of this conversation is missing.)"

// Validate returns a conversation that every provider accepts, and says what it
// had to mend; a history that cannot be sent must never be sent. It holds:
//
//   - The first message is the user's.
//   - No message is empty, and no block: no blank text, no image without data,
//     no thinking without text and opaque bytes.
//   - Calls appear in assistant messages only, with an id and a name, ids unique
//     within their message. Results, images and documents appear in user messages;
//     an image also in an answer of the model that made it, as long as what its
//     provider bound to it is there.
//   - The message after a call is the user's and begins with the results of all
//     calls, one each, in call order. A call without a result gets Interrupted.
//   - No assistant message ends in thinking, which providers refuse.
//
// Two messages in a row by the same role are left alone: joining them would
// change bytes that were already sent. A wire format that wants strict
// alternation joins them itself.
//
// Messages that need no mending keep their address, and a conversation that
// needs none is returned as it came, without allocating. Time is linear in the
// number of blocks.
func Validate(msgs []*Message) (fixed []*Message, mends []string) {
	if sound(msgs) {
		return msgs, nil
	}
	m := mender{out: make([]*Message, 0, len(msgs)+2)}
	m.run(msgs)
	return m.out, m.mends
}

// sound reports whether there is nothing to mend.
func sound(msgs []*Message) bool {
	if len(msgs) > 0 && (msgs[0] == nil || msgs[0].Role != RoleUser) {
		return false
	}
	var before *Message
	for _, m := range msgs {
		if m == nil || !cleanBlocks(m) || !answers(before, m) {
			return false
		}
		before = m
	}
	return before == nil || before.Role != RoleAssistant || countType(before.Blocks, BlockToolUse) == 0
}

// cleanBlocks reports whether the message by itself may be sent.
func cleanBlocks(m *Message) bool {
	if len(m.Blocks) == 0 || m.Role != RoleUser && m.Role != RoleAssistant {
		return false
	}
	for i := range m.Blocks {
		if blockFault(m.Role, &m.Blocks[i]) != "" {
			return false
		}
	}
	if m.Role == RoleUser {
		return true
	}
	return m.Blocks[len(m.Blocks)-1].Type != BlockThinking && uniqueCalls(m.Blocks)
}

// fewCalls is up to where comparing each call with each other beats a map.
const fewCalls = 16

func uniqueCalls(blocks []Block) bool {
	n := countType(blocks, BlockToolUse)
	if n < 2 {
		return true
	}
	if n > fewCalls {
		seen := make(map[string]bool, n)
		for i := range blocks {
			if blocks[i].Type != BlockToolUse {
				continue
			}
			if seen[blocks[i].ID] {
				return false
			}
			seen[blocks[i].ID] = true
		}
		return true
	}
	for i := range blocks {
		for k := i + 1; k < len(blocks); k++ {
			if blocks[i].Type == BlockToolUse && blocks[k].Type == BlockToolUse && blocks[i].ID == blocks[k].ID {
				return false
			}
		}
	}
	return true
}

// answers reports whether next begins with exactly the results that before asks for.
func answers(before, next *Message) bool {
	results := countType(next.Blocks, BlockToolResult)
	if before == nil || before.Role != RoleAssistant {
		return results == 0
	}
	at := 0
	for i := range before.Blocks {
		if before.Blocks[i].Type != BlockToolUse {
			continue
		}
		if next.Role != RoleUser || at >= len(next.Blocks) || next.Blocks[at].Type != BlockToolResult ||
			next.Blocks[at].ID != before.Blocks[i].ID {
			return false
		}
		at++
	}
	return results == at
}

func countType(blocks []Block, t BlockType) int {
	n := 0
	for i := range blocks {
		if blocks[i].Type == t {
			n++
		}
	}
	return n
}

// blockFault says why a block may not stand in a message of this role, or "".
func blockFault(role Role, b *Block) string {
	switch b.Type {
	case BlockText:
		if blank(b.Text) {
			return "an empty text"
		}
	case BlockThinking:
		if role != RoleAssistant {
			return "thinking in a user message"
		}
		if blank(b.Text) && b.Opaque == "" {
			return "an empty thinking block"
		}
	case BlockToolUse:
		if role != RoleAssistant {
			return "a call in a user message"
		}
		if b.ID == "" || b.Name == "" {
			return "a call without id or name"
		}
	case BlockToolResult:
		return resultFault(role, b)
	case BlockImage, BlockDocument:
		if role != RoleUser && (b.Type != BlockImage || b.Opaque == "") {
			return "an image or document in an assistant message"
		}
		if len(b.Data) == 0 {
			return "an empty image or document"
		}
	case BlockOpaque:
		if b.Opaque == "" {
			return "an empty provider block"
		}
	default:
		return fmt.Sprintf("a block of unknown type %q", string(b.Type))
	}
	return ""
}

func resultFault(role Role, b *Block) string {
	if role != RoleUser {
		return "a result in an assistant message"
	}
	if len(b.Content) == 0 {
		return "an empty result"
	}
	for i := range b.Content {
		if contentFault(&b.Content[i]) != "" {
			return "a result with empty or foreign content"
		}
	}
	return ""
}

// contentFault is blockFault for what a result holds.
func contentFault(b *Block) string {
	switch b.Type {
	case BlockText, BlockImage, BlockDocument:
		return blockFault(RoleUser, b)
	default:
		return fmt.Sprintf("a block of type %q in a result", string(b.Type))
	}
}

// blank reports whether s holds no visible character; it looks no further than the first.
func blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
