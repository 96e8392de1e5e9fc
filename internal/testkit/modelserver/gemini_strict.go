package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID, Name string
		Args     json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID, Name string
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// strictGemini wants a turn of calls to be followed by a turn of as many results
// and nothing else, in the order of the calls, each with its call's name and id.
func strictGemini(body []byte) error {
	var request struct {
		Contents []geminiContent `json:"contents"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	var calls []geminiPart // that wait for their results
	for i, c := range request.Contents {
		if i == 0 && c.Role != "user" {
			return fmt.Errorf("contents[0]: the role is %q", c.Role)
		}
		if err := c.check(calls); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		calls = nil
		for _, p := range c.Parts {
			if p.Call != nil {
				calls = append(calls, p)
			}
		}
	}
	if len(calls) > 0 {
		return fmt.Errorf("%d calls have no results right after them", len(calls))
	}
	return nil
}

func (c *geminiContent) check(calls []geminiPart) error {
	if c.Role != "user" && c.Role != "model" {
		return fmt.Errorf("the role is %q", c.Role)
	}
	if len(c.Parts) == 0 {
		return fmt.Errorf("there are no parts")
	}
	var results []geminiPart
	for i, p := range c.Parts {
		if err := p.check(c.Role); err != nil {
			return fmt.Errorf("parts[%d]: %w", i, err)
		}
		if p.Result != nil {
			results = append(results, p)
		}
	}
	if len(results) != len(calls) || len(results) > 0 && len(results) < len(c.Parts) {
		return fmt.Errorf("%d calls are followed by %d results in %d parts", len(calls), len(results), len(c.Parts))
	}
	for i, r := range results {
		if call := calls[i].Call; r.Result.Name != call.Name || r.Result.ID != call.ID {
			return fmt.Errorf("result %d is of %s %q, and the call of %s %q", i, r.Result.Name, r.Result.ID, call.Name, call.ID)
		}
	}
	return nil
}

func (p *geminiPart) check(role string) error {
	switch {
	case p.Call != nil:
		if role != "model" {
			return fmt.Errorf("a call of the %s", role)
		}
		return isObject(string(p.Call.Args))
	case p.Result != nil:
		if role != "user" {
			return fmt.Errorf("a result of the %s", role)
		}
		return isObject(string(p.Result.Response))
	case p.Text != nil && strings.TrimSpace(*p.Text) == "" && p.Signature == "":
		return fmt.Errorf("a text part is empty")
	}
	return nil
}
