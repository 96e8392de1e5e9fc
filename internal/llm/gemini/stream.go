package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
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
	ID         wire.Word         `json:"responseId"`
	Model      wire.Word         `json:"modelVersion"`
	Error      json.RawMessage   `json:"error"`
}

type candidate struct {
	Index   wire.Index `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  wire.Word       `json:"finishReason"`
	FinishMessage wire.Word       `json:"finishMessage"`
	Grounding     json.RawMessage `json:"groundingMetadata"`
}

// feedback says why a prompt was not answered at all.
type feedback struct {
	BlockReason wire.Word `json:"blockReason"`
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

func (u *usage) readable() bool {
	for _, n := range []*wire.Count{u.Prompt, u.Cached, u.ToolPrompt, u.Candidates, u.Thoughts} {
		if n != nil && !wire.Readable(*n) {
			return false
		}
	}
	return true
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
	// open is true once parts came without a reason, so that the reason is the
	// answer's end: some servers give one with every chunk.
	open bool

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

// maxBlocks bounds the parts of one answer that stay apart.
const maxBlocks = 10_000

// Complete is true from the finish reason on. The stream still goes on to its
// end: some servers give a reason with every chunk.
func (a *answer) Complete() bool { return a.resp.RawStop != "" }

// Growing reports whether a broken event may have held more of the answer.
func (a *answer) Growing(data []byte) bool { return bytes.Contains(data, []byte(`"parts"`)) }

// over reports whether a chunk is no more of this answer, but of another one that
// the server put behind it.
func (a *answer) over(c *chunk) bool {
	if !a.Complete() {
		return false
	}
	parts := slices.ContainsFunc(c.Candidates, func(c candidate) bool { return c.Index <= 0 && len(c.Content.Parts) > 0 })
	return parts && (a.open || c.ID != "" && string(c.ID) != a.resp.ID)
}

func (a *answer) Event(sev sse.Event) (bool, error) {
	if string(sev.Name) == "error" {
		return false, a.reply.Failure(sev.Data)
	}
	if wire.IsDone(sev.Data) {
		return a.Complete(), nil // a habit of compatible servers
	}
	return a.chunk(sev.Data)
}

// chunk takes one event's data. It reports whether the answer was over before it.
func (a *answer) chunk(data []byte) (over bool, err error) {
	var c chunk
	if err := wire.Decode(data, &c); err != nil {
		if wire.HoldsError(data) {
			return false, a.reply.Failure(data)
		}
		return false, a.reply.BadEvent(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return false, a.reply.Failure(data)
	}
	if a.over(&c) {
		return true, nil
	}
	if c.ID != "" {
		a.resp.ID = string(c.ID)
	}
	if c.Model != "" {
		a.resp.Model = string(c.Model)
	}
	if c.Usage.Value != nil {
		if a.usage == nil {
			a.usage = &usage{}
		}
		a.usage.add(c.Usage.Value)
	}
	if reason := c.Feedback.BlockReason; reason != "" && reason != "BLOCKED_REASON_UNSPECIFIED" {
		a.blocked = true
		if !a.Complete() {
			a.reply.Patience(afterStop)
		}
		a.resp.RawStop = string(reason)
	}
	for i := range c.Candidates {
		if c.Candidates[i].Index > 0 {
			continue // one answer was asked for
		}
		if err := a.candidate(&c.Candidates[i], data); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (a *answer) candidate(c *candidate, data []byte) error {
	for _, raw := range c.Content.Parts {
		if err := a.part(raw, data); err != nil {
			return err
		}
	}
	if len(a.blocks) > maxBlocks {
		return a.reply.Excess("the server sent more than %d parts", maxBlocks)
	}
	if len(c.Grounding) > 0 && string(c.Grounding) != "null" {
		a.search.grounding = c.Grounding
	}
	if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		a.message = string(c.FinishMessage)
		if !a.Complete() || len(c.Content.Parts) > 0 {
			a.reply.Patience(afterStop) // once more only for what is new
		}
		a.resp.RawStop = string(c.FinishReason)
	} else if len(c.Content.Parts) > 0 {
		a.open = true
	}
	return nil
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
	if a.usage != nil && a.usage.readable() {
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
