package wire

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/sse"
)

// Answer gathers one answer from its events.
type Answer interface {
	// Event takes the next event. It reports whether the answer is finished; an
	// error must be typed. One that breaks the protocol is passed over when the
	// answer was complete before: what is there and paid for is not thrown away.
	Event(ev sse.Event) (done bool, err error)
	// Complete reports whether all that matters has arrived, so that an end of
	// the stream now loses nothing.
	Complete() bool
}

// Each feeds the events to a until it is finished. A stream that ends or breaks
// before a is complete is an error, and so is an abort at any time.
func (r *Reply) Each(a Answer) error {
	for {
		ev, err := r.Next()
		if err == nil && ev.Unterminated && !whole(ev.Data) {
			err = io.EOF
		}
		if err != nil {
			switch {
			case r.parent.Err() != nil:
				return r.parent.Err()
			case a.Complete():
				return nil
			case errors.Is(err, io.EOF):
				return r.Cut("the answer was complete")
			}
			return err
		}
		complete := a.Complete()
		done, err := a.Event(ev)
		if err != nil {
			if complete && broken(err) && !growing(a, ev.Data) {
				continue
			}
			return err
		}
		if err := r.parent.Err(); err != nil {
			return err
		}
		if done {
			r.Settle()
			return nil
		}
	}
}

// broken reports whether an error means that an event could not be read.
func broken(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Kind == llm.ErrProtocol && !e.NoRetry
}

// growing reports whether an event that could not be read may be more of an answer
// that is complete. Formats in which such an answer never grows do not ask.
func growing(a Answer, data []byte) bool {
	g, ok := a.(interface{ Growing(data []byte) bool })
	return ok && g.Growing(data)
}

// whole reports whether an event that was not closed is all there.
func whole(data []byte) bool { return json.Valid(data) || IsDone(data) }

// IsDone reports whether the data is the mark with which OpenAI's formats close
// a stream.
func IsDone(data []byte) bool { return strings.TrimSpace(string(data)) == "[DONE]" }

// Finish completes a response that a client gathered.
//
// Servers contradict themselves about why they stopped: they say "stop" and send
// calls, or "tool_calls" and send none. What was sent decides, except where the
// answer was cut, refused or paused.
func Finish(resp *llm.Response, body *Body) *llm.Response {
	calls := len(resp.Message.ToolUses()) > 0
	switch resp.Stop {
	case core.StopEndTurn, core.StopToolUse, core.StopSequence, core.StopOther:
		if calls {
			resp.Stop = core.StopToolUse
		} else if resp.Stop == core.StopToolUse {
			resp.Stop = core.StopEndTurn
		}
	}
	distinctIDs(resp.Message.Blocks)
	resp.RequestHash, resp.RequestBytes = body.Hash(), body.Size()
	return resp
}

// distinctIDs gives a call whose id an earlier one has an id of its own: two
// calls with one id can never both be answered.
func distinctIDs(blocks []core.Block) {
	seen := map[string]bool{}
	for i := range blocks {
		b := &blocks[i]
		if b.Type != core.BlockToolUse {
			continue
		}
		if seen[b.ID] {
			b.ID = core.NewCallID()
		}
		seen[b.ID] = true
	}
}

// Spoken is a message's blocks up to the last one that says something: thinking
// at the end, which led to nothing, is left out with what cannot be sent.
func Spoken(blocks []core.Block, format string) []core.Block {
	for n := len(blocks); n > 0; n-- {
		switch b := &blocks[n-1]; {
		case b.Type == core.BlockThinking:
		case b.Type == core.BlockText && IsBlank(b.Text):
		case b.Type == core.BlockOpaque && (b.Provider != format || Raw(b.Opaque) == ""):
		default:
			return blocks[:n]
		}
	}
	return nil
}

// IsText reports whether a document of this media type goes to the model as text.
func IsText(mediaType string) bool { return strings.HasPrefix(mediaType, "text/") }

// IsBlank reports whether a text holds nothing; providers refuse such content.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }
