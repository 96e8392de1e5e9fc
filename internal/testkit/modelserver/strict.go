package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Strict says why a request's conversation would be refused by the API of its
// format, or nil: the first message is the user's, none is empty, and each call
// is answered, once, right after it. Compatible servers let more pass; what is
// sound here is sound there.
func Strict(format string, body []byte) error {
	switch format {
	case "anthropic":
		return strictAnthropic(body)
	case "responses":
		return strictResponses(body)
	case "gemini":
		return strictGemini(body)
	}
	return strictChat(body)
}

// open are the calls that wait for their answers.
type open map[string]bool

func (o open) ask(id string) error {
	if id == "" || o[id] {
		return fmt.Errorf("the call id %q is empty or comes twice", id)
	}
	o[id] = true
	return nil
}

func (o open) answer(id string) error {
	if !o[id] {
		return fmt.Errorf("the result for %q follows no call of that id", id)
	}
	delete(o, id)
	return nil
}

func (o open) none() error {
	for id := range o {
		return fmt.Errorf("the call %q has no result right after it", id)
	}
	return nil
}

func isObject(arguments string) error {
	if err := json.Unmarshal([]byte(arguments), &map[string]any{}); err != nil {
		return fmt.Errorf("the arguments of a call are no JSON object: %w", err)
	}
	return nil
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func strictChat(body []byte) error {
	var request struct {
		Messages []chatMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	waiting, spoken := open{}, false
	for i, m := range request.Messages {
		if err := m.check(waiting, &spoken); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return waiting.none()
}

func (m *chatMessage) check(waiting open, spoken *bool) error {
	if m.Role == "tool" {
		if err := filled(m.Content); err != nil {
			return err
		}
		return waiting.answer(m.ToolCallID)
	}
	if err := waiting.none(); err != nil {
		return err
	}
	switch m.Role {
	case "system":
		return filled(m.Content)
	case "user":
		*spoken = true
		return filled(m.Content)
	case "assistant":
	default:
		return fmt.Errorf("the role is %q", m.Role)
	}
	if !*spoken {
		return fmt.Errorf("the assistant speaks before the user")
	}
	for _, c := range m.ToolCalls {
		if err := waiting.ask(c.ID); err != nil {
			return err
		}
		if err := isObject(c.Function.Arguments); err != nil {
			return err
		}
	}
	if len(m.ToolCalls) == 0 {
		return filled(m.Content)
	}
	return nil
}

// filled wants a text, or parts, that hold something.
func filled(content json.RawMessage) error {
	var text string
	if json.Unmarshal(content, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return fmt.Errorf("the content is empty")
		}
		return nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(content, &parts); err != nil || len(parts) == 0 {
		return fmt.Errorf("the content is neither a text nor a list with something in it")
	}
	for _, p := range parts {
		if strings.HasSuffix(p.Type, "text") && strings.TrimSpace(p.Text) == "" {
			return fmt.Errorf("a text part is empty")
		}
	}
	return nil
}

type anthropicBlock struct {
	Type, Text, ID string
	ToolUseID      string          `json:"tool_use_id"`
	Input          json.RawMessage `json:"input"`
	Signature      string          `json:"signature"`
}

func strictAnthropic(body []byte) error {
	var request struct {
		Messages []struct {
			Role    string           `json:"role"`
			Content []anthropicBlock `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	waiting := open{}
	for i, m := range request.Messages {
		if i == 0 && m.Role != "user" {
			return fmt.Errorf("messages[0]: the role is %q", m.Role)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("messages[%d]: the content is empty", i)
		}
		for j, b := range m.Content {
			if err := b.check(m.Role, waiting); err != nil {
				return fmt.Errorf("messages[%d].content[%d]: %w", i, j, err)
			}
		}
		if m.Role == "user" || len(waiting) == 0 {
			if err := waiting.none(); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		}
	}
	return waiting.none()
}

func (b *anthropicBlock) check(role string, waiting open) error {
	if b.Type != "tool_result" && role == "user" || b.Type == "tool_result" && role != "user" {
		if err := waiting.none(); err != nil {
			return fmt.Errorf("a %s block of the %s: %w", b.Type, role, err)
		}
	}
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return fmt.Errorf("text content blocks must be non-empty")
		}
	case "tool_use":
		if err := isObject(string(b.Input)); err != nil {
			return err
		}
		return waiting.ask(b.ID)
	case "tool_result":
		return waiting.answer(b.ToolUseID)
	case "thinking":
		if b.Signature == "" {
			return fmt.Errorf("thinking without a signature")
		}
	}
	return nil
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Content   json.RawMessage `json:"content"`
}

func strictResponses(body []byte) error {
	var request struct {
		Input []responsesItem `json:"input"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	waiting, reasoned := open{}, false
	for i, item := range request.Input {
		if err := item.check(i, waiting); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
		if reasoned && (item.Role == "user" || item.Type == "function_call_output") {
			return fmt.Errorf("input[%d]: reasoning stands without the item that followed it", i-1)
		}
		reasoned = item.Type == "reasoning"
	}
	return waiting.none()
}

func (item *responsesItem) check(n int, waiting open) error {
	switch item.Type {
	case "function_call":
		if err := isObject(item.Arguments); err != nil {
			return err
		}
		return waiting.ask(item.CallID)
	case "function_call_output":
		return waiting.answer(item.CallID)
	case "message", "":
		if n == 0 && item.Role != "user" {
			return fmt.Errorf("the role is %q", item.Role)
		}
		if item.Role == "user" {
			if err := waiting.none(); err != nil {
				return err
			}
		}
		return filled(item.Content)
	}
	return nil
}
