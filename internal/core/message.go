package core

// Role is who a message is from. Tool results travel in user messages; clients
// turn them into whatever their wire format wants.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one entry of a conversation. A message that has been appended to a
// conversation is immutable: clients cache its encoding by its address.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// BlockType names the kind of a Block and with it which fields are used.
type BlockType string

const (
	BlockText       BlockType = "text"        // Text, and Opaque where the provider binds bytes to it (citations, a signature)
	BlockThinking   BlockType = "thinking"    // Text, Provider, Opaque
	BlockToolUse    BlockType = "tool_use"    // ID, Name, Input, and Opaque where the provider binds bytes to a call
	BlockToolResult BlockType = "tool_result" // ID (of the call), Content, IsError
	BlockImage      BlockType = "image"       // MediaType, Data, and in an answer Provider and Opaque of the model that made it
	BlockDocument   BlockType = "document"    // MediaType, Data, Name
	BlockOpaque     BlockType = "opaque"      // Provider, Opaque: a provider's own block, kept as it came
)

// Block is one part of a message.
type Block struct {
	Type BlockType `json:"type"`
	// Text is the visible text of a text or thinking block.
	Text string `json:"text,omitempty"`
	// ID is a tool call's id; in a tool result, the id of the call it answers.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Input is a tool call's arguments exactly as the model wrote them: JSON
	// text, which may be broken. It is a string so that a journal keeps it
	// byte for byte.
	Input string `json:"input,omitempty"`
	// Content is what a tool result holds: text, image and document blocks.
	Content []Block `json:"content,omitempty"`
	IsError bool    `json:"is_error,omitempty"`
	// MediaType is an IANA media type such as image/png.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	// Provider names the wire format ("anthropic", "chat", "responses",
	// "gemini") that Opaque belongs to; other formats leave the block out.
	Provider string `json:"provider,omitempty"`
	// Opaque is the provider's own JSON for this block, returned byte for byte.
	Opaque string `json:"opaque,omitempty"`
	// Note marks a text block that Garuda wrote into a user message (a plan
	// note, a stopped turn, an attachment): its kind. Empty for a person's words.
	Note string `json:"note,omitempty"`
}

// Text is a plain text block.
func Text(s string) Block { return Block{Type: BlockText, Text: s} }

// UserText is a user message that holds one text.
func UserText(s string) *Message {
	return &Message{Role: RoleUser, Blocks: []Block{Text(s)}}
}

// ToolResult is the answer to the call with the given id.
func ToolResult(id string, isError bool, content ...Block) Block {
	return Block{Type: BlockToolResult, ID: id, IsError: isError, Content: content}
}

// ToolUses returns the message's tool calls in order.
func (m *Message) ToolUses() []Block {
	var out []Block
	for _, b := range m.Blocks {
		if b.Type == BlockToolUse {
			out = append(out, b)
		}
	}
	return out
}

// PlainText joins the message's text blocks with newlines, thinking left out.
func (m *Message) PlainText() string { return joinText(m.Blocks) }

// ResultText joins the text of a tool result's content with newlines.
func (b Block) ResultText() string { return joinText(b.Content) }

func joinText(blocks []Block) string {
	var out string
	for _, b := range blocks {
		if b.Type != BlockText {
			continue
		}
		if out != "" {
			out += "\n"
		}
		out += b.Text
	}
	return out
}
