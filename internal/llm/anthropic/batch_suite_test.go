package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// hurried does not wait between the looks at a batch.
type hurried struct{ core.Clock }

func (hurried) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// batchDialect has the suite's servers stand behind one that takes batches.
func batchDialect() llmtest.Dialect {
	d := dialect
	d.Path = batchPath
	d.New = func(cfg llm.ClientConfig) (llm.Model, error) {
		if cfg.Clock == nil {
			cfg.Clock = core.SystemClock
		}
		cfg.Clock = hurried{cfg.Clock}
		return NewBatch(cfg)
	}
	d.Serve = func(next http.Handler) http.Handler {
		return newBatchFront(next, func(r *http.Request) *http.Request { return r })
	}
	d.Request = func(body string) string {
		return strings.TrimSuffix(strings.TrimPrefix(body, `{"requests":[{"custom_id":"garuda","params":`), `}]}`)
	}
	d.Scripted = func(next http.Handler) http.Handler { return newBatchFront(next, streamed) }
	d.Without = map[llmtest.Feature]string{
		llmtest.Deltas:      "a batch's answer arrives whole; TestSlowLook stalls",
		llmtest.BrokenInput: "a whole message holds arguments as JSON",
	}
	return d
}

// streamed is the request of a batch as the Messages API takes it.
func streamed(r *http.Request) *http.Request {
	var batch struct {
		Requests []struct {
			Params json.RawMessage `json:"params"`
		} `json:"requests"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &batch)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	params := batch.Requests[0].Params
	out := r.Clone(r.Context())
	out.URL.Path = "/v1/messages"
	out.Body = io.NopCloser(bytes.NewReader(append(params[:len(params)-1:len(params)-1], `,"stream":true}`...)))
	return out
}

func TestBatchConformance(t *testing.T) { llmtest.Run(t, batchDialect()) }

func TestBatchFeatures(t *testing.T) {
	llmtest.RunFeatures(t, batchDialect(), features())
}
