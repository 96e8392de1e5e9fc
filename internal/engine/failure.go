package engine

import (
	"errors"

	"garuda/internal/llm"
	"garuda/internal/session"
)

// failureOf is how a request failed, as the journal has it; nil for one that did not,
// or that was given up.
func failureOf(err error) *session.Failure {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return nil
	}
	return &session.Failure{
		Kind: string(e.Kind), Status: e.Status, RetryAfterMs: e.RetryAfter.Milliseconds(), NoRetry: e.NoRetry, Streaming: e.Streaming,
		Window: e.Window, MaxOutput: e.MaxOutput, OutputLimit: e.OutputLimit, Image: e.Image, Block: e.Block,
	}
}
