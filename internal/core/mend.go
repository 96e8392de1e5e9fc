package core

import "fmt"

// mender rebuilds a conversation that Validate found unsound.
type mender struct {
	out   []*Message
	mends []string
}

func (m *mender) note(format string, args ...any) {
	m.mends = append(m.mends, fmt.Sprintf(format, args...))
}

// run cleans each message by itself first, and then pairs calls with results.
func (m *mender) run(msgs []*Message) {
	clean := make([]*Message, 0, len(msgs))
	for i, msg := range msgs {
		if msg = m.clean(i+1, msg); msg != nil {
			clean = append(clean, msg)
		}
	}
	for i := 0; i < len(clean); {
		if clean[i].Role == RoleUser { // no call stands before it
			m.push(m.withoutResults(clean[i]))
			i++
			continue
		}
		if len(m.out) == 0 {
			m.note("the conversation did not begin with the user: a note was put first")
			m.out = append(m.out, UserText(lostStart))
		}
		m.out = append(m.out, clean[i])
		calls := clean[i].ToolUses()
		end := i + 1
		for end < len(clean) && clean[end].Role == RoleUser {
			end++
		}
		if len(calls) > 0 {
			m.answer(calls, clean[i+1:end])
			i = end
		} else {
			i++
		}
	}
}

func (m *mender) push(msg *Message) {
	if msg != nil {
		m.out = append(m.out, msg)
	}
}

// clean removes what may not stand in message number n; nil when nothing is left.
func (m *mender) clean(n int, msg *Message) *Message {
	if msg == nil || msg.Role != RoleUser && msg.Role != RoleAssistant {
		m.note("message %d had no known role and was left out", n)
		return nil
	}
	if cleanBlocks(msg) {
		return msg
	}
	blocks := make([]Block, 0, len(msg.Blocks))
	seen := map[string]bool{}
	for _, b := range msg.Blocks {
		fault := blockFault(msg.Role, &b)
		switch {
		case fault != "" && b.Type == BlockToolResult && msg.Role == RoleUser:
			m.note("message %d: %s was filled in", n, fault)
			b.Content = fillResult(b.Content)
		case fault != "":
			m.note("message %d: %s was left out", n, fault)
			continue
		case b.Type == BlockToolUse && seen[b.ID]:
			m.note("message %d: a second call with the id %q was left out", n, b.ID)
			continue
		}
		if b.Type == BlockToolUse {
			seen[b.ID] = true
		}
		blocks = append(blocks, b)
	}
	for msg.Role == RoleAssistant && len(blocks) > 0 && blocks[len(blocks)-1].Type == BlockThinking {
		m.note("message %d ended in thinking, which was left out", n)
		blocks = blocks[:len(blocks)-1]
	}
	if len(blocks) == 0 {
		m.note("message %d was empty and was left out", n)
		return nil
	}
	return &Message{Role: msg.Role, Blocks: blocks}
}

func fillResult(content []Block) []Block {
	var kept []Block
	for i := range content {
		if contentFault(&content[i]) == "" {
			kept = append(kept, content[i])
		}
	}
	if len(kept) == 0 {
		kept = []Block{Text(emptyResult)}
	}
	return kept
}

// answer appends the user messages that follow calls, beginning with exactly
// one result for each call, in call order, taken from wherever in them it is.
func (m *mender) answer(calls []Block, following []*Message) {
	found := make(map[string]Block, len(calls))
	for _, c := range calls {
		found[c.ID] = Block{}
	}
	for _, msg := range following {
		for _, b := range msg.Blocks {
			if b.Type != BlockToolResult {
				continue
			}
			if have, asked := found[b.ID]; asked && have.Type == "" {
				found[b.ID] = b
			}
		}
	}
	// The usual case: the first message answers already and stays as it is.
	if len(following) > 0 && answers(&Message{Role: RoleAssistant, Blocks: calls}, following[0]) {
		m.out = append(m.out, following[0])
		following = following[1:]
	} else {
		m.out = append(m.out, m.results(calls, found))
	}
	for _, msg := range following {
		m.push(m.withoutResults(msg))
	}
}

func (m *mender) results(calls []Block, found map[string]Block) *Message {
	blocks := make([]Block, 0, len(calls))
	moved := 0
	for _, c := range calls {
		b := found[c.ID]
		if b.Type == "" {
			m.note("the call %q of %s had no result and was closed as interrupted", c.ID, c.Name)
			b = ToolResult(c.ID, true, Text(Interrupted))
		} else {
			moved++
		}
		blocks = append(blocks, b)
	}
	if moved > 0 {
		m.note("the results of %d calls were put right after their calls", moved)
	}
	return &Message{Role: RoleUser, Blocks: blocks}
}

// withoutResults drops results that answer nothing here; nil when nothing is left.
func (m *mender) withoutResults(msg *Message) *Message {
	n := countType(msg.Blocks, BlockToolResult)
	if n == 0 {
		return msg
	}
	blocks := make([]Block, 0, len(msg.Blocks)-n)
	for _, b := range msg.Blocks {
		if b.Type != BlockToolResult {
			blocks = append(blocks, b)
		}
	}
	m.note("%d results were moved or had no call and were left out of where they stood", n)
	if len(blocks) == 0 {
		return nil
	}
	return &Message{Role: RoleUser, Blocks: blocks}
}
