package turn_test

import (
	"testing"

	"garuda/internal/engine/turn"
	"garuda/internal/llm"
)

func TestAnAnswerWithoutEndIsNotAskedForAgain(t *testing.T) {
	e := &llm.Error{Kind: llm.ErrProtocol, Streaming: true}
	if _, again, _ := turn.Retry(e, 1, false, 0); !again {
		t.Error("a stream that broke is not asked for again")
	}
	e.NoRetry = true
	if _, again, reason := turn.Retry(e, 1, false, 0); again || reason != "" {
		t.Errorf("%v, %q", again, reason)
	}
}
