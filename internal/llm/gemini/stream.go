package gemini

import (
	"encoding/json"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/sse"
	"garuda/internal/llm/wire"
)

// chunk is one event: a whole GenerateContentResponse with the parts that are new.
type chunk struct {
	Candidates []candidate       `json:"candidates"`
	Feedback   feedback          `json:"promptFeedback"`
	Usage      wire.Maybe[usage] `json:"usageMetadata"`
	ID         string            `json:"responseId"`
	Model      string            `json:"modelVersion"`
	Error      json.RawMessage   `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  string          `json:"finishReason"`
	FinishMessage string          `json:"finishMessage"`
	Grounding     json.RawMessage `json:"groundingMetadata"`
}

// feedback says why a prompt was not answered at all.
type feedback struct {
	BlockReason string `json:"blockReason"`
}

// usage counts are cumulative; a later chunk replaces those it names. The prompt
// holds what was read from the cache; what the server's own tools gave the model
// is counted beside it. Thoughts are not among the candidates' tokens.
type usage struct {
	Prompt     *wire.Count `json:"promptTokenCount"`
	Cached     *wire.Count `json:"cachedContentTokenCount"`
	ToolPrompt *wire.Count `json:"toolUsePromptTokenCount"`
	Candidates *wire.Count `json:"candidatesTokenCount"`
	Thoughts   *wire.Count `json:"thoughtsTokenCount"`
}

func (u *usage) add(v *usage) {
	for _, f := range []struct{ to, from **wire.Count }{
		{&u.Prompt, &v.Prompt}, {&u.Cached, &v.Cached}, {&u.ToolPrompt, &v.ToolPrompt},
		{&u.Candidates, &v.Candidates}, {&u.Thoughts, &v.Thoughts},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

// count is what n says, and 0 where the server does not.
func count(n *wire.Count) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

func (u *usage) core() core.Usage {
	cached := min(count(u.Cached), count(u.Prompt))
	return core.Usage{
		Input: count(u.Prompt) - cached + count(u.ToolPrompt), CacheRead: cached,
		Output: count(u.Candidates) + count(u.Thoughts), Thinking: count(u.Thoughts),
	}
}

// answer gathers one response.
type answer struct {
	reply  *wire.Reply
	family family
	emit   func(llm.Event)

	resp    llm.Response
	usage   *usage
	message string // what the server says about why it stopped
	blocked bool   // the prompt was refused
	blocks  []core.Block
	run     *run // the text or thinking that is arriving
	search  search
}

// afterStop is how long the end of the stream may take once the answer is there.
const afterStop = 10 * time.Second

// Complete is true from the finish reason on. The stream still goes on to its
// end: some servers give a reason with every chunk.
func (a *answer) Complete() bool { return a.resp.RawStop != "" }

func (a *answer) Event(sev sse.Event) (bool, error) {
	if string(sev.Name) == "error" {
		return false, a.reply.Failure(sev.Data)
	}
	if wire.IsDone(sev.Data) {
		return a.Complete(), nil // a habit of compatible servers
	}
	return false, a.chunk(sev.Data)
}

// chunk takes one event's data.
func (a *answer) chunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if wire.HoldsError(data) {
			return a.reply.Failure(data)
		}
		return a.reply.BadEvent(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return a.reply.Failure(data)
	}
	if c.ID != "" {
		a.resp.ID = c.ID
	}
	if c.Model != "" {
		a.resp.Model = c.Model
	}
	if c.Usage.Value != nil {
		if a.usage == nil {
			a.usage = &usage{}
		}
		a.usage.add(c.Usage.Value)
	}
	if reason := c.Feedback.BlockReason; reason != "" && reason != "BLOCKED_REASON_UNSPECIFIED" {
		a.blocked = true
		a.stopped(reason)
	}
	for i := range c.Candidates {
		if c.Candidates[i].Index != 0 {
			continue // one answer was asked for
		}
		if err := a.candidate(&c.Candidates[i], data); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) candidate(c *candidate, data []byte) error {
	for _, raw := range c.Content.Parts {
		if err := a.part(raw, data); err != nil {
			return err
		}
	}
	if len(c.Grounding) > 0 && string(c.Grounding) != "null" {
		a.search.grounding = c.Grounding
	}
	if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		a.message = c.FinishMessage
		a.stopped(c.FinishReason)
	}
	return nil
}

func (a *answer) stopped(reason string) {
	a.resp.RawStop = reason
	a.reply.Patience(afterStop)
}

// response is the whole answer. One that ended in a call that nobody can read is
// an error, so that it is asked for again: to the user it would look like an end.
func (a *answer) response() (*llm.Response, error) {
	a.close()
	if b, ok := a.search.block(a.emit); ok {
		a.blocks = append(a.blocks, b)
	}
	a.resp.Message = &core.Message{Role: core.RoleAssistant, Blocks: a.blocks}
	a.resp.Stop = stopReason(a.resp.RawStop)
	if a.blocked {
		a.resp.Stop = core.StopRefusal
	}
	if a.usage != nil {
		a.resp.Usage, a.resp.UsageReported = a.usage.core(), true
		a.resp.Usage.Searches = a.search.billed(a.family)
	}
	if !a.blocked && isUnusable(a.resp.RawStop) && len(a.resp.Message.ToolUses()) == 0 {
		return nil, a.reply.Unusable("%s", strings.TrimSuffix("the model wrote a call that cannot be read ("+a.resp.RawStop+"): "+a.message, ": "))
	}
	return &a.resp, nil
}

// isUnusable reports whether a reason says that the model meant to call something
// and failed.
func isUnusable(reason string) bool {
	return reason == "MALFORMED_FUNCTION_CALL" || reason == "UNEXPECTED_TOOL_CALL"
}

func stopReason(raw string) core.StopReason {
	switch raw {
	case "STOP":
		return core.StopEndTurn
	case "MAX_TOKENS", "CONTINUATION": // the latter: more than one request may write
		return core.StopMaxTokens
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return core.StopRefusal
	}
	return core.StopOther
}
